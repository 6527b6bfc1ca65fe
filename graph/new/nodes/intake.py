"""Intake and revise: messages become a brief and a run folder, or change the game that is there."""

import shutil
from collections.abc import Sequence
from textwrap import shorten
from typing import Any, Literal

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import REVISION, place
from agents.protocols import (
    NEW_FAMILY,
    Brief,
    Choices,
    Design,
    EditError,
    Revision,
    RoleError,
    Talk,
    apply_edits,
)
from games.checks import Finding
from graph.new.nodes.code import GraphCoderTools
from graph.new.nodes.design import write_design
from graph.new.requests import (
    AGAIN,
    NO,
    UNSURE,
    family_chosen,
    human_words,
    means,
    undoes,
    waits_for_words,
)
from graph.new.results import lacking, rule_changes, verdict_lines
from graph.new.state import (
    AfterIntake,
    Made,
    RunState,
    after_intake,
    cleared,
    folder_of,
    need_design,
)
from graph.run.context import RunContext
from graph.run.folder import create_folder
from graph.run.opening import context_of, folder_given, runs_of
from graph.run.pool import Candidate, carried
from tools.reporting.verdict import shares_text

_SHOWN = 80
_ANOTHER = "It would be a run of its own: rulewright new"


def intake(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterIntake]:
    """Read the prompt, make the run folder, and stop early where no game can be made."""
    if (went_on := _gone_on(state)) is not None:
        return went_on
    prompt, choices, asked = _asked_for(state)
    begun = state.settings is not None and not waits_for_words(state)  # a further game begins
    if not state.folder or begun:
        # Its own step, so that the folder stands in the checkpoint before anything can fail.
        title = prompt or choices.family or ""
        folder = str(create_folder(None, title=title, runs=runs_of(runtime)).path)
        return Command(goto="intake", update={"folder": folder, "settings": None})
    folder = state.folder
    context = context_of(runtime, folder)
    runtime.stream_writer({"node": "intake", "folder": folder})
    # What was chosen stands in the brief; the thread's next game has its own.
    fresh = {**cleared(), "settings": context.settings, "folder": folder}
    try:
        with place("intake/clarify"):
            brief = context.roles.designer.clarify(prompt, asked)
    except RoleError as error:
        ended = {**fresh, "choices": choices, "end": "gave_up", "reason": str(error), "brief": None}
        return Command(goto="report", update=ended)
    # Who chose the family has answered the question that the words leave open.
    question = None if choices.family else brief.question
    assumed = (*_set_aside(state, prompt), *brief.assumptions)
    brief = brief.model_copy(
        update={"question": question, "choices": choices, "assumptions": assumed, "asked": asked}
    )
    ended = {"end": "question" if question else None, "reason": question or ""}
    return Command(goto=after_intake(question), update={**fresh, "brief": brief, **ended})


def _gone_on(state: RunState) -> Command[AfterIntake] | None:
    """Where a message leads that is said to a run that waits or has stopped; None for elsewhere."""
    said = human_words(state)
    if state.asks:
        return Command(goto="approve", update={"given": said[-1] if said else ""})
    if state.stopped not in (None, "intake") and means(said[-1], AGAIN):
        return Command(goto=state.stopped, update={"stopped": None, "reason": ""})
    if said and waits_for_words(state) and means(said[-1], NO | UNSURE):
        return Command(goto="report")  # it says nothing of the game: the same is asked again
    ended = state.stopped or state.before or (state.end and not waits_for_words(state))
    if ended and said and state.design is not None and state.choices == Choices():
        return Command(goto="revise")
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
    """What is told of words that name no game, once an answer stands in their place."""
    before = state.brief
    if before is None or not before.question or not before.anew or prompt == before.prompt:
        return ()
    said = shorten(before.prompt, _SHOWN)
    told = (f"The answer stands in the place of {said!r}, in which no game was found.",)
    return (*before.assumptions, *(told if said else ()))


def revise(
    state: RunState, runtime: Runtime[RunContext]
) -> Command[Literal["intake", "design", "approve", "code", "recode", "__end__"]]:
    """Ask the designer what the last message means for the design at hand."""
    context = context_of(runtime, state.folder)
    if state.brief is None:
        raise ValueError("revise runs on a design; the state holds no brief")
    said = human_words(state)
    figures = [*verdict_lines(state), *(shares_text(state.evaluation) if state.evaluation else ())]
    figures += lacking(state) if state.end is not None else []
    if undoes(said[-1]):
        return _undone(state, ask=context.settings.approve)
    talk = Talk(message=said[-1], history=_history(state, figures), figures=tuple(figures))
    first = f"{REVISION}{len(said)}"
    if context.budget is not None:
        context.budget.begin(first)
    try:
        with place(first):
            found = context.roles.designer.revise(need_design(state), state.brief, talk)
    except RoleError as error:
        found = Revision(reply=str(error))
    runtime.stream_writer({"node": "revise", "changed": found.design is not None})
    brief = state.brief.model_copy(update={"corrections": (*state.brief.corrections, said[-1])})
    if found.other and state.asks:
        choices = _of_family(brief.choices, need_design(state))
        brief = brief.model_copy(update={"choices": choices})
        update = {"asks": False, "brief": brief, "earlier": state.with_this}
        return Command(goto="design", update=update)
    if found.other and folder_given(runtime) is None:
        return Command(goto="intake", update={**cleared(), "folder": "", "settings": None})
    if found.design is None:
        return _replied(state, f"{found.reply} {_ANOTHER}" if found.other else found.reply)
    after = (found.design, brief, state.with_this)
    return _changed(state, after, found.reply, ask=context.settings.approve)


