"""Findings in a sentence."""

from collections.abc import Sequence

from games.checks.findings import Finding

_LONGEST = 600


def told(findings: Sequence[Finding]) -> str:
    """What did not pass, in one line of bounded length.

    >>> told([Finding(check="leak_audit", outcome="failed", evidence="seat 1 sees a hand")])
    'leak_audit: seat 1 sees a hand'
    """
    wrong = [f"{f.check}: {f.evidence}" for f in findings if f.outcome != "passed"]
    text = "; ".join(wrong)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
