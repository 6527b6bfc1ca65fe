"""Rule coverage: marks in a source, and the plies of a record at which they were met."""

from textwrap import indent

import pytest

from games.checks.sampling import UniformPlayer, trusted_subject
from games.engine import Effort, Match, Ply, play_match
from games.library import source as library_source
from games.mechanics import Mechanic, MechanicGraph
from games.records import MatchRecord, PlayedActions
from games.values import TERMINAL, ModuleFault
from tests.tools.sources import NIM
from tools.coverage import mechanic_coverage, rule_coverage
from tools.playtest.of_run.reached import not_met
from tools.sandbox import Sandbox, SandboxTable

MARKED = NIM.replace(
    'def get_rewards(state):\n',
    'def get_rewards(state):\n    """Who takes the last one wins. Rules: R3, R9."""\n',
).replace(
    '    if state["turn"] == -1:\n        return {**state, "pile": number, "turn": 0}\n',
    '    # R1: chance sets the pile; more than one line\n'
    '    # of words may stand here.\n'
    '    if state["turn"] == -1:\n        return {**state, "pile": number, "turn": 0}\n',
).replace(
    '    won = state["turn"] if left == 0 else -1\n',
    '    won = -1\n    if left == 0:  # R3\n        won = state["turn"]\n'
    '    elif left == 99:  # R8, R4: never\n        won = -1\n'
    '    else:  # R5 R11 else\n        won = -1\n',
).replace('ZONES =', '# R6: a pile of counters\nZONES =')  # fmt: skip


def record(*actions: str) -> MatchRecord:
    """A match of nim in which these actions were taken, chance's own among them."""
    table, plies = trusted_subject(MARKED, 2).table, []
    position = table.open(2, {})
    for action in actions:
        after = table.advance(position, action)
        plies.append(
            Ply(
                player=position.player,
                observation=None,
                legal=position.legal,
                action=action,
                rewards=after.rewards,
                events=after.events,
                effort=Effort(),
                state=position.state,
            )
        )
        position = after
    assert position.player == TERMINAL
    match = Match("finished", (1.0, -1.0), tuple(plies), position.state, position.observations)
    return MatchRecord("nim", {}, ("a", "b"), 0, 0, match)


def test_a_comment_marks_what_is_done_and_a_docstring_the_whole_function(sandbox: Sandbox) -> None:
    played = [record("pile 3", "take 2", "take 1")]
    found = rule_coverage(sandbox, MARKED, [f"R{n}" for n in (1, 3, 4, 5, 6, 7, 9, 11)], played)
    assert found.fired["R1"] == ((0, 0),)  # chance
    assert found.fired["R5"] == found.fired["R11"] == ((0, 1),)  # one is left
    assert found.fired["R3"] == ((0, 2),)  # the last one is taken
    assert found.fired["R6"] == ((0, 0),)  # a constant holds from the first ply on
    assert found.fired["R9"] == ((0, 0), (0, 1), (0, 2))  # what a state paid is asked every time
    assert found.never == ("R4",)
    assert found.unmarked == ("R7",)
    assert found.whole == ("R9",)
    assert found.lost == ()
    lines = MARKED.splitlines()
    assert [lines[first - 1].strip() for first, _ in found.lines["R3"]] == ["if left == 0:  # R3"]
    assert found.of(0) == {"R1", "R3", "R5", "R6", "R9", "R11"}


@pytest.mark.parametrize(
    "refusal",
    [
        "    if number < 0:  # R2\n        raise ValueError('none')\n",
        "    if number < 0:\n        raise ValueError('none')  # R2\n",
        "    if number < 0: raise ValueError('none')  # R2\n",
        "    if (\n        number < 0\n    ):\n        # R2\n        raise ValueError('none')\n",
    ],
)
def test_a_rule_that_only_refuses_is_met_where_it_was_asked(sandbox: Sandbox, refusal: str) -> None:
    asked = MARKED.replace("    # R1: chance", refusal + "    # R1: chance")
    assert asked != MARKED
    played = [record("pile 3", "take 2", "take 1")]
    found = rule_coverage(sandbox, asked, ["R2"], played)
    assert (found.never, found.fired["R2"][0]) == ((), (0, 0))
    below = f"    if number > 99:\n{indent(refusal, '    ')}    # R1: chance"
    unasked = MARKED.replace("    # R1: chance", below)
    assert rule_coverage(sandbox, unasked, ["R2"], played).never == ("R2",)


