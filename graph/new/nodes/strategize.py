"""Strategize: policies become heuristics; those that beat random play together are kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import JsonValue

from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.protocols import Design, Heuristic, RoleError
from agents.strategy.contest import HeuristicContest, fault_of
from games.checks import verdict
from games.values import ModuleFault
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.playing import contest_of, play_of_run, taught
from graph.new.state import RunState, folder_of, go_on, need_design
from graph.run.candidates import what_failed
from graph.run.events import Tell, writer_of
from graph.run.folder import RunFolder
from graph.run.sandboxes import keep_grade
from tools.playtest.of_run.played import LineUp, PlayTest
from tools.playtest.report import score_step


def strategize(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["evaluate"]]:
    """Ask for heuristics, try each in the sandbox, and select an ensemble by play."""
    context = context_of(runtime, state.folder, state.seed)
    made = need_design(state)
    if state.accepted is None:
        raise ValueError("strategize runs on an accepted candidate; none is accepted")
    source = state.candidate(state.accepted).source
    folder = folder_of(state)
    keep_grade(folder, context.sandbox.grade)
    tell = writer_of(runtime.stream_writer)
    table = play_of_run(context, source, made.num_players, folder, tell=tell)
    notes: list[str] = []
    candidate = state.candidate(state.accepted)
    if context.settings.extras and not context.settings.quick:
        source = extended(context, table, made, notes)
        candidate = replace(candidate, source=source)
        table = play_of_run(context, source, made.num_players, folder, tell=tell)
        folder.write_text("game.py", source)
    contest = partial(contest_of, context, table)
    with place("strategize"):
        samples = table.samples()
        earlier = state.before.heuristics if state.before and context.budget else ()
        sound = proposed(context, made, source, samples, notes, earlier)
        kept = _selected(contest, sound, notes, tell)
        if earlier and not kept:
            kept = _selected(contest, proposed(context, made, source, samples, notes), notes, tell)
    if not kept and context.settings.lessons:
        notes.append("Heuristics were fitted to matches of the game, without a model.")
        fitted = _fitted(context, table, notes)
        kept = _selected(contest, fitted, notes, tell)
    folder.write_together({f"players/{one.name}.py": one.source for one in kept})
    after = state.with_versions(candidate).with_players(kept, notes)
    return go_on("evaluate", state, after.saying(_said(kept), "strategize"))


def _said(kept: Sequence[Heuristic]) -> str:
    names = ", ".join(heuristic.name.replace("_", " ") for heuristic in kept)
    won = f"Heuristics that win against random play, and are kept: {names}."
    return won if kept else "No heuristic won against random play."


def _selected(
    contest: Callable[[Sequence[Heuristic], Tell], HeuristicContest],
    candidates: Sequence[Heuristic],
    notes: list[str],
    tell: Tell,
) -> tuple[Heuristic, ...]:
    if not candidates:
        notes.append("No heuristic could be used.")
        return ()
    selection, kept = contest(candidates, tell).select()
    notes += selection.notes
    return kept


def _fitted(context: RunContext, table: PlayTest, notes: list[str]) -> list[Heuristic]:
    try:
        return taught(context, table)
    except ModuleFault as fault:
        notes.append(f"No heuristic could be fitted: {fault}")
        return []


def proposed(
    context: RunContext,
    made: Design,
    source: str,
    samples: Sequence[Mapping[str, JsonValue]],
    notes: list[str],
    earlier: Sequence[Heuristic] = (),
) -> list[Heuristic]:
    """The strategist's heuristics that work, or the earlier ones; it is told once of the others.

    A reply that cannot be read costs the heuristics, never the game; `notes` say so.
    """
    strategist = context.roles.strategist
    if earlier:
        notes.append("The heuristics of the game before were tried; no new ones were asked for.")
    try:
        asked = earlier or strategist.heuristics(made, source, samples)
    except (RoleError, MalformedReplyError) as error:
        notes.append(f"No heuristics: {error}")
        return []
    once = {one.source or one.name: one for one in reversed(asked)}
    faults = {one.name: fault_of(one, samples, context.sandbox) for one in once.values()}
    different = [one for one in asked if one.name in faults]
    if len(different) < len(asked):
        notes.append(f"{len(asked) - len(different)} heuristics were the same as others.")
    sound = [one for one in different if faults[one.name] is None]
    broken = [(one, why) for one in different if (why := faults[one.name]) is not None]
    if not broken:
        return sound
    try:
        mended = strategist.repair(made, source, samples, broken)
    except (RoleError, MalformedReplyError) as error:
        notes.append(f"What does not work could not be repaired: {error}")
        mended = []
    for one, why in broken:
        again = next((other for other in mended if other.name == one.name), None)
        still = fault_of(again, samples, context.sandbox) if again else why
        if again and still is None:
            sound.append(again)
        else:
            notes.append(f"{one.name} was left out: {still}")
    return sound


_VALUE = "value_function"
_DRAWN_MATCHES, _FITS = 6, 0.9
_EXTRA_MATCHES = 100  # of two searches


def extended(context: RunContext, table: PlayTest, made: Design, notes: list[str]) -> str:
    """The accepted source with the optional functions that hold; `notes` say what became of each.

    A reply that cannot be read costs the functions and nothing else.
    """
    extender, source = context.roles.extender, table.source
    if extender is None:
        notes.append("No value function and no resampler: the coder has no way to write them.")
        return source
    try:
        with place("extras"):
            found = extender.extend(made, source)
    except (RoleError, MalformedReplyError) as error:
        notes.append(f"No value function and no resampler: {error}")
        return source
    for name, function in found.items():
        tried = f"{source.rstrip()}\n\n\n{function}\n"
        holds, why = _judged(context, _with(table, tried), name)
        source = tried if holds else source
        notes.append(f"{name} was {'kept' if holds else 'dropped'}: {why}")
    return source


def _with(table: PlayTest, source: str) -> PlayTest:
    """The play-test of another source, with journals of its own among the run's."""
    digest = sha256(source.encode()).hexdigest()[:12]
    folder = RunFolder(table.journals / f"extras-{digest}")
    folder.make()
    return replace(table, source=source, journals=folder.journals, played={})


