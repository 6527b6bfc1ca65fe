"""Reports of a run: the rulebook, the page and `run.json`, from the run's state."""

import os
from collections.abc import Sequence
from contextlib import suppress
from difflib import unified_diff
from importlib.resources import files
from typing import Any

import yaml

from agents.evidence import ground_of, standing
from agents.prompting import code_block
from agents.protocols import COMPOSER, Brief, Clause, Design, Section
from games.text import one_line, untagged
from graph.new.context import RunContext
from graph.new.requests import BRIEF, FORM, WHOLE, YES, form_text, human_words, means
from graph.new.results import (
    choiceless,
    cited,
    newest_changes,
    open_ends,
    overruled,
    revision_reply,
    single_words,
    state_object,
)
from graph.new.state import Made, RunState, folder_of
from graph.run.candidates import Candidate, best
from graph.run.folder import RunFolder, RunFolderError, kept_json
from graph.run.sandboxes import grades_of
from tools.reporting.content import Report, ReportLine
from tools.reporting.page import before_and_after

_LONGEST_RECORD = 8_000
_WORDS = yaml.safe_load(files("graph.new").joinpath("words.yaml").read_text("utf-8"))
_SENTENCES: dict[str, str] = _WORDS["checks"]


def report_of(state: RunState, context: RunContext) -> Report:
    """The report of a run that has a design.

    Raises:
        ValueError: If it has none.
    """
    design = state.design
    if design is None:
        raise ValueError("a report needs a design; this run has none")
    shown, rulebook = _shown(state), folder_of(state).path / "rulebook.md"
    return Report(
        title=design.title,
        summary=design.summary,
        players=sum(map(len, state.evaluation.sides)) if state.evaluation else design.num_players,
        made_by=made_by(_maker(state, context)),
        facts=_facts(state, context),
        clauses=tuple(_clause_lines(design.clauses, shown.wrong if shown else "")),
        assumptions=design.assumptions,
        checks=tuple(
            ReportLine(name=sentence_of(f.check, f.rule), state=f.outcome, text=f.evidence)
            for f in (shown.findings if shown else None) or ()
        )
        + tuple(
            ReportLine(name="", state="", text=note) for note in (*overruled(state), *state.notes)
        ),
        heuristics=tuple(ReportLine(name=h.name, state="", text=h.policy) for h in state.heuristics)
        + tuple(ReportLine(name="", state="", text=text) for text in state.strategy_notes),
        evaluation=state.evaluation,
        choiceless=choiceless(state),
        rulebook=rulebook.read_text("utf-8", "replace") if rulebook.is_file() else "",
        record=state.record[:_LONGEST_RECORD]
        + "\n... The folder records/ has the whole match." * (len(state.record) > _LONGEST_RECORD),
        settings=context.settings.model_dump(mode="json"),
        problem="; ".join(open_ends(state)) if state.accepted is not None else state.reason,
        changes=(
            *newest_changes(state),
            ReportLine(name="Reply", state="", text=revision_reply(state)),
        )
        if state.before
        else (),
        before=state.before.evaluation if state.before else None,
        graph=design.graph if design.graph.fits else None,
        links=_links(state),
    )


def _links(state: RunState) -> tuple[tuple[str, str], ...]:
    """Files beside the page, by name: places relative to its folder."""
    here = folder_of(state)
    names = {"rulebook": "rulebook.md", "code": "game.py", "records": "records/"}
    links = [(name, place) for name, place in names.items() if (here.path / place).exists()]
    if state.before is not None:
        old = here.root.revision(state.before.revision).path / "report.html"
        links.append(("the version before", os.path.relpath(old, here.path)))
    return tuple(links)


def sentence_of(check: str, rule: str) -> str:
    """The claim of a check, as a sentence.

    >>> sentence_of("unit_test", "R5")
    'A position made by hand gives what the rules say (R5).'
    """
    said = _SENTENCES.get(check, f"The check {check.replace('_', ' ')} finds nothing wrong.")
    return said if rule in {"", "contract"} else f"{said[:-1]} ({rule})."


