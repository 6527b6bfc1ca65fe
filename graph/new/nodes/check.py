"""Check: one candidate is judged, and the verdict says where the run goes on."""

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.protocols import Design
from games.checks.unit_tests import CHECK as UNIT_TEST
from graph.new.claims import to_settle
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.results import rule_changes
from graph.new.state import AfterCheck, RunState, after_check, after_drafts, folder_of, need_design
from graph.new.trial import Trial, not_passing, write_checks
from graph.run.candidates import best, keep_newest
from graph.run.sandboxes import keep_grade


def check(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterCheck]:
    """Judge the first candidate that was not, else the newest, and route on the verdict."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    unchecked = (c for c in state.candidates if c.findings is None)
    candidate = next(unchecked, state.candidates[-1])
    keep_grade(folder_of(state), context.sandbox.grade)
    ruled = tuple(one.ruling.rule for one in state.ambiguities if one.ruling)
    trial = Trial(made, context, candidate.number, candidate.source, state.claims, ruled)
    trial.revised, trial.tell = _revised(state, made), runtime.stream_writer
    trial.judge()
    judged = candidate.model_copy(
        update={"findings": tuple(trial.findings), "lacking": tuple(trial.lacking)}
    )
    outcome = judged.outcome
    write_checks(state, context, judged, trial.claims)
    failed = [found.check for found in trial.findings if found.outcome == "failed"]
    told = {"candidate": candidate.number, "outcome": outcome, "failed": failed}
    runtime.stream_writer({"node": "check", **told})
    last = state.rounds >= context.settings.max_rounds
    pool = keep_newest(state.candidates, [judged])
    more = after_drafts(pool)
    settle = () if more else to_settle(trial.claims, pool, last=last)
    goto = more or after_check(outcome, last=last, vote=bool(settle))
    update: dict[str, object] = {"candidates": [judged], "claims": trial.claims}
    update["contested"] = settle
    if goto == "strategize":
        update |= trial.accepted(state)
    if goto == "report":
        update |= {"end": "gave_up", "reason": not_passing(state.rounds, best(pool).findings)}
    return Command(goto=goto, update=update)


def _revised(state: RunState, made: Design) -> tuple[str, ...]:
    """Rules that a revision changed, where tests of the others were carried over; told once."""
    found = [found for candidate in state.candidates for found in candidate.findings or ()]
    held = any(found.check == UNIT_TEST for found in found)
    if state.before is None or held or not any(claim.test for claim in state.claims):
        return ()
    ids = {rule.id for rule in made.rules}
    return tuple(x.name for x in rule_changes(state.before.design, made) if x.name in ids)
