"""Revise: the designer says what a message means for the game that is there."""

import re
from collections.abc import Callable, Sequence

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import REVISION, place
from agents.protocols import (
    NEW_FAMILY,
    Choices,
    Design,
    Revision,
    RoleError,
    Talk,
)
from graph.new.context import RunContext
from graph.new.opening import context_of, folder_given, step_of
from graph.new.reporting import write_design
from graph.new.requests import (
    human_words,
    undoes,
    unread_parts,
)
from graph.new.results import lacking, rule_changes, verdict_lines
from graph.new.state import (
    AfterRevision,
    Made,
    RunState,
    folder_of,
    go_on,
    need_brief,
    need_design,
)
from graph.new.trial import UNCITED, UNTRIED
from graph.run.events import Revised, writer_of
from tools.balancing.wishes import wish_of
from tools.reporting.verdict import shares_text

_EDITED = (
    "Nothing was changed: game.py in {} was edited by hand, and a revision is made without such "
    "edits. To keep them, go on by hand: rulewright check and rulewright play take that file. To "
    "give them up: rulewright resume {} --discard-edits, then say this again."
)
_ANOTHER = "It would be a run of its own: rulewright new"


def revise(
    state: RunState,
    runtime: Runtime[RunContext],
    inventor: Callable[..., str] | None = None,
) -> Command[AfterRevision]:
    """Ask the designer what the last message means for the design at hand.

    Args:
        state: The run's.
        runtime: The node's.
        inventor: An `Inventor`, where the context has none.
    """
    context = context_of(runtime, state.folder, state.seed)
    brief = need_brief(state)
    said = human_words(state)
    figures = [*verdict_lines(state), *(shares_text(state.evaluation) if state.evaluation else ())]
    figures += lacking(state) if state.end is not None else []
    if undoes(said[-1]):
        return _undone(state, runtime, ask=context.settings.approve)
    invents = context.invents or inventor
    wish = wish_of(said[-1], need_design(state).num_players) if _is_at_rest(state) else None
    if wish is not None and invents is not None:
        tell = writer_of(runtime.stream_writer)
        if told := invents(wish, folder_of(state), context.settings.seed, tell):
            return _replied(state, told)
    root = str(folder_of(state).root.path)
    figures = [without_units(line.replace(root, "RUN")) for line in figures]
    talk = Talk(message=said[-1], history=_history(state, figures), figures=tuple(figures))
    first = f"{REVISION}{len(said)}"
    if context.budget is not None:
        context.budget.begin(first)
    try:
        with place(first):
            found = context.roles.designer.revise(need_design(state), brief, talk)
    except RoleError as error:
        found = Revision(reply=str(error))
    reply = " ".join((found.reply, *unread_parts(state)))
    writer_of(runtime.stream_writer)(Revised(changed=found.design is not None))
    brief = brief.model_copy(update={"corrections": (*brief.corrections, said[-1])})
    if found.other and state.asks:
        choices = _of_family(brief.choices, need_design(state))
        brief = brief.model_copy(update={"choices": choices})
        return go_on("design", state, state.changed(need_design(state), brief).waiting(asks=False))
    if found.other and folder_given(runtime) is None:
        return go_on("intake", state, state.afresh("", None))
    if found.design is None:
        return _replied(state, f"{reply} {_ANOTHER}" if found.other else reply)
    after = state.changed(found.design, brief).made_by(context.roles)
    return _changed(state, after, reply, runtime, ask=context.settings.approve)


def _is_at_rest(state: RunState) -> bool:
    """True for a game that was made and asks nothing: it can be searched for others."""
    return state.made is not None and not state.asks


def without_units(text: str) -> str:
    """Figures as requests tell them: recorded requests say how many samples there are, not what.

    >>> without_units("Player 1 wins: 0.53 (0.22 to 0.82, n = 18 matches)")
    'Player 1 wins: 0.53 (0.22 to 0.82, n = 18)'
    """
    return re.sub(r"\bn = (\d+) (?:match(?:es)?|deals?|seats?|pairs?)\b", r"n = \1", text)


def _undone(state: RunState, runtime: Runtime[RunContext], *, ask: bool) -> Command[AfterRevision]:
    """The game as it stood before its last change, made like any other change."""
    if not state.earlier:
        return _replied(state, "There is no change to take back.")
    before = state.undone()
    changes = rule_changes(need_design(state), need_design(before))
    names = ", ".join(line.name for line in changes)
    reply = f"Taken back, as it was before: {names or 'the title or the demands alone'}."
    return _changed(state, before, reply, runtime, ask=ask)


def _of_family(choices: Choices, design: Design) -> Choices:
    """The choices, for a game of the design's family, whose settings further words can change."""
    if choices.family is not None or design.family == NEW_FAMILY:
        return choices
    return choices.but(Choices(family=design.family))


def _history(state: RunState, figures: Sequence[str]) -> tuple[str, ...]:
    """The person's earlier messages and the answers; no messages of single stages.

    What a request tells anyhow, the first words and the figures, does not stand here again, nor
    what is for the person to judge: which rules no test is about. Where
    the run lies on this machine is nothing that a model is told, or that a request rests on.
    """
    root, first = str(folder_of(state).root.path), state.brief and state.brief.prompt
    said = [message for message in state.messages[:-1] if message.text != first]
    known = {line for figure in figures for line in figure.split("\n")}
    doubts = tuple(f"Note: {note.partition('{')[0]}" for note in (UNTRIED, UNCITED))
    return tuple(
        f"{'person' if isinstance(message, HumanMessage) else 'designer'}: "
        + "\n".join(
            line for line in told.split("\n") if line not in known and not line.startswith(doubts)
        )
        for message in said
        for told in [without_units(message.text.replace(root, "RUN"))]
        if message.name in (None, "reply", "revise")
    )


def _replied(state: RunState, reply: str) -> Command[AfterRevision]:
    """An answer; the game stays, and who was asked to approve it is asked again."""
    if state.asks:
        return go_on("approve", state, state.saying(reply, "revise"))
    return go_on("__end__", state, state.summed_up(reply).saying(reply, "reply"))


def _changed(
    state: RunState, after: RunState, reply: str, runtime: Runtime[RunContext], *, ask: bool
) -> Command[AfterRevision]:
    """The changed design: over the one that waits for approval, else in a folder of its own.

    `after` holds the design, its brief, and what stood before each of the changes that it has.
    """
    if "game.py" in folder_of(state).edited():
        return _replied(state, _EDITED.format(folder_of(state).path, folder_of(state).root.path))
    design, after = need_design(after), after.saying(reply, "revise")
    if state.asks:
        write_design(folder_of(state), design, need_brief(after))
        return go_on("approve", state, after)
    folder = folder_of(state).root.revision(state.revision + 1)
    if folder_given(runtime) is None:  # a thread may be forked: what another branch made stays
        folder = folder_of(state).branch(step_of(runtime))
    folder.make()
    write_design(folder, design, need_brief(after))
    base = _base(state, design)
    revision = after.revising(int(folder.path.name), folder.path, base, state.design).waiting(
        asks=ask
    )
    goto: AfterRevision = "approve" if ask else "code" if base is None else "recode"
    return go_on(goto, state, revision)


def _base(state: RunState, design: Design) -> Made | None:
    """The game that a design is made from: where the one before has its rules, that one again."""
    known = (state.made, state.before)
    same = [made for made in known if made is not None and not rule_changes(made.design, design)]
    return same[0] if same else state.made
