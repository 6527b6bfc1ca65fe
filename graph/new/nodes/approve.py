"""Approve: a person reads the rulebook, and may change it."""

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from agents.protocols import NEW_FAMILY, Choices, RoleError
from games.library.settings import PLAYERS, settings_chosen
from games.text import untagged
from graph.new.context import RunContext
from graph.new.opening import require_choices
from graph.new.reporting import rulebook_text
from graph.new.requests import (
    NO,
    WHOLE,
    YES,
    doubts_of,
    means,
    plain_answer,
)
from graph.new.results import rule_changes
from graph.new.state import AfterApproval, RunState, folder_of, go_on, need_brief, need_design


def approve(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterApproval]:
    """Ask; nothing stands before the interrupt that may not run twice."""
    del runtime
    if state.given is not None:  # it came as a message of the chat, and stands there
        return _answered(state, state.given)
    return _answered(state, plain_answer(interrupt(_question(state))))


def _question(state: RunState) -> dict[str, Any]:
    """The question with the rulebook, in the two forms that chat and inbox clients show."""
    doubts = [
        f"“{clause.text}” was not understood. If {clause.perhaps} was meant, answer: "
        f"{clause.perhaps}"
        for clause in doubts_of(need_design(state))
    ]
    question = "Approve this rulebook? Answer yes, no, or say what to change."
    last = state.messages[-1] if state.messages else None
    reply = [last.text] if last is not None and last.name == "revise" else []
    ask = untagged("\n".join([*reply, *doubts, question]))
    name, text = "approve the rulebook", f"{_to_read(state)}\n{ask}"
    may = {"allow_accept": True, "allow_respond": True, "allow_ignore": True, "allow_edit": False}
    return {
        "ask": ask,
        "action_request": {"action": name, "args": {}},
        "config": may,
        "description": text,
        "action_requests": [{"name": name, "args": {}, "description": text}],
        "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "reject"]}],
    }


def _to_read(state: RunState) -> str:
    """The rulebook; of one that was shown before, what has changed in it."""
    path, made, shown = folder_of(state).path / "rulebook.md", need_design(state), state.shown
    if shown is None or shown.family != made.family:
        return rulebook_text(made, need_brief(state))  # the file may be another branch's by now
    lines = [f"- {line.name} ({line.state}): {line.text}" for line in rule_changes(shown, made)]
    whole = f'The whole rulebook: answer "rulebook", or read {path}.'
    return untagged("\n".join([*lines, *([] if lines else ["No rule has changed."]), whole, ""]))


def _answered(state: RunState, answer: str) -> Command[AfterApproval]:
    """The way on: yes codes the game, no ends the run, anything else changes the design."""
    heard = state.heard(answer)
    if means(answer, WHOLE):
        return go_on("approve", state, heard.showing_whole())
    if means(answer, YES):
        goto: AfterApproval = "code" if state.before is None else "recode"
        return go_on(goto, state, heard.approving())
    if means(answer, NO) or state.brief is None:
        return go_on("report", state, heard.ending("gave_up", "the rulebook was not approved"))
    design, choices = need_design(state), state.brief.choices
    settings = {} if design.family == NEW_FAMILY else settings_chosen(answer)
    if not settings:
        return go_on("revise", state, heard)
    if choices.family is None:
        choices = choices.but(Choices(family=design.family))
    seats = settings.get(PLAYERS)
    if type(seats) is int and seats > 0:
        choices = choices.but(Choices(num_players=seats))
        del settings[PLAYERS]
    chosen = choices.but(Choices(settings=settings))
    try:
        require_choices(chosen, settings=True)
    except RoleError as error:
        return go_on("approve", state, heard.saying(f"Nothing was changed: {error}", "revise"))
    brief = state.brief.model_copy(update={"choices": chosen})
    return go_on("design", state, heard.changed(design, brief).waiting(asks=False))
