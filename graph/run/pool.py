"""The pool of candidates, the strategies that pick one to refine, and claims held against it."""

import difflib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from pydantic import BaseModel

from agents.protocols import Attempt, Claim, Design, Objection
from games.checks import Finding, Outcome, verdict
from games.checks.unit_tests import PLY
from graph.run.context import RefineStrategy

# Characters of open findings that one line may have.
_LONGEST, _SHORTEST = 600, 60
_ATTEMPTS = 4
_LONGEST_DIFF = 3_000
# REx (Tang et al. 2024) weighs the heuristic value against the prior with this constant; 5 is the
# value Code World Models used.
REX_WEIGHT = 5.0
EDIT = "edit"
"""The check of a finding that tells the coder why its last edit was of no use."""


class Candidate(BaseModel, frozen=True, extra="forbid"):
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
    def share_passed(self) -> float:
        """How far it got, in [0, 1]: its score, else the mean over its checks; 0 unchecked.

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


def keep_newest(old: list[Candidate], new: list[Candidate]) -> list[Candidate]:
    """Merge candidates by number; a later version of the same number replaces the earlier.

    >>> a, b = Candidate(number=0, source="x"), Candidate(number=0, source="x", refined=1)
    >>> [c.refined for c in keep_newest([a], [b])]
    [1]
    """
    merged = {candidate.number: candidate for candidate in (*old, *new)}
    return [merged[number] for number in sorted(merged)]


def pooled(old: list[Any], new: list[Any]) -> list[Any]:
    """`keep_newest` over candidates as a checkpoint keeps them."""
    both = ([Candidate.model_validate(item) for item in items] for items in (old, new))
    return [candidate.model_dump(mode="json") for candidate in keep_newest(*both)]


def best(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate to show where none was accepted: the furthest, then the newest."""
    return max(candidates, key=lambda candidate: (candidate.reached, candidate.number))


def what_failed(findings: Sequence[Finding]) -> str:
    """What did not pass, in one line of bounded length.

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


# A claim that outlived two edits which passed all else is put to the vote unasked.
_OUTLIVED = 3
_OLDER = (
    "The test was written before the rules were changed, and held then; the change asks for "
    "another value."
)
SEATS = "S1"
"""The claim that seats differ where the rules treat them alike: one a run."""


def named(claims: Sequence[Claim], prefix: str, count: int) -> list[str]:
    """The next ids with this prefix.

    >>> named([Claim(id="V1", rule="R1", says="")], "V", 2)
    ['V2', 'V3']
    """
    used = max((int(c.id[1:]) for c in claims if c.id.startswith(prefix)), default=0)
    return [f"{prefix}{used + 1 + index}" for index in range(count)]


def only_claims(candidate: Candidate) -> bool:
    """Whether nothing but claims of the validator keeps a candidate from passing."""
    wrong = [f for f in candidate.findings or () if f.outcome != "passed"]
    return bool(wrong) and all(found.claim for found in wrong)


def to_settle(
    claims: Sequence[Claim],
    candidates: Sequence[Candidate],
    *,
    last: bool,
    before: Sequence[Claim] = (),
) -> tuple[Claim, ...]:
    """Claims that are put to the vote without being contested.

    Those that outlived two edits, those like one that was struck before, tests that held for the
    game before a revision, which its change may have overtaken, and once no round is left
    all that alone stand between a run and its game: nothing unverified ends a run. Where an upheld
    one stands there too, no vote could help.

    Args:
        claims: All of the run.
        candidates: The pool, of which the newest is looked at; any, once no round is left.
        last: Whether no refinement is left.
        before: Claims of the game before a revision.
    """
    by_id = {claim.id: claim for claim in claims}
    blocked = [candidate for candidate in candidates if only_claims(candidate)]
    if last:
        upheld = {claim.id for claim in claims if claim.status == "upheld"}
        blocked = [candidate for candidate in blocked if upheld.isdisjoint(_open(candidate))]
    if not blocked or (candidates[-1] not in blocked and not last):
        return ()
    newest = candidates[-1] if candidates[-1] in blocked else best(blocked)
    struck = {_alike(claim) for claim in claims if claim.status == "disputed"}
    chosen = []
    for claim in (by_id[identity] for identity in _open(newest)):
        outlived = sum(
            any(_alike(by_id[identity]) == _alike(claim) for identity in _open(candidate))
            for candidate in blocked
        )
        older = is_older(claim, before)
        if claim.status == "standing" and (
            last or older or outlived >= _OUTLIVED or _alike(claim) in struck
        ):
            chosen.append(claim.model_copy(update={"argument": _OLDER if older else ""}))
    return tuple(chosen)


def is_older(claim: Claim, before: Sequence[Claim]) -> bool:
    """Whether it is a test that held for the game before a revision."""
    return claim.test is not None and any(one.test == claim.test for one in before)


def contested(
    claims: Sequence[Claim], findings: Sequence[Finding], contests: Sequence[Objection]
) -> tuple[tuple[Claim, ...], list[str]]:
    """The claims that a coder's objections put to the vote, and why others do not."""
    by_id = {claim.id: claim for claim in claims}
    chosen: dict[str, Claim] = {}
    refused = []
    for contest in contests:
        found = findings[contest.finding - 1] if contest.finding <= len(findings) else None
        claim = by_id.get(found.claim) if found is not None else None
        if found is None:
            refused.append(f"there is no finding {contest.finding}")
        elif claim is None:
            refused.append(
                f"finding {contest.finding} ({found.check}) was made by a program; it is not "
                "voted on, only mended"
            )
        elif claim.status != "standing":
            refused.append(f"finding {contest.finding} was upheld by fresh validators; mend it")
        else:
            chosen[claim.id] = claim.model_copy(update={"argument": contest.argument})
    return tuple(chosen.values()), refused


