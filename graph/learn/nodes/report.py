"""Node: write `model.py`, `learn.json` and `report.html`, whatever the run came to."""

from collections import Counter
from dataclasses import asdict
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.budget import Usage
from agents.roles.modeller import PREDICTING
from games.trajectories import counts_outcomes, offered, phases, taken
from games.values import ModuleFault
from graph.learn.calibration import KIND as CALIBRATION
from graph.learn.environment import fidelity_of
from graph.learn.figures import ArenaRound, BranchFidelity, Gaps, Judged, Problem
from graph.learn.layered import LayeredSource
from graph.learn.learning import Learning
from graph.learn.matches import open_matches
from graph.learn.report import (
    TOLD,
    InferredFigures,
    LearnReport,
    MatchCounts,
    NoTensors,
    PredictedFigures,
    RecordedFigures,
    Spending,
    TensorFigures,
    ValueFigures,
    contradictions,
    page_of,
)
from graph.learn.stages.inference import drawn_matches
from graph.learn.state import LearnContext, LearnState
from graph.run.candidates import Candidate, what_failed
from graph.run.checkpoints import moved
from graph.run.events import Reported, writer_of
from graph.run.sandboxes import grades_of, keep_grade

_SHOWN_BRANCHES = 40
_SHOWN_REASONS = 3
_FEW = 30  # records without a fault leave room for one in ten others (Hanley 1983)
_BOUND = ">= (the auto-encoder's: a draw that fits is a lower bound of the evidence)"


def report(state: LearnState, runtime: Runtime[LearnContext]) -> Command[Literal["__end__"]]:
    """Write `model.py`, `learn.json` and `report.html`, whatever the run came to."""
    context, folder, chosen = runtime.context, runtime.context.folder, state.chosen
    learning, after = Learning(context, state), state
    keep_grade(folder, context.sandbox.grade)
    gaps: Gaps | None = None
    fidelity: BranchFidelity | Problem | None = None
    if chosen is not None:
        gaps = _gaps(learning, chosen) if state.end is None else None
        after = _ended(state, chosen, gaps)
        fidelity = fidelity_of(learning, chosen.source)
        folder.write_text("model.py", _whole(learning, chosen.source))
    elif state.end is None:
        after = state.ended("gave_up", "no candidate was ever made")
    told = _report_of(Learning(context, after), chosen, gaps, fidelity)
    folder.write_json(TOLD, told.model_dump(mode="json"))
    folder.write_text("report.html", page_of(told, chosen))
    writer_of(runtime.stream_writer)(Reported(end=after.end, folder=str(folder.path)))
    return moved("__end__", state, after)


def _whole(learning: Learning, source: str) -> str:
    """The source as a module; with a line that says why, where it is none."""
    try:
        return learning.module(source, learning.start_of(source))
    except ModuleFault as fault:
        return f"# This source is no module: {str(fault)!r}\n{source}"


def _ended(state: LearnState, chosen: Candidate, gaps: Gaps | None) -> LearnState:
    """The run at its end: nothing that was not put to the test counts as passed."""
    open_ends = [f for f in chosen.findings or () if f.outcome != "passed"]
    judged = state.judged.get(chosen.number)
    if open_ends and state.end and judged and judged.accuracy == 1.0:
        # No figure says what is wrong.
        drawn = all(found.check == CALIBRATION for found in open_ends)
        reason = f"{state.reason}; {what_failed(open_ends)}"
        return state.ended("incomplete" if drawn else state.end, reason)
    if state.end is not None or gaps is None:
        return state
    if chosen.outcome != "passed":
        return state.ended("gave_up", what_failed(chosen.findings or ()))
    if told := gaps.named:
        left = len(told) - _SHOWN_REASONS
        more = f" and {left} more" if left > 0 else ""
        return state.ended("incomplete", "; ".join(told[:_SHOWN_REASONS]) + more)
    return state.ended("passed", "")


def _gaps(learning: Learning, chosen: Candidate) -> Gaps:
    """Parts of the model that neither recorded matches nor predicted play put to the test."""
    settings, rounds = learning.settings, learning.state.arena
    recorded = [*learning.training, *learning.heldout]
    judged = _predicting(learning.state, chosen) or Judged()
    layer = LayeredSource.parsed(chosen.source).transition
    start = learning.start_of(layer)
    whole = learning.module(layer, start)
    matches = open_matches(recorded)
    if settings.closed_deck:
        matches = drawn_matches(learning, layer, start)
    elif rounds and isinstance(rounds[-1], ArenaRound):
        matches += learning.context.files.predicted(len(rounds) - 1)
    played = learning.context.play(whole, settings.play_matches, settings.seed + 1).matches
    asked = [name for name in PREDICTING if name != "get_player_name"]  # it was for every name
    met = learning.covered(whole, asked, matches)
    unplayed = (offered(matches) | offered(played)) - taken(matches)
    missed = [f"line {one.line} of {one.function}: {one.text}" for one in met.missed]
    records = judged.records + judged.held
    return Gaps(
        phases=tuple(sorted(phases(played) - phases(matches))),
        actions=tuple(f"{action}” in “{phase}" for phase, action in sorted(unplayed)),
        branches=tuple(missed[:_SHOWN_BRANCHES]),
        heldout=not learning.heldout,
        repeated=not judged.held,
        few=records if records < _FEW else 0,
        ends=all(match.truncated for match in recorded),
        counted=any(map(counts_outcomes, recorded)),
        play=rounds[-1].wrong if rounds else "",
    )


