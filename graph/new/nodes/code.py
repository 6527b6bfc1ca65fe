"""Code, refine and arbitrate: the coder drafts the module and edits candidates; validators vote.

Drafts are written once or several times side by side; fresh validators vote on contested claims.
"""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import Literal, TypeAlias

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import draft_number, place
from agents.protocols import (
    Claim,
    ClaimStatus,
    Design,
    EditError,
    Mending,
    RoleError,
    Vote,
    apply_edits,
)
from games.checks import Finding, verdict
from games.checks.run import CheckSettings
from games.checks.unit_tests import PlayedPly, UnitTest
from games.records import MatchRecord
from games.streams import stream
from games.table import Position
from games.values import ModuleFault
from graph.new.nodes.check import UNREADABLE, not_passing, write_checks
from graph.new.state import (
    AfterVote,
    RunState,
    after_drafts,
    after_vote,
    drafts_passed,
    folder_of,
    need_design,
)
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.pool import (
    EDIT,
    STRATEGIES,
    Candidate,
    best,
    contested,
    earlier_attempts,
    is_older,
    keep_newest,
    to_judge_again,
    to_settle,
    unjudged,
    unmended,
    updated,
    what_failed,
    without_struck,
)
from tools.checking import CheckRun
from vectorstore.documents import Example

DRAFTING_LIMIT = 6_000
"""Characters of the functions that a first draft is shown."""
_OLDER = (
    "The test is older than the change of the rules: where the change asks for another value, keep "
    "to the rules; validators vote on the test."
)
_QUICK = CheckSettings(matches=3, samples=8)
_AfterEdit: TypeAlias = Literal["check", "refine", "arbitrate", "report"]
_To: TypeAlias = Command[_AfterEdit]


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
        before: Those of the game before a revision: its change may have overtaken a test.
    """

    context: RunContext
    design: Design
    claims: tuple[Claim, ...] = ()
    before: tuple[Claim, ...] = ()

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
        return [(claim, claim.test) for claim in self.claims if claim.test and claim.counts]

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
        """What is told of a test that a revision may have overtaken."""
        if found.outcome != "failed" or claim.status != "standing":
            return found
        if not is_older(claim, self.before):
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


def drafted(write: Callable[[], str], count: int) -> tuple[list[Candidate], tuple[str, ...]]:
    """So many drafts, as candidates with what is to be said of those that are missing.

    A draft that cannot be read costs that draft alone. Every one is asked for at its own place,
    so what was answered before a kill is not asked again.

    Raises:
        RoleError: Or MalformedReplyError, the first draft's, where no draft could be read.
        ModelError: Where the endpoint fails any of them.
    """
    made: dict[int, str | BaseException] = {}

    def draft(number: int) -> None:
        # The first has the place and the temperature of an only draft: it replays as one.
        where = f"code/draft/{number}" if number else "code/draft"
        try:
            with place(where), draft_number(number):
                made[number] = write()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            made[number] = error

    # A copy of the context each: the place, who listens and the trace hold there too.
    threads = [
        threading.Thread(target=copy_context().run, args=(draft, number), daemon=True)
        for number in range(1, count)
    ]
    for thread in threads:
        thread.start()
    draft(0)
    for thread in threads:
        thread.join()
    tried = sorted(made.items())
    errors = {number: one for number, one in tried if isinstance(one, BaseException)}
    sources = list(dict.fromkeys(one for _, one in tried if isinstance(one, str)))
    fatal = [error for error in errors.values() if not isinstance(error, UNREADABLE)]
    if fatal or not sources:
        raise [*fatal, *errors.values()][0]
    failed = [f"draft {number} could not be read: {error}" for number, error in errors.items()]
    same = count - len(failed) - len(sources)
    if same:
        failed.append(f"{same} of {count} drafts were the same as another, so count once")
    return [Candidate(number=n, source=text) for n, text in enumerate(sources)], tuple(failed)


def refine(state: RunState, runtime: Runtime[RunContext]) -> _To:
    """One refinement: pick, edit, and send the edited candidate to the checks."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    settings = context.settings
    generator = stream(settings.seed, "refine", ply=state.rounds)
    parent = STRATEGIES[settings.refine](state.candidates, generator)
    open_findings = [f for f in parent.findings or () if f.outcome != "passed"]
    open_findings += [Finding(check=EDIT, outcome="failed", evidence=r) for r in parent.refused]
    tried = parent.model_copy(update={"refined": parent.refined + 1})
    state = state.model_copy(update={"rounds": state.rounds + 1})
    runtime.stream_writer({"node": "refine", "round": state.rounds, "candidate": parent.number})
    try:
        with place(f"refine/{state.rounds}"):
            mending = context.roles.coder.edit(
                made,
                parent.source,
                open_findings,
                GraphCoderTools(context, made, state.claims, state.claims_before),
                earlier_attempts(state.candidates, parent),
            )
    except RoleError as error:
        tried = tried.model_copy(update={"cause": str(error)})
        if not parent.refused and state.rounds < settings.max_rounds:  # it is asked once more
            tried = tried.model_copy(update={"refused": (str(error),)})
            return Command(goto="refine", update={"candidates": [tried], "rounds": state.rounds})
        left = what_failed([found for found in open_findings if found.check != EDIT])
        return _given_up(state, tried, f"{error}; still open: {left}")
    vote, refused = contested(state.claims, open_findings, mending.contested)
    children, missed = _edited(state, parent, mending)
    refused += missed
    if not (children or vote or refused):
        refused.append(f"nothing was edited: {mending.cause}")
    tried = tried.model_copy(update={"refused": (*tried.refused, *refused)})
    if not children and not vote and state.rounds >= settings.max_rounds:
        return _given_up(state, tried, f"the last edit was of no use: {'; '.join(refused)}")
    for child in children:
        folder_of(state).write_text("game.py", child.source)
    goto: _AfterEdit = "arbitrate" if vote else "check" if children else "refine"
    update = {"candidates": [tried, *children], "rounds": state.rounds, "contested": vote}
    return Command(goto=goto, update=update)


