"""Node: hold new candidates against their tests, and decide how to go on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from langgraph.runtime import Runtime
from langgraph.types import Command

from games.checks import Finding
from graph.learn.figures import CallNote, Judged
from graph.learn.learning import Learning
from graph.learn.stages import stage_of
from graph.learn.state import LearnContext, LearnState
from graph.run.candidates import Candidate
from graph.run.checkpoints import moved
from graph.run.events import Accepted, Event, TestedAgain, writer_of

_Onward: TypeAlias = Literal["check", "infer", "value", "report"]


def check(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["check", "refine", "active", "infer", "value", "report"]]:
    """Hold every new candidate against its tests, and decide how to go on.

    A candidate that holds all training matches is held against the held-out ones. One of these
    that it fails joins the training matches, as long as there are any. Those of before are held
    against it too, as against a match that was asked for: shares of other tests do not compare.
    """
    context, settings = runtime.context, runtime.context.settings
    learning, judged = _judged(Learning(context, state))
    after = learning.state
    tell = writer_of(runtime.stream_writer)
    tell(_event(after.calls[-1], judged))
    if not after.passing:
        if used := learning.spent:
            said = f"{used} and no candidate passes its tests"
            return moved("report", state, after.given_up(said))
        return moved("refine", state, after)
    stage = stage_of(learning)
    if stage.name == "transition" and after.asking and after.asked < settings.active:
        return moved("active", state, after)
    chosen = max(after.passing, key=lambda c: (after.judged[c.number].held_right, -c.number))
    why = ""
    if stage.name == "transition" and not learning.inference:
        why = "not asked for" + ("" if learning.material.hides else ": nothing is hidden")
    tell(Accepted(accepted_candidate=chosen.number, of=stage.name, inference=why))
    accepted = stage.accept(chosen)
    there = onward(accepted)
    if there == "infer" and (used := Learning(context, accepted).spent):
        said = f"{used}, and none is left for the function that draws what is hidden"
        return moved("report", state, accepted.given_up(said))
    return moved(there, state, accepted)


def _event(note: CallNote, judged: Mapping[int, Judged]) -> Event:
    """The event of the newest call; where none of its candidates was judged, of those that were."""
    if not {*judged} & {*note.candidates}:
        top = max(one.accuracy for one in judged.values())
        return TestedAgain(tested_again=tuple(judged), accuracy=f"{top:.4f}")
    return note.event(max(judged[n].late for n in note.candidates if n in judged))


def onward(state: LearnState) -> _Onward:
    """The node that a stage begins at once the one before is accepted.

    >>> onward(LearnState(candidates=(Candidate(number=0, source="x"),)))
    'check'
    >>> onward(LearnState().at_stage("inference", None, "resample_history"))
    'infer'
    """
    if any(c.findings is None for c in state.pool):
        return "check"  # it was made before play surprised the model
    if state.at.stage == "tensors":
        return "report"
    return "infer" if state.at.stage == "inference" else "value"


def _judged(learning: Learning) -> tuple[Learning, dict[int, Judged]]:
    """The run with its new candidates judged, and with others again where tests joined."""
    context, state = learning.context, learning.state
    fresh = [c for c in state.pool if c.findings is None]
    judged: dict[int, Judged] = {}
    while fresh:
        found = stage_of(Learning(context, state)).judge(fresh)
        judged |= found
        broken = sorted({match for one in found.values() for match in one.broken})
        state = state.with_judged(found).with_promoted(broken[:1])
        fresh = [c for c in fresh if found[c.number].broken] or _behind(state, judged)
    settings = context.settings
    tested = [
        _tested(c, judged[c.number], settings.play_matches)
        for c in state.pool
        if c.number in judged
    ]
    return Learning(context, _noted(state.with_versions(tested), judged)), judged


def _behind(state: LearnState, judged: Mapping[int, Judged]) -> list[Candidate]:
    """Candidates of before that met fewer records than these, where none of these holds."""
    if any(one.accuracy == 1.0 and not one.failures for one in judged.values()):
        return []
    most = max(one.records for one in judged.values())
    others = [c for c in state.pool if c.number not in judged]
    return [c for c in others if state.judged[c.number].records < most]


def _tested(candidate: Candidate, judged: Judged, play_matches: int) -> Candidate:
    """The candidate with its findings and its score."""
    findings = judged.failures
    if not findings and judged.right == judged.records and not judged.broken:
        findings = (Finding(check="tests", outcome="passed"),)
    score = judged.share(play_matches)
    return replace(candidate, findings=findings, score=score)


def _noted(state: LearnState, judged: Mapping[int, Judged]) -> LearnState:
    """The state, whose newest call says what its candidates reached."""
    note = state.calls[-1]
    scores = [judged[number] for number in sorted(judged) if number in note.candidates]
    if not scores:
        return state  # play surprised the model: it is tested again without a call
    top = max(scores, key=lambda one: one.accuracy)
    best = max((state.judged[c.number].accuracy for c in state.pool), default=0.0)
    return state.with_newest_call(note.reached(top, best))
