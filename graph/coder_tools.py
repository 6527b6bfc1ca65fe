"""The coder's tools: what it may look up and try while it writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.protocols import Design, Example
from games.checks.findings import Finding
from games.checks.run import CheckSettings
from games.records import to_text
from graph.context import RunContext
from graph.examples import as_examples
from tools.checking import check_source

_QUICK = CheckSettings(matches=3, samples=8)
_LONGEST_RECORD = 6_000


@dataclass(frozen=True)
class GraphCoderTools:
    """See `agents.protocols.CoderTools`.

    Attributes:
        context: The run's resources.
        design: The game being coded.
    """

    context: RunContext
    design: Design

    def search_examples(self, query: str) -> Sequence[Example]:
        """See `CoderTools.search_examples`."""
        return as_examples(self.context.retrieval.examples(query, 2))

    def search_snippets(self, query: str) -> Sequence[Example]:
        """See `CoderTools.search_snippets`."""
        return as_examples(self.context.retrieval.snippets(query, 4))

    def run_module(self, source: str) -> Sequence[Finding]:
        """See `CoderTools.run_module`."""
        return check_source(
            self.context.sandbox,
            source,
            settings=_QUICK,
            num_players=self.design.num_players,
            parameters={},
        ).findings

    def play_record(self, source: str, seed: int) -> str:
        """See `CoderTools.play_record`."""
        run = check_source(
            self.context.sandbox,
            source,
            settings=_QUICK.model_copy(update={"seed": seed}),
            num_players=self.design.num_players,
            parameters={},
            records=1,
        )
        if not run.records:
            return "no match finished: " + "; ".join(
                f.evidence for f in run.findings if f.outcome != "passed"
            )
        return to_text(run.records[0])[:_LONGEST_RECORD]