def _shown(state: RunState) -> Candidate | None:
    """The accepted candidate, else the best there is."""
    if state.accepted is not None:
        return state.candidate(state.accepted)
    return best(state.candidates) if state.candidates else None


def made_by(maker: str) -> str:
    """Who made the game, said plainly, by the identity of the roles that did."""
    if maker == COMPOSER:
        return (
            "Made by the composer from the verified library, without a language model: it can "
            "honour only what the library's families cover, and lists the rest."
        )
    return f"Made with the language model {maker}."


def _maker(state: RunState, context: RunContext) -> str:
    """Who designed the game, who may be gone: a person plays a model's game on without a model."""
    return state.maker or context.roles.identity


def _spent_before(state: RunState) -> dict[str, Any]:
    """The usage of a model that this run goes on without, as its `run.json` told it before."""
    folder, names = folder_of(state), ("usage", "usage_by_role")
    told: object = None
    with suppress(RunFolderError):
        told = folder.read_json("run.json")
    before = told if isinstance(told, dict) else {}
    return {"usage": None, "usage_by_role": {}} | {n: before[n] for n in names if n in before}


def changes_text(before: Made, state: RunState) -> str:
    """Markdown of a revision: what was asked, rules, code and figures, before and after.

    Raises:
        ValueError: If the state holds no design.
    """
    if state.design is None:
        raise ValueError("changes are told of a design; this run has none")
    shown = _shown(state)
    code = unified_diff(
        before.candidate.source.splitlines(),
        shown.source.splitlines() if shown else [],
        "before/game.py",
        "game.py",
        lineterm="",
    )
    asked = [words for words in human_words(state) if not means(words, YES | WHOLE)]
    lines = [f"# {one_line(state.design.title)}: what changed", "", f"> {one_line(asked[-1])}", ""]
    lines += [revision_reply(state), ""]
    lines += ["## Rules and settings", ""]
    lines += [
        f"- {one_line(f'{line.name} ({line.state}): {line.text}')}"
        for line in newest_changes(state)
    ] or ["None changed: nothing was checked or played again."]
    lines += ["", "## Code", "", code_block("\n".join(code), "diff"), ""]
    if state.evaluation is not None and before.evaluation is not None:
        old, new = state.evaluation.beside(before.evaluation)
        lines += ["## Figures", "", f"| | before ({old.player}) | after ({new.player}) |"]
        lines += ["|---|---|---|"]
        lines += [
            f"| {name} | {before} | {after} |"
            for name, before, after in before_and_after(old.figures, new.figures)
        ]
    return untagged("\n".join(lines)) + "\n"


def run_object(state: RunState, context: RunContext) -> dict[str, Any]:
    """`run.json`: the effective settings, seeds, versions, usage and cost, and the sandbox.

    `sandbox` is the weakest that the run was played in, of all that `sandboxes` lists.
    """
    grades = grades_of(folder_of(state), context.sandbox.grade)
    spent, maker = context.budget, _maker(state, context)
    return {
        **state_object(state),
        "prompt": state.brief.words if state.brief else None,
        "choices": state.brief.choices.model_dump(mode="json") if state.brief else None,
        "settings": context.settings.model_dump(mode="json"),
        "roles": maker,
        "model": None if maker == COMPOSER else maker,
        **(spent.as_object() if spent else _spent_before(state)),
        **({"usage_of_revision": spent.since.as_object()} if spent and state.revision else {}),
        "embedding": context.embedding,
        "store_snapshot": context.store_snapshot,
        "sandbox": grades[0].model_dump(mode="json"),
        "sandboxes": [grade.model_dump(mode="json") for grade in grades],
        "versions": dict(context.versions),
        "ambiguities": [one.model_dump(mode="json") for one in state.ambiguities],
        "candidates": [
            {"number": c.number, "parent": c.parent, "outcome": c.outcome, "refined": c.refined}
            for c in state.candidates
        ],
        "strategy_notes": list(state.strategy_notes),
        "revises": state.before and state.before.revision,
        "changed": [line.model_dump(mode="json") for line in newest_changes(state)],
    }


