"""Trial of one candidate: checks by program, tests of the rules, verdicts on records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from langsmith import trace

from agents.composer.meaning.evidence import with_plies
from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.protocols import Claim, Design, RefusedTest, RoleError
from games.checks import Finding, Outcome, verdict
from games.checks.contract import from_fault
from games.checks.seats import even_handed
from games.checks.unit_tests import UnitTest, played_ply
from games.engine import Match
from games.records import MatchRecord
from games.values import ModuleFault
from graph.new.claims import (
    RECORD,
    SEATS,
    after,
    held_tests,
    named,
    to_ask_anew,
    updated,
    with_votes,
)
from graph.new.context import RunContext
from graph.new.records import Tell, diverse_records
from graph.new.results import claims_object
from graph.new.state import RunState, folder_of
from graph.run.candidates import Candidate, what_failed
from tools.checking import CheckRun

T = TypeVar("T")


UNREADABLE = (RoleError, MalformedReplyError)
"""Errors of an optional reply: the game is delivered without it, and that is said."""


def not_passing(rounds: int, findings: Sequence[Finding] | None) -> str:
    """The reason of a run that gives up: all that is still open, each in one line."""
    after = f"after {rounds} refinement{'s' * (rounds > 1)}"
    cut = [f.model_copy(update={"evidence": f.evidence.partition("\n")[0]}) for f in findings or ()]
    return f"{after} the game still does not pass: {what_failed(cut)}"


def write_checks(
    state: RunState, context: RunContext, candidate: Candidate, claims: Sequence[Claim]
) -> None:
    """Write `checks.json`: the candidate's findings, and every claim with its votes."""
    folder_of(state).write_json(
        "checks.json",
        {
            "candidate": candidate.number,
            "outcome": candidate.outcome,
            "findings": [found.model_dump(mode="json") for found in candidate.findings or ()],
            "claims": claims_object(claims),
            "settings": context.settings.check.model_dump(mode="json"),
            "sandbox": context.sandbox.grade.model_dump(mode="json"),
        },
    )


