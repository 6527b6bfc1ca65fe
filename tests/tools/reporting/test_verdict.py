"""The verdict says what the intervals hold, and no more."""

import pytest

from tests.tools.reporting.samples import evaluation, fairness, figure, play, report, rung
from tools.reporting.content import UNSURE, Evaluation, Figure, Rung
from tools.reporting.page import render
from tools.reporting.verdict import THRESHOLDS, order_of, verdict_of, verdict_text

UCT = "uct:simulations=50"


def answer(played: Evaluation, question: str) -> str:
    return next(line.state for line in verdict_of(played) if line.name == question)


def test_fairness_says_how_uneven_it_is_and_of_whom() -> None:
    shown = evaluation(fairness=fairness("nearly", (0.54, 0.50, 0.58)))
    (line,) = [line for line in verdict_of(shown) if line.name == "Is it fair?"]
    assert line.state == "nearly"
    assert line.text == (
        "First seat wins 0.54 (0.50 to 0.58; 600 matches), of 0.50, when greedy players have every "
        "seat."
    )


def test_could_not_tell_names_the_matches_that_would_decide_and_the_command() -> None:
    shown = evaluation(fairness=fairness(UNSURE, (0.55, 0.49, 0.61), needed=1900))
    (line,) = [line for line in verdict_of(shown) if line.name == "Is it fair?"]
    assert "About 1,900 matches would decide: rulewright playtest RUN --matches 1900" in line.text


def test_what_no_match_reached_and_a_wall_limit_are_said_before_all_answers() -> None:
    shown = evaluation(unreached=("No match scored 200.",), limit="It met its wall limit.")
    assert verdict_text(shown)[:2] == ["It met its wall limit.", "No match scored 200."]
    page = render(report(evaluation=shown))
    assert page.index("It met its wall limit.") < page.index("No match scored 200.")
    assert page.index("No match scored 200.") < page.index("Is it fair?")


@pytest.mark.parametrize(
    ("share", "word"),
    [
        ((0.90, 0.80, 0.95), "skill"),
        ((0.70, 0.55, 0.85), "both"),
        ((0.52, 0.48, 0.56), "luck"),
        ((0.55, 0.35, 0.75), UNSURE),
    ],
)
def test_skill_follows_the_interval(share: tuple[float, float, float], word: str) -> None:
    assert answer(evaluation(span=rung(*share)), "Luck or skill?") == word


@pytest.mark.parametrize(
    ("turns", "word"),  # at ten seconds a decision: 60 decisions are 10 minutes, 270 are 45
    [
        ((1, 1, 1), "over at once"),
        ((30, 28, 32), "short"),
        ((90, 80, 100), "medium"),
        ((60, 50, 70), "short to medium"),
        ((400, 380, 420), "long"),
    ],
)
def test_length_follows_the_interval(turns: tuple[float, float, float], word: str) -> None:
    assert answer(evaluation(play(UCT, turns=turns)), "How long is it?") == word


def test_what_to_change_answers_what_was_found() -> None:
    (*_, change) = verdict_of(
        evaluation(
            play(UCT, turns=(400, 380, 420), forced=(0.8, 0.7, 0.9)),
            fairness=fairness("no", (0.9, 0.8, 0.95)),
        )
    )
    for advice in ("worse start", "Shorten it", "Most turns offer one action"):
        assert advice in change.text


def test_nothing_is_advised_where_nothing_stands_out() -> None:
    fine = evaluation()
    plays = tuple(one.model_copy(update={"unfinished": {}}) for one in fine.plays)
    (*_, change) = verdict_of(fine.model_copy(update={"plays": plays}))
    assert change.text == "Nothing in these figures asks for a change."


@pytest.mark.parametrize(("loose", "said"), [(0, "always missed: move it"), (1, "are tied")])
def test_where_every_match_pays_all_the_same_the_goal_may_be_common_and_no_ties_are_broken(
    loose: int, said: str
) -> None:
    tied = figure(1, 0.92, 1, name="ties")
    plays = [
        one.model_copy(update={"figures": {**one.figures, "ties": tied}})
        for one in evaluation().plays
    ]
    plays[:loose] = evaluation().plays[:loose]
    (*_, change) = verdict_of(evaluation(plays=tuple(plays)))
    assert said in change.text
    assert ("Most matches are tied" in change.text) == bool(loose)


def test_the_strongest_as_measured_is_judged() -> None:
    players = ("random", UCT, "greedy:heuristic=ensemble")
    _, long, *_ = verdict_of(evaluation(play(UCT, turns=(400, 380, 420)), players=players))
    assert "when greedy players have every seat" in long.text
    assert long.state == "medium"


