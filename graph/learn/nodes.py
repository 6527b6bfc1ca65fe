"""Nodes up to an accepted candidate: intake, synthesise, check, refine, and what follows."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.budget import BudgetExhaustedError
from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.roles.coder import bound_names
from agents.roles.modeller import PREDICTING, GameBrief, Proposals
from games.checks import Finding
from games.streams import stream
from graph.learn.active import require_recorded_start
from graph.learn.judging import (
    ARRAYS,
    BELOW,
    Judge,
    above_of,
    expandable,
    failed_tests,
    game_name,
    share_of,
)
from graph.learn.matches import open_matches, shown_first, take_in
from graph.learn.state import CallNote, Judged, LearnContext, LearnState, Stage
from graph.run.candidates import EDIT, STRATEGIES, Candidate, earlier_attempts, keep_newest
from tools.predicting.tensors import TENSORS
from tools.predicting.transition import record_examples

_Node: TypeAlias = Literal["synthesise", "check", "refine", "infer", "active", "value", "report"]
_Go: TypeAlias = Command[_Node]


def intake(state: LearnState, runtime: Runtime[LearnContext]) -> Command[Literal["synthesise"]]:
    """Read the recorded matches to their end, and keep those that the run works with."""
    context = runtime.context
    request, folder = context.request, context.folder
    found = take_in(Path(request.trajectories), folder, request.settings)
    if request.settings.environment:
        require_recorded_start(context)
    folder.write_text("rules.md", request.rules)
    left = sum(match.truncated for match in found.matches)
    runtime.stream_writer(
        {
            "node": "intake",
            "matches": len(found.matches) - found.held,
            "held out": found.held,
            **({"of both left before their end": left} if left else {}),
            "environment": found.header.environment,
        }
    )
    stage: Stage = "inference" if request.settings.closed_deck else "transition"
    function = "resample_history" if request.settings.closed_deck else ""
    update = {"folder": str(folder.path), "stage": stage, "inference": function}
    return Command(goto="synthesise", update=update)


def synthesise(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["synthesise", "check", "report"]]:
    """Ask for the first sources."""
    context = runtime.context
    settings, brief = context.settings, brief_of(context, state)
    tests = record_examples(open_matches(brief.matches), settings.tests_first)
    return ask_modeller(
        state,
        runtime,
        lambda: context.modeller.draft(brief, tests, settings.num_targets),
        again="synthesise",
    )


def check(state: LearnState, runtime: Runtime[LearnContext]) -> _Go:
    """Hold every new candidate against its tests, and decide how to go on.

    A candidate that holds all training matches is held against the held-out ones. One of these
    that it fails joins the training matches, as long as there are any. Those of before are held
    against it too, as against a match that was asked for: shares of other tests do not compare.
    """
    context = runtime.context
    promoted = list(state.promoted)
    fresh = [c for c in state.pool if c.findings is None]
    judged: dict[int, Judged] = {}
    while fresh:
        found = Judge(context, state, tuple(promoted)).all(fresh)
        judged |= found
        broken = sorted({match for one in found.values() for match in one.broken})
        promoted += broken[:1]
        fresh = [c for c in fresh if found[c.number].broken and broken] or _behind(state, judged)
    tested = [_tested(c, judged[c.number], context) for c in state.pool if c.number in judged]
    everything = {**state.judged, **judged}
    state = state.model_copy(update={"judged": everything, "promoted": promoted})
    pool = keep_newest(state.pool, tested)
    passing = [c for c in pool if c.outcome == "passed"]
    notes = _with_accuracy(state, tested, pool)
    _tell(runtime, notes[-1], judged)
    update: dict[str, Any] = {
        "candidates": tested,
        "judged": {**everything},
        "promoted": promoted,
        "calls": notes,
    }
    if passing:
        chosen = max(passing, key=lambda c: (everything[c.number].held_right, -c.number))
        return _accepted(state, runtime, chosen, update)
    if used := spent(state, notes, context):
        return _given_up(state, update, f"{used} and no candidate passes its tests")
    return Command(goto="refine", update=update)


def _behind(state: LearnState, judged: Mapping[int, Judged]) -> list[Candidate]:
    """Candidates of before that met fewer records than these, where none of these holds."""
    if any(one.accuracy == 1.0 and not one.failures for one in judged.values()):
        return []
    most = max(one.records for one in judged.values())
    others = [c for c in state.pool if c.number not in judged]
    return [c for c in others if state.judged[c.number].records < most]


def refine(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["refine", "check", "report"]]:
    """Pick a candidate of the stage and ask for better versions of it."""
    context = runtime.context
    settings, brief = context.settings, brief_of(context, state)
    generator = stream(settings.seed, "refine", ply=len(state.calls))
    parent = STRATEGIES[settings.refine](expandable(state, context), generator)
    judged = state.judged[parent.number]
    known = open_matches(context.material.training(state.promoted))
    part = above_of(state) if state.base is not None else ""
    needed = [*PREDICTING, "resample_history"] if settings.closed_deck else [*PREDICTING]
    if part:
        needed = [*TENSORS] if state.stage == "tensors" else [state.inference]
    tried = parent.model_copy(update={"refined": parent.refined + 1})
    return ask_modeller(
        state.model_copy(update={"candidates": keep_newest(state.candidates, [tried])}),
        runtime,
        lambda: context.modeller.mend(
            brief,
            parent.source,
            failed_tests(parent, judged, state.candidates, known, settings.tests_shown),
            earlier=earlier_attempts(state.candidates, parent),
            versions=settings.num_targets,
            part=part,
            needed=needed,
        ),
        again="refine",
        parent=tried,
    )


def brief_of(context: LearnContext, state: LearnState) -> GameBrief:
    """What the modeller is told of the game: nothing of a held-out match."""
    material = context.material
    return GameBrief(
        game=game_name(material.header.environment),
        players=material.header.num_players,
        parameters=dict(material.header.parameters),
        rules=context.request.rules,
        matches=tuple(shown_first(material.training(state.promoted))),
        closed=context.settings.closed_deck,
        seat=material.header.seat,
    )


def ask_modeller(
    state: LearnState,
    runtime: Runtime[LearnContext],
    ask: Callable[[], Proposals],
    *,
    again: str,
    parent: Candidate | None = None,
) -> Command[Any]:
    """Make one call; its versions become candidates, what cannot be used is counted.

    Args:
        state: With the parent's new count of refinements.
        runtime: The node's.
        ask: The call.
        again: Where to go where the call gave nothing and calls are left.
        parent: The candidate that the versions come from.
    """
    context, number = runtime.context, len(state.calls) + 1
    refused: list[str] = []
    proposals = Proposals(())
    try:
        with place(f"{again}/{number}"):
            proposals = ask()
    except MalformedReplyError as error:
        refused.append(str(error))
    except BudgetExhaustedError as error:
        return _given_up(state, {}, str(error))
    made, useless = _versions_of(state, parent, proposals)
    refused += useless
    note = CallNote(
        call=number,
        function=state.stage,
        parent=None if parent is None else parent.number,
        candidates=tuple(c.number for c in made),
        refused=tuple(refused),
        best=[0.0, *(one.best for one in state.calls if one.function == state.stage)][-1],
    )
    changed = [] if parent is None else [_told(state.candidate(parent.number), refused, made)]
    calls = [*state.calls, note]
    update = {"calls": calls, "candidates": [*changed, *made]}
    if made:
        return Command(goto="check", update=update)
    _tell(runtime, note)
    if used := spent(state, calls, context):
        return _given_up(state, update, f"{used}; the last one gave nothing: {'; '.join(refused)}")
    return Command(goto=again, update=update)


def _versions_of(
    state: LearnState, parent: Candidate | None, proposals: Proposals
) -> tuple[list[Candidate], list[str]]:
    """The candidates that a reply makes, and why the rest of it makes none."""
    made: list[Candidate] = []
    refused = [*proposals.refused]
    for text in proposals.sources:
        source, problem = _whole(state, text)
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


def spent(state: LearnState, calls: Sequence[CallNote], context: LearnContext) -> str:
    """Which calls are used up, those of the run or those for its tensors; empty where none are."""
    asked = sum(note.function == "tensors" for note in calls)
    if len(calls) >= context.settings.max_calls:
        return f"all {len(calls)} calls are used"
    if state.stage == "tensors" and asked >= context.settings.tensors:
        return f"all {asked} calls for tensors are used"
    return ""


def _given_up(state: LearnState, update: dict[str, Any], said: str) -> Command[Any]:
    """Go to the report; without tensors what was accepted before them stands."""
    if state.stage == "tensors":
        ended = {"tensors": said, "first": len(state.candidates)}
    else:
        ended = {"end": "gave_up", "reason": said}
    return Command(goto="report", update={**update, **ended})


def _told(parent: Candidate, refused: Sequence[str], made: Sequence[Candidate]) -> Candidate:
    """The parent with a finding where an edit of it was of no use; it is not better for it."""
    kept = [f for f in parent.findings or () if f.check != EDIT]
    if made or not refused or parent.findings is None or parent.outcome == "passed":
        return parent
    noted = Finding(check=EDIT, outcome="failed", evidence="; ".join(refused))
    return parent.model_copy(update={"findings": (*kept, noted)})


def _whole(state: LearnState, text: str) -> tuple[str, str]:
    """A proposal as a whole source, and why it cannot be one."""
    if state.base is None:
        return text, ""
    above = state.candidate(state.base).source
    twice = sorted(bound_names(text) & (bound_names(above) - {*_SHARED}))
    if twice:
        return "", f"it defines {', '.join(twice)} again, which the model defines"
    line = BELOW if above_of(state) == BELOW else f"{BELOW}\n{ARRAYS}"
    return f"{above.rstrip()}\n\n\n{line}\n\n{text.strip()}\n", ""


_SHARED = ("random", "math", "copy", "itertools", "json", "re", "Counter", "defaultdict")


def _tested(candidate: Candidate, judged: Judged, context: LearnContext) -> Candidate:
    """The candidate with its findings and its score."""
    score = share_of(judged, {"play": context.settings.play_matches})
    findings = judged.failures
    if not findings and judged.right == judged.records and not judged.broken:
        findings = (Finding(check="tests", outcome="passed"),)
    return candidate.model_copy(update={"findings": findings, "score": score})


def _with_accuracy(
    state: LearnState, tested: Sequence[Candidate], pool: Sequence[Candidate]
) -> list[CallNote]:
    """The notes, the newest with what its candidates reached."""
    before = state.calls[-1]
    scores = [state.judged[c.number] for c in tested if c.number in before.candidates]
    if not scores:
        return state.calls  # play surprised the model: it is tested again without a call
    top = max(scores, key=lambda one: one.accuracy)
    note = before.model_copy(
        update={
            "accuracy": top.accuracy,
            "held_out": top.held_accuracy,
            "best": max((state.judged[c.number].accuracy for c in pool), default=0.0),
        }
    )
    return [*state.calls[:-1], note]


def _tell(
    runtime: Runtime[LearnContext], note: CallNote, judged: Mapping[int, Judged] | None = None
) -> None:
    """Say what the newest call gave; where no candidate that was judged is of it, what they got."""
    if judged and not {*judged} & {*note.candidates}:
        top = max(one.accuracy for one in judged.values())
        again = {"node": "check", "tested again": [*judged], "accuracy": f"{top:.4f}"}
        runtime.stream_writer(again)
        return
    told: dict[str, object] = {"node": note.function, "call": note.call}
    told["accuracy"] = "none" if note.accuracy is None else f"{note.accuracy:.4f}"
    told["best"] = f"{note.best:.4f}"
    if note.held_out is not None:
        told["held out"] = f"{note.held_out:.4f}"
    if late := max((judged[n].late for n in note.candidates if judged and n in judged), default=0):
        told["places where draws time out"] = late
    if note.refused:
        told["refused"] = len(note.refused)
    runtime.stream_writer(told)


def _accepted(
    state: LearnState, runtime: Runtime[LearnContext], chosen: Candidate, update: dict[str, Any]
) -> _Go:
    """Go on from a candidate that passes: to its inference, its values, or the report."""
    context = runtime.context
    settings = context.settings
    if state.stage == "transition" and state.asking and state.asked < settings.active:
        return Command(goto="active", update=update)
    told: dict[str, object] = {"node": "check", "accepted candidate": chosen.number}
    told["of"] = state.stage
    if state.stage == "transition" and not _inference(context):
        told["inference"] = "not asked for" + (
            "" if context.material.hides else ": nothing is hidden"
        )
    runtime.stream_writer(told)
    if state.stage == "tensors":
        return Command(goto="report", update=update)
    update |= {"base": chosen.number, "first": len(state.candidates)}
    if state.stage == "transition":
        update |= {"stage": "inference", "inference": _inference(context)}
        if update["inference"] and state.carried:
            source, problem = _whole(
                state.model_copy(update={"base": chosen.number}), state.carried
            )
            again = Candidate(number=len(state.candidates), parent=chosen.number, source=source)
            if not problem:
                update |= {"candidates": [*update["candidates"], again], "carried": ""}
                return Command(goto="check", update=update)
        if update["inference"]:
            return Command(goto="infer", update=update)
    return Command(goto="value", update={**update, "stage": "value"})


def _inference(context: LearnContext) -> str:
    """Which inference function is to be learned; empty for none."""
    choice = context.settings.inference
    if choice == "auto":
        return "resample_history" if context.material.hides else ""
    return "" if choice == "none" else choice
