"""The pool of candidates, and the strategies that pick one to refine."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

import numpy as np
from pydantic import ConfigDict, JsonValue, TypeAdapter
from pydantic.dataclasses import dataclass
from pydantic_core import to_jsonable_python

from agents.protocols import Attempt
from games.checks import Finding, Outcome, verdict
from graph.run.settings import RefineStrategy

# Characters of open findings that one line may have.
_LONGEST, _SHORTEST = 600, 60


_ATTEMPTS = 4


_LONGEST_DIFF = 3_000


# REx (Tang et al. 2024) weighs the heuristic value against the prior with this constant; 5 is the
# value Code World Models used.
REX_WEIGHT = 5.0


EDIT = "edit"


"""The check of a finding that tells the coder why its last edit was of no use."""


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Candidate:
    """One version of the module with its findings.

    Attributes:
        number: 0 for the draft, then one more a refinement.
        parent: Number of the candidate it was edited from; None for the draft.
        source: The module.
        findings: What the checks found; None until it was checked.
        refined: How often it was picked for refinement.
        cause: What the coder held to be wrong with its parent; empty for the draft.
        score: Share of its tests that it passes, where they are counted one by one.
        lacking: What could not be judged of it, because no reply of a model could be read.
        refused: Why answers of the coder on it were of no use, in part or as a whole.
    """

    number: int
    parent: int | None = None
    source: str
    findings: tuple[Finding, ...] | None = None
    refined: int = 0
    cause: str = ""
    score: float | None = None
    lacking: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The verdict over its findings; unchecked is not passed."""
        return verdict(self.findings or ())

    @property
    def wrong(self) -> str:
        """All that did not pass, in a line; empty where its checks passed."""
        return "" if self.outcome == "passed" else what_failed(self.findings or ())

    @property
    def share_passed(self) -> float:
        """Its share in [0, 1]: its score, else the mean over its checks; 0 unchecked.

        A check counts once however many findings it gives, so that a fault reported three times
        weighs no more than one reported once. An edit of it that was of no use says nothing of it.
        """
        if self.score is not None:
            return self.score
        return fmean(shares) if (shares := self._shares()) else 0.0

    @property
    def reached(self) -> float:
        """Its score, else how many checks it passed: later ones are run where these pass."""
        return sum(self._shares()) if self.score is None else self.score

    def _shares(self) -> list[float]:
        by_check: dict[str, list[bool]] = {}
        for finding in (found for found in self.findings or () if found.check != EDIT):
            by_check.setdefault(finding.check, []).append(finding.outcome == "passed")
        return [fmean(passed) for passed in by_check.values()]


def keep_newest(old: Iterable[Candidate], new: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Merge candidates by number; a later version of the same number replaces the earlier.

    >>> a, b = Candidate(number=0, source="x"), Candidate(number=0, source="x", refined=1)
    >>> [c.refined for c in keep_newest([a], [b])]
    [1]
    """
    merged = {candidate.number: candidate for candidate in (*old, *new)}
    return tuple(merged[number] for number in sorted(merged))


def pooled(old: Sequence[JsonValue], new: Sequence[JsonValue]) -> list[JsonValue]:
    """`keep_newest` over candidates as a checkpoint keeps them."""
    merged = keep_newest(_CANDIDATES.validate_python(old), _CANDIDATES.validate_python(new))
    return [to_jsonable_python(candidate) for candidate in merged]


_CANDIDATES = TypeAdapter(tuple[Candidate, ...])


def best(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate to show where none was accepted: the furthest, then the newest."""
    return max(candidates, key=lambda candidate: (candidate.reached, candidate.number))


def what_failed(findings: Sequence[Finding]) -> str:
    """Findings that did not pass, in one line of bounded length.

    >>> what_failed([Finding(check="leak_audit", outcome="failed", evidence="seat 1 sees a hand")])
    'leak_audit: seat 1 sees a hand'
    """
    wrong = [f"{f.check}: {f.evidence}" for f in findings if f.outcome != "passed"]
    most = max(_LONGEST // max(1, len(wrong)) - 2, _SHORTEST)  # of each, so that all are told
    text = "; ".join(one if len(one) <= most else one[: most - 1] + "…" for one in wrong)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def newest(candidates: Sequence[Candidate], generator: np.random.Generator) -> Candidate:
    """Conversation: always go on from the newest candidate."""
    del generator
    return max(candidates, key=lambda candidate: candidate.number)


def thompson(candidates: Sequence[Candidate], generator: np.random.Generator) -> Candidate:
    """Tree: Thompson sampling over all candidates (REx).

    Each candidate with heuristic value `h` (share of findings passed) that was refined `n` times
    without success draws from ``Beta(1 + C * h, 1 + C * (1 - h) + n)``; the largest draw wins.
    """
    draws = [
        generator.beta(
            1 + REX_WEIGHT * candidate.share_passed,
            1 + REX_WEIGHT * (1 - candidate.share_passed) + candidate.refined,
        )
        for candidate in candidates
    ]
    return candidates[int(np.argmax(draws))]


Pick: TypeAlias = Callable[[Sequence[Candidate], np.random.Generator], Candidate]


STRATEGIES: Mapping[RefineStrategy, Pick] = {"conversation": newest, "tree": thompson}


def earlier_attempts(candidates: Sequence[Candidate], newest: Candidate) -> list[Attempt]:
    """The refinements that led to a candidate, oldest first."""
    by_number = {candidate.number: candidate for candidate in candidates}
    told: list[Attempt] = []
    while newest.parent is not None and len(told) < _ATTEMPTS:
        parent = by_number[newest.parent]
        wrong, diff = what_failed(parent.findings or ()), _diff(parent.source, newest.source)
        tried = Attempt(open=wrong, cause=newest.cause, diff=diff, refused=parent.refused)
        told.append(tried)
        newest = parent
    return told[::-1]


def tried_from(candidates: Sequence[Candidate], parent: Candidate) -> list[Attempt]:
    """The newest versions that came of a candidate, oldest first, with what is wrong with each."""
    made = [c for c in candidates if c.parent == parent.number and c.findings is not None]
    return [
        Attempt(
            open=f"{100 * one.share_passed:.2f} % hold; {what_failed(one.findings or ())}",
            cause=one.cause,
            diff=_diff(parent.source, one.source),
        )
        for one in made[-_ATTEMPTS:]
    ]


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    text = "\n".join(list(lines)[2:])
    cut = len(text) - _LONGEST_DIFF
    return text if cut <= 0 else f"{text[:_LONGEST_DIFF]}\n({cut} characters more)"
