"""Approve: a person reads the rulebook before it is coded; the answer can change it."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from graph.context import RunContext
from graph.defaults import folder_of
from graph.state import RunState

_YES = frozenset({"", "y", "yes", "ok", "approve", "approved", "true"})
_NO = frozenset({"n", "no", "stop", "reject", "false"})


def approve(
    state: RunState, runtime: Runtime[RunContext]
) -> Command[Literal["code", "design", "report"]]:
    """Ask; nothing stands before the interrupt that may not run twice."""
    del runtime
    answer = interrupt(
        {
            "ask": "Approve this rulebook? Answer yes, no, or say what to change.",
            "rulebook": str(folder_of(state).path / "rulebook.md"),
        }
    )
    return decide(state, str(answer).strip())


def decide(state: RunState, answer: str) -> Command[Literal["code", "design", "report"]]:
    """What an answer leads to: yes codes it, no ends it, anything else is added to the brief."""
    if answer.lower() in _YES:
        return Command(goto="code", update={"approved": True})
    if answer.lower() in _NO or state.brief is None:
        return Command(
            goto="report", update={"end": "gave_up", "reason": "the rulebook was not approved"}
        )
    wider = state.brief.model_copy(update={"prompt": f"{state.brief.prompt}. {answer}"})
    return Command(goto="design", update={"brief": wider})