def _judged(context: RunContext, table: PlayTest, name: str) -> tuple[bool, str]:
    """The verdict on a function, with its reason: all checks once more, then play."""
    settings = context.settings.check
    found = context.checked(table.source, settings, table.num_players, 0).findings
    if verdict(found) != "passed":
        return False, f"with it not all checks pass: {what_failed(found)}"
    return _wins(table) if name == _VALUE else _fits(table, name)


def _wins(table: PlayTest) -> tuple[bool, str]:
    """The same search with the value function against itself without, on the same deals."""
    settings = table.settings
    search = f"{table.search_name()}:simulations={settings.small_budget}"
    without, having = f"{search},leaf=rollout", f"{search},leaf=value"
    matches = min(settings.ladder_matches, _EXTRA_MATCHES)
    if table.is_shared:
        played = {spec: table.alone(spec, {}, matches) for spec in (without, having)}
        step = score_step(without, having, played)
    else:
        beside = LineUp((), {}, table.sides)
        step = table.versus(without, having, "extras-value", beside, matches)
    return step.verdict == "climbs", f"{having} against {without}: {step.advantage}"


def _fits(table: PlayTest, name: str) -> tuple[bool, str]:
    """States drawn from real logs, in matches of a search that asks this function alone."""
    if table.search_name() == "uct":
        return False, "nothing is hidden, so there is nothing to draw"
    spec = "ismcts:simulations=2,belief=module"
    series = table.alone(spec, {}, _DRAWN_MATCHES)
    used = [one for entry in series.entries.values() for one in entry.used]
    told = [figure for one in used if (figure := one.figure("belief_consistency"))]
    asked = sum(figure.count for figure in told)
    if not asked or set(series.endings) != {"finished"}:
        return False, "no match that draws from it came to its end"
    share = sum(figure.total for figure in told) / asked
    lost = sum(one.counted("belief").get("none_found", 0) for one in used)
    said = f"at {asked} decisions {share:.0%} of what {name} drew fitted the log"
    return share >= _FITS and not lost, f"{said}, at {lost} nothing did; required: 90%, 0"
