"""From a run's state to the report's content and to `run.json`."""

from dataclasses import asdict
from typing import Any

from agents.protocols import Clause
from graph.context import RunContext
from graph.defaults import folder_of
from graph.grades import grades_of
from graph.routing import best
from graph.rulebook import assumptions
from graph.state import Candidate, RunState
from tools.reporting.content import Evaluation, Line, Report

_LONGEST_RECORD = 8_000


def report_of(state: RunState, context: RunContext) -> Report:
    """The report of a run that has a design.

    Raises:
        ValueError: If it has none.
    """
    design = state.design
    if design is None:
        raise ValueError("a report needs a design; this run has none")
    shown = _shown(state)
    evaluation = Evaluation.model_validate(state.evaluation) if state.evaluation else None
    record = folder_of(state).path / "records" / "match-000.txt"
    return Report(
        title=design.title,
        summary=design.summary,
        players=design.num_players,
        made_by=made_by(context),
        facts=_facts(state, context),
        clauses=tuple(_clause_line(clause) for clause in design.clauses),
        assumptions=assumptions(state.brief, design),
        checks=tuple(
            Line(
                name=f"{f.check} {f.rule}".strip() if f.rule != "contract" else f.check,
                state=f.outcome,
                text=f.evidence,
            )
            for f in (shown.findings if shown else None) or ()
        ),
        heuristics=tuple(Line(name=h.name, state="", text=h.policy) for h in state.heuristics)
        + tuple(Line(name="", state="", text=text) for text in state.strategy_notes),
        evaluation=evaluation,
        record=record.read_text(encoding="utf-8")[:_LONGEST_RECORD] if record.exists() else "",
        settings=context.settings.model_dump(mode="json"),
        problem="" if state.end == "made" else state.reason,
    )


def _shown(state: RunState) -> Candidate | None:
    """The accepted candidate, else the best there is."""
    if state.accepted is not None:
        return state.candidate(state.accepted)
    return best(state.candidates) if state.candidates else None


def made_by(context: RunContext) -> str:
    """Who made the game, said plainly."""
    if context.budget is None:
        return (
            "Made by the composer from the verified library, without a language model: it can "
            "honour only what the library's families cover, and lists the rest."
        )
    return f"Made with the language model {context.roles.identity}."


def run_object(state: RunState, context: RunContext) -> dict[str, Any]:
    """`run.json`: the effective settings, seeds, versions, usage and cost, and the sandbox.

    `sandbox` is the weakest that the run was played in, of all that `sandboxes` lists.
    """
    grades = grades_of(folder_of(state), context.sandbox.grade)
    usage = asdict(context.budget.usage) if context.budget is not None else None
    return {
        "end": state.end,
        "reason": state.reason,
        "prompt": state.brief.prompt if state.brief else None,
        "settings": context.settings.model_dump(mode="json"),
        "roles": context.roles.identity,
        "model": None if context.budget is None else context.roles.identity,
        "usage": usage,
        "embedding": context.embedding,
        "store_snapshot": context.store_snapshot,
        "sandbox": grades[0].model_dump(mode="json"),
        "sandboxes": [grade.model_dump(mode="json") for grade in grades],
        "versions": dict(context.versions),
        "refinements": state.rounds,
        "candidates": [
            {"number": c.number, "parent": c.parent, "outcome": c.outcome, "refined": c.refined}
            for c in state.candidates
        ],
        "evaluation": state.evaluation,
        "notes": list(state.notes),
    }


def _facts(state: RunState, context: RunContext) -> tuple[tuple[str, str], ...]:
    grades = grades_of(folder_of(state), context.sandbox.grade)
    return (
        ("roles", context.roles.identity),
        ("seed", str(context.settings.seed)),
        *(
            ("sandbox grade", f"{grade.name} ({', '.join(grade.layers)}): {grade.reason}")
            for grade in grades
        ),
        ("refinements", str(state.rounds)),
        ("store", f"{context.embedding}, snapshot {context.store_snapshot[:16]}"),
        ("versions", ", ".join(f"{name} {number}" for name, number in context.versions.items())),
    )


def _clause_line(clause: Clause) -> Line:
    return Line(name=clause.text, state=clause.status, text=clause.setting or clause.reason)
