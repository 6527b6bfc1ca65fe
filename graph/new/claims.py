"""The law of claims: what an event makes of a claim, and what goes to the vote."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from agents.protocols import Claim, Design, Objection, RefusedTest, Vote
from games.checks import Finding
from games.checks.unit_tests import UnitTest
from games.library.handicaps import HANDICAPS
from graph.run.candidates import Candidate, best

# A claim that outlived two edits which passed all else is put to the vote unasked.
_OUTLIVED = 3


_OLDER = (
    "The test was written before the rules were changed, and held then; the change asks for "
    "another value."
)


SEATS = "S1"
"""The claim that seats differ where the rules treat them alike: one a run."""
RECORD = "record"
"""The check that a validator found no fault in a match."""


@dataclass(frozen=True)
class Voted:
    """The votes of fresh validators on a claim, as far as they could be read."""

    votes: tuple[Vote, ...]

    @property
    def counted(self) -> tuple[int, int]:
        """Votes for the claim, with its maker's, and votes against it.

        >>> Voted((Vote(upheld=True, why=""), Vote(upheld=False, why=""))).counted
        (2, 1)
        """
        held = sum(vote.upheld for vote in self.votes)
        return 1 + held, len(self.votes) - held


ClaimEvent: TypeAlias = Voted | Literal["dropped", "overtaken", "carried over"]


def after(claim: Claim, event: ClaimEvent) -> Claim:
    """The claim after an event; a claim that no longer counts stays as it is.

    A majority upholds it, its maker's vote included. Without one it is struck, or overtaken if it
    is older than a revision.
    A claim that a revision carries over is open again: validators voted on the rules before.

    >>> claim = Claim(id="T1", rule="R1", says="")
    >>> no = Voted((Vote(upheld=False, why=""),) * 2)
    >>> after(claim, no).status, after(after(claim, no), "carried over").status
    ('struck', 'struck')
    """
    if not claim.counts:
        return claim
    if isinstance(event, Voted):
        held, against = event.counted
        lost = "overtaken" if claim.older else "struck"
        status = "upheld" if held > against else lost
        return claim.model_copy(update={"status": status, "votes": event.votes})
    if event == "carried over":
        return claim.model_copy(update={"status": "open", "older": claim.test is not None})
    return claim.model_copy(update={"status": event})


def named(claims: Sequence[Claim], prefix: str, count: int) -> list[str]:
    """The next ids with this prefix.

    >>> named([Claim(id="V1", rule="R1", says="")], "V", 2)
    ['V2', 'V3']
    """
    used = max((int(c.id[1:]) for c in claims if c.id.startswith(prefix)), default=0)
    return [f"{prefix}{used + 1 + index}" for index in range(count)]


def updated(claims: Sequence[Claim], newer: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims with newer versions in place of those with the same id, and new ones behind."""
    by_id = {claim.id: claim for claim in (*claims, *newer)}
    return tuple(by_id.values())


def held_tests(claims: Sequence[Claim]) -> list[tuple[Claim, UnitTest]]:
    """The tests that every candidate must pass, each with its claim."""
    return [(claim, claim.test) for claim in claims if claim.test and claim.counts]


def to_settle(
    claims: Sequence[Claim], candidates: Sequence[Candidate], *, last: bool
) -> tuple[Claim, ...]:
    """Claims that go to the vote though nobody contested them.

    Nothing but open claims may keep the candidate from passing. Of these a claim goes to the vote
    if it outlived two edits, if one like it was struck, or if it is older than a revision. Once no
    refinement is left, all of them go; but no vote helps a candidate that an upheld claim holds.

    Args:
        claims: All of the run.
        candidates: The pool; its newest counts, or the best of all once no refinement is left.
        last: True if no refinement is left.
    """
    by_id = {claim.id: claim for claim in claims}
    blocked = [candidate for candidate in candidates if _only_claims(candidate)]
    if last:
        upheld = {claim.id for claim in claims if claim.status == "upheld"}
        blocked = [candidate for candidate in blocked if upheld.isdisjoint(_open(candidate))]
    if not blocked or (candidates[-1] not in blocked and not last):
        return ()
    newest = candidates[-1] if candidates[-1] in blocked else best(blocked)
    alike = [{_alike(by_id[name]) for name in _open(candidate)} for candidate in blocked]
    seen = Counter(name for names in alike for name in names)
    struck = {_alike(claim) for claim in claims if claim.status == "struck"}
    chosen = []
    for claim in (by_id[name] for name in _open(newest)):
        kind = _alike(claim)
        due = last or claim.older or seen[kind] >= _OUTLIVED or kind in struck
        if claim.status == "open" and due:
            chosen.append(claim.model_copy(update={"argument": _OLDER if claim.older else ""}))
    return tuple(chosen)


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
        elif claim.status != "open":
            refused.append(f"finding {contest.finding} was upheld by fresh validators; mend it")
        else:
            chosen[claim.id] = claim.model_copy(update={"argument": contest.argument})
    return tuple(chosen.values()), refused


