"""Optional functions of an accepted game: kept where they win or fit, else dropped and said."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from agents.model.errors import MalformedReplyError, ReplyError
from agents.protocols import CoderTools, Design
from agents.roles.coder import optional_functions
from games import library
from games.checks.unit_tests import UnitTest
from graph.run.folder import RunFolder
from tests.graph.conftest import MakeContext
from tests.graph.running import start_run
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL, UNPLAYED
from tests.tools.sources import NIM

SOURCE = library.source("tic_tac_toe")
FLAT = """def value_function(state, player_id):
    return get_rewards(state)[player_id]
"""
WRONG = """def value_function(state, player_id):
    return 7.0
"""
DRAWS = """def resample_state(obs_action_history, player_id):
    return {}
"""


# The mover wins a pile that 3 does not divide (Bouton 1901, for takes of one or two).
PILES = NIM.replace("pile 3", "pile 10").replace("pile 4", "pile 11")
EXACT = """def value_function(state, player_id):
    if state["won"] >= 0:
        return get_rewards(state)[player_id]
    if state["turn"] == -1:
        return 0.0
    return 1.0 if (state["pile"] % 3 != 0) == (state["turn"] == player_id) else -1.0
"""


@dataclass
class Extending(ScriptedRoles):
    """Scripted roles with optional functions, or an exception in their place."""

    extras: Mapping[str, str] | Exception = field(default_factory=dict)
    source: str = SOURCE

    def draft(self, design: Design, tools: CoderTools) -> str:
        return self.source

    def unit_tests(self, design: Design, source: str, amended: object = ()) -> list[UnitTest]:
        return []

    def extend(self, design: Design, source: str) -> Mapping[str, str]:
        self.calls.append("extend")
        if isinstance(self.extras, Exception):
            raise self.extras
        return self.extras

    def heuristics(self, *_: object) -> list[object]:  # type: ignore[override]
        return []


@pytest.mark.parametrize(
    ("extras", "said"),
    [
        ({"value_function": WRONG, "resample_state": DRAWS}, "with it not all checks pass: value"),
        ({"value_function": FLAT}, "value_function was dropped: uct:simulations=3,leaf=value"),
        (MalformedReplyError("prose"), "No value function and no resampler: prose"),
    ],
)
def test_what_does_not_win_or_fit_is_dropped_and_the_game_is_as_it_was(
    make_context: MakeContext,
    folder: RunFolder,
    extras: Mapping[str, str] | Exception,
    said: str,
) -> None:
    roles = Extending(extras=extras)
    played = SMALL if extras == {"value_function": FLAT} else UNPLAYED
    settings = played.model_copy(update={"extras": True})
    context = make_context(replace(role_set(roles), extender=roles), settings)
    state = start_run("noughts", folder, context).state
    assert state.end == "made", state.reason
    assert any(said in note for note in state.strategy_notes), state.strategy_notes
    assert (folder.path / "game.py").read_text() == SOURCE
    assert said in " ".join(folder.read_json("run.json")["strategy_notes"])  # type: ignore[index]


def test_a_value_function_that_wins_is_kept_and_plays(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = Extending(extras={"value_function": EXACT}, source=PILES)
    more = {"extras": True, "small_budget": 3, "ladder_matches": 20}
    settings = SMALL.model_copy(update=more)
    context = make_context(replace(role_set(roles), extender=roles), settings)
    state = start_run("nim", folder, context).state
    assert state.end == "made", state.reason
    kept = [note for note in state.strategy_notes if note.startswith("value_function was kept")]
    assert len(kept) == 1, state.strategy_notes
    assert "leaf=value against" in kept[0]
    assert EXACT.strip() in (folder.path / "game.py").read_text()


@pytest.mark.parametrize("changes", [{}, {"extras": True, "quick": True}])
def test_they_are_asked_for_where_the_setting_says_so_and_never_in_a_quick_run(
    make_context: MakeContext, folder: RunFolder, changes: dict[str, bool]
) -> None:
    roles = Extending()
    settings = UNPLAYED.model_copy(update=changes)
    context = make_context(replace(role_set(roles), extender=roles), settings)
    assert start_run("noughts", folder, context).state.end == "made"
    assert "extend" not in roles.calls


def test_a_function_comes_with_its_helpers_and_none_is_defined_again() -> None:
    helper = "def _rank(state):\n    return 1.0\n\n\n"
    found = optional_functions(helper + FLAT + DRAWS, NIM)
    assert found.keys() == {"value_function", "resample_state"}
    assert all("def _rank" in text for text in found.values())
    for bad in (
        "x = 1",
        "def GAME():\n    pass\n",
        "def get_rewards(state):\n    return [9, 9]\n",
        "def f(",
    ):
        with pytest.raises(ReplyError):
            optional_functions(bad, NIM)
