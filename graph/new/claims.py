"""Claims of the validator: what is put to the vote, what counts, and what is left of findings."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from agents.protocols import Claim, Design, Objection
from games.checks import Finding
from games.checks.unit_tests import PLY
from graph.run.candidates import Candidate, best

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
