"""Nodes behind an accepted candidate: inference, value functions, tensors, and the report."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.budget import BudgetExhaustedError
from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.players.registry import PlayerRoster
from agents.roles.coder import bound_names
from agents.roles.modeller import PREDICTING
from agents.strategy.models import ModelContest, choose_value
from games.trajectories import counts_outcomes, offered, phases, taken
from games.values import ModuleFault, canonical_key
from graph.learn.active import branch_fidelity
from graph.learn.arena import wrong_in_play
from graph.learn.calibration import KIND as CALIBRATION
from graph.learn.judging import BELOW, module_of, start_of
from graph.learn.matches import (
    all_sights,
    open_matches,
    played_before,
    predicted_in_play,
    some_sights,
)
from graph.learn.nodes import ask_modeller, brief_of, spent
from graph.learn.reporting import learn_object, page_of
from graph.learn.state import CallNote, Gaps, LearnContext, LearnState
from graph.run.candidates import Candidate, what_failed
from graph.run.sandboxes import grades_of, keep_grade
from tools.predicting import called

_SHOWN_BRANCHES = 40
_HISTORIES, _MANY = 3, 24
_SHOWN = 17_000  # characters of these histories, and of observations
_OBSERVATIONS = 60


def infer(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["infer", "check", "report"]]:
    """Ask for the function that draws what is hidden, on top of the accepted model."""
    context = runtime.context
    settings, brief = context.settings, brief_of(context, state)
    base = state.candidate(state.base if state.base is not None else 0)
    header = context.material.header
    known = context.material.training(state.promoted)
    sights = all_sights(known, header.num_players, header.seat)
    function: Any = state.inference
    by_number = {match.match: match for match in open_matches(known)}

    def told(most: int) -> list[str]:
        return [
            f"{called(function, [sight.history, sight.seat])}\n"
            f"played: {played_before(by_number[sight.match], sight)!r}"
            for sight in some_sights(sights, most, settings.seed)
        ]

    histories = told(_HISTORIES)
    if sum(map(len, histories)) > _SHOWN:  # of a long game the short ones, which stand in full
        histories = sorted(told(_MANY), key=len)[:_HISTORIES]
    return ask_modeller(
        state,
        runtime,
        lambda: context.modeller.infer(
            brief,
            base.source,
            function,
            histories,
            start=context.material.start,
            versions=settings.num_targets,
        ),
        again="infer",
        parent=base,
    )


def value(state: LearnState, runtime: Runtime[LearnContext]) -> Command[Literal["arena"]]:
    """Ask for value functions, and use one that wins inside the model."""
    context = runtime.context
    wanted, number = context.settings.values, len(state.calls) + 1
    if not wanted or state.base is None or number > context.settings.max_calls:
        return Command(goto="arena")
    base = state.candidate(state.base)
    update: dict[str, Any] = {}
    notes: list[str] = []
    refused: tuple[str, ...] = ()
    try:
        with place(f"value/{number}"):
            proposals = context.modeller.values(brief_of(context, state), base.source, wanted)
        refused = proposals.refused
        update = _competed(state, context, base, proposals.sources, notes)
    except (MalformedReplyError, BudgetExhaustedError, ModuleFault) as error:
        notes.append(f"none is used: {error}")
    note = CallNote(call=number, function="value", parent=base.number, refused=refused)
    runtime.stream_writer({"node": "value", "call": number, "used": bool(update)})
    update |= {"calls": [*state.calls, note], "value_notes": notes}
    return Command(goto="arena", update=update)


def _competed(
    state: LearnState,
    context: LearnContext,
    base: Candidate,
    proposals: Sequence[str],
    notes: list[str],
) -> dict[str, Any]:
    """Let value functions compete inside the model; the one that wins becomes part of it.

    `notes` say what became of each, also of those that define again what the model has.

    Raises:
        ModuleFault: If the model cannot be played.
    """
    settings = context.settings
    model = module_of(context, base.source, start_of(context, base.source))
    free = [text for text in proposals if not bound_names(text) & {*PREDICTING}]
    choice = choose_value(
        "model",
        model,
        free,
        ModelContest(
            folder=context.folder.journals / "values",
            roster=PlayerRoster(),
            seed=settings.seed,
            simulations=settings.value_simulations,
            deals=settings.value_deals,
        ),
    )
    notes += [f"version {n}: {why}" for n, why in sorted(choice.faults.items())]
    notes += [f"version {n} against rollouts: {score}" for n, score in choice.scores.items()]
    if choice.chosen is None:
        notes.append("none is used: none is sure to be better than rollouts")
        return {}
    notes.append(f"version {choice.chosen} is used")
    source = f"{base.source.rstrip()}\n\n\n{BELOW}\n\n{free[choice.chosen].strip()}\n"
    number = len(state.candidates)
    made = base.model_copy(update={"number": number, "parent": base.number, "source": source})
    judged = state.judged[base.number].model_copy(update={"number": number})
    return {
        "candidates": [made],
        "judged": {**state.judged, number: judged},
        "values": [free[choice.chosen]],
    }


def tensors(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["tensors", "check", "report"]]:
    """Ask for the functions that turn observations into arrays and back, on top of all the rest."""
    context, model = runtime.context, state.chosen
    settings = context.settings
    if model is None or not settings.tensors:
        return Command(goto="report")
    first = state.first if state.stage == "tensors" else len(state.candidates)
    entered = {"stage": "tensors", "base": model.number, "first": first}
    state = state.model_copy(update=entered)
    if used := spent(state, state.calls, context):
        return Command(goto="report", update={**entered, "tensors": used})
    asked = ask_modeller(
        state,
        runtime,
        lambda: context.modeller.tensors(
            brief_of(context, state), model.source, _seen(state, context), settings.num_targets
        ),
        again="tensors",
        parent=model,
    )
    return replace(asked, update={**entered, **(asked.update or {})})


def _seen(state: LearnState, context: LearnContext) -> list[str]:
    """Observations that seats had at their turns, as JSON, evenly taken of those that differ."""
    header = context.material.header
    sights = all_sights(context.material.training(state.promoted), header.num_players, header.seat)
    told = dict.fromkeys(canonical_key(one.turns[-1][0]) for one in sights if not one.ended)
    texts = [*told]
    most = min(_OBSERVATIONS, max(1, _SHOWN * len(texts) // (1 + sum(map(len, texts)))))
    return texts[:: -(-len(texts) // most)]


def report(state: LearnState, runtime: Runtime[LearnContext]) -> dict[str, Any]:
    """Write `model.py`, `learn.json` and `report.html`, whatever the run came to."""
    context, folder = runtime.context, runtime.context.folder
    keep_grade(folder, context.sandbox.grade)
    chosen = state.chosen
    update: dict[str, Any] = {}
    if chosen is not None:
        gaps = _gaps(state, context, chosen) if state.end is None else None
        if gaps is not None and state.arena:
            gaps = gaps.model_copy(update={"play": wrong_in_play(state.arena[-1])})
        update = {"gaps": gaps, **_end(state, chosen, gaps)}
        update["fidelity"] = _fidelity(state, context, chosen)
        try:
            whole = module_of(context, chosen.source, start_of(context, chosen.source))
        except ModuleFault as fault:
            whole = f"# This source is no module: {str(fault)!r}\n{chosen.source}"
        folder.write_text("model.py", whole)
    elif state.end is None:
        update = {"end": "gave_up", "reason": "no candidate was ever made"}
    ended = state.model_copy(update=update)
    grade = grades_of(folder, context.sandbox.grade)[0]
    told = learn_object(ended, context, chosen, grade.model_dump(mode="json"))
    folder.write_json("learn.json", told)
    folder.write_text("report.html", page_of(told, ended, chosen))
    runtime.stream_writer({"node": "report", "end": ended.end, "folder": str(folder.path)})
    return update


def _fidelity(
    state: LearnState, context: LearnContext, chosen: Candidate
) -> dict[str, object] | None:
    """Branch fidelity, where the environment may be asked; why not, where it failed."""
    if not context.settings.environment:
        return None
    try:
        module = module_of(context, chosen.source, context.material.start)
        return branch_fidelity(context, module, state.promoted)
    except (ModuleFault, ValueError, LookupError, RuntimeError) as error:
        return {"problem": f"{type(error).__name__}: {error}"}


def _end(state: LearnState, chosen: Candidate, gaps: Gaps | None) -> dict[str, Any]:
    """How a run ends: nothing that was not put to the test counts as passed."""
    open_ends = [f for f in chosen.findings or () if f.outcome != "passed"]
    judged = state.judged.get(chosen.number)
    if open_ends and state.end and judged and judged.accuracy == 1.0:
        # No figure says what is wrong.
        drawn = all(found.check == CALIBRATION for found in open_ends)
        reason = f"{state.reason}; {what_failed(open_ends)}"
        return {"end": "incomplete" if drawn else state.end, "reason": reason}
    if state.end is not None or gaps is None:
        return {"end": state.end, "reason": state.reason}
    if chosen.outcome != "passed":
        return {"end": "gave_up", "reason": what_failed(chosen.findings or ())}
    if told := gaps.named:
        more = f" and {len(told) - 3} more" if len(told) > 3 else ""  # noqa: PLR2004
        return {"end": "incomplete", "reason": "; ".join(told[:3]) + more}
    return {"end": "passed", "reason": ""}


def _gaps(state: LearnState, context: LearnContext, chosen: Candidate) -> Gaps:
    """What recorded matches, and those that it predicted in play, have never put to the test."""
    material, settings = context.material, context.settings
    recorded = [*material.training(state.promoted), *material.heldout(state.promoted)]
    alone = not material.heldout(state.promoted)
    ends = all(match.truncated for match in recorded)
    if settings.closed_deck:
        return Gaps(heldout=alone, ends=ends)
    matches = open_matches(recorded)
    if state.arena and "rows" in state.arena[-1]:
        matches += predicted_in_play(context.folder)
    source = chosen.source.partition(f"\n{BELOW}\n")[0]
    whole = module_of(context, source, material.start)
    played = context.play(whole, settings.play_matches, settings.seed + 1).matches
    asked = [name for name in PREDICTING if name != "get_player_name"]  # it was for every name
    met = context.covered(whole, asked, matches)
    unplayed = (offered(matches) | offered(played)) - taken(matches)
    missed = [f"line {one.line} of {one.function}: {one.text}" for one in met.missed]
    return Gaps(
        phases=tuple(sorted(phases(played) - phases(matches))),
        actions=tuple(f"{action}” in “{phase}" for phase, action in sorted(unplayed)),
        branches=tuple(missed[:_SHOWN_BRANCHES]),
        heldout=alone,
        ends=ends,
        counted=any(map(counts_outcomes, recorded)),
    )