def cooperation(span: Rung, **changes: object) -> Evaluation:
    plays = (
        play("random", score=(1.05, 0.8, 1.3)),
        play(UCT, score=(6.8, 6.1, 7.5)),
    )
    span = span.model_copy(update={"measure": "return", "even": 0.0})
    changes |= {"plays": plays, "shared": True, "sides": ((0, 1),), "ladder": (span,)}
    return evaluation(span=span).model_copy(update={"players": ("random", UCT), **changes})


def test_a_cooperative_game_is_told_by_its_scores() -> None:
    played = cooperation(rung(5.75, 5.0, 6.5), best_score=10.0, best_declared=True)
    (better,) = (line for line in verdict_of(played) if line.name == "Do players get better?")
    assert better.state == "yes"
    assert "Random play scores 1.05 (0.80 to 1.30, n = 60 matches)" in better.text
    assert (
        "the best player (uct 50) 6.80 (6.10 to 7.50, n = 60 matches) of 10, the best pos"
        in better.text
    )


def test_a_cooperative_game_claims_no_wins_no_ties_and_no_first_seat() -> None:
    lines = verdict_of(cooperation(rung(5.75, 5.0, 6.5)))
    assert not {"Is it fair?", "Luck or skill?"} & {line.name for line in lines}
    assert not any("wins" in line.text or "tie" in line.text for line in lines)


def test_a_best_score_that_was_only_seen_is_no_bound_from_above() -> None:
    played = cooperation(rung(5.75, 5.0, 6.5), best_score=8.0, best_declared=False)
    (better,) = (line for line in verdict_of(played) if line.name == "Do players get better?")
    assert "of 8, the best match seen; more may be possible" in better.text


def test_scores_that_cannot_be_told_apart_are_no_progress() -> None:
    untold = rung(0.6, 0.4, 0.8).model_copy(update={"verdict": "undecided"})
    assert answer(cooperation(untold), "Do players get better?") == UNSURE
    assert order_of(cooperation(untold)) == "random and uct 50 (could not be told apart)"
    assert order_of(cooperation(rung(5.75, 5.0, 6.5))) == "random, then uct 50"


def test_who_was_not_measured_is_named_so_and_gives_no_figures() -> None:
    missed = rung(0.5, 0.4, 0.6, stronger=UCT, weaker="greedy:heuristic=ensemble")
    missed = missed.model_copy(update={"verdict": "unmeasured", "figure": Figure.model_validate(
        {"name": "share", "meaning": "of wins", "problem": "no match was played"}
    )})  # fmt: skip
    span = rung(0.9, 0.8, 0.95, stronger="greedy:heuristic=ensemble")
    players = (UCT, "random", "greedy:heuristic=ensemble")
    played = evaluation(ladder=(span, missed), players=players, span=span)
    assert order_of(played) == "random, then greedy; not measured: uct 50"
    for strongest in (players, (*players[1:], UCT)):  # wherever it stands
        known = played.model_copy(update={"players": strongest})
        assert known.best.player == "greedy:heuristic=ensemble"


def test_a_team_wins_together() -> None:
    team = evaluation(sides=((0, 2), (1, 3)))
    skill = next(line for line in verdict_of(team) if line.name == "Luck or skill?")
    assert skill.text.startswith("a team of uct 50 players wins 0.90")


def test_the_thresholds_are_stated() -> None:
    for number in ("0.09", "50%", "20%", "10 seconds"):
        assert number in THRESHOLDS


def test_a_strongest_player_without_its_matches_denies_no_comparison_that_was_played() -> None:
    shown = evaluation().model_copy(update={"span": None})
    (skill,) = [line for line in verdict_of(shown) if line.name == "Luck or skill?"]
    assert skill.state == UNSURE
    assert skill.text.startswith("The strongest player was not held against random players")
    alone = shown.model_copy(update={"ladder": ()})
    (skill,) = [line for line in verdict_of(alone) if line.name == "Luck or skill?"]
    assert skill.text == "No player was held against random."


def test_choices_that_count_for_nothing_are_said_first() -> None:
    first, *others = verdict_of(evaluation(), "no choice counts: always paid the same")
    assert (first.name, first.state) == ("Is there something to decide?", "not enough")
    assert "no choice counts" in first.text
    assert first.name not in {line.name for line in others}


def test_one_match_of_the_strongest_answers_nothing_where_another_has_intervals() -> None:
    """An interval needs two; a play-test that its time cut short once said nothing of sixteen."""
    once = play("uct:simulations=50").model_copy(update={"lengths": (9,)})
    assert evaluation(once).best.player == "greedy:heuristic=ensemble"