def _undone(state: RunState, *, ask: bool) -> Command[Any]:
    """The game as it stood before its last change, made like any other change."""
    if not state.earlier:
        return _replied(state, "There is no change to take back.")
    *earlier, (design, brief) = state.earlier
    names = ", ".join(line.name for line in rule_changes(need_design(state), design))
    reply = f"Taken back, as it was before: {names or 'the title or the demands alone'}."
    return _changed(state, (design, brief, tuple(earlier)), reply, ask=ask)


def _of_family(choices: Choices, design: Design) -> Choices:
    """The choices, for a game of the design's family, whose settings further words can change."""
    if choices.family is not None or design.family == NEW_FAMILY:
        return choices
    return choices.but(Choices(family=design.family))


def _history(state: RunState, figures: Sequence[str]) -> tuple[str, ...]:
    """What the person said before, and what was answered; no messages of single stages.

    What a request tells anyhow, the first words and the figures, does not stand here again. Where
    the run lies on this machine is nothing that a model is told, or that a request rests on.
    """
    root, first = str(folder_of(state).root.path), state.brief and state.brief.prompt
    said = [message for message in state.messages[:-1] if message.text != first]
    known = {line for figure in figures for line in figure.split("\n")}
    return tuple(
        f"{'person' if isinstance(message, HumanMessage) else 'designer'}: "
        + "\n".join(line for line in told.split("\n") if line not in known)
        for message in said
        for told in [message.text.replace(root, "RUN")]
        if message.name in (None, "reply", "revise")
    )


def _replied(state: RunState, reply: str) -> Command[Any]:
    """An answer; the game stays, and who was asked to approve it is asked again."""
    if state.asks:
        return Command(goto="approve", update={"messages": [AIMessage(reply, name="revise")]})
    return Command(
        goto=END, update={"messages": [AIMessage(reply, name="reply")], "summary": reply}
    )


def _changed(
    state: RunState,
    after: tuple[Design, Brief, tuple[tuple[Design, Brief], ...]],
    reply: str,
    *,
    ask: bool,
) -> Command[Any]:
    """The changed design: over the one that waits for approval, else in a folder of its own.

    `after` is the design, its brief, and what stood before each of the changes that it has.
    """
    made, brief, earlier = after
    said = [AIMessage(reply, name="revise")]
    update = {"design": made, "brief": brief, "earlier": earlier, "messages": said}
    if state.asks:
        write_design(folder_of(state), made, brief)
        return Command(goto="approve", update=update)
    number = state.revision + 1
    folder = folder_of(state).root.revision(number)
    folder.journals.mkdir(parents=True, exist_ok=True)
    write_design(folder, made, brief)
    base = _base(state, made)
    place_of = {"revision": number, "folder": str(folder.path), "before": base}
    place_of |= {"shown": state.design}
    goto = "approve" if ask else "code" if base is None else "recode"
    return Command(goto=goto, update={**cleared(), **place_of, **update, "asks": ask})


def _base(state: RunState, design: Design) -> Made | None:
    """The game that a design is made from: where the one before has its rules, that one again."""
    known = (state.made, state.before)
    same = [made for made in known if made is not None and not rule_changes(made.design, design)]
    return same[0] if same else state.made


def recode(
    state: RunState, runtime: Runtime[RunContext]
) -> Command[Literal["code", "check", "report"]]:
    """Edit the code of the game before for the changed rules; where none changed, keep it all."""
    context = context_of(runtime, state.folder)
    design, base = need_design(state), state.before
    if base is None:
        raise ValueError("recode runs on a game that was made; the state holds none")
    folder = folder_of(state)
    old = folder.root.revision(base.revision)
    findings = _to_do(base.design, design)
    if not findings:
        old.carry(folder, ("checks.json", "players/", "records/"))
        return Command(goto="report", update=_as_before(base))
    claims = carried(base.claims, base.candidate, base.design, design)
    try:
        with place(f"recode/{state.revision}"):
            tools = GraphCoderTools(context, design, claims, base.claims)
            mending = context.roles.coder.edit(design, base.candidate.source, findings, tools)
        source, refused = base.candidate.source, mending.refused
        source = apply_edits(source, mending.edits) if mending.edits else source
    except RoleError:
        # The coder holds that it keeps the new rules as it stands.
        source, refused = base.candidate.source, ()
    except EditError:
        return Command(goto="code", update={"claims": claims})
    same_seats = design.num_players == base.design.num_players
    if source == base.candidate.source and same_seats:  # the same matches: none is played again
        shutil.copytree(old.journals, folder.journals, dirs_exist_ok=True)
    folder.write_text("game.py", source)
    runtime.stream_writer({"node": "recode", "changes": len(findings)})
    drafted = [Candidate(number=0, source=source, refused=refused)]
    return Command(goto="check", update={"candidates": drafted, "claims": claims})


def _to_do(before: Design, after: Design) -> list[Finding]:
    """What the code must do otherwise, a finding a changed rule or setting."""
    return [
        Finding(
            check="revision",
            outcome="failed",
            rule=line.name if line.name.startswith("R") else "",
            evidence=f"the person changed the game; {line.name}, {line.state}: {line.text}",
        )
        for line in rule_changes(before, after)
    ]


def _as_before(base: Made) -> dict[str, object]:
    """All that was found of the game before, for a design with the same rules."""
    kept = ("heuristics", "strategy_notes", "evaluation", "record", "claims")
    found = {name: getattr(base, name) for name in kept}
    return {**found, "candidates": [base.candidate], "accepted": base.candidate.number}
