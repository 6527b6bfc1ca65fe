"""Trial of one candidate: checks by program, tests of the rules, verdicts on records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple, TypeVar

from langsmith import trace

from agents.evidence import numbers_not_cited, with_plies
from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.protocols import Claim, Design, RefusedTest, RoleError, Rule
from games.checks import Finding, Outcome, verdict
from games.checks.contract import from_fault
from games.checks.leaks import NO_SECRET
from games.checks.seats import even_handed
from games.checks.unit_tests import UnitTest, played_ply
from games.engine import Match
from games.records import MatchRecord
from games.values import ModuleFault
from graph.new.claims import (
    RECORD,
    SEATS,
    after,
    claim_of,
    held_tests,
    named,
    to_ask_anew,
    updated,
    with_votes,
)
from graph.new.context import RunContext
from graph.new.records import diverse_records
from graph.new.results import claims_object
from graph.new.state import RunState, folder_of
from graph.run.candidates import Candidate, what_failed
from graph.run.events import Tell
from graph.run.folder import kept_json
from tools.checking import CheckRun
from tools.coverage import denies, loosely_named, unnamed_rules, unwritten_numbers

T = TypeVar("T")


CHECKS = "checks.json"
"""The file of what the checks found."""
RULES = "rules"
"""The check that every rule has a place in the code."""
_UNNAMED = (
    "no line of the module names {0}. Where the module leaves it out, carry it out; mark what "
    "does so with a comment `# {0}`, or with `Rules: {0}.` in its function's docstring"
)
_DENYING = "no line of the code names rule {}, which denies something: {}"
_LOOSE = (
    "rules that only the docstring of a function names, so that no match shows whether they are "
    "carried out: {}"
)
_NUMBERS = "numbers of rules that the code writes nowhere; it computes them, or leaves them out: {}"
UNCITED = "numbers that were asked for and that the rules named for them do not have: {}"
UNTRIED = "rules that no unit test is about, only what the validator read in a match: {}"
_OPEN = "the code hides nothing from anybody; the rules on what is seen are {}"
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
    """Write `checks.json`; see `checks_text`."""
    folder_of(state).write_text(CHECKS, checks_text(context, candidate, claims))


def checks_text(context: RunContext, candidate: Candidate, claims: Sequence[Claim]) -> str:
    """`checks.json`: the candidate's findings, and every claim with its votes."""
    return kept_json(
        {
            "candidate": candidate.number,
            "outcome": candidate.outcome,
            "findings": [found.model_dump(mode="json") for found in candidate.findings or ()],
            "claims": claims_object(claims),
            "settings": context.settings.check.model_dump(mode="json"),
            "sandbox": context.sandbox.grade.model_dump(mode="json"),
        },
    )


@dataclass(frozen=True)
class Tried:
    """All that a trial has found so far.

    Attributes:
        claims: The run's, and those that the trial added.
        findings: Of all checks, tests and verdicts.
        lacking: Sentences on what could not be judged.
        notes: Sentences on rules that no match reached, on seats, and on endings nobody read.
        matches: The matches that were judged.
    """

    claims: tuple[Claim, ...]
    findings: tuple[Finding, ...] = ()
    lacking: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()

    @property
    def passed(self) -> bool:
        """True if nothing was found wrong yet."""
        return verdict(self.findings) == "passed"

    def finding(self, *found: Finding) -> "Tried":
        """With further findings."""
        return replace(self, findings=(*self.findings, *found))

    def holding(self, *newer: Claim) -> "Tried":
        """With claims, each in the place of the one with its id."""
        return replace(self, claims=updated(self.claims, newer))

    def without(self, *why: str) -> "Tried":
        """With further sentences on what could not be judged."""
        return replace(self, lacking=(*self.lacking, *why))


class Drawn(NamedTuple):
    """The matches to judge, and differences between seats for the validator."""

    records: Sequence[MatchRecord]
    facts: Sequence[str] = ()


