"""Records chosen for a validator: different endings, players and rules; play directed at gaps."""

import dataclasses
import itertools

import pytest

from agents.protocols import Rule
from games import library
from games.checks.run import CheckSettings
from games.checks.seats import SeatFact
from games.engine import Match
from games.records import MatchRecord
from graph.new.context import RunContext
from graph.new.records import DiverseRecords, chosen_records, diverse_records
from graph.run.events import Event, MatchPlayed
from tests.graph.conftest import MakeContext
from tests.graph.scripted import DESIGN
from tools.coverage import RuleCoverage

# Two players wave or nod until one of them ends it; ten waves in a row are worth three points.
WAVES = '''
GAME = {"name": "waves", "summary": "Wave or nod.", "min_players": 2, "max_players": 2,
        "open": ["turn", "row", "left", "won"]}
ZONES = {}


def initial_state(num_players):
    """Nobody has waved. Rules: R1."""
    if num_players != 2:
        raise ValueError("for two")
    return {"turn": 0, "row": 0, "left": 12, "won": [0, 0]}


def get_current_player(state):
    return -4 if not state["left"] else state["turn"]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    return ["wave", "nod"] if state["left"] else []


def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError(f"{action} is not legal")
    new = {**state, "turn": 1 - state["turn"], "left": state["left"] - 1}
    new["row"] = state["row"] + 1 if action == "wave" else 0  # R2
    if new["row"] == 12:  # R4
        new["won"] = [3, 0]
    elif not new["left"]:
        new["won"] = [1, 0] if action == "wave" else [0, 1]  # R3
    if new["row"] > 12:  # R5
        new["won"] = [9, 9]
    return new


def get_rewards(state):
    return state["won"] if not state["left"] else [0, 0]


def get_observations(state):
    return [dict(state), dict(state)]


def get_events(state, action):
    return [[action + "."], [action + "."]]


def visible(state, player_id):
    return {}
'''
RULES = tuple(Rule(id=f"R{n}", section="Turn", text=f"Rule {n}.") for n in range(1, 7))
OF_WAVES = DESIGN.model_copy(update={"rules": RULES, "title": "Waves"})


def _quick(context: RunContext, **settings: object) -> RunContext:
    settings = {"quick": True, **settings}
    return dataclasses.replace(context, settings=context.settings.model_copy(update=settings))


@pytest.mark.whole
def test_play_is_directed_at_rules_that_never_fired(make_context: MakeContext) -> None:
    # 12 waves of 12 have the chance 1/4096 in random play; whoever leans to waving waves them all.
    found = diverse_records(make_context().record_pool(WAVES, OF_WAVES, 2), 5)
    assert len(found.records) == 5
    assert found.coverage.never == ("R5",)  # cannot happen
    assert found.coverage.unmarked == ("R6",)
    assert found.notes == ("rules that no match reached: R5",)
    assert set(found.coverage.fired) == {"R1", "R2", "R3", "R4"}
    ((index, ply),) = found.coverage.fired["R4"]
    assert [p.action for p in found.records[index].match.plies] == ["wave"] * 12
    assert ply == 11
    assert {record.match.returns for record in found.records} == {
        (3.0, 0.0),
        (1.0, 0.0),
        (0.0, 1.0),
    }
    assert {"random", "flatmc", "uct"} <= {r.players[0].partition(":")[0] for r in found.records}


def test_the_same_seed_gives_the_same_records(make_context: MakeContext) -> None:
    context = _quick(make_context())
    one, other, again = (
        [r.actions for r in diverse_records(context.record_pool(WAVES, OF_WAVES, seed)).records]
        for seed in (1, 3, 1)  # what was played last is kept
    )
    assert one == again != other


def test_the_rarest_ending_and_rule_come_first() -> None:
    def record(*paid: float, plies: int = 0) -> MatchRecord:
        match = Match("finished", paid, (), None, ())
        return MatchRecord("g", {}, ("random", "random"), 0, plies, match)

    records = [record(1, 0), record(1, 0), record(0, 1), record(1, 0), record(0.5, 0.5)]
    met = [frozenset({"R1"})] * 3 + [frozenset({"R1", "R2"}), frozenset({"R1"})]
    assert set(chosen_records(records, met, 3)) == {2, 3, 4}
    assert sorted(chosen_records(records, met, 9)) == [0, 1, 2, 3, 4]
    assert chosen_records([], [], 3) == []


@pytest.mark.whole
def test_who_wins_in_no_match_that_is_read_is_said(make_context: MakeContext) -> None:
    # WAVES is won by either player: of a single record one of the two was not read.
    context = make_context()
    alone = diverse_records(context.record_pool(WAVES, OF_WAVES, 2), 1)
    (note,) = alone.unread
    returns = alone.records[0].match.returns
    assert returns is not None
    other = 1 + returns.index(min(returns))
    assert f"player {other} did best (" in note
    assert diverse_records(context.record_pool(WAVES, OF_WAVES, 2), 5).unread == ()


def test_what_sets_seats_apart_is_one_note_and_no_suspicion() -> None:
    facts = tuple(SeatFact((seat,), f"does {seat}", (9, 0), 9, 1e-6) for seat in (0, 1))
    coverage = RuleCoverage({}, {}, (), (), (), ())
    (note,) = DiverseRecords((), coverage, played=9, seats=facts).notes
    assert all(str(fact) in note for fact in facts)
    assert "as a rule may mean" in note


def test_a_game_that_never_ends_gives_no_record_but_its_coverage(
    make_context: MakeContext,
) -> None:
    endless = WAVES.replace('state["left"] - 1', 'state["left"]')
    context = _quick(make_context(), check=CheckSettings(max_plies=30))
    found = diverse_records(context.record_pool(endless, OF_WAVES, 2))
    assert found.records == ()
    assert "R3" in found.coverage.never
    assert found.played >= 12


def test_a_slow_module_is_played_for_as_many_matches_as_there_is_time_for(
    make_context: MakeContext,
) -> None:
    # By this clock every match takes more than all the time there is. A worker is slow for a match,
    # so the referee's plies are; a search's thousands need not be.
    slow = WAVES.replace("GAME =", "import time\nSLOW = iter(range(26))\nGAME =", 1).replace(
        "def get_legal_actions(state):\n",
        "def get_legal_actions(state):\n"
        "    until = time.process_time() + (0.004 if next(SLOW, None) is not None else 0)\n"
        "    while time.process_time() < until: pass\n",
    )
    told: list[Event] = []
    context = dataclasses.replace(_quick(make_context()), clock=itertools.count(0, 100).__next__)
    found = diverse_records(context.record_pool(slow, OF_WAVES, 2, told.append))
    assert found.played == 3  # at random, of one ply ahead, and of a search
    assert len(found.records) == 3
    assert [event.played for event in told if isinstance(event, MatchPlayed)] == [1, 2, 3]
    assert any("so no more than 3 matches" in note for note in found.notes)
    assert (
        diverse_records(context.record_pool(WAVES, OF_WAVES, 2)).played > 3
    )  # the clock is not asked


def test_a_library_game_whose_functions_alone_are_marked_is_not_played_for_it(
    make_context: MakeContext,
) -> None:
    assert make_context().notes_of_play(library.source("tic_tac_toe"), OF_WAVES) == ()
    assert _quick(make_context()).notes_of_play(WAVES, OF_WAVES) == (
        "rules that no match reached: R5",
    )