def outdated(claims: Sequence[Claim], rules: Collection[str]) -> tuple[Claim, ...]:
    """The claims after a ruling amended these rules, which overtakes tests and verdicts on them."""
    return tuple(
        after(claim, "overtaken") if (claim.test or claim.played) and claim.rule in rules else claim
        for claim in claims
    )


def carried(
    claims: Sequence[Claim], candidate: Candidate, before: Design, revised: Design
) -> tuple[Claim, ...]:
    """Claims that a game satisfied and that hold for its revision, which left their rule alone.

    With other seats or settings no test is the same.
    """
    names = (*before.parameters, *HANDICAPS)
    old, new = ([one.num_players, *map(one.parameters.get, names)] for one in (before, revised))
    if old != new:
        return ()
    texts = {rule.id: rule.text for rule in revised.rules}
    kept = {rule.id for rule in before.rules if texts.get(rule.id) == rule.text}
    passed = {found.claim for found in candidate.findings or () if found.outcome == "passed"}
    return tuple(
        after(claim, "carried over")
        for claim in claims
        if claim.counts and claim.rule in kept and claim.id in passed
    )


def to_ask_anew(claims: Sequence[Claim], amended: Sequence[str]) -> tuple[str, ...]:
    """The amended rules without a test that was written since."""
    newer = {claim.rule for claim in claims if claim.test and claim.status != "overtaken"}
    return tuple(dict.fromkeys(rule for rule in amended if rule not in newer))


def without_struck(candidates: Sequence[Candidate], claims: Sequence[Claim]) -> list[Candidate]:
    """The candidates with the findings that the claims leave after a vote."""
    by_id = {claim.id: claim for claim in claims}
    return [
        replace(candidate, findings=tuple(_left(candidate.findings, by_id)))
        if candidate.findings is not None
        else candidate
        for candidate in candidates
    ]


def _left(findings: Sequence[Finding], by_id: Mapping[str, Claim]) -> Iterator[Finding]:
    """The findings without those of claims that count no more; a struck verdict passes its match.

    Further validators looked at that match and found no fault: that is a judgement too.
    """
    for found in findings:
        claim = by_id.get(found.claim)
        if claim is None:
            yield found
        elif claim.counts:
            yield with_votes(found, claim)
        elif claim.status == "struck" and found.check == RECORD:
            told = f"{claim.id} was voted down: {claim.says}"
            yield found.model_copy(update={"outcome": "passed", "evidence": told})


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
    """True if a candidate passes, but nobody looked at its records yet."""
    looked_at = any(found.check == RECORD for found in candidate.findings or ())
    return candidate.outcome == "passed" and not looked_at and not candidate.lacking


def _only_claims(candidate: Candidate) -> bool:
    """True if nothing but claims of the validator keeps a candidate from passing."""
    wrong = [f for f in candidate.findings or () if f.outcome != "passed"]
    return bool(wrong) and all(found.claim for found in wrong)


def _open(candidate: Candidate) -> list[str]:
    return [f.claim for f in candidate.findings or () if f.outcome != "passed" and f.claim]


def _alike(claim: Claim) -> str:
    """The kind of a claim: verdicts are given anew on every candidate, so a rule has one kind."""
    given_anew = claim.test is None and claim.id != SEATS
    return f"verdict on {claim.rule}" if given_anew else claim.id


def claim_of(identity: str, test: UnitTest | RefusedTest) -> Claim:
    """The claim that a test makes; of one that cannot be run, dropped."""
    if isinstance(test, RefusedTest):
        says = f"{test.name}: it cannot be run: {test.why}"
        return Claim(id=identity, rule=test.rule, says=says, status="dropped")
    says = f"{test.name}: {test.function} {test.relation} {test.expected_json}"
    return Claim(id=identity, rule=test.rule, says=says, test=test)