@dataclass(frozen=True)
class Trial:
    """One candidate on trial.

    Attributes:
        design: The game.
        context: The run's resources.
        number: Of the candidate.
        source: Its module.
        amended: Rules that a ruling amended: without a test of each, something was not judged.
        revised: Rules that a revision changed, to be tested beside those it left alone.
        tell: Hears of the matches that are played for records.
    """

    design: Design
    context: RunContext
    number: int
    source: str
    amended: Sequence[str] = ()
    revised: Sequence[str] = ()
    tell: Tell = field(default=lambda _: None)

    def judged(self, claims: tuple[Claim, ...]) -> Tried:
        """Checks by program, then tests, then records: what is cheaper comes first."""
        with trace("checks", run_type="tool", inputs={"candidate": self.number}) as span:
            run = self._checked()
            wrong = what_failed(run.findings)
            span.end(outputs={"outcome": verdict(run.findings), "wrong": wrong})
        tried = Tried(claims, tuple(run.findings))
        if tried.passed:
            tried = self._plies(run, self._tests(run, tried))
        tried = tried.finding(*self._left_out())
        if not tried.passed:
            return tried
        drawn, tried = self._drawn(run, tried)
        if not tried.passed:
            return tried
        for index, record in enumerate(drawn.records):
            with place(f"check/{self.number}/record/{index}"):
                tried = self._record(record, run, drawn.facts, tried)
        if not (missing := self.context.settings.records_judged - len(drawn.records)):
            return tried
        evidence = f"{missing} of {len(drawn.records) + missing} matches that the validator was to "
        return tried.finding(self._found("could_not_judge", f"{evidence}judge did not finish"))

    def shown(self, claims: tuple[Claim, ...]) -> Tried:
        """The matches and what they tell, without a verdict on any."""
        return self._drawn(self._checked(), Tried(claims))[1]

    def retested(self, claims: tuple[Claim, ...]) -> Tried:
        """The candidate against the tests alone; amended rules get new ones."""
        return self._tests(self._checked(), Tried(claims))

    def accepted(self, state: RunState, tried: Tried) -> RunState:
        """A state whose candidate is accepted after this trial."""
        told = [_DENYING.format(one.id, one.text) for one in self._unnamed(denying=True)]
        accepted = state.accepting(self.number).designed(with_plies(self.design, tried.matches))
        return accepted.noting((*tried.notes, *told, *self._doubts(tried)))

    def _doubts(self, tried: Tried) -> list[str]:
        """Sentences on what a model may have left out, though no check could tell."""
        if self.context.budget is None:
            return []
        rules = {rule.id: rule.text for rule in self.design.rules}
        seen = [rule.id for rule in self.design.rules if rule.section == "Observations"]
        lost = unwritten_numbers(self.source, rules)
        uncited = numbers_not_cited(self.design.clauses, rules, self.design.num_players)
        tested = {claim.rule for claim, _ in held_tests(tried.claims)}
        is_open = any(f.evidence.startswith(NO_SECRET) for f in tried.findings)
        told = {
            _LOOSE: ", ".join(loosely_named(self.source, [*rules])),
            _NUMBERS: ", ".join(f"{' and '.join(found)} ({rule})" for rule, found in lost.items()),
            UNCITED: "; ".join(uncited),
            UNTRIED: ", ".join(rule for rule in rules if rule not in tested) if tested else "",
            _OPEN: ", ".join(rule for rule in seen if is_open),
        }
        return [words.format(found) for words, found in told.items() if found]

    def _checked(self) -> CheckRun:
        settings, players = self.context.settings, self.design.num_players
        return self.context.checked(self.source, settings.check, players, settings.records_judged)

    def _unnamed(self, *, denying: bool) -> list[Rule]:
        """Rules that no line of the module names; those that only deny something, or the others."""
        if self.context.budget is None:  # the composer's rules are those of its verified source
            return []
        try:
            unnamed = unnamed_rules(self.source, [rule.id for rule in self.design.rules])
        except ModuleFault:  # a check says so
            return []
        return [r for r in self.design.rules if r.id in unnamed and denies(r.text) == denying]

    def _left_out(self) -> list[Finding]:
        """A finding for each rule that no line of the module names."""
        return [
            Finding(check=RULES, outcome="failed", rule=one.id, evidence=_UNNAMED.format(one.id))
            for one in self._unnamed(denying=False)
        ]

    def _drawn(self, run: CheckRun, tried: Tried) -> tuple[Drawn, Tried]:
        """The matches to judge; for a model few, which differ in what they show."""
        if self.context.budget is None:
            drawn = Drawn(run.records)
            notes = self.context.notes_of_play(self.source, self.design, self.tell)
        else:
            settings = self.context.settings
            pool = self.context.record_pool(self.source, self.design, settings.seed, self.tell)
            found = diverse_records(pool, settings.records_judged)
            drawn = Drawn(found.records, [str(fact) for fact in found.seats])
            notes = (*found.notes, *found.unread)
            tried = self._seats([str(fact) for fact in found.seats if fact.whole], tried)
        matches = tuple(record.match for record in drawn.records)
        return drawn, replace(tried, notes=notes, matches=matches)

    def _seats(self, found: Sequence[str], tried: Tried) -> Tried:
        """Claim that seats differ which the rules treat alike and no turn order tells apart.

        The rules may mean the difference in words that no program reads.
        """
        before = next((claim for claim in tried.claims if claim.id == SEATS), None)
        struck = before is not None and not before.counts
        if not found or struck or not even_handed(self.design.sentences, self.design.num_players):
            return tried
        says = f"{'; '.join(found)}; but the rules treat the seats alike"
        rule = next((r.id for r in self.design.rules if "player" in r.text.lower()), "R1")
        claim = before or Claim(id=SEATS, rule=rule, says=says)
        wrong = Finding(check="seats", outcome="failed", rule=rule, evidence=says, claim=SEATS)
        return tried.holding(claim.model_copy(update={"says": says})).finding(wrong)

    def _tests(self, run: CheckRun, tried: Tried) -> Tried:
        """Hold the candidate against the run's tests, asked for once, and for amended rules."""
        over = self._overtaken(run, tried) if self.revised else []
        tried, overtaken = tried.holding(*over), [claim.rule for claim in over]
        anew = [*to_ask_anew(tried.claims, [*self.amended, *self.revised]), *overtaken]
        if anew or not any(claim.test for claim in tried.claims):
            tried = self._ask_tests(run, [*dict.fromkeys(anew)], overtaken, tried)
        tried, judged = _judged(held_tests(tried.claims), run.unit_tests, tried)
        for claim, finding in judged:
            if finding.outcome == "could_not_judge":
                why = f"the test {claim.id} could not be run: {finding.evidence}"
                tried = tried.holding(after(claim, "dropped")).without(why)
            else:
                tried = tried.finding(self._marked(with_votes(finding, claim)))
        return tried

    def _marked(self, found: Finding) -> Finding:
        """A finding by the validator's values; it says where they come from this very source."""
        verified = self.context.roles.verified
        same = verified is not None and verified(self.design) == self.source
        return found.model_copy(update={"same_source": same})

    def _overtaken(self, run: CheckRun, tried: Tried) -> list[Claim]:
        """The tests whose actions a revision made impossible, as overtaken."""
        held = held_tests(tried.claims)
        found = zip(held, run.unit_tests([test for _, test in held]), strict=False)
        return [after(claim, "overtaken") for (claim, _), one in found if one.unplayable]

    def _plies(self, run: CheckRun, tried: Tried) -> Tried:
        """Hold the candidate against verdicts that count: their plies must be played otherwise."""
        held = [(claim, claim.played) for claim in tried.claims if claim.played and claim.counts]
        tried, judged = _judged(held, run.plies, tried)
        for claim, finding in judged:
            if finding.outcome != "could_not_judge":
                said = {"rule": claim.rule, "evidence": f"{claim.says}\n{finding.evidence}"}
                told = finding.model_copy(update=said if finding.outcome == "failed" else {})
                tried = tried.finding(with_votes(told, claim))
        return tried

    def _ask_tests(
        self, run: CheckRun, anew: Sequence[str], overtaken: Sequence[str], tried: Tried
    ) -> Tried:
        validator = self.context.roles.validator
        try:
            with place(f"check/{self.number}/tests"):
                tests = self._mended(run, validator.unit_tests(self.design, self.source, anew))
        except UNREADABLE as error:
            return tried.without(f"no tests were worked out from the rules: {error}")
        ids = named(tried.claims, "T", len(tests))
        tried = tried.holding(*map(claim_of, ids, tests))
        given = {test.rule for test in tests if not isinstance(test, RefusedTest)}
        lost = [rule for rule in overtaken if rule not in given]
        rules = dict.fromkeys((*to_ask_anew(tried.claims, self.amended), *lost))
        return tried.without(*(f"no test of {rule} as it reads now" for rule in rules))

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

    def _record(
        self, record: MatchRecord, run: CheckRun, facts: Sequence[str], tried: Tried
    ) -> Tried:
        """Ask for the verdict on one record; a fault that it names becomes a claim."""
        positions = cache(lambda: run.positions(record))
        given_up = _given_up(record, tried.claims)
        try:
            found = self.context.roles.validator.judge(
                self.design, record, positions, facts, given_up
            )
            played, ply = None, found.illegal_ply
            # Where nothing but counts over matches tells of a fault, the last ply stands for it.
            counts = facts and ply == len(record.match.plies) - 1
            if ply is not None and not counts:
                played = played_ply(record.actions, positions(), ply)
        except ModuleFault as fault:
            return tried.finding(from_fault(RECORD, fault))
        except UNREADABLE as error:
            return tried.without(f"match {record.match_index} was not judged: {error}")
        if found.illegal_ply is None:
            total = len(record.match.plies)
            seen = total if found.plies is None else found.plies
            told = f"played by {', '.join(record.players)}; {seen} of {total} plies were shown"
            return tried.finding(self._found("passed", told, rule=found.rule))
        says = f"ply {found.illegal_ply} of match {record.match_index}: {found.explanation}"
        (identity,) = named(tried.claims, "V", 1)
        claim = Claim(id=identity, rule=found.rule, says=says, shown=found.shown, played=played)
        wrong = self._found(
            "failed", says, rule=found.rule, function=found.function, claim=identity
        )
        return tried.holding(claim).finding(wrong)

    def _found(self, outcome: Outcome, evidence: str, **more: str | None) -> Finding:
        said = {"check": RECORD, "outcome": outcome, "evidence": evidence, **more}
        return self._marked(Finding.model_validate(said))


def _judged(
    held: Sequence[tuple[Claim, T]],
    judge: Callable[[Sequence[T]], Sequence[Finding]],
    tried: Tried,
) -> tuple[Tried, list[tuple[Claim, Finding]]]:
    """Each claim with the finding on it; nothing if the module did not load again."""
    found = judge([asked for _, asked in held]) if held else ()
    if len(found) != len(held):  # the module did not load again
        return tried.finding(*found), []
    return tried, [(claim, one) for (claim, _), one in zip(held, found, strict=True)]


def _given_up(record: MatchRecord, claims: Sequence[Claim]) -> str:
    """The verdict on a record that a person gave up, so that it is not only said again."""
    given = [claim for claim in claims if claim.status == "dropped" and claim.shown]
    # One without a ply, of counts over all matches, is told with every record.
    begins = [(claim.says, claim.played.actions if claim.played else ()) for claim in given]
    return "\n".join(says for says, at in begins if record.actions[: len(at)] == at)