def updated(claims: Sequence[Claim], newer: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims with newer versions in place of those with the same id, and new ones behind."""
    by_id = {claim.id: claim for claim in (*claims, *newer)}
    return tuple(by_id.values())


def outdated(claims: Sequence[Claim], rules: Collection[str]) -> tuple[Claim, ...]:
    """The claims, of which those on these rules, which read otherwise by now, count no more."""
    return tuple(
        claim.model_copy(update={"status": "amended"})
        if (claim.test or claim.played) and claim.counts and claim.rule in rules
        else claim
        for claim in claims
    )


def carried(
    claims: Sequence[Claim], candidate: Candidate, before: Design, after: Design
) -> tuple[Claim, ...]:
    """Claims that a game satisfied and that hold for its revision, which left their rule alone.

    With other seats or settings no test is the same. What was upheld was so under the rules before:
    it stands, and is no longer upheld.
    """
    settings = {name: after.parameters.get(name) for name in before.parameters}
    if (after.num_players, settings) != (before.num_players, before.parameters):
        return ()
    texts = {rule.id: rule.text for rule in after.rules}
    kept = {rule.id for rule in before.rules if texts.get(rule.id) == rule.text}
    passed = {found.claim for found in candidate.findings or () if found.outcome == "passed"}
    return tuple(
        claim.model_copy(update={"status": "standing"})
        for claim in claims
        if claim.counts and claim.rule in kept and claim.id in passed
    )


def to_ask_anew(claims: Sequence[Claim], amended: Sequence[str]) -> tuple[str, ...]:
    """Of the rules that were amended those without a test that was written since."""
    newer = {claim.rule for claim in claims if claim.test and claim.status != "amended"}
    return tuple(dict.fromkeys(rule for rule in amended if rule not in newer))


def without_struck(candidates: Sequence[Candidate], claims: Sequence[Claim]) -> list[Candidate]:
    """The candidates with what is left of their findings; an upheld one quotes its votes."""
    by_id = {claim.id: claim for claim in claims}
    return [
        candidate.model_copy(
            update={
                "findings": _left(candidate.findings, by_id),
                "lacking": (*candidate.lacking, *_unjudged_records(candidate, by_id)),
            }
        )
        for candidate in candidates
    ]


def _unjudged_records(candidate: Candidate, by_id: Mapping[str, Claim]) -> list[str]:
    """What a struck verdict leaves: a record that nobody's judgement passed."""
    told = [by_id.get(f.claim) for f in candidate.findings or () if f.check != PLY]
    return [
        _not_judged(claim)
        for claim in told
        if claim is not None and claim.test is None and claim.id != SEATS
        if claim.status in ("disputed", "dropped")
    ]


def _not_judged(claim: Claim) -> str:
    why = "was given up" if claim.status == "dropped" else "found no majority"
    return f"the verdict {claim.id} on {claim.rule} {why}; its record is not judged"


def to_judge_again(candidate: Candidate, claims: Sequence[Claim]) -> dict[str, Claim]:
    """Struck verdicts of a candidate that passes, by what they left not judged.

    Only the first that is struck of a record: one that is voted down again leaves it so.
    """
    struck = [claim for claim in claims if claim.status == "disputed" and claim.played]
    shown = Counter(claim.shown for claim in struck)
    left = {_not_judged(claim): claim for claim in struck if shown[claim.shown] == 1}
    passed = candidate.outcome == "passed"
    return {told: left[told] for told in candidate.lacking if passed and told in left}


def _left(
    findings: Sequence[Finding] | None, by_id: Mapping[str, Claim]
) -> tuple[Finding, ...] | None:
    if findings is None:
        return None
    told = [(found, by_id.get(found.claim)) for found in findings]
    counted = [(found, claim) for found, claim in told if claim is None or claim.counts]
    return tuple(found if claim is None else with_votes(found, claim) for found, claim in counted)


def with_votes(found: Finding, claim: Claim) -> Finding:
    """A finding that rests on a claim; where it did not pass, it quotes the claim's votes."""
    words = {True: "upheld it", False: "did not uphold it"}
    said = "".join(f"\nA further validator {words[v.upheld]}: {v.why}" for v in claim.votes)
    known = found.outcome == "passed" or said in found.evidence
    told = found.evidence if known else found.evidence + said
    return found.model_copy(update={"claim": claim.id, "evidence": told})


def unmended(candidate: Candidate, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Upheld claims that a candidate was not seen to satisfy; of seats only what was seen."""
    passed = {f.claim for f in candidate.findings or () if f.outcome == "passed"}
    failed = {f.claim for f in candidate.findings or () if f.outcome != "passed"}
    return tuple(
        claim
        for claim in claims
        if claim.status == "upheld"
        and (claim.id in failed if claim.id == SEATS else claim.id not in passed)
    )


def at_odds(candidates: Sequence[Candidate]) -> tuple[tuple[str, str], ...]:
    """Claims and checks of programs of which edits satisfied one and broke the other, and back.

    Returns:
        Pairs of a claim's id and a check's name, as two edits of the pool show them.
    """
    wrong = {
        one.number: {(f.claim, f.check) for f in one.findings or () if f.outcome != "passed"}
        for one in candidates
    }
    seen: Counter[tuple[str, str]] = Counter()
    for child in candidates:
        if child.parent is None:
            continue
        was, now = wrong[child.parent], wrong[child.number]
        for old, new in ((was, now), (now, was)):
            seen.update(
                (claim, check)
                for claim, of in old
                for none, check in new
                if claim and not none
                if (claim, of) not in new and (none, check) not in old
            )
    return tuple(pair for pair, edits in seen.items() if edits > 1)


def unjudged(candidate: Candidate) -> bool:
    """Whether a candidate passes all it was held against, but its records were never looked at."""
    looked_at = any(found.check == "record" for found in candidate.findings or ())
    return candidate.outcome == "passed" and not looked_at and not candidate.lacking


def _open(candidate: Candidate) -> list[str]:
    return [f.claim for f in candidate.findings or () if f.outcome != "passed" and f.claim]


def _alike(claim: Claim) -> str:
    """Verdicts are given anew on every candidate: those on one rule are one claim."""
    given_anew = claim.test is None and claim.id != SEATS
    return f"verdict on {claim.rule}" if given_anew else claim.id
