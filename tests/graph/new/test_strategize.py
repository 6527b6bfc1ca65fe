"""Heuristics of a run: what cannot be used is told once and left out; the game is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from pydantic import JsonValue

from agents.model.errors import MalformedReplyError
from agents.protocols import Design, Heuristic, RoleError
from app.table.session import line_up_of
from graph.new.nodes.strategize import proposed
from graph.new.results import RunResult, final_text
from graph.run.folder import RunFolder
from tests.graph.conftest import MakeContext
from tests.graph.running import start_run
from tests.graph.scripted import DESIGN, ScriptedRoles, role_set
from tools.playtest.jobs import GameSetup
from tools.sources import find_game

GOOD = "def score(observation, action):\n    return float(action == 'nowhere')\n"
BAD = {
    "raises": "def score(observation, action):\n    return 1 / 0\n",
    "hangs": "def score(observation, action):\n    while True:\n        pass\n",
    "tells": "def score(observation, action):\n    return 'high'\n",
    "is_no_number": "def score(observation, action):\n    return float('nan')\n",
    "changes": "def score(observation, action):\n    observation.clear()\n    return 1.0\n",
    "is_broken": "def score(:\n",
    "has_no_code": "",
}


@dataclass
class Strategists(ScriptedRoles):
    """The scripted roles with these heuristics; they repair as they are told."""

    sources: Mapping[str, str] = field(default_factory=dict)
    repaired: Mapping[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)

    def heuristics(
        self, design: Design, source: str, samples: Sequence[Mapping[str, JsonValue]]
    ) -> Sequence[Heuristic]:
        return [Heuristic(name=n, policy="", source=text) for n, text in self.sources.items()]

    def repair(
        self,
        design: Design,
        source: str,
        samples: Sequence[Mapping[str, JsonValue]],
        broken: Sequence[tuple[Heuristic, str]],
    ) -> Sequence[Heuristic]:
        self.calls.append("repair")
        self.told |= {heuristic.name: why for heuristic, why in broken}
        return [Heuristic(name=n, policy="", source=text) for n, text in self.repaired.items()]


@dataclass
class Unreadable(ScriptedRoles):
    """A strategist that answers in prose."""

    error: Exception = field(default_factory=Exception)

    def heuristics(
        self, design: Design, source: str, samples: Sequence[Mapping[str, JsonValue]]
    ) -> Sequence[Heuristic]:
        raise self.error


def opponent(folder: RunFolder, make_context: MakeContext) -> str | None:
    """Who sits down against a person at the table of a run's game."""
    found = find_game(str(folder.path))
    game = GameSetup(found.name, found.source, 2, {}, found.heuristics)
    return line_up_of(game, [0], [], folder.path, make_context().sandbox)[1]


def made(roles: ScriptedRoles, folder: RunFolder, make_context: MakeContext) -> RunResult:
    result = start_run("noughts and crosses", folder, make_context(role_set(roles)))
    assert result.state.end == "made", result.state.reason
    assert f"play with: rulewright play {folder.path}" in final_text(result.state)
    return result


@pytest.mark.parametrize(
    "error", [MalformedReplyError("it holds no JSON object"), RoleError("nothing to say")]
)
def test_a_reply_that_cannot_be_read_costs_the_heuristics_and_not_the_game(
    error: Exception, folder: RunFolder, make_context: MakeContext
) -> None:
    result = made(Unreadable(error=error), folder, make_context)
    assert result.state.heuristics == ()
    assert str(error) in " ".join(result.state.strategy_notes)
    assert str(opponent(folder, make_context)).startswith("uct")


def test_what_does_not_work_is_told_once_and_left_out(
    folder: RunFolder, make_context: MakeContext
) -> None:
    roles = Strategists(sources=BAD)
    result = made(roles, folder, make_context)
    assert roles.calls.count("repair") == 1
    assert roles.told.keys() == BAD.keys()
    assert "division by zero" in roles.told["raises"]
    assert "changed its observation" in roles.told["changes"]
    assert result.state.heuristics == ()
    notes = " ".join(result.state.strategy_notes)
    assert all(f"{name} was left out" in notes for name in BAD)
    assert not list((folder.path / "players").glob("*.py"))
    assert opponent(folder, make_context) is not None


def test_a_repaired_heuristic_takes_part(folder: RunFolder, make_context: MakeContext) -> None:
    roles = Strategists(sources={"raises": BAD["raises"]}, repaired={"raises": GOOD})
    result = made(roles, folder, make_context)
    assert any(note.startswith("raises: 0.") for note in result.state.strategy_notes)


def test_a_model_without_heuristics_worth_having_has_none_and_says_so(
    folder: RunFolder, make_context: MakeContext
) -> None:
    result = made(Strategists(sources={"idle": GOOD}), folder, make_context)
    assert result.state.heuristics == ()
    assert "none is kept" in result.state.strategy_notes[-1]
    assert "Note: no heuristic was kept" in final_text(result.state)


def test_a_revision_starts_from_the_heuristics_that_are_there_and_mends_those_that_broke(
    make_context: MakeContext,
) -> None:
    roles = Strategists(sources={"new": GOOD}, repaired={"raises": GOOD})
    earlier = [Heuristic(name=n, policy="", source=BAD.get(n, GOOD)) for n in ("kept", "raises")]
    context, notes = make_context(role_set(roles)), list[str]()
    samples: list[dict[str, JsonValue]] = [{"observation": {"n": 1}, "legal": ["a", "b"]}]
    found = proposed(context, DESIGN, "", samples, notes, earlier)
    assert [(one.name, one.source) for one in found] == [("kept", GOOD), ("raises", GOOD)]
    assert roles.told.keys() == {"raises"}
    assert "no new ones were asked for" in notes[0]
