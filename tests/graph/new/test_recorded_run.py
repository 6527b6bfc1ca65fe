"""Whole runs with a model, replayed: games that no library family covers.

The recordings' answers were given by hand from the requests' text alone.
"""

import json
import re
from itertools import takewhile
from typing import Any

import pytest

from agents.model.errors import ReplayMissError
from agents.model.settings import ModelSettings
from games import library
from graph.new.coding import DRAFTING_LIMIT
from graph.new.opening import open_model
from graph.new.requests import write_request
from graph.new.runs import resume_run, start_run
from graph.run.folder import RunFolder
from scripts.recordings import FOLDER, MODEL, TOOL_ROUNDS, label_of, request_of, runs, settings_of
from tests.graph.conftest import MakeContext

RETRIEVED = re.compile(r"<retrieved>\n.*?\n</retrieved>", re.DOTALL)
RECORDED = [name for name in runs() if (FOLDER / f"{name}.json").exists()]
# Tokens of a request's text: four characters each. What is retrieved may change: its limit counts.
MOST_BEFORE_ACCEPTANCE, MOST_IN_ALL, MOST_OF_A_DRAFT = 60_000, 200_000, 6_000
# Errors that the answerer made on purpose as the validator: a wrong test, and in lanterns a wrong
# verdict. Of the three faults planted in the first draft none was left when the game was delivered.
PLANTED = {"lanterns": 2, "smugglers": 1}


def replaying(name: str) -> ModelSettings:
    path = FOLDER / f"{name}.json"
    return ModelSettings(model=MODEL, replay=path, tool_rounds=TOOL_ROUNDS)


def requests_of(name: str) -> list[tuple[str, int]]:
    """Place and size of each request, in tokens."""
    kept = json.loads((FOLDER / f"{name}.json").read_text())["exchanges"]
    return [(one["place"], _size(one["request"]["body"])) for one in kept]


def _size(body: dict[str, Any]) -> int:
    text = "".join(message.get("content") or "" for message in body["messages"])
    fixed, retrieved = RETRIEVED.subn("", text)
    return (len(fixed) + retrieved * DRAFTING_LIMIT) // 4


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_says_who_answered(name: str) -> None:
    assert json.loads((FOLDER / f"{name}.json").read_text())["label"] == label_of(name)


@pytest.mark.timeout(900)  # one of them is refined three times, and plays long matches each time
@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_run_makes_a_checked_game_again(
    make_context: MakeContext, folder: RunFolder, name: str
) -> None:
    roles, budget = open_model(replaying(name))
    context = make_context(roles, settings_of(name))
    context.budget = budget
    write_request(request_of(name), folder)
    result = resume_run(folder, context)
    assert result.state.end in ("made", "delivered"), result.state.reason
    # Of what was said of the finished game, one message asked and one changed it.
    assert result.state.revision == len(runs()[name].get("said", ())) // 2
    struck = [claim for claim in result.state.claims if claim.status == "struck"]
    assert len(struck) == PLANTED.get(name, 0)
    design = result.state.design
    assert design is not None
    assert design.family not in library.families()
    assert result.state.accepted is not None
    accepted = result.state.candidate(result.state.accepted)
    assert {finding.outcome for finding in accepted.findings or ()} == {"passed"}


@pytest.mark.parametrize("name", RECORDED)
def test_prompts_keep_within_their_sizes(name: str) -> None:
    sizes = requests_of(name)
    assert sum(size for _, size in sizes) <= MOST_IN_ALL
    assert next(size for place, size in sizes if place == "code/draft") <= MOST_OF_A_DRAFT
    if not any(place.startswith("refine/") for place, _ in sizes):
        before = takewhile(lambda one: not one[0].startswith("strategize"), sizes)
        assert sum(size for _, size in before) <= MOST_BEFORE_ACCEPTANCE


def test_a_request_that_was_not_recorded_raises_and_names_a_near_one(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles, _ = open_model(replaying(RECORDED[0]))
    context = make_context(roles, settings_of(RECORDED[0]))
    with pytest.raises(ReplayMissError, match="intake/clarify"):
        start_run(runs()[RECORDED[0]]["prompt"] + " Draws are replayed.", folder, context)