@dataclass
class Trial:
    """One candidate on trial.

    Attributes:
        claims: The run's, and those that this trial adds.
        amended: Rules that a ruling amended: without a test of each, something was not judged.
        revised: Rules that a revision changed, to be tested beside those it left alone.
        findings: Of all checks, tests and verdicts.
        matches: The matches that were judged.
        lacking: Sentences on what could not be judged.
        notes: Sentences on rules that no match reached, on seats, and on endings nobody read.
        facts: Differences between seats, for the validator.
        tell: Hears of the matches that are played for records.
    """

    design: Design
    context: RunContext
    number: int
    source: str
    claims: tuple[Claim, ...]
    amended: Sequence[str] = ()
    revised: Sequence[str] = ()
    findings: list[Finding] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    notes: Sequence[str] = ()
    facts: Sequence[str] = ()
    tell: Tell = field(default=lambda _: None)

    def judge(self) -> None:
        """Checks by program, then tests, then records: what is cheaper comes first."""
        with trace("checks", run_type="tool", inputs={"candidate": self.number}) as span:
            run = self._checked()
            wrong = what_failed(run.findings)
            span.end(outputs={"outcome": verdict(run.findings), "wrong": wrong})
        self.findings += run.findings
        if verdict(self.findings) != "passed":
            return
        self._tests(run)
        self._plies(run)
        if verdict(self.findings) != "passed":
            return
        records = self._records(run)
        if verdict(self.findings) != "passed":
            return
        for index, record in enumerate(records):
            with place(f"check/{self.number}/record/{index}"):
                self._record(record, run)
        self.matches = [record.match for record in records]
        missing = self.context.settings.records_judged - len(records)
        if missing:
            evidence = f"{missing} of {len(records) + missing} matches that the validator was to "
            self._found("could_not_judge", f"{evidence}judge did not finish")

    def show(self) -> None:
        """Take the matches and what they tell, without a verdict on any."""
        self.matches = [record.match for record in self._records(self._checked())]

    def accepted(self, state: RunState) -> dict[str, object]:
        """The update of a state whose candidate is accepted after this trial."""
        design = with_plies(self.design, self.matches)
        notes = (*state.notes, *self.notes)
        return {"accepted": self.number, "design": design, "notes": notes}

    def _given_up(self, record: MatchRecord) -> str:
        """The verdict on a record that a person gave up, so that it is not only said again."""
        given = [c for c in self.claims if c.status == "dropped" and c.shown]
        # One without a ply, of counts over all matches, is told with every record.
        begins = [(c.says, c.played.actions if c.played else ()) for c in given]
        return "\n".join(says for says, at in begins if record.actions[: len(at)] == at)

    def retest(self) -> None:
        """Hold it against the tests alone; amended rules get new ones."""
        self._tests(self._checked())

    def _checked(self) -> CheckRun:
        settings, players = self.context.settings, self.design.num_players
        return self.context.checked(self.source, settings.check, players, settings.records_judged)

    def _records(self, run: CheckRun) -> Sequence[MatchRecord]:
        """The matches to judge; for a model few, which differ in what they show."""
        if self.context.budget is None:
            self.notes = self.context.notes_of_play(self.source, self.design, self.tell)
            return run.records
        settings = self.context.settings
        pool = self.context.record_pool(self.source, self.design, settings.seed, self.tell)
        found = diverse_records(pool, settings.records_judged)
        self.notes = (*found.notes, *found.unread)
        self.facts = [str(fact) for fact in found.seats]
        self._seats([str(fact) for fact in found.seats if fact.whole])
        return found.records

    def _seats(self, found: Sequence[str]) -> None:
        """Claim that seats differ which the rules treat alike and no turn order tells apart.

        The rules may mean the difference in words that no program reads.
        """
        before = next((claim for claim in self.claims if claim.id == SEATS), None)
        struck = before is not None and not before.counts
        if not found or struck or not even_handed(self.design.sentences, self.design.num_players):
            return
        says = f"{'; '.join(found)}; but the rules treat the seats alike"
        rule = next((r.id for r in self.design.rules if "player" in r.text.lower()), "R1")
        claim = before or Claim(id=SEATS, rule=rule, says=says)
        self.claims = updated(self.claims, [claim.model_copy(update={"says": says})])
        self.findings.append(
            Finding(check="seats", outcome="failed", rule=rule, evidence=says, claim=SEATS)
        )

    def _tests(self, run: CheckRun) -> None:
        """Hold the candidate against the run's tests, asked for once, and for amended rules."""
        overtaken = self._overtaken(run) if self.revised else []
        anew = [*to_ask_anew(self.claims, [*self.amended, *self.revised]), *overtaken]
        if anew or not any(claim.test for claim in self.claims):
            self._ask_tests(run, [*dict.fromkeys(anew)], overtaken)
        for claim, finding in self._judged(held_tests(self.claims), run.unit_tests):
            if finding.outcome == "could_not_judge":
                self.claims = updated(self.claims, [after(claim, "dropped")])
                self.lacking.append(f"the test {claim.id} could not be run: {finding.evidence}")
            else:
                self.findings.append(self._marked(with_votes(finding, claim)))

    def _marked(self, found: Finding) -> Finding:
        """A finding by the validator's values; it says where they come from this very source."""
        verified = self.context.roles.verified
        same = verified is not None and verified(self.design) == self.source
        return found.model_copy(update={"same_source": same})

    def _overtaken(self, run: CheckRun) -> list[str]:
        """Mark tests as overtaken whose actions a revision made impossible; their rules."""
        held = held_tests(self.claims)
        found = zip(held, run.unit_tests([test for _, test in held]), strict=False)
        over = [after(claim, "overtaken") for (claim, _), one in found if one.unplayable]
        self.claims = updated(self.claims, over)
        return [claim.rule for claim in over]

    def _plies(self, run: CheckRun) -> None:
        """Hold the candidate against verdicts that count: their plies must be played otherwise."""
        held = [(claim, claim.played) for claim in self.claims if claim.played and claim.counts]
        for claim, finding in self._judged(held, run.plies):
            if finding.outcome != "could_not_judge":
                said = {"rule": claim.rule, "evidence": f"{claim.says}\n{finding.evidence}"}
                told = finding.model_copy(update=said if finding.outcome == "failed" else {})
                self.findings.append(with_votes(told, claim))

    def _judged(
        self, held: Sequence[tuple[Claim, T]], judge: Callable[[Sequence[T]], Sequence[Finding]]
    ) -> list[tuple[Claim, Finding]]:
        """Each claim with the finding on it; nothing if the module did not load again."""
        found = judge([asked for _, asked in held]) if held else ()
        if len(found) != len(held):  # the module did not load again
            self.findings += found
            return []
        return [(claim, one) for (claim, _), one in zip(held, found, strict=True)]

    def _ask_tests(self, run: CheckRun, anew: Sequence[str], overtaken: Sequence[str]) -> None:
        validator = self.context.roles.validator
        try:
            with place(f"check/{self.number}/tests"):
                tests = self._mended(run, validator.unit_tests(self.design, self.source, anew))
        except UNREADABLE as error:
            self.lacking.append(f"no tests were worked out from the rules: {error}")
            return
        ids = named(self.claims, "T", len(tests))
        for identity, test in zip(ids, tests, strict=True):
            if isinstance(test, RefusedTest):
                says = f"{test.name}: it cannot be run: {test.why}"
                self.claims += (Claim(id=identity, rule=test.rule, says=says, status="dropped"),)
                continue
            says = f"{test.name}: {test.function} {test.relation} {test.expected_json}"
            self.claims += (Claim(id=identity, rule=test.rule, says=says, test=test),)
        given = {test.rule for test in tests if not isinstance(test, RefusedTest)}
        lost = [rule for rule in overtaken if rule not in given]
        self.lacking += [
            f"no test of {rule} as it reads now"
            for rule in dict.fromkeys((*to_ask_anew(self.claims, self.amended), *lost))
        ]

    def _mended(
        self, run: CheckRun, tests: Sequence[UnitTest | RefusedTest]
    ) -> Sequence[UnitTest | RefusedTest]:
        """The tests, after those that cannot be run were asked for once more.

        The same is done with a test whose own actions the module refuses: it may leave out a step.
        If the validator gives it again as it was, it says that the module is wrong.
        """
        written = [test for test in tests if isinstance(test, UnitTest)]
        found = zip(written, run.unit_tests(written) if written else (), strict=False)
        lost = {
            test: f"{one.evidence.partition(chr(10))[0]}\n{test.model_dump_json()}"
            for test, one in found
            if one.unplayable
        }
        asked = [test for test in tests if isinstance(test, RefusedTest)]
        asked += [RefusedTest(name=test.name, rule=test.rule, why=lost[test]) for test in lost]
        if not asked:
            return tests
        try:
            again = self.context.roles.validator.tests_again(self.design, self.source, asked)
        except UNREADABLE:
            return tests
        kept = [test for test in written if test not in lost]
        return [*kept, *again[: len(asked)]]

    def _record(self, record: MatchRecord, run: CheckRun) -> None:
        """Ask for the verdict on one record; a fault that it names becomes a claim."""
        positions = cache(lambda: run.positions(record))
        try:
            found = self.context.roles.validator.judge(
                self.design, record, positions, self.facts, self._given_up(record)
            )
            played, ply = None, found.illegal_ply
            # Where nothing but counts over matches tells of a fault, the last ply stands for it.
            counts = self.facts and ply == len(record.match.plies) - 1
            if ply is not None and not counts:
                played = played_ply(record.actions, positions(), ply)
        except ModuleFault as fault:
            self.findings.append(from_fault(RECORD, fault))
            return
        except UNREADABLE as error:
            self.lacking.append(f"match {record.match_index} was not judged: {error}")
            return
        if found.illegal_ply is None:
            total = len(record.match.plies)
            seen = total if found.plies is None else found.plies
            told = f"played by {', '.join(record.players)}; {seen} of {total} plies were shown"
            self._found("passed", told, rule=found.rule)
            return
        says = f"ply {found.illegal_ply} of match {record.match_index}: {found.explanation}"
        (identity,) = named(self.claims, "V", 1)
        claim = Claim(id=identity, rule=found.rule, says=says, shown=found.shown, played=played)
        self.claims = (*self.claims, claim)
        self._found("failed", says, rule=found.rule, function=found.function, claim=identity)

    def _found(self, outcome: Outcome, evidence: str, **more: str | None) -> None:
        said = {"check": RECORD, "outcome": outcome, "evidence": evidence, **more}
        self.findings.append(self._marked(Finding.model_validate(said)))
