"""A whole run with a model, replayed: a sowing game, which no library family covers.

The recording's answers were given by hand from the requests' text alone.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents.composer import composer_roles
from agents.model.errors import ReplayMissError
from agents.model.settings import ModelSettings
from games import library
from graph.new.runs import start_run
from graph.run.folder import RunFolder
from graph.run.opening import open_model
from graph.run.settings import RunSettings
from tests.graph.conftest import MakeContext

RECORDING = Path(__file__).parents[2] / "recordings" / "kalah.json"
PROMPT = (
    "A sowing game in the manner of kalah for two players: six pits a side with four seeds in "
    "each. You sow anticlockwise, skipping the other player's store; ending in your own store "
    "gives another turn; ending in an empty pit of yours captures what lies opposite. When one "
    "side is empty the other player keeps the rest, and most seeds win."
)


def settings() -> RunSettings:
    """The recorded run's settings; the play-test, which no prompt quotes, is made small."""
    return RunSettings(seed=11, quick=True).model_copy(
        update={
            "ladder_matches": 4,
            "random_matches": 6,
            "heuristic_matches": 4,
            "small_budget": 3,
            "large_budget": 6,
        }
    )


def replaying(path: Path) -> ModelSettings:
    return ModelSettings(model="answered-by-hand", replay=path, retries=0, tool_rounds=2)


def test_the_recording_says_who_answered() -> None:
    assert json.loads(RECORDING.read_text())["label"].startswith("answered by hand")


def test_the_recorded_run_makes_a_checked_game_again(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles, budget = open_model(replaying(RECORDING))
    # The recording is older than the strategist's way of asking; its heuristics are no part of it.
    roles = replace(roles, strategist=composer_roles().strategist)
    context = make_context(roles, settings())
    context.budget = budget
    result = start_run(PROMPT, folder, context)
    assert result.state.end == "made", result.state.reason
    design = result.state.design
    assert design is not None
    assert design.family not in library.families()
    assert all(clause.status == "honoured" for clause in design.clauses)
    accepted = result.state.candidate(result.state.accepted or 0)
    assert {finding.outcome for finding in accepted.findings or ()} == {"passed"}
    written = json.loads((folder.path / "run.json").read_text())
    assert written["usage"]["calls"] == 6


def test_a_request_that_was_not_recorded_raises_and_names_a_near_one(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles, _ = open_model(replaying(RECORDING))
    with pytest.raises(ReplayMissError, match="intake/clarify"):
        start_run(PROMPT + " Draws are replayed.", folder, make_context(roles, settings()))
