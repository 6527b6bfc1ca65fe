"""Nodes that ask the modeller: for the first versions of a stage, and for better ones."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.budget import BudgetExhaustedError
from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.roles.modeller import FailedTests, Proposals
from games.checks import Finding, verdict
from games.streams import stream
from games.values import ModuleFault
from graph.learn.figures import CallNote, Judged
from graph.learn.layered import defined_again
from graph.learn.learning import Learning
from graph.learn.matches import played_around
from graph.learn.stages import stage_of
from graph.learn.stages.value import ValueStage
from graph.learn.state import LearnContext, LearnState
from graph.run.candidates import EDIT, STRATEGIES, Candidate, earlier_attempts, tried_from
from graph.run.checkpoints import moved
from graph.run.events import ValuesCompared, writer_of


def synthesise(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["synthesise", "check", "report"]]:
    """Ask for the first sources."""
    learning = Learning(runtime.context, state)
    step, after = ask_first(learning, runtime, "synthesise")
    return moved("synthesise" if step == "again" else step, state, after)


def infer(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["infer", "check", "report"]]:
    """Ask for the function that draws what is hidden, on top of the accepted model."""
    step, after = ask_first(Learning(runtime.context, state), runtime, "infer")
    return moved("infer" if step == "again" else step, state, after)


def tensors(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["tensors", "check", "report"]]:
    """Ask for the functions that turn observations into arrays and back, on top of all the rest."""
    context, model, after = runtime.context, state.chosen, state
    if model is None or not context.settings.tensors:
        return moved("report", state, state)
    if state.at.stage != "tensors":
        after = state.at_stage("tensors", model, state.inference)
    if used := Learning(context, after).spent:
        return moved("report", state, after.without_tensors(used))
    step, after = ask_first(Learning(context, after), runtime, "tensors")
    return moved("tensors" if step == "again" else step, state, after)


def value(state: LearnState, runtime: Runtime[LearnContext]) -> Command[Literal["arena"]]:
    """Ask for value functions, and use one that wins inside the model."""
    context, base, number = runtime.context, state.base, len(state.calls) + 1
    if not context.settings.values or base is None:
        return moved("arena", state, state)
    if spent := Learning(context, state).spent:
        return moved("arena", state, state.with_value_notes([f"none is asked for: {spent}"]))
    stage, after = ValueStage(Learning(context, state)), state
    notes: list[str] = []
    refused: tuple[str, ...] = ()
    used: Candidate | None = None
    try:
        with place(f"value/{number}"):
            proposals = stage.prompt()
        refused = (*proposals.refused, *stage.dropped(proposals))
        notes += [f"a version was refused: {why}" for why in refused]
        versions = stage.versions(proposals)
        judged = stage.judge(versions)
        notes, used = [*notes, *_became(judged)], _winner(versions, judged)
    except (MalformedReplyError, BudgetExhaustedError, ModuleFault) as error:
        notes.append(f"none is used: {error}")
    if used is not None:
        after = stage.accept(used)
    note = CallNote(call=number, function="value", parent=base.number, refused=refused)
    writer_of(runtime.stream_writer)(ValuesCompared(call=number, used=used is not None))
    return moved("arena", state, after.with_call(note).with_value_notes(notes))


def _winner(versions: Sequence[Candidate], judged: Mapping[int, Judged]) -> Candidate | None:
    return next((c for c in versions if verdict(judged[c.number].failures) == "passed"), None)


def _became(judged: Mapping[int, Judged]) -> list[str]:
    """A line on each version, and at last the one that is used."""
    notes = [found.evidence for one in judged.values() for found in one.failures]
    used = [n for n, one in judged.items() if verdict(one.failures) == "passed"]
    said = "none is used: none is sure to be better than rollouts"
    return [*notes, f"version {used[0]} is used" if used else said]


def refine(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["refine", "check", "report"]]:
    """Pick a candidate of the stage and ask for better versions of it."""
    learning = Learning(runtime.context, state)
    settings, stage = learning.settings, stage_of(learning)
    generator = stream(settings.seed, "refine", ply=len(state.calls))
    parent = STRATEGIES[settings.refine](expandable(learning), generator)
    tried = replace(parent, refined=parent.refined + 1)
    known = " ".join(f.evidence for f in parent.findings or () if f.check == EDIT)
    told = tuple(why for why in learning.refused if why not in known)
    step, after = _asked(
        Learning(runtime.context, state.with_versions([tried])),
        runtime,
        lambda: learning.context.modeller.mend(
            replace(learning.brief, refused=told),
            parent.source,
            failed_tests(learning, parent),
            earlier=earlier_attempts(state.candidates, parent),
            versions=settings.num_targets,
            part=stage.part,
            needed=stage.needed,
            talk=learning.talk,
        ),
        place_name="refine",
        parent=tried,
    )
    return moved("refine" if step == "again" else step, state, after)


def ask_first(
    learning: Learning, runtime: Runtime[LearnContext], place_name: str
) -> tuple[Literal["again", "check", "report"], LearnState]:
    """Ask for the first versions of the stage."""
    prompt = stage_of(learning).prompt
    return _asked(learning, runtime, prompt, place_name=place_name, parent=learning.state.base)


def _asked(
    learning: Learning,
    runtime: Runtime[LearnContext],
    ask: Callable[[], Proposals],
    *,
    place_name: str,
    parent: Candidate | None,
) -> tuple[Literal["again", "check", "report"], LearnState]:
    """Make one call; its versions become candidates, what cannot be used is counted.

    Args:
        learning: The run, with the parent's new count of refinements.
        runtime: The node's.
        ask: The call.
        place_name: Where the call stands in a recording, without its number.
        parent: The candidate that the versions come from.

    Returns:
        Where to go on, "again" where the call gave nothing and calls are left; and the state there.
    """
    state, number = learning.state, len(learning.state.calls) + 1
    refused: list[str] = []
    proposals = Proposals(())
    try:
        with place(f"{place_name}/{number}"):
            proposals = ask()
        if learning.settings.refine == "conversation":
            learning.keep_talk(number, proposals.exchange)
    except MalformedReplyError as error:
        refused.append(str(error))
    except BudgetExhaustedError as error:
        return "report", state.given_up(str(error))
    made, useless = _versions_of(learning, parent, proposals)
    refused += useless
    note = CallNote(
        call=number,
        function=state.at.stage,
        parent=None if parent is None else parent.number,
        candidates=tuple(c.number for c in made),
        refused=tuple(refused),
        best=state.best_so_far,
    )
    changed = [] if parent is None else [_with_edit(parent, refused, made)]
    after = state.with_call(note, [*changed, *made])
    if made:
        return "check", after
    writer_of(runtime.stream_writer)(note.event())
    if used := Learning(learning.context, after).spent:
        said = f"{used}; the last one gave nothing: {'; '.join(refused)}"
        return "report", after.given_up(said)
    return "again", after


def _versions_of(
    learning: Learning, parent: Candidate | None, proposals: Proposals
) -> tuple[list[Candidate], list[str]]:
    """The candidates that a reply makes, and why the rest of it makes none."""
    stage, state = stage_of(learning), learning.state
    made: list[Candidate] = []
    refused = [*proposals.refused]
    for text in proposals.sources:
        source, problem = stage.placed(text), defined_again(learning.source, text)
        known = {c.source for c in (*state.candidates, *made)}
        if problem or source in known:
            refused.append(problem or "a version is one that was tested before")
            continue
        made.append(
            Candidate(
                number=len(state.candidates) + len(made),
                parent=None if parent is None else parent.number,
                source=source,
                cause=proposals.cause,
            )
        )
    return made, refused


def _with_edit(parent: Candidate, refused: Sequence[str], made: Sequence[Candidate]) -> Candidate:
    """The parent with a finding where an edit of it was of no use; it is not better for it."""
    kept = [f for f in parent.findings or () if f.check != EDIT]
    if made or not refused or parent.findings is None or parent.outcome == "passed":
        return parent
    noted = Finding(check=EDIT, outcome="failed", evidence="; ".join(refused))
    return replace(parent, findings=(*kept, noted))


def failed_tests(learning: Learning, parent: Candidate) -> FailedTests:
    """Failing tests of a candidate as a refinement shows them, so many of each kind."""
    state, most = learning.state, learning.settings.tests_shown
    judged = state.judged[parent.number]
    kinds: Counter[str] = Counter()
    wrong: list[Finding] = []
    for found in parent.findings or ():
        kinds[found.check] += 1
        if found.outcome != "passed" and kinds[found.check] <= most:
            wrong.append(found)
    return FailedTests(
        f"{judged.right} of {judged.records} tests hold.",
        [_as_told(found) for found in wrong],
        played=played_around(learning.shown, wrong),
        tried=tried_from(state.candidates, parent),
    )


def _as_told(found: Finding) -> str:
    if found.check == EDIT:
        return f"The last answer could not be used: {found.evidence}"
    where = f", line {found.line}" if found.line else ""
    return f"{found.check} test, {found.function}{where}\n{found.evidence}"


def expandable(learning: Learning) -> list[Candidate]:
    """The candidates that may be refined (Code World Models App. D.1.3); all where none may.

    The paper asks for a gain of a hundredth over the parent, which nothing that comes of a version
    above 0.99 could ever have: here it is a hundredth of what the parent lacks.
    """
    state, settings = learning.state, learning.settings
    by_number = {c.number: c for c in state.candidates}
    if settings.refine == "conversation":
        return state.pool

    def grew(candidate: Candidate) -> bool:
        parent = by_number.get(candidate.parent if candidate.parent is not None else -1)
        if parent is None or parent.number < state.at.first:
            return candidate.share_passed >= settings.min_start
        gain, lacking = candidate.share_passed - parent.share_passed, 1 - parent.share_passed
        return gain >= settings.min_gain * lacking

    return [c for c in state.pool if grew(c)] or state.pool
