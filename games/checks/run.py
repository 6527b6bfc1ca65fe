"""All checks over one module, as one list of findings."""

from collections.abc import Sequence
from functools import cache, partial

from pydantic import BaseModel, Field

from games.checks import Finding, verdict
from games.checks.choices import check_choices
from games.checks.contract import check_definitions, check_functions, check_start, from_fault
from games.checks.leaks import check_leaks
from games.checks.promises import check_conservation, check_resampling, check_total, check_value
from games.checks.sampling import PlayedMatch, Subject, played_matches, sample_states
from games.engine import Match
from games.values import ModuleFault

_MORE = 3  # times as many matches, where the leak audit met too little
_EXAMPLES = 3  # of matches that failed: they tell a coder enough


class CheckSettings(BaseModel, frozen=True, extra="forbid"):
    """Numbers of matches, pairs and positions that the checks look at."""

    matches: int = Field(default=12, ge=1, le=10_000, description="Random matches played.")
    max_plies: int = Field(
        default=3000, ge=1, le=1_000_000, description="Plies a match may take to its end."
    )
    samples: int = Field(default=40, ge=4, le=10_000, description="States looked at closely.")
    seed: int = Field(default=0, ge=0)


def run_checks(subject: Subject, settings: CheckSettings) -> list[Finding]:
    """Run every check; later ones are skipped, and say so, where the module cannot be played."""
    findings = check_definitions(subject.game, subject.num_players)
    if verdict(findings) != "passed":
        return [*findings, _skipped("random_play", "the definitions failed")]
    findings += check_start(subject)
    try:
        played = played_matches(
            subject, matches=settings.matches, seed=settings.seed, max_plies=settings.max_plies
        )
    except ModuleFault as fault:
        return [*findings, from_fault("random_play", fault)]
    matches = [each.match for each in played]
    findings += _check_play(matches)
    findings += check_total(subject, matches)
    findings += check_choices(subject, matches, seed=settings.seed)
    samples = sample_states(matches, count=settings.samples, seed=settings.seed)
    if not samples:
        return [*findings, _skipped("functions", "no state could be reached")]
    findings += check_functions(subject, samples, seed=settings.seed)
    findings += check_conservation(subject, samples)
    findings += check_leaks(
        subject,
        played,
        pairs=settings.samples,
        seed=settings.seed,
        more=cache(partial(_more, subject, settings)),
    )
    findings += check_resampling(subject, matches[:4], per_match=6)
    findings += check_value(subject, samples)
    return findings


def _more(subject: Subject, settings: CheckSettings) -> list[PlayedMatch]:
    """Matches beyond those that all checks look at: a zone may be filled in few of them."""
    return played_matches(
        subject,
        matches=_MORE * settings.matches,
        seed=settings.seed,
        max_plies=settings.max_plies,
        first=settings.matches,
    )


def _skipped(check: str, reason: str) -> Finding:
    return Finding(check=check, outcome="could_not_judge", evidence=f"not run: {reason}")


def _check_play(matches: Sequence[Match]) -> list[Finding]:
    """Every match ended at a terminal state within its ply limit; each way of failing once."""
    failed: dict[tuple[str, int | None], Finding] = {}
    for index, match in enumerate(matches):
        if match.ending != "finished":
            found = Finding(
                check="random_play",
                outcome="failed",
                rule="contract",
                evidence=f"match {index} after {len(match.plies)} plies: {match.reason}",
                function=_culprit(match.reason) if match.ending == "fault" else "apply_action",
                line=match.fault_line,
            )
            failed.setdefault((match.reason, match.fault_line), found)
    return [*failed.values()][:_EXAMPLES] or [Finding(check="random_play", outcome="passed")]


def _culprit(reason: str) -> str | None:
    head, _, _ = reason.partition(":")
    return head if head.isidentifier() else None
