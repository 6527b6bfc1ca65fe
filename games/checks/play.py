"""Check: random matches run to their end without a fault."""

from collections.abc import Sequence

from games.checks.findings import Finding
from games.engine import Match


def check_play(matches: Sequence[Match]) -> list[Finding]:
    """Every match ended at a terminal state within its ply limit."""
    findings = []
    for index, match in enumerate(matches):
        if match.ending == "finished":
            continue
        findings.append(
            Finding(
                check="random_play",
                outcome="failed",
                rule="contract",
                evidence=f"match {index} after {len(match.plies)} plies: {match.reason}",
                function=_culprit(match.reason) if match.ending == "fault" else "apply_action",
                line=match.fault_line,
            )
        )
        if len(findings) >= 3:  # noqa: PLR2004 - three examples tell a coder enough
            break
    return findings or [Finding(check="random_play", outcome="passed")]


def _culprit(reason: str) -> str | None:
    head, _, _ = reason.partition(":")
    return head if head.isidentifier() else None
