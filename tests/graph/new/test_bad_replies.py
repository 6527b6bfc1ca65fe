"""Replies that no good model gives: the run says so in a sentence, is bounded, and goes on."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest

from agents.model.errors import ModelError
from graph.new.state import RunState
from graph.run.folder import RunFolder
from tests.agents.model.endpoint import Answer, Request, as_json, message, serving
from tests.agents.roles.games import high_draw
from tests.graph.answering import DESIGN, PROMPT, answer, schema_of
from tests.graph.conftest import MakeContext
from tests.graph.new.test_model_run import model_context, run_json
from tests.graph.running import start_run

Reply: TypeAlias = Callable[[Request], Answer]
NESTED = '{"a":' * 100_000 + "1" + "}" * 100_000
ENDLESS = '"end" if seat == last else "choose"', '"choose"'
LUCK = 'return ["keep", "change"]', 'return ["keep"]'


def instead(name: str, reply: Answer) -> Reply:
    """Answers well, but always so to one schema; "" is the module."""
    return lambda request: reply if schema_of(request) == name else answer(request)


def ended(make_context: MakeContext, folder: RunFolder, reply: Reply, **changes: int) -> RunState:
    with serving(reply) as endpoint:
        context = model_context(make_context, endpoint, folder, deadline_s=60)
        context.settings = context.settings.model_copy(update=changes)
        return start_run(PROMPT, folder, context).state


def with_rules(*texts: str) -> Answer:
    rules = [{"id": f"R{n}", "section": "Turn", "text": text} for n, text in enumerate(texts, 1)]
    clauses = [{**DESIGN["clauses"][0], "setting": "R1"}]
    return as_json({**DESIGN, "rules": rules, "clauses": clauses})


def with_module(was: str, becomes: str) -> Answer:
    assert high_draw().count(was) == 1
    return message(f"```python\n{high_draw().replace(was, becomes)}```\n")


@pytest.mark.parametrize(
    ("name", "reply", "said"),
    [
        ("DesignReply", with_rules("Change your card. " * 12_000), "at most 40000"),
        ("DesignReply", message(NESTED), "does not parse"),
        ("DesignReply", message("[" * 200_000), "no JSON object"),
        ("", message(None, calls=[("search_snippets", '{"query": "x"}')] * 400), "400 tool calls"),
    ],
    ids=["rules of 200 kB", "nested objects", "nested lists", "400 tool calls"],
)
def test_a_reply_beyond_all_bounds_is_refused_in_a_sentence_and_the_run_is_kept(
    make_context: MakeContext, folder: RunFolder, name: str, reply: Answer, said: str
) -> None:
    with pytest.raises(ModelError, match=said) as refused:
        ended(make_context, folder, instead(name, reply))
    assert len(str(refused.value)) < 2_000
    assert folder.asked  # what `resume` goes on from


@pytest.mark.parametrize(
    ("change", "said"),
    [(ENDLESS, "plies"), (LUCK, "decide")],
    ids=["a game without an end", "a game that luck alone decides"],
)
def test_a_game_that_is_none_is_not_made(
    make_context: MakeContext, folder: RunFolder, change: tuple[str, str], said: str
) -> None:
    state = ended(make_context, folder, instead("", with_module(*change)), max_rounds=0)
    assert state.end == "gave_up"
    assert said in state.reason


def test_a_title_with_half_a_character_and_a_usage_below_zero_do_no_harm(
    make_context: MakeContext, folder: RunFolder
) -> None:
    def odd(request: Request) -> Answer:
        if schema_of(request) == "DesignReply":
            return as_json({**DESIGN, "title": "High \ud800 Draw"})
        good = answer(request)
        usage = {"prompt_tokens": -5, "completion_tokens": -7, "total_tokens": -12}
        return replace(good, body=json.dumps({**json.loads(good.body), "usage": usage}).encode())

    assert ended(make_context, folder, odd).end == "made"
    used = run_json(folder)["usage"]
    assert min(used["tokens_in"], used["tokens_out"]) > 0
    assert used["estimated_calls"] == used["calls"] - 1
    assert "\ud800" not in (folder.path / "rulebook.md").read_text()
