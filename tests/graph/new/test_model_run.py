"""A run with a model: what it may spend, what is tried again, what a break costs."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.model.budget import BudgetExhaustedError
from agents.model.errors import EndpointError, MalformedReplyError, RefusedRequestError
from agents.protocols import Design, RoleSet, Verdict
from games.library import families, source
from games.records import MatchRecord
from games.table import Position
from graph.new.context import RunContext
from graph.new.opening import _context, describe_roles, open_model
from graph.new.results import final_text
from graph.run.candidates import best
from graph.run.events import Begins, Event, Waits
from graph.run.folder import RunFolder, create_folder
from tests.agents.model.endpoint import (
    Answer,
    Endpoint,
    Request,
    as_json,
    error,
    message,
    serving,
)
from tests.agents.model.talking import settings_for
from tests.agents.roles.games import high_draw
from tests.graph.answering import DESIGN, PROMPT, answer, schema_of
from tests.graph.conftest import MakeContext
from tests.graph.running import resume_run, start_run

# clarify, design, module, unit tests, one record; strategies, measures, review, three times code
CALLS = 11


def model_context(
    make_context: MakeContext, endpoint: Endpoint, folder: RunFolder, **changes: object
) -> RunContext:
    """The context of a process that works for this folder with the endpoint's model."""
    settings = settings_for(endpoint, **{"retries": 0, "deadline_s": 10, **changes})
    roles, budget = open_model(settings, folder.exchanges)
    return replace(make_context(roles), budget=budget)


def run_json(folder: RunFolder) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder.path / "run.json").read_text())
    return value


