"""The play-test of cooperation and of partners, held against an enumeration of the rules."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import TypeAlias

import pytest

from agents.protocols import Heuristic
from graph.new.playing import clock_of, measured, play_of_run
from graph.run.folder import RunFolder
from tests.graph.conftest import MakeContext
from tests.graph.settings import SMALL
from tools.playtest.of_run.played import PlayTest
from tools.playtest.series import Series
from tools.reporting.content import Evaluation
from tools.reporting.verdict import verdict_of, verdict_text

# Chance draws a number, everybody names one, and the module's PAYS says what that pays.
NAMES = """
GAME = {"name": "names", "summary": "Name numbers.", "min_players": SEATS, "max_players": SEATS,
        "best_score": BEST}
ZONES = {}

def initial_state(num_players, **parameters):
    if parameters:
        raise ValueError("no parameters")
    return {"said": []}

def get_current_player(state):
    said = len(state["said"])
    return -1 if said == 0 else -4 if said > SEATS else said - 1

def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, "player %d" % (player_id + 1))

def get_legal_actions(state):
    return [] if len(state["said"]) > SEATS else ["1", "2", "3"]

def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError("not legal")
    SLOW
    return {"said": state["said"] + [int(action)]}

def get_rewards(state):
    if len(state["said"]) <= SEATS:
        return [0.0] * SEATS
    drawn, *named = state["said"]
    return PAYS

def get_observations(state):
    return [{"said": state["said"], "you": seat} for seat in range(SEATS)]

def get_events(state, action):
    return [["%s is named." % action]] * SEATS

def visible(state, player_id):
    return {}
