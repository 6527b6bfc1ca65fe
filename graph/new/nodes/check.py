"""Check: every named check, the generated unit tests, and the validator's verdict on records."""

from langgraph.runtime import Runtime
from langgraph.types import Command
from langsmith import trace

from agents.composer.meaning.evidence import with_plies
from agents.model.recording import place
from agents.protocols import Design, RoleError, RoleSet
from games.checks.findings import Finding, verdict
from games.engine import Match
from games.records import MatchRecord
from graph.new.routing import AfterCheck, after_check
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.pool import what_failed
from graph.run.records import notes_of_play
from graph.run.sandboxes import keep_grade
from tools.checking import CheckRun, check_source


def check(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterCheck]:
    """Judge the newest candidate and route on the verdict."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    settings = context.settings
    candidate = state.candidates[-1]
    keep_grade(folder_of(state), context.sandbox.grade)
    findings, matches = findings_of(candidate.source, made, context, number=candidate.number)
    judged = candidate.model_copy(update={"findings": tuple(findings)})
    outcome = verdict(findings)
    folder_of(state).write_json(
        "checks.json",
        {
            "candidate": candidate.number,
            "outcome": outcome,
            "findings": [finding.model_dump(mode="json") for finding in findings],
            "settings": settings.check.model_dump(mode="json"),
            "sandbox": context.sandbox.grade.model_dump(mode="json"),
        },
    )
    runtime.stream_writer(
        {
            "node": "check",
            "candidate": candidate.number,
            "outcome": outcome,
            "failed": [f.check for f in findings if f.outcome == "failed"],
        }
    )
    goto = after_check(outcome, rounds=state.rounds, max_rounds=settings.max_rounds)
    update: dict[str, object] = {"candidates": [judged]}
    if goto == "strategize":
        update |= {"accepted": candidate.number, "design": with_plies(made, matches)}
        update |= {"notes": (*state.notes, *notes_of_play(context, candidate.source, made))}
    if goto == "report":
        update |= {
            "end": "gave_up",
            "reason": f"after {state.rounds} refinements the game still does not pass: "
            + what_failed(findings),
        }
    return Command(goto=goto, update=update)


def findings_of(
    source: str, design: Design, context: RunContext, *, number: int
) -> tuple[list[Finding], list[Match]]:
    """All findings over one source (checks, unit tests, verdicts), and the matches judged."""
    with trace("checks", run_type="tool", inputs={"candidate": number}) as span:
        run = check_source(
            context.sandbox,
            source,
            settings=context.settings.check,
            num_players=design.num_players,
            parameters={},
            records=context.settings.records_judged,
        )
        span.end(outputs={"outcome": verdict(run.findings), "wrong": what_failed(run.findings)})
    findings = list(run.findings)
    if verdict(findings) != "passed":
        return findings, []  # cheaper checks first: a broken module is not shown to the validator
    findings += _unit_tests(source, design, context, number, run)
    for index, record in enumerate(run.records):
        with place(f"check/{number}/record/{index}"):
            findings.append(judge_record(context.roles, design, record))
    missing = context.settings.records_judged - len(run.records)
    if missing:
        findings.append(
            Finding(
                check="record",
                outcome="could_not_judge",
                evidence=f"{missing} of {context.settings.records_judged} matches that the "
                "validator was to judge did not finish",
            )
        )
    return findings, [record.match for record in run.records]


def _unit_tests(
    source: str, design: Design, context: RunContext, number: int, run: CheckRun
) -> list[Finding]:
    try:
        with place(f"check/{number}/tests"):
            tests = context.roles.validator.unit_tests(design, source)
    except RoleError as error:
        return [Finding(check="unit_test", outcome="could_not_judge", evidence=str(error))]
    return run.unit_tests(tests)


def judge_record(roles: RoleSet, design: Design, record: MatchRecord) -> Finding:
    """The validator's verdict on one record; what it could not judge is not a pass."""
    try:
        found = roles.validator.judge(design, record)
    except RoleError as error:
        return Finding(check="record", outcome="could_not_judge", evidence=str(error))
    if found.illegal_ply is None:
        return Finding(check="record", outcome="passed", rule=found.rule)
    return Finding(
        check="record",
        outcome="failed",
        rule=found.rule,
        evidence=f"ply {found.illegal_ply} of match {record.match_index}: {found.explanation}",
        function=found.function,
    )
