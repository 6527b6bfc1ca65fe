"""Intake: messages become a brief and a run folder, or go on with what is there."""

from dataclasses import replace
from textwrap import shorten

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import (
    Choices,
    RoleError,
)
from graph.new.context import RunContext
from graph.new.opening import context_of, runs_of
from graph.new.requests import (
    AGAIN,
    NO,
    UNSURE,
    family_chosen,
    human_words,
    means,
    unread_parts,
    waits_for_words,
)
from graph.new.state import (
    AfterIntake,
    RunState,
    go_on,
)
from graph.run.events import FolderMade, writer_of
from graph.run.folder import RunFolder, create_folder

_SHOWN = 80


def intake(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterIntake]:
    """Read the prompt, make the run folder, and stop early where no game can be made."""
    if (went_on := _gone_on(state)) is not None:
        return went_on
    prompt, choices, asked = _asked_for(state)
    begun = state.settings is not None and not waits_for_words(state)  # a further game begins
    if not state.folder or begun:
        # Its own step, so that the folder stands in the checkpoint before anything can fail.
        title = prompt or choices.family or ""
        folder = create_folder(None, title=title, runs=runs_of(runtime)).path
        begun_in = replace(state.in_folder(folder), key=RunFolder(folder).thread)
        return go_on("intake", state, replace(begun_in, settings=None))
    context = context_of(runtime, state.folder, state.seed)
    writer_of(runtime.stream_writer)(FolderMade(folder=state.folder))
    # What was chosen stands in the brief; the thread's next game has its own.
    fresh = state.afresh(state.folder, context.settings)
    try:
        with place("intake/clarify"):
            brief = context.roles.designer.clarify(prompt, asked)
    except RoleError as error:
        after = fresh.choosing(choices).ending("gave_up", str(error))
        return go_on("report", state, after)
    # Who chose the family has answered the question that the words leave open.
    question = None if choices.family else brief.question
    assumed = (*_set_aside(state, prompt), *unread_parts(state), *brief.assumptions)
    brief = brief.model_copy(
        update={"question": question, "choices": choices, "assumptions": assumed, "asked": asked}
    )
    if question:
        return go_on("report", state, fresh.briefed(brief).ending("question", question))
    return go_on("design", state, fresh.briefed(brief))


def _gone_on(state: RunState) -> Command[AfterIntake] | None:
    """Where a message leads that is said to a run that waits or has ended; None for elsewhere."""
    said = human_words(state)
    if state.asks:
        return go_on("approve", state, state.hearing(said[-1] if said else ""))
    if said and waits_for_words(state) and means(said[-1], NO | UNSURE):
        return go_on("report", state, state)  # it says nothing of the game: the same is asked again
    ended = state.stopped or state.before or (state.end and not waits_for_words(state))
    if ended and said and state.design is not None and state.choices == Choices():
        return go_on("revise", state, state)
    return None


def _asked_for(state: RunState) -> tuple[str, Choices, tuple[str, ...]]:
    """The newest human message as a prompt, with what was chosen beside it, and what it answers.

    A message that answers a question is added to the prompt before it, stands in its place where
    no game is in it, or chooses a family.
    """
    said = human_words(state)
    while state.stopped and len(said) > 1 and means(said[-1], AGAIN):
        said.pop()
    text = said[-1] if said else ""
    before = state.brief if waits_for_words(state) else None
    if before is None:
        return text, state.choices, ()
    choices = before.choices.but(state.choices)
    family = family_chosen(text, state.fit)
    if family is not None:
        return before.prompt, choices.but(Choices(family=family)), before.asked
    if before.question and before.anew:
        return text, choices, ()
    asked = (*before.asked, *([before.question] if before.question else ()))
    return f"{before.prompt}\n{text}".strip(), choices, asked


def _set_aside(state: RunState, prompt: str) -> tuple[str, ...]:
    """A note on words that name no game, once an answer stands in their place."""
    before = state.brief
    if before is None or not before.question or not before.anew or prompt == before.prompt:
        return ()
    said = shorten(before.prompt, _SHOWN)
    told = (f"The answer stands in the place of {said!r}, in which no game was found.",)
    return (*before.assumptions, *(told if said else ()))