def _edited(
    state: RunState, parent: Candidate, mending: Mending
) -> tuple[list[Candidate], list[str]]:
    """The new candidate, if there is one, and what of the edits was of no use."""
    refused = [*mending.refused]
    if not mending.edits:
        return [], refused
    try:
        source = apply_edits(parent.source, mending.edits)
    except EditError as error:
        return [], [*refused, str(error)]
    known = next((c.number for c in state.candidates if c.source == source), None)
    if known is not None:
        return [], [*refused, f"it leads to candidate {known} again, which did not pass"]
    number, cause = len(state.candidates), mending.cause
    child = Candidate(number=number, parent=parent.number, source=source, cause=cause)
    return [child], refused


def _given_up(state: RunState, tried: Candidate, reason: str) -> _To:
    """The report, unless claims that nobody verified are all that is left: these are voted on."""
    pool = keep_newest(state.candidates, [tried])
    settle = to_settle(state.claims, pool, last=True, before=state.claims_before)
    update: dict[str, object] = {"candidates": [tried], "rounds": state.rounds}
    if settle:
        return Command(goto="arbitrate", update={**update, "contested": settle})
    return Command(goto="report", update={**update, "end": "gave_up", "reason": reason})


def arbitrate(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterVote]:
    """Settle what is contested; what no majority voted for is struck, and kept as disputed."""
    context = context_of(runtime, state.folder)
    made, before = need_design(state), state.claims_before
    voted = [_voted(claim, made, context, before) for claim in state.contested]
    for claim in voted:
        told = {"claim": claim.id, "status": claim.status, "votes": _counted(claim)}
        runtime.stream_writer({"node": "arbitrate", **told})
    claims = updated(state.claims, voted)
    pool = without_struck(state.candidates, claims)
    newest = next((c for c in reversed(pool) if c.outcome == "passed"), pool[-1])
    update: dict[str, object] = {"claims": claims, "contested": (), "candidates": pool}
    elsewhere = newest.outcome == "passed" and unmended(newest, voted)  # upheld of another one
    alone = len(drafts_passed(pool)) < 2  # noqa: PLR2004 - else they are compared
    once_more = alone and bool(to_judge_again(newest, claims))
    again = unjudged(newest) or elsewhere or once_more
    again = again and context.settings.records_judged > 0
    several = drafts_passed(pool).values() if again else ()
    if len(several) > 1:  # each is judged before they are compared
        anew = [c for c in pool if c.number in several and unjudged(c)]
        update["candidates"] = keep_newest(
            pool, [c.model_copy(update={"findings": None}) for c in anew]
        )
        return Command(goto="check", update=update)
    if newest.findings is None or again:
        copy = newest.model_copy(update={"number": len(pool), "parent": newest.number})
        pool += [] if newest is pool[-1] else [copy]
        update["candidates"] = pool
        return Command(goto="check", update=update)
    write_checks(state, context, newest, claims)
    vote = after_vote(newest.outcome, last=state.rounds >= context.settings.max_rounds)
    goto: AfterVote = (after_drafts(pool) if vote == "strategize" else None) or vote
    if goto == "strategize":
        update |= {"accepted": newest.number}
    if goto == "report":
        update |= {"end": "gave_up", "reason": not_passing(state.rounds, best(pool).findings)}
    return Command(goto=goto, update=update)


def _voted(claim: Claim, design: Design, context: RunContext, before: Sequence[Claim]) -> Claim:
    """The claim with its votes: the first validator's, and those of others who can be read.

    A test that held before a revision is overtaken where it is voted down, and in no dispute.
    Two are asked, the second only where the first does not uphold it: two of three are a majority.
    """
    votes: list[Vote] = []
    for number in (1, 2):
        if any(vote.upheld for vote in votes):
            break
        try:
            with place(f"arbitrate/{claim.id}/{number}"):
                votes.append(context.roles.validator.arbitrate(design, claim, second=number > 1))
        except UNREADABLE:
            continue
    held = 1 + sum(vote.upheld for vote in votes)  # who made the claim votes for it
    struck: ClaimStatus = "amended" if is_older(claim, before) else "disputed"
    status = "upheld" if 2 * held > 1 + len(votes) else struck
    return claim.model_copy(update={"votes": tuple(votes), "status": status})


def _counted(claim: Claim) -> str:
    """The votes, for and against; the first one is that of the validator who made the claim.

    >>> from agents.protocols import Vote
    >>> votes = (Vote(upheld=True, why=""), Vote(upheld=False, why=""))
    >>> _counted(Claim(id="V1", rule="R1", says="", votes=votes))
    '2 to 1'
    """
    held = sum(vote.upheld for vote in claim.votes)
    return f"{1 + held} to {len(claim.votes) - held}"