def _report_of(
    learning: Learning,
    chosen: Candidate | None,
    gaps: Gaps | None,
    fidelity: BranchFidelity | Problem | None,
) -> LearnReport:
    """The run as it stands at its end."""
    context, state = learning.context, learning.state
    model = state.base if chosen and state.at.stage == "tensors" else chosen
    drawing = state.judged.get(model.number) if model else None
    judged = _predicting(state, model)
    inferred = None if drawing is judged else drawing
    source, findings = (chosen.source, chosen.findings or ()) if chosen else ("", ())
    return LearnReport(
        **dict(_recorded(learning)),
        **dict(_predicted(judged)),
        end=state.end,
        reason=state.reason,
        candidate=chosen.number if chosen else None,
        bound=_BOUND if learning.settings.closed_deck else None,
        never_exercised=gaps.named if gaps else None,
        calls=dict(Counter(note.function for note in state.calls)),
        curve=state.calls,
        inference=state.inference or None,
        inferred=_inferred(state, inferred),
        calibration=drawing.calibration if drawing else None,
        tensors=_tensors(state, chosen),
        values=ValueFigures(used=bool(LayeredSource.parsed(source).value), notes=state.value_notes),
        active=state.questions,
        branch_fidelity=fidelity,
        arena=state.arena,
        contradictions=contradictions(source, context.request.rules),
        failed_last=() if chosen and chosen.outcome == "passed" else findings,
        settings=learning.settings,
        model=context.identity,
        usage=_spent(context.budget.usage),
        usage_by_role={name: _spent(one) for name, one in context.budget.roles.items()},
        versions=dict(context.versions),
        sandbox=grades_of(context.folder, context.sandbox.grade)[0],
    )


def _spent(used: Usage) -> Spending:
    return {**asdict(used), "mean_prompt": used.mean_prompt}


def _recorded(learning: Learning) -> RecordedFigures:
    """The environment, and the matches by what they served for."""
    header, state = learning.header, learning.state
    return RecordedFigures(
        environment=header.environment,
        num_players=header.num_players,
        parameters=dict(header.parameters),
        deck=header.deck,
        policy=header.policy,
        recorded_by=dict(header.versions),
        matches=MatchCounts(
            recorded=state.recorded,
            training=len(learning.training),
            held_out=len(learning.heldout),
            failed_when_held_out=tuple(sorted(state.promoted)),
            asked_of_the_environment=state.asked,
        ),
    )


def _predicted(judged: Judged | None) -> PredictedFigures:
    """The share of the records that a candidate predicts."""
    if judged is None:
        return PredictedFigures()
    return PredictedFigures(
        accuracy=judged.accuracy,
        distinct_accuracy=judged.distinct_right / judged.distinct if judged.distinct else None,
        records=judged.records,
        held_out_accuracy=judged.held_accuracy,
        held_out_records=judged.held,
        worst=min(judged.rows, key=lambda row: row.share, default=None),
        phases=judged.rows,
    )


def _inferred(state: LearnState, drawing: Judged | None) -> InferredFigures | None:
    """Draws of what is hidden, and how many of them reproduce what was seen."""
    if drawing is None:
        return None
    return InferredFigures(
        function=state.inference,
        accuracy=drawing.accuracy,
        sights=drawing.records,
        held_out_accuracy=drawing.held_accuracy,
        held_out_sights=drawing.held,
    )


def _tensors(state: LearnState, chosen: Candidate | None) -> TensorFigures | NoTensors | None:
    """Functions that turn observations into arrays, or why not; None where not asked for."""
    if chosen is None or state.at.stage != "tensors":
        return None
    if state.tensors:
        return NoTensors(problem=state.tensors)
    met = state.judged[chosen.number]
    return TensorFigures(
        width=met.width,
        observations=met.records,
        held_out_accuracy=met.held_accuracy,
        held_out_observations=met.held,
    )


def _predicting(state: LearnState, chosen: Candidate | None) -> Judged | None:
    """The judgement of the model that a candidate stands on: its ancestor of the first stage."""
    found = own = state.judged.get(chosen.number) if chosen else None
    while chosen is not None and found is not None and not found.rows:
        if chosen.parent is None:
            return own  # a closed deck has no other stage
        chosen = state.candidate(chosen.parent)
        found = state.judged.get(chosen.number)
    return found
