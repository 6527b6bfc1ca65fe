"""The verdict says what the intervals hold, and no more."""

import pytest

from tests.tools.reporting.samples import evaluation, play, rung
from tools.reporting.content import Evaluation
from tools.reporting.verdict import THRESHOLDS, UNSURE, verdict_of

UCT = "uct:simulations=50"


def answer(played: Evaluation, question: str) -> str:
    return next(line.state for line in verdict_of(played) if line.name == question)


@pytest.mark.parametrize(
    ("first", "word"),
    [
        ((0.50, 0.45, 0.55), "yes"),
        ((0.56, 0.51, 0.61), "nearly"),
        ((0.75, 0.60, 0.85), "no"),
        ((0.25, 0.15, 0.40), "no"),
        ((0.60, 0.40, 0.80), UNSURE),
        ((0.50, 0.30, 0.70), UNSURE),
    ],
)
def test_fairness_follows_the_interval(first: tuple[float, float, float], word: str) -> None:
    assert answer(evaluation(play(UCT, first=first)), "Is it fair?") == word


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
        evaluation(play(UCT, first=(0.9, 0.8, 0.95), turns=(400, 380, 420), forced=(0.8, 0.7, 0.9)))
    )
    for advice in ("worse start", "Shorten it", "Most turns offer one action"):
        assert advice in change.text


def test_nothing_is_advised_where_nothing_stands_out() -> None:
    fine = evaluation()
    plays = tuple(one.model_copy(update={"unfinished": {}}) for one in fine.plays)
    (*_, change) = verdict_of(fine.model_copy(update={"plays": plays}))
    assert change.text == "Nothing in these figures asks for a change."


def test_the_strongest_as_measured_is_judged() -> None:
    players = ("random", UCT, "greedy:heuristic=ensemble")
    fair = next(iter(verdict_of(evaluation(play(UCT, first=(0.9, 0.8, 0.95)), players=players))))
    assert "when greedy players have every seat" in fair.text
    assert fair.state == "yes"


def test_a_team_is_told_its_scores() -> None:
    plays = (play("random", score=(1, 0.5, 1.5)), play(UCT, score=(3, 2, 4)))
    span = rung(2.0, 1.0, 3.0).model_copy(update={"measure": "return", "even": 0.0})
    team = evaluation(plays=plays, shared=True, players=("random", UCT), span=span)
    skill = next(line for line in verdict_of(team) if line.name == "Luck or skill?")
    assert "random 1.00" in skill.text
    assert "uct 50 3.00" in skill.text


def test_the_thresholds_are_stated() -> None:
    for number in ("0.15", "50%", "20%", "10 seconds"):
        assert number in THRESHOLDS
