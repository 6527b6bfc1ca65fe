"""Code: the coder writes the module, with tools to look up and to try."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import Design, RoleError
from games.checks.findings import Finding
from games.checks.run import CheckSettings
from games.records import to_text
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.pool import Candidate
from tools.checking import check_source
from vectorstore.documents import Example

_QUICK = CheckSettings(matches=3, samples=8)
_LONGEST_RECORD = 6_000


def code(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["check", "report"]]:
    """Draft the module; the draft is candidate 0."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    try:
        with place("code/draft"):
            source = context.roles.coder.draft(made, GraphCoderTools(context, made))
    except RoleError as error:
        return Command(goto="report", update={"end": "gave_up", "reason": str(error)})
    folder_of(state).write_text("game.py", source)
    runtime.stream_writer({"node": "code", "lines": source.count("\n")})
    return Command(goto="check", update={"candidates": [Candidate(number=0, source=source)]})


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
        return self.context.retrieval.examples(query, 2)

    def search_snippets(self, query: str) -> Sequence[Example]:
        """See `CoderTools.search_snippets`."""
        return self.context.retrieval.snippets(query, 4)

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