def _facts(state: RunState, context: RunContext) -> tuple[tuple[str, str], ...]:
    grades = grades_of(folder_of(state), context.sandbox.grade)
    by_role = {} if context.budget is None else context.budget.roles
    return (
        ("roles", _maker(state, context)),
        ("seed", str(context.settings.seed)),
        *(
            ("sandbox grade", f"{grade.name} ({', '.join(grade.layers)}): {grade.reason}")
            for grade in grades
        ),
        ("refinements", str(state.rounds)),
        ("store", f"{context.embedding}, snapshot {context.store_snapshot[:16]}"),
        ("versions", ", ".join(f"{name} {number}" for name, number in context.versions.items())),
        *((f"model as {role or 'player'}", str(used)) for role, used in by_role.items()),
        *(
            [("model in this revision", str(context.budget.since))]
            if context.budget and state.revision
            else []
        ),
    )


def _clause_lines(clauses: Sequence[Clause], wrong: str) -> list[ReportLine]:
    """A line a clause; single words that nothing explains are one line together."""
    words = single_words(clauses)
    lines = [
        ReportLine(name=clause.text, state=standing(clause, wrong), text=ground_of(clause))
        for clause in clauses
        if clause.status == "honoured" or clause.text not in words
    ]
    if words:
        text = "single words, with which nothing was done"
        lines.append(ReportLine(name=", ".join(words), state="not_honoured", text=text))
    return lines


_HEADINGS: dict[Section, str] = _WORDS["headings"]


def rulebook_text(
    design: Design, brief: Brief, example: Sequence[str] = (), failed: str = ""
) -> str:
    """Markdown: title, aim, rules by section, and what became of the brief's words.

    Args:
        design: The game; its sections come in the order of their first rule.
        brief: What was asked for.
        example: A turn of a real match, a sentence a line; nothing before one was played.
        failed: What is wrong with the code beside it; empty where it passed, or is not there.
    """
    seats = "one player" if design.num_players == 1 else f"{design.num_players} players"
    lines = [f"# {one_line(design.title)}", "", f"For {seats}.", ""]  # no heading but ours
    lines += [f"The code does not pass its checks: {one_line(failed)}", ""] if failed else []
    lines += ["## Aim", "", one_line(design.summary)]
    for section in dict.fromkeys(rule.section for rule in design.rules):
        lines += ["", f"## {_HEADINGS[section]}", ""]
        rules = [rule for rule in design.rules if rule.section == section]
        lines += [f"- {rule.id}: {one_line(rule.text)}" for rule in rules]
    if example:
        lines += ["", "## Example of play", "", "From a real match:", ""]
        lines += [f"> {line}  " for line in example]
    said = [" ".join(line.split()) for line in brief.words.splitlines() if line.strip()]
    lines += ["", "## What was asked for", "", *(f"> {line}  " for line in said), ""]
    for line in _clause_lines(design.clauses, failed):
        ground = f" ({line.text})" if line.text else ""
        told = f"{line.state.replace('_', ' ')}: {cited(line.name, brief.words)}{ground}"
        lines.append(f"- {one_line(told)}")
    if design.assumptions:
        lines += ["", "Assumed, because it was left open:", ""]
        lines += [f"- {one_line(assumption)}" for assumption in design.assumptions]
    return untagged("\n".join(lines)) + "\n"


def write_design(folder: RunFolder, made: Design, brief: Brief) -> None:
    """The design as rulebook, as form and as JSON; beside it the brief that it was made of."""
    texts = {"rulebook.md": rulebook_text(made, brief), FORM: form_text(made)}
    texts |= {"design.json": made.model_dump_json(indent=2) + "\n"}
    folder.write_together(texts | {BRIEF: kept_json(brief.model_dump(mode="json"))})