def test_without_records_it_is_told_where_rules_stand(sandbox: Sandbox) -> None:
    found = rule_coverage(sandbox, MARKED, ["R3", "R2"], [])
    assert (found.never, found.unmarked, found.fired) == (("R3",), ("R2",), {})


def test_a_record_of_another_game_is_lost_and_shows_nothing(sandbox: Sandbox) -> None:
    played = record("pile 3", "take 2", "take 1")
    other = MARKED.replace('min(state["most"], state["pile"]) + 1', "2")
    found = rule_coverage(sandbox, other, ["R1", "R3"], [played])
    assert found.lost == (0,)
    assert found.fired == {}
    assert found.never == ("R1", "R3")


def test_a_source_that_does_not_parse_is_the_modules_fault(sandbox: Sandbox) -> None:
    with pytest.raises(ModuleFault, match="unreadable|module"):
        rule_coverage(sandbox, "def broken(:\n", ["R1"], [])


def test_where_nothing_could_be_followed_that_is_said_and_no_rule_passes(sandbox: Sandbox) -> None:
    nothing = MechanicGraph(nodes=(), edges=())
    missed, silent, followed = not_met(sandbox, "def broken(", {"R1": "Play."}, nothing, [])
    assert "is not known" in " ".join(missed)
    assert (silent, followed) == ((), 0)


def test_every_rule_of_a_library_game_that_is_marked_was_met_in_a_match(sandbox: Sandbox) -> None:
    source = library_source("tic_tac_toe")
    with sandbox.worker("referee", source) as worker:
        worker.load(source)
        match = play_match(
            SandboxTable(worker), [UniformPlayer(), UniformPlayer()], parameters={}, seed=1
        )
    played = [MatchRecord("tic_tac_toe", {}, ("random", "random"), 1, 0, match)]
    found = rule_coverage(sandbox, source, [f"R{n}" for n in range(1, 13)], played)
    assert found.never == ()
    assert found.unmarked == ()


def test_a_mechanic_stands_in_a_function_in_a_branch_or_where_its_rules_do(
    sandbox: Sandbox,
) -> None:
    """Of three plies the last one takes the last counter; nothing ever leaves 99."""
    nodes = (
        Mechanic(id="M1", name="play", code=("apply_action",)),
        Mechanic(id="M2", name="take the last", code=("apply_action if left == 0",)),
        Mechanic(id="M3", name="leave many", code=("apply_action if left == 99",)),
        Mechanic(id="M4", name="nobody won", code=("apply_action if won = -1",)),
        Mechanic(id="M5", name="by its rule", rules=("R3",), code=("elsewhere",)),
        Mechanic(id="M6", name="nowhere", rules=("R77",), code=("apply_action if green",)),
    )
    graph = MechanicGraph(nodes=nodes, edges=())
    played = PlayedActions.of(record("pile 3", "take 2", "take 1"))
    found = mechanic_coverage(sandbox, MARKED, graph, [played])
    assert found.fired["M1"] == ((0, 0), (0, 1), (0, 2))
    assert found.fired["M2"] == found.fired["M5"] == ((0, 2),)
    assert found.fired["M4"] == ((0, 1), (0, 2))
    assert found.never == ("M3",)
    assert found.unmarked == ("M6",)
    lines = MARKED.splitlines()
    assert [lines[a - 1].strip() for a, _ in found.lines["M2"]] == ["if left == 0:  # R3"]
