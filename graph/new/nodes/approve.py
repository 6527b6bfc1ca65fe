"""Approve: a person reads the rulebook before it is coded; the answer can change it."""

from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from agents.protocols import NEW_FAMILY, Choices
from games.text import untagged
from graph.new.answers import NO, YES, doubts_of, plain_answer, settings_chosen
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext


def approve(
    state: RunState, runtime: Runtime[RunContext]
) -> Command[Literal["code", "design", "report"]]:
    """Ask; nothing stands before the interrupt that may not run twice."""
    del runtime
    if state.given is not None:  # it came as a message of the chat, and stands there
        return _answered(state, state.given, [])
    answer = plain_answer(interrupt(_question(state)))
    return _answered(state, answer, [HumanMessage(answer)])


def _question(state: RunState) -> dict[str, Any]:
    """What is asked, with the rulebook, in the two forms that chat and inbox clients show."""
    doubts = [
        f"“{clause.text}” was not understood. If {clause.perhaps} was meant, answer: "
        f"{clause.perhaps}"
        for clause in doubts_of(need_design(state))
    ]
    question = "Approve this rulebook? Answer yes, no, or say what to change."
    ask = untagged("\n".join([*doubts, question]))
    rulebook = (folder_of(state).path / "rulebook.md").read_text("utf-8", "replace")
    name, text = "approve the rulebook", f"{rulebook}\n{ask}"
    may = {"allow_accept": True, "allow_respond": True, "allow_ignore": True, "allow_edit": False}
    return {
        "ask": ask,
        "action_request": {"action": name, "args": {}},
        "config": may,
        "description": text,
        "action_requests": [{"name": name, "args": {}, "description": text}],
        "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "reject"]}],
    }


def _answered(
    state: RunState, answer: str, messages: list[HumanMessage]
) -> Command[Literal["code", "design", "report"]]:
    """What an answer leads to: yes codes it, no ends it, anything else corrects the brief."""
    heard = {"messages": messages, "asks": False, "given": None}
    if answer.lower() in YES:
        return Command(goto="code", update={**heard, "approved": True})
    if answer.lower() in NO or state.brief is None:
        reason = "the rulebook was not approved"
        return Command(goto="report", update={**heard, "end": "gave_up", "reason": reason})
    choices, family = state.brief.choices, need_design(state).family
    if choices.family is None and family != NEW_FAMILY:
        # What is corrected is a game of this family: its settings are what the words can change.
        choices = choices.but(Choices(family=family))
    settings = settings_chosen(answer, need_design(state))
    corrections = (*state.brief.corrections, *([] if settings else [answer]))
    choices = choices.but(Choices(settings=settings))
    brief = state.brief.model_copy(update={"corrections": corrections, "choices": choices})
    return Command(goto="design", update={**heard, "brief": brief})