def test_a_model_makes_a_checked_game_and_its_use_is_reported(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with serving(answer) as endpoint:
        result = start_run(PROMPT, folder, model_context(make_context, endpoint, folder))
    assert result.state.end == "made", result.state.reason
    assert len(endpoint.requests) == CALLS
    usage = run_json(folder)["usage"]
    assert (usage["calls"], usage["failed_calls"]) == (CALLS, 0)
    assert usage["tokens_in"] == 100 * CALLS
    assert usage["tokens_out"] > 20 * CALLS  # as told, or an eighth of the characters: long replies
    assert run_json(folder)["model"] == "scripted"
    roles = run_json(folder)["usage_by_role"]
    assert {role: used["calls"] for role, used in roles.items() if role != "strategist"} == {
        "designer": 2, "coder": 1, "validator": 2,
    }  # fmt: skip
    assert sum(used["calls"] for used in roles.values()) == CALLS
    assert roles["designer"]["tokens_in"] == 200
    assert (roles["designer"]["largest_prompt"], roles["designer"]["mean_prompt"]) == (100, 100)
    page = (folder.path / "report.html").read_text()
    asked = "2 calls, 200 tokens in (a prompt 100 on average, 100 at most)"
    assert f"{asked}, {roles['designer']['tokens_out']} out" in page
    (read,) = re.findall(r"played by [\w, :=]+; (\d+) of (\d+) plies were shown", page)
    assert read[0] == read[1]


def test_without_retrieval_a_model_reads_no_line_of_the_library_and_its_game_is_made(
    make_context: MakeContext, folder: RunFolder, tmp_path: Path
) -> None:
    ours = {line for name in families() for line in source(name).splitlines() if len(line) > 50}
    ours.difference_update(high_draw().splitlines())
    read: list[bool] = []
    for off in (True, False):
        place = folder if off else create_folder(tmp_path / "with", title="", runs=tmp_path)
        with serving(answer) as endpoint:
            context = model_context(make_context, endpoint, place)
            if off:
                settings = context.settings.model_copy(update={"retrieval": False})
                chosen = _context(settings, None, context.sandbox, context.retrieval.store)
                context.retrieval = chosen.retrieval
            assert start_run(PROMPT, place, context).state.end == "made"
        told = [str(m["content"]) for r in endpoint.requests for m in r["messages"]]
        read.append(any(line in ours for text in told for line in text.splitlines()))
    assert read == [False, True]


def test_what_a_run_may_cost_is_told_and_later_what_is_left(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with serving(failing_once("VerdictReply", error(401))) as endpoint:
        context = model_context(make_context, endpoint, folder)
        assert "estimate: " in describe_roles(context)
        with pytest.raises(RefusedRequestError):
            start_run(PROMPT, folder, context)
        again = describe_roles(model_context(make_context, endpoint, folder))
        asked = len(endpoint.requests)
    assert f"used so far: {asked} calls" in again
    # Left are the record that failed, or its retries after refinements, and the strategist's six.
    assert "left of its game, estimate: 7 to " in again


def failing_once(name: str, fault: Answer) -> Callable[[Request], Answer]:
    """Answers well, but for the first request for `name`."""
    failed: list[str] = []

    def step(request: Request) -> Answer:
        if schema_of(request) == name and not failed:
            failed.append(name)
            return fault
        return answer(request)

    return step


def without_a_rule(request: Request) -> Answer:
    """Answers well, but the rulebook has a fifth rule, and no line of the module names it."""
    if schema_of(request) == "DesignReply":
        text = "A player may pay 3 flies to hop one extra pad."
        more = {"id": "R5", "section": "Legal Actions", "text": text}
        never = {"id": "R6", "section": "Scoring", "text": "A tie pays nobody a second time."}
        asked = {**DESIGN["clauses"][0], "text": "two players, 4 flies"}
        rules, clauses = [*DESIGN["rules"], more, never], [*DESIGN["clauses"], asked]
        return as_json({**DESIGN, "rules": rules, "clauses": clauses})
    if schema_of(request) == "EditsReply" or "What is to be done" in str(request["messages"]):
        edit = {
            "search": 'if action == "change":  # R2',
            "replace": 'if action == "change":  # R2 R5',
        }
        return as_json({"cause": "R5 had no mark.", "contested": [], "edits": [edit]})
    return answer(request)


def test_a_rule_that_no_line_names_is_told_to_the_coder_and_one_that_denies_is_named(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with serving(without_a_rule) as endpoint:
        result = start_run(PROMPT, folder, model_context(make_context, endpoint, folder))
        edits = [
            str(r["messages"]) for r in endpoint.requests if "to be done" in str(r["messages"])
        ]
    assert result.state.end == "made", result.state.reason
    assert result.state.rounds == 1
    assert "no line of the module names R5" in edits[0]
    assert "names R6" not in edits[0]
    assert any("names rule R6" in note for note in result.state.notes)
    assert any("“two players, 4 flies” has 4, R1 not" in note for note in result.state.notes)
    # The mark was set and nothing else was done: no line of the code has a 3 in it.
    assert any(note.endswith("or leaves them out: 3 (R5)") for note in result.state.notes)


def test_a_rule_that_stays_without_code_is_named_at_the_end(
    make_context: MakeContext, folder: RunFolder
) -> None:
    def stubborn(request: Request) -> Answer:
        if "What is to be done" in str(request["messages"]):
            return message("I would rather not.")
        return without_a_rule(request)

    with serving(stubborn) as endpoint:
        context = model_context(make_context, endpoint, folder)
        context.settings = context.settings.model_copy(update={"max_rounds": 2})
        result = start_run(PROMPT, folder, context)
        asked = len(endpoint.requests)
    assert (result.state.end, result.state.rounds) == ("gave_up", 2)  # no reply ended the run
    assert "no line of the module names R5" in result.state.reason
    assert best(result.state.candidates).source == high_draw()
    assert "--rounds 3" in final_text(result.state)
    assert "--drop-test" not in final_text(result.state)  # each test of it was passed
    rulebook = (folder.path / "rulebook.md").read_text()
    assert "The code does not pass its checks: rules: no line of the module names R5" in rulebook
    assert "- in the rules: " in rulebook
    assert "- honoured: " not in rulebook
    assert "class=honoured" not in (folder.path / "report.html").read_text().replace('"', "")
    used = run_json(folder)["usage"]
    assert (used["calls"], used["failed_calls"]) == (asked, asked - 4)


def test_a_budget_that_ends_among_refinements_leaves_word_of_what_is_open(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with serving(without_a_rule) as endpoint:
        context = model_context(make_context, endpoint, folder, max_calls=4)
        with pytest.raises(BudgetExhaustedError, match="still open: .* names R5"):
            start_run(PROMPT, folder, context)
        assert len(endpoint.requests) == 4


@pytest.mark.parametrize("opened", [True, False])
def test_a_game_that_hides_nothing_says_so_beside_its_rules_on_what_is_seen(
    make_context: MakeContext, folder: RunFolder, opened: bool
) -> None:
    def step(request: Request) -> Answer:
        told = answer(request)
        if schema_of(request) or not opened:
            return told
        text = high_draw().replace('state["phase"] == "end"\n    return [', "True\n    return [")
        text = text.replace('"deck_size": len(state["deck"])', '"deck": list(state["deck"])')
        text = text.replace('{"deck": "count"', '{"deck": "contents"')
        text = text.replace('"contents" if shown else "count"', '"contents"')
        return message(f"```python\n{text}```")

    with serving(step) as endpoint:
        state = start_run(PROMPT, folder, model_context(make_context, endpoint, folder)).state
    hides = [note for note in state.notes if "hides nothing from anybody" in note]
    assert [note.endswith("what is seen are R4") for note in hides] == [True] * opened


def test_a_role_has_a_model_a_temperature_and_a_bound_of_its_own(
    make_context: MakeContext, folder: RunFolder
) -> None:
    own = "coder: model=big, temperature=0.1; strategist: max_calls=2"
    with serving(answer) as endpoint:
        context = model_context(make_context, endpoint, folder, roles=own)
        with pytest.raises(BudgetExhaustedError, match="2 of 2 calls of the strategist are used"):
            start_run(PROMPT, folder, context)
    asked = [(r["model"], r.get("temperature")) for r in endpoint.requests]
    assert asked.count(("big", 0.1)) == 1
    assert set(asked) == {("big", 0.1), ("scripted", None)}


@pytest.mark.parametrize("fault", [error(500), message("no JSON at all"), Answer(b"<html>")])
def test_an_answer_that_failed_or_was_malformed_is_asked_for_again(
    make_context: MakeContext, folder: RunFolder, fault: Answer
) -> None:
    with serving(failing_once("DesignReply", fault)) as endpoint:
        context = model_context(make_context, endpoint, folder, retries=1)
        result = start_run(PROMPT, folder, context)
    assert result.state.end == "made"
    assert len(endpoint.requests) == CALLS + 1


def test_a_further_try_is_told_as_it_begins(make_context: MakeContext, folder: RunFolder) -> None:
    heard: list[Event] = []
    with serving(failing_once("DesignReply", error(500))) as endpoint:
        context = model_context(make_context, endpoint, folder, retries=1)
        start_run(PROMPT, folder, context, tell=heard.append)
    (told,) = [event for event in heard if isinstance(event, Waits) and not event.over]
    assert (told.model, told.role, told.attempt) == ("scripted", "designer", 2)
    begun = [event.node for event in heard if isinstance(event, Begins)]
    assert begun == ["intake", "design", "code", "check", "strategize", "evaluate", "report"]
    over = [event.role for event in heard if isinstance(event, Waits) and event.over]
    assert "coder" in over


def test_a_refused_request_is_not_tried_again(make_context: MakeContext, folder: RunFolder) -> None:
    with serving(error(401, "no such key")) as endpoint:
        context = model_context(make_context, endpoint, folder)
        with pytest.raises(RefusedRequestError, match="no such key"):
            start_run(PROMPT, folder, context)
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize("said", ["prose, and no JSON", '{"question": 1}'])
def test_retries_bound_what_a_node_sends(
    make_context: MakeContext, folder: RunFolder, said: str
) -> None:
    with serving(message(said)) as endpoint:
        context = model_context(make_context, endpoint, folder, retries=3)
        with pytest.raises(MalformedReplyError):
            start_run(PROMPT, folder, context)
        assert len(endpoint.requests) == 4  # the first one and three more


def test_an_exhausted_budget_ends_clearly_and_the_run_goes_on_with_a_larger_one(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with serving(answer) as endpoint:
        context = model_context(make_context, endpoint, folder, max_calls=4)
        with pytest.raises(BudgetExhaustedError, match=r"RULEWRIGHT_MAX_CALLS.*resume"):
            start_run(PROMPT, folder, context)
        assert len(endpoint.requests) == 4
        assert {"rulebook.md", "design.json", "game.py"} <= {p.name for p in folder.path.iterdir()}
        done = resume_run(folder, model_context(make_context, endpoint, folder))
    assert done.state.end == "made"
    assert len(endpoint.requests) == CALLS


@pytest.mark.parametrize(
    ("down", "raised"),
    [
        (error(503), EndpointError),
        (message("no JSON at all"), MalformedReplyError),
        (error(401, "no such key"), RefusedRequestError),
    ],
)
def test_a_run_that_the_endpoint_failed_goes_on_once_it_answers(
    make_context: MakeContext, folder: RunFolder, down: Answer, raised: type[Exception]
) -> None:
    def broken(request: Request) -> Answer:
        return down if schema_of(request) == "DesignReply" else answer(request)

    with serving(broken) as endpoint, pytest.raises(raised):
        start_run(PROMPT, folder, model_context(make_context, endpoint, folder))
    with serving(answer) as mended:
        done = resume_run(folder, model_context(make_context, mended, folder))
    assert done.state.end == "made"
    assert len(mended.requests) == CALLS - 1  # all but the clarification, which was paid


class Breaking:
    """A validator whose process ends when it has just been answered."""

    def __init__(self, roles: RoleSet) -> None:
        self.unit_tests = roles.validator.unit_tests
        self.tests_again = roles.validator.tests_again
        self.arbitrate = roles.validator.arbitrate
        self._judge = roles.validator.judge

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        self._judge(design, record, positions, facts, struck)
        raise KeyboardInterrupt


def test_an_answer_is_not_paid_twice_where_its_node_was_interrupted(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with serving(answer) as endpoint:
        context = model_context(make_context, endpoint, folder)
        context.roles = replace(context.roles, validator=Breaking(context.roles))
        with pytest.raises(KeyboardInterrupt):
            start_run(PROMPT, folder, context)
        assert len(endpoint.requests) == 5
        done = resume_run(folder, model_context(make_context, endpoint, folder))
    assert done.state.end == "made"
    assert len(endpoint.requests) == CALLS
    assert run_json(folder)["usage"]["calls"] == CALLS
