"""Tools that a coder may call while it writes, over the run's store, sandbox and claims."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.protocols import (
    Claim,
    Design,
)
from games.checks import Finding, verdict
from games.checks.run import CheckSettings
from games.checks.unit_tests import PlayedPly, UnitTest
from games.records import MatchRecord
from games.table import Position
from games.values import ModuleFault
from graph.new.claims import (
    held_tests,
)
from graph.new.context import RunContext
from tools.checking import CheckRun
from vectorstore.documents import Example

DRAFTING_LIMIT = 6_000


"""Characters of the functions that a first draft is shown."""


_OLDER = (
    "The test is older than the change of the rules: where the change asks for another value, keep "
    "to the rules; validators vote on the test."
)


_QUICK = CheckSettings(matches=3, samples=8)


@dataclass(frozen=True)
class GraphCoderTools:
    """See `agents.protocols.CoderTools`.

    Attributes:
        context: The run's resources.
        design: The game being coded.
        claims: The validator's, so far.
    """

    context: RunContext
    design: Design
    claims: tuple[Claim, ...] = ()

    def search_examples(self, query: str) -> Sequence[Example]:
        """See `CoderTools.search_examples`."""
        return self.context.retrieval.examples(query, 2)

    def search_snippets(self, query: str) -> Sequence[Example]:
        """See `CoderTools.search_snippets`."""
        return self.context.retrieval.snippets(query, 4)

    def drafting_snippets(self, design: Design) -> Sequence[Example]:
        """See `CoderTools.drafting_snippets`."""
        return self.context.retrieval.drafting_snippets(design, limit=DRAFTING_LIMIT)

    def snippets_for_rule(self, rule: str, function: str | None) -> Sequence[Example]:
        """See `CoderTools.snippets_for_rule`."""
        return self.context.retrieval.snippets(rule, 1, function=function)

    @property
    def has_tests(self) -> bool:
        """See `CoderTools.has_tests`."""
        return bool(self._tests or self._plies)

    @property
    def _tests(self) -> list[tuple[Claim, UnitTest]]:
        return held_tests(self.claims)

    @property
    def _plies(self) -> list[PlayedPly]:
        return [claim.played for claim in self.claims if claim.played and claim.counts]

    def run_module(self, source: str) -> Sequence[Finding]:
        """See `CoderTools.run_module`."""
        found = self._checked(source, _QUICK, 0).findings
        if verdict(found) != "could_not_judge":
            return found
        # A doubt that comes of few matches is none: the full check may find what it missed.
        settings = self.context.settings
        return self._checked(source, settings.check, settings.records_judged).findings

    def run_tests(self, source: str) -> Sequence[Finding]:
        """See `CoderTools.run_tests`."""
        tests, plies = self._tests, self._plies
        run = self._checked(source, _QUICK, 0)
        found = run.unit_tests([test for _, test in tests]) if tests else []
        if len(found) == len(tests):  # else the module did not load again
            found = [
                self._of_older(*one)
                for one in zip([claim for claim, _ in tests], found, strict=True)
            ]
        again = run.plies(plies) if plies else []
        return [*found, *(one for one in again if one.outcome != "could_not_judge")]

    def _of_older(self, claim: Claim, found: Finding) -> Finding:
        """A finding, with a note where a revision may have overtaken its test."""
        if found.outcome != "failed" or claim.status != "open" or not claim.older:
            return found
        if found.unplayable:  # a line of play may hold no more
            return found.model_copy(update={"outcome": "could_not_judge"})
        return found.model_copy(update={"evidence": f"{found.evidence}\n{_OLDER}"})

    def play_record(self, source: str, seed: int) -> tuple[MatchRecord, Sequence[Position]] | str:
        """See `CoderTools.play_record`."""
        run = self._checked(source, _QUICK.model_copy(update={"seed": seed}), 1)
        if run.records:
            try:
                return run.records[0], run.positions(run.records[0])
            except ModuleFault as fault:
                return str(fault)
        return "no match finished: " + "; ".join(
            f.evidence for f in run.findings if f.outcome != "passed"
        )

    def claim(self, finding: Finding) -> Claim | None:
        """See `CoderTools.claim`."""
        return next((claim for claim in self.claims if claim.id == finding.claim), None)

    def _checked(self, source: str, settings: CheckSettings, records: int) -> CheckRun:
        return self.context.checked(source, settings, self.design.num_players, records)
