"""Check: one candidate is judged, and the verdict says where the run goes on."""

from dataclasses import replace

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.protocols import Design
from games.checks.unit_tests import CHECK as UNIT_TEST
from games.text import quoted
from graph.new.claims import to_settle
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.results import passed_checks, rule_changes
from graph.new.state import (
    AfterCheck,
    RunState,
    after_check,
    after_drafts,
    folder_of,
    go_on,
    need_design,
)
from graph.new.trial import Trial, not_passing, write_checks
from graph.run.candidates import best, what_failed
from graph.run.events import Checked, writer_of
from graph.run.sandboxes import keep_grade


def check(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterCheck]:
    """Judge the first candidate that was not, else the newest, and route on the verdict."""
    context = context_of(runtime, state.folder, state.seed)
    made = need_design(state)
    unchecked = (c for c in state.candidates if c.findings is None)
    candidate = next(unchecked, state.candidates[-1])
    keep_grade(folder_of(state), context.sandbox.grade)
    ruled = tuple(one.ruling.rule for one in state.ambiguities if one.ruling)
    tell = writer_of(runtime.stream_writer)
    revised = _revised(state, made)
    trial = Trial(made, context, candidate.number, candidate.source, ruled, revised, tell)
    tried = trial.judged(state.claims)
    judged = replace(candidate, findings=tried.findings, lacking=tried.lacking)
    write_checks(state, context, judged, tried.claims)
    failed = tuple(found.check for found in tried.findings if found.outcome == "failed")
    tell(Checked(candidate=candidate.number, outcome=judged.outcome, failed=failed))
    last = state.rounds >= context.settings.max_rounds
    wrong = what_failed(tried.findings)
    said = quoted(f"Not everything passed: {wrong}") if wrong else passed_checks(tried.findings)
    after = state.with_versions(judged).saying(said, "check")
    more = after_drafts(after.candidates)
    settle = () if more else to_settle(tried.claims, after.candidates, last=last)
    after = after.holding(tried.claims, settle)
    goto: AfterCheck = more or after_check(judged.outcome, last=last, vote=bool(settle))
    if goto == "strategize":
        after = trial.accepted(after, tried)
    if goto == "report":
        after = after.ending("gave_up", not_passing(state.rounds, best(after.candidates).findings))
    return go_on(goto, state, after)


def _revised(state: RunState, made: Design) -> tuple[str, ...]:
    """Rules that a revision changed, where tests of the others were carried over; told once."""
    found = [found for candidate in state.candidates for found in candidate.findings or ()]
    held = any(found.check == UNIT_TEST for found in found)
    if state.before is None or held or not any(claim.test for claim in state.claims):
        return ()
    ids = {rule.id for rule in made.rules}
    return tuple(x.name for x in rule_changes(state.before.design, made) if x.name in ids)
