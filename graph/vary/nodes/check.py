"""Node: the whole `check` of each chosen variant, and its matches on fresh deals."""

from collections.abc import Callable, Sequence
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from games.checks import Finding, verdict
from games.checks.run import CheckSettings
from games.streams import stream
from games.values import Json
from graph.run.candidates import what_failed
from graph.run.checkpoints import moved
from graph.run.events import Checked, MatchPlayed, writer_of
from graph.run.sandboxes import keep_grade
from graph.vary.state import Variant, VaryContext, VaryState
from tools.checking import check_source
from tools.playtest.jobs import GameSetup
from tools.playtest.of_run.played import jobs_here
from tools.playtest.series import SeriesSettings, play_finding
from tools.variation.trial import TrialResult

_MATCHES = 100  # that `check` plays as `match` plays them
_SECONDS = 600.0  # of one check: no machine is so busy


class _Entry(BaseModel, frozen=True, extra="forbid"):
    findings: tuple[Finding, ...]
    final: TrialResult | None


def check(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["select"]]:
    """Check and play those that were chosen; one that fails, or plays as the base, is not kept."""
    context, tell = runtime.context, writer_of(runtime.stream_writer)
    keep_grade(context.folder, context.sandbox.grade)
    new = [one for one in state.kept if one.findings is None]

    def played(done: int, of: int) -> None:
        tell(MatchPlayed(node="check", series="chosen variants", played=done, of=of))

    jobs = [(one.number, _job(context, one, state)) for one in new]
    rounds = len(state.chosen) - len(new)
    name = f"check-{rounds}"
    found = context.side_by_side(name, jobs, _Entry, played, max(1, jobs_here() // 2))
    judged, others = list[Variant](), [one for one in state.kept if one.final is not None]
    for one in new:
        entry = found[one.number]
        played_out = one.model_copy(update={"findings": entry.findings, "final": entry.final})
        seats = context.request.base.setup(one.twist).num_players
        reason = _reason(played_out, state, seats, others)
        judged.append(played_out.model_copy(update={"reason": reason}))
        others += [] if reason else [played_out]
        wrong = tuple(f.check for f in entry.findings if f.outcome != "passed")
        tell(Checked(candidate=one.number, outcome=reason or "kept", failed=wrong))
    return moved("select", state, state.with_candidates(judged))


def _job(context: VaryContext, variant: Variant, state: VaryState) -> Callable[[], Json]:
    settings, game = context.settings, context.request.base.made(variant.twist)
    amounts = state.noise.amounts.model_copy(
        update={
            "random": settings.final_random,
            "good": settings.final_good,
            "mixed": settings.final_good,
        }
    )
    seed = int(stream(settings.seed, "vary checks", match=variant.number).integers(2**63))
    play = context.job(variant.twist, "final", amounts)

    def judged() -> Json:
        findings = _checked(context, game, seed)
        final = None
        if verdict(findings) == "passed":
            final = TrialResult.model_validate(play())
        return _Entry(findings=tuple(findings), final=final).model_dump(mode="json")

    return judged


def _checked(context: VaryContext, game: GameSetup, seed: int) -> list[Finding]:
    """The findings of all that the command `check` asks."""
    settings = CheckSettings(seed=seed)
    run = check_source(
        context.sandbox,
        game.source,
        settings=settings,
        num_players=game.num_players,
        parameters={},
        deadline_s=_SECONDS,
        records=0,
    )
    findings = list(run.findings)
    if verdict(findings) == "passed":
        asked = SeriesSettings(_MATCHES, seed, settings.max_plies, record=False)
        findings.append(play_finding(context.sandbox, game, context.roster, asked))
    return findings


def _reason(variant: Variant, state: VaryState, seats: int, others: Sequence[Variant]) -> str:
    """Why a variant is not kept; empty where it is."""
    outcome = verdict(variant.findings or ())
    if outcome != "passed":
        told = "the checks" if outcome == "failed" else "could not be judged"
        return f"{told}: {what_failed(variant.findings or ())}"
    if variant.final is None or variant.final.problem:
        return variant.final.problem if variant.final else "it was not played"
    if why := state.dull(variant.final, seats):
        return why
    if state.novelty(variant) <= state.noise.chance:
        return "on fresh deals it is not told from the base in play"
    if any(state.between(variant, other) <= state.noise.chance for other in others):
        return "on fresh deals it is not told from another variant in play"
    return ""