"""


def game(seats: int, pays: str, best: str = "None", slow: str = "pass") -> str:
    made = NAMES.replace("SEATS", str(seats)).replace("PAYS", pays).replace("BEST", best)
    return made.replace("SLOW", slow)


TOGETHER = "[float(drawn * named.count(drawn))] * 2"
DRAWN = Heuristic(
    name="h",
    policy="",
    source="def score(seen, action):\n    return float(action == str(seen['said'][0]))\n",
)
LARGE = Heuristic(
    name="h", policy="", source="def score(observation, action):\n    return float(action)\n"
)
SIDES = (
    "[[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.5] * 4]"
    "[0 if named[0] + named[2] > named[1] + named[3] else"
    " 1 if named[0] + named[2] < named[1] + named[3] else 2]"
)
ALONE = (
    "[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.5] * 3]"
    "[0 if named[0] > max(named[1:]) else 1 if named[0] < max(named[1:]) else 2]"
)
Tested: TypeAlias = Callable[..., tuple[PlayTest, Evaluation]]


@pytest.fixture
def tested(make_context: MakeContext, folder: RunFolder) -> Tested:
    def test(
        source: str, seats: int, heuristic: Heuristic, seconds: float | None = None
    ) -> tuple[PlayTest, Evaluation]:
        context = make_context(settings=SMALL.model_copy(update={"random_matches": 30}))
        clock = clock_of(context, folder, seconds)
        play = play_of_run(context, source, seats, folder, clock=clock)
        return play, measured(play, [heuristic], "ours").evaluation

    return test


def drawn(series: Series) -> list[str]:
    return [entry.actions[0] for entry in series.entries.values()]


def test_cooperation_is_measured_by_scores_on_the_same_deals(tested: Tested) -> None:
    best = max(d * (a, b).count(d) for d, a, b in product((1, 2, 3), repeat=3))
    usual = Fraction(sum(d * (a, b).count(d) for d, a, b in product((1, 2, 3), repeat=3)), 27)
    assert (best, usual) == (6, Fraction(4, 3))
    play, played = tested(game(2, TOGETHER, str(best)), 2, DRAWN)
    assert (played.sides, played.shared) == (((0, 1),), True)
    assert {rung.measure for rung in played.ladder} == {"return"}
    random, greedy = (one.figures for one in played.plays[:2])
    assert random["score"].low is not None
    assert random["score"].high is not None
    assert random["score"].low <= usual <= random["score"].high
    for score in (random["score"], greedy["score"]):
        assert score.high is not None
        assert score.low is not None
        assert 0 <= score.low <= score.high <= best
    assert not {"ties", "wins_player_1"} & {*random, *greedy}
    # Who names what was drawn scores twice that: of every match the most, by the enumeration.
    alone = play.played["alone-greedy"]
    assert [r.match.returns for r in alone.records] == [(2 * int(d),) * 2 for d in drawn(alone)]
    share = sum(2 * int(d) for d in drawn(alone)) / len(drawn(alone)) / best
    assert greedy["share"].value == pytest.approx(share)
    assert (played.best_score, played.best_declared) == (best, True)
    pairs = zip(drawn(play.played["random"]), drawn(alone), strict=False)
    assert all(one == other for one, other in pairs)
    (better,) = (one for one in verdict_of(played) if one.name == "Do players get better?")
    assert "of 6, the best possible" in better.text


def test_a_best_score_that_a_match_surpasses_is_not_believed(tested: Tested) -> None:
    _, played = tested(game(2, TOGETHER, "5"), 2, DRAWN)
    assert (played.best_score, played.best_declared) == (6, False)


def test_partners_take_all_seats_of_a_side(tested: Tested) -> None:
    play, played = tested(game(4, SIDES), 4, LARGE)
    assert played.sides == ((0, 2), (1, 3))
    assert not played.shared
    assert [*played.plays[0].figures][:2] == ["wins_players_1_3", "wins_players_2_4"]
    series = play.played["step-0-versus"]
    for record in series.records:
        one, other = record.players[0::2], record.players[1::2]
        assert len(set(one)) == len(set(other)) == 1 < len(set(record.players))
    # Both sides name 3 with 3 at best: that ties in one case of nine, and wins in all others.
    figure = played.ladder[0].figure
    assert played.ladder[0].even == 0.5
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low <= 1 - 1 / 9 / 2 <= figure.high


def test_one_against_two_are_two_sides_that_change_places(tested: Tested) -> None:
    play, played = tested(game(3, ALONE), 3, LARGE)
    assert played.sides == ((0,), (1, 2))
    seated = {record.players for record in play.played["step-0-versus"].records}
    assert all(one != pair == other for one, pair, other in seated)
    assert len({one for one, *_ in seated}) == 2
    # Random: of 27 cases the first wins 5 and ties 9, whatever the size of the other side.
    first, others = list(played.plays[0].figures.values())[:2]
    assert others.name == "players 2 and 3 win"
    assert first.value is not None
    assert others.value == pytest.approx(1 - first.value)
    assert first.low is not None
    assert first.high is not None
    assert first.low <= (5 + 9 / 2) / 27 <= first.high
    # Always 3 against random: 13/18 alone, 5/6 as the pair.
    figure = played.ladder[0].figure
    assert played.ladder[0].even == 0.5
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low <= (13 / 18 + 5 / 6) / 2 <= figure.high


def test_a_limit_that_cuts_nothing_changes_nothing(tested: Tested, folder: RunFolder) -> None:
    _, timed = tested(game(2, TOGETHER), 2, DRAWN, 600.0)
    assert not timed.cut
    for journal in folder.journals.iterdir():
        journal.unlink()
    _, free = tested(game(2, TOGETHER), 2, DRAWN)
    assert timed == free


def test_a_slow_game_ends_in_its_time_and_a_resumed_run_says_the_same(tested: Tested) -> None:
    slow = game(2, TOGETHER, slow="sum(range(1_000_000))")
    _, first = tested(slow, 2, DRAWN, 4.0)
    assert first.cut
    assert all(played < planned for played, planned in first.cut.values())
    assert "met its wall limit of 4 s" in verdict_text(first)[0]
    _, again = tested(slow, 2, DRAWN, 4.0)
    assert again == first
