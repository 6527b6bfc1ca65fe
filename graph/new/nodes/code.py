"""Code: the coder drafts the module, once or several times side by side, with tools to try it."""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.claims import Claim
from agents.model.errors import MalformedReplyError
from agents.model.recording import draft_number, place
from agents.protocols import Design, RoleError
from games.checks.findings import Finding
from games.checks.run import CheckSettings
from games.contract import ModuleFault
from games.records import MatchRecord
from games.table import Position
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.pool import Candidate
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


@dataclass
class _Draft:
    """One try at the module: its source, or why there is none."""

    number: int
    write: Callable[[], str]
    source: str | None = None
    error: BaseException | None = field(default=None)

    def run(self) -> None:
        # The first has the place and the temperature of an only draft: it replays as one.
        where = f"code/draft/{self.number}" if self.number else "code/draft"
        try:
            with place(where), draft_number(self.number):
                self.source = self.write()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            self.error = error


def drafted(write: Callable[[], str], count: int) -> tuple[list[Candidate], tuple[str, ...]]:
    """So many drafts, as candidates with what is to be said of those that are missing.

    A draft that cannot be read costs that draft alone. Every one is asked for at its own place,
    so what was answered before a kill is not asked again.

    Raises:
        RoleError: Or MalformedReplyError, the first draft's, where no draft could be read.
        ModelError: Where the endpoint fails any of them.
    """
    tries = [_Draft(number, write) for number in range(count)]
    # A copy of the context each: the place, who listens and the trace hold there too.
    threads = [
        threading.Thread(target=copy_context().run, args=(one.run,), daemon=True)
        for one in tries[1:]
    ]
    for thread in threads:
        thread.start()
    tries[0].run()
    for thread in threads:
        thread.join()
    for one in tries:
        if one.error is not None and not isinstance(one.error, RoleError | MalformedReplyError):
            raise one.error
    sources = list(dict.fromkeys(one.source for one in tries if one.source is not None))
    if not sources and tries[0].error is not None:
        raise tries[0].error
    failed = [f"draft {t.number} could not be read: {t.error}" for t in tries if t.error]
    same = count - len(failed) - len(sources)
    if same:
        failed.append(f"{same} of {count} drafts were the same as another, so count once")
    return [Candidate(number=n, source=text) for n, text in enumerate(sources)], tuple(failed)
