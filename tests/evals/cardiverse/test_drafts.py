"""First drafts of recorded designs, with and without retrieval, answered by a scripted endpoint."""

import json
from pathlib import Path

import pytest

from agents.roles import model_roles
from evals.cardiverse import recorded
from evals.cardiverse.recorded import (
    ARMS,
    Generation,
    checked,
    draft_names,
    recorded_drafts,
    written,
)
from games import library
from scripts.recordings import FOLDER, LABEL, MODEL, TOOL_ROUNDS, first_draft
from tests.agents.model.endpoint import message, serving
from tests.agents.model.talking import chat_with
from tests.graph.conftest import MakeContext
from tests.graph.scripted import ScriptedRoles, role_set

SOUND = library.source("tic_tac_toe")
BROKEN = SOUND.replace("def apply_action(", "def apply_no_action(")


def called(name: str, **given: str) -> object:
    return message(calls=[(name, json.dumps(given))])


def test_both_arms_get_the_same_request_but_for_what_is_retrieved(
    make_context: MakeContext, tmp_path: Path
) -> None:
    asked = {}
    for name in ("kalah", "kalah-ret"):
        search = message(calls=[("search_snippets", json.dumps({"query": "you must follow suit"}))])
        with serving(search, message(f"```python\n{SOUND}```")) as endpoint:
            chat = chat_with(endpoint, model=MODEL, record=tmp_path / f"{name}.json")
            context = make_context(model_roles(chat))
            assert first_draft(name, context) == SOUND
            again = chat_with(model=MODEL, replay=tmp_path / f"{name}.json")
            assert first_draft(name, make_context(model_roles(again))) == SOUND
            asked[name] = [request["messages"] for request in endpoint.requests]
    (first, second), (bare, again) = asked["kalah"], asked["kalah-ret"]
    head, _, rest = first[-1]["content"].partition("\n\nFunctions of other games")
    tail = rest.partition("</retrieved>")[2]
    assert "<retrieved>" in first[-1]["content"]
    assert bare[-1]["content"].split() == (head + tail).split()
    assert first[:-1] == bare[:-1]
    assert "def " in second[-1]["content"]
    assert "def " not in again[-1]["content"]


def test_the_eval_scores_the_first_module_and_the_answer_of_each_arm(
    make_context: MakeContext,
) -> None:
    context = make_context(role_set(ScriptedRoles()))
    row = checked(Generation("cells", ARMS["-ret"], "", "", 2, (BROKEN, SOUND)), context)
    assert row["checks of the answer"] == 1.0
    assert row["checks of the first module"] < 1.0
    assert "definitions" in row["not passed, checks of the first module"]


def test_an_arm_that_nobody_answered_is_named_with_the_command_that_asks(
    make_context: MakeContext,
) -> None:
    context = make_context(role_set(ScriptedRoles()))
    made, lacking = recorded_drafts(context)
    assert len(made) + len(lacking) == len(draft_names()) == 2 * len(list(FOLDER.glob("*.json")))
    for said in lacking.values():
        assert said.startswith("python -m scripts.recordings record drafts/")


@pytest.mark.parametrize("path", sorted(recorded.DRAFTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_recorded_draft_replays_and_says_who_answered(
    make_context: MakeContext, path: Path
) -> None:
    context = make_context(
        model_roles(chat_with(model=MODEL, replay=path, tool_rounds=TOOL_ROUNDS))
    )
    assert first_draft(path.stem, context) == written(path)[-1]
    assert json.loads(path.read_text())["label"] == LABEL
