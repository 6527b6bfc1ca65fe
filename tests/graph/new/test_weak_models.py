"""Models with one fault each: the game does what its rulebook says, or the run says where not."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from graph.new.results import final_text
from graph.new.state import RunState
from graph.run.candidates import best
from graph.run.folder import RunFolder
from tests.agents.model.endpoint import Answer, Request, as_json, message, serving
from tests.agents.roles.games import high_draw
from tests.graph.answering import DESIGN, PROMPT, REPLIES, answer, schema_of
from tests.graph.conftest import MakeContext
from tests.graph.new.test_model_run import model_context
from tests.graph.running import start_run

Fault: TypeAlias = Callable[[Request], Answer]
AS_MARKDOWN = {
    "DesignReply": "## High Draw\n\n**Players:** 2\n\n1. Deal a card.\n2. Keep or change it.\n",
    "TestsReply": "## Tests\n\n| name | expected |\n|---|---|\n| chance deals first | -1 |\n",
    "VerdictReply": "**Verdict:** all moves are *legal*.\n\n- ply 1: fine\n- ply 2: fine\n",
    "PoliciesReply": "### Strategies\n\n- **keeper**: Keep the card.\n- **changer**: Change it.\n",
}
LACKING = {
    "TestsReply": "test",
    "VerdictReply": "record",
    "PoliciesReply": "no heuristic was kept",
}
# What the module has wrong, and the rule or the line that a person has to be told.
WRONG = {
    "a hand is shown": ('list(other) for other in state["hands"]] if shown else None', "R4", "]"),
    "a forbidden import": ('    seat = state["seat"]\n    name =', "imports os", "os"),
    "a forgotten function": ("def get_events(", "get_events", "def get_notes("),
    "a call without end": ('"end" if seat == last else "choose"', "plies", '"choose"'),
    "a state that is changed": ("    new = dict(state)\n", "must copy", "    new = state\n"),
    "a reward for one seat": ('return list(state["paid"])', "get_rewards", "return [0]"),
    "an action that is refused": ('["keep", "change"]', "apply_action", '["keep", "swap"]'),
}


def faulty(name: str) -> str:
    was, _, becomes = WRONG[name]
    if name == "a forbidden import":
        becomes = f"    import os\n{was}"
    elif name == "a hand is shown":
        becomes = was.replace(" if shown else None", "")
    assert was in high_draw()
    return high_draw().replace(was, becomes)


def first_so(name: str, reply: Answer, *, always: bool = False) -> Fault:
    """Answers well, but once, or always, so to one schema; "" is the module."""
    said: list[str] = []

    def step(request: Request) -> Answer:
        mends = "What is to be done" in str(request["messages"])
        if name == ("" if mends else schema_of(request)) and (always or not said):
            said.append(name)
            return reply
        return answer(request)

    return step


def ended(
    make_context: MakeContext, folder: RunFolder, fault: Fault, **model: int
) -> tuple[RunState, str]:
    """The end of a run, and all that a person reads of it."""
    with serving(fault) as endpoint:
        context = model_context(make_context, endpoint, folder, deadline_s=60, **model)
        context.settings = context.settings.model_copy(update={"max_rounds": 2})
        state = start_run(PROMPT, folder, context).state
    return state, f"{final_text(state)}\n{(folder.path / 'rulebook.md').read_text()}"


@pytest.mark.parametrize("name", AS_MARKDOWN)
def test_markdown_for_json_is_asked_for_again_and_costs_one_call(
    make_context: MakeContext, folder: RunFolder, name: str
) -> None:
    reply = message(AS_MARKDOWN[name])
    state, _ = ended(make_context, folder, first_so(name, reply), retries=1)
    assert state.end == "made", state.reason


@pytest.mark.parametrize("name", ["TestsReply", "VerdictReply", "PoliciesReply"])
def test_a_role_that_writes_nothing_but_markdown_is_named_and_the_game_is_delivered(
    make_context: MakeContext, folder: RunFolder, name: str
) -> None:
    reply = message(AS_MARKDOWN[name])
    state, told = ended(make_context, folder, first_so(name, reply, always=True), retries=1)
    assert best(state.candidates).source == high_draw()
    assert (folder.path / "game.py").is_file()
    assert LACKING[name] in told.lower() + " ".join(state.notes).lower()


@pytest.mark.parametrize("name", WRONG)
def test_a_module_with_one_fault_is_mended_once_it_is_told(
    make_context: MakeContext, folder: RunFolder, name: str
) -> None:
    def weak(request: Request) -> Answer:
        if "What is to be done" in str(request["messages"]):
            told.append(str(request["messages"]))
            return message(f"```python\n{high_draw()}```\n")
        if schema_of(request):
            return answer(request)
        drafts.append(faulty(name) if not drafts else high_draw())
        return message(f"```python\n{drafts[-1]}```\n")

    told: list[str] = []
    drafts: list[str] = []
    state, _ = ended(make_context, folder, weak, retries=1)
    assert state.end == "made", state.reason
    assert (folder.path / "game.py").read_text() == high_draw()
    assert len(told) == 1 or len(drafts) == 2  # in a round of its own, or as no whole module
    assert not told or WRONG[name][1] in told[0]


@pytest.mark.parametrize("name", sorted(WRONG.keys() - {"a forgotten function"}))
def test_the_same_mistake_again_and_again_ends_with_the_rule_or_function_that_is_wrong(
    make_context: MakeContext, folder: RunFolder, name: str
) -> None:
    def stubborn(request: Request) -> Answer:
        if "What is to be done" in str(request["messages"]) or not schema_of(request):
            return message(f"```python\n{faulty(name)}```\n")
        return answer(request)

    state, told = ended(make_context, folder, stubborn, retries=1)
    assert state.end == "gave_up"
    assert WRONG[name][1] in told
    assert "- honoured: “" not in told


def test_a_demand_that_the_design_leaves_out_is_listed_where_the_model_leaves_it_out_again(
    make_context: MakeContext, folder: RunFolder
) -> None:
    few = as_json({**DESIGN, "clauses": DESIGN["clauses"][:1]})
    state, told = ended(make_context, folder, first_so("DesignReply", few, always=True), retries=2)
    assert state.end == "made", state.reason
    assert "Not honoured: “draw once” (the design names no rule for these words)" in told
    assert "- honoured: “draw once" not in told


@pytest.mark.parametrize(
    "call",
    [("search_the_web", '{"query": "cards"}'), ("run_module", "{}"), ("submit", "no JSON")],
    ids=["unknown tool", "no argument", "no JSON"],
)
def test_a_wrong_tool_call_is_answered_and_the_game_is_made(
    make_context: MakeContext, folder: RunFolder, call: tuple[str, str]
) -> None:
    state, _ = ended(make_context, folder, first_so("", message(None, calls=[call])))
    assert state.end == "made", state.reason


# Modules that every check and a lenient validator let pass: each does not do what one rule says.
TURNED = {
    "the lowest card is paid": ("== max(cards)", "R3", "== min(cards)"),
    "nobody is paid": ("1 if card == max(cards) else 0", "R3", "0"),
}


@pytest.mark.parametrize("name", TURNED)
def test_a_rule_that_no_unit_test_is_about_is_named_beside_the_game(
    make_context: MakeContext, folder: RunFolder, name: str
) -> None:
    was, rule, becomes = TURNED[name]
    assert was in high_draw()
    reply = message(f"```python\n{high_draw().replace(was, becomes)}```\n")
    state, told = ended(make_context, folder, first_so("", reply, always=True), retries=1)
    assert state.end == "made", state.reason
    (note,) = (line for line in told.splitlines() if "no unit test is about" in line)
    assert rule in note
    assert "R1" not in note  # the one test is about it


def test_a_number_of_players_that_the_design_does_not_have_is_told(
    make_context: MakeContext, folder: RunFolder
) -> None:
    four = {"id": "R1", "section": "Setup", "text": "Each of the four players is dealt a card."}
    design = {**DESIGN, "num_players": 4, "rules": [four, *DESIGN["rules"][1:]]}
    fault = first_so("DesignReply", as_json(design), always=True)
    state, told = ended(make_context, folder, fault, retries=1)
    assert state.end == "made", state.reason
    assert "“two players” has 2, R1 not" in told


def test_a_reply_with_another_roles_fields_is_asked_for_again(
    make_context: MakeContext, folder: RunFolder
) -> None:
    swapped = as_json(REPLIES["TestsReply"])
    state, _ = ended(make_context, folder, first_so("VerdictReply", swapped), retries=1)
    assert state.end == "made", state.reason
