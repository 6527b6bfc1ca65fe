"""Code: the coder writes the module, with tools to look up and to try."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.claims import Claim
from agents.protocols import Design, RoleError
from games.checks.findings import Finding
from games.checks.run import CheckSettings
from games.contract import ModuleFault
from games.records import MatchRecord
from games.table import Position
from graph.new.rivals.drafting import drafted
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of
from tools.checking import CheckRun
from vectorstore.documents import Example

DRAFTING_LIMIT = 6_000
"""Characters of the functions that a first draft is shown."""
_QUICK = CheckSettings(matches=3, samples=8)


def code(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["check", "report"]]:
    """Draft the module, as often as the settings say; each draft is a candidate."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    coder, tools = context.roles.coder, GraphCoderTools(context, made)
    try:
        drafts, notes = drafted(lambda: coder.draft(made, tools), context.settings.candidates)
    except RoleError as error:
        return Command(goto="report", update={"end": "gave_up", "reason": str(error)})
    folder_of(state).write_text("game.py", drafts[0].source)
    runtime.stream_writer({"node": "code", "lines": drafts[0].source.count("\n")})
    return Command(goto="check", update={"candidates": drafts, "notes": (*state.notes, *notes)})


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
        return self.context.retrieval.snippets_for_rule(rule, function, 1)

    def run_module(self, source: str) -> Sequence[Finding]:
        """See `CoderTools.run_module`."""
        return self._checked(source, _QUICK, 0).findings

    def run_tests(self, source: str) -> Sequence[Finding]:
        """See `CoderTools.run_tests`."""
        tests = [claim.test for claim in self.claims if claim.test and claim.counts]
        return self._checked(source, _QUICK, 0).unit_tests(tests) if tests else []

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
