"""`learn.json` and `report.html`: what a run of `learn` came to, and how."""

import re
from collections import Counter
from html import escape
from typing import Any

from games.text import number_of, plain_text, quoted
from graph.learn.matches import Material
from graph.learn.state import Judged, LearnContext, LearnState
from graph.run.folder import RunFolder
from graph.run.pool import Candidate
from tools.reporting.page import curve, styled

_CONTRADICTION = re.compile(r"#\s*CONTRADICTION:\s*(.+)")
_FILES = ("model.py", "learn.json", "report.html", "rules.md", "trace.jsonl")


def learn_object(
    state: LearnState, context: LearnContext, chosen: Candidate | None, sandbox: dict[str, Any]
) -> dict[str, Any]:
    """The run as one JSON object: what it came to, the curve, and all effective parameters."""
    material = context.material
    model = state.candidate(state.base) if chosen and state.stage == "tensors" else chosen  # type: ignore[arg-type]
    drawing = state.judged.get(model.number) if model else None
    judged = _predicting(state, model)
    if judged is drawing:
        drawing = None
    usage = context.budget
    return {
        "end": state.end,
        "reason": state.reason,
        "environment": material.header.environment,
        "num_players": material.header.num_players,
        "parameters": dict(material.header.parameters),
        "deck": material.header.deck,
        "policy": material.header.policy,
        "recorded_by": dict(material.header.versions),
        "matches": _matches(state, material),
        "candidate": chosen.number if chosen else None,
        **_accuracy(judged),
        "bound": ">= (the auto-encoder's: a draw that fits is a lower bound of the evidence)"
        if context.settings.closed_deck
        else None,
        "never_exercised": list(state.gaps.named) if state.gaps else None,
        "calls": dict(Counter(note.function for note in state.calls)),
        "curve": [note.model_dump(mode="json") for note in state.calls],
        "inference": state.inference or None,
        **_inferred(state, drawing),
        "tensors": _tensors(state, chosen),
        "values": {"used": bool(state.values), "notes": state.value_notes},
        "active": state.questions,
        "branch_fidelity": state.fidelity,
        "arena": state.arena,
        "contradictions": contradictions(chosen.source, context.request.rules) if chosen else [],
        "failed_last": [f.model_dump(mode="json") for f in chosen.findings or ()]
        if chosen and chosen.outcome != "passed"
        else [],
        "settings": context.settings.model_dump(mode="json"),
        "model": context.identity,
        "usage": usage.usage.as_object() if usage else None,
        "usage_by_role": {role: used.as_object() for role, used in usage.roles.items()}
        if usage
        else None,
        "versions": dict(context.versions),
        "sandbox": sandbox,
    }


def _matches(state: LearnState, material: Material) -> dict[str, Any]:
    return {
        "recorded": material.recorded,
        "training": len(material.training(state.promoted)),
        "held_out": len(material.heldout(state.promoted)),
        "failed_when_held_out": sorted(state.promoted),
        "asked_of_the_environment": state.asked,
    }


def _accuracy(judged: Judged | None) -> dict[str, Any]:
    """How much of the records the model predicts."""
    distinct = judged.distinct if judged else 0
    rows = [row.model_dump(mode="json") for row in judged.rows] if judged else []
    return {
        "accuracy": judged.accuracy if judged else None,
        "distinct_accuracy": judged.distinct_right / distinct if judged and distinct else None,
        "records": judged.records if judged else 0,
        "held_out_accuracy": judged.held_accuracy if judged else None,
        "held_out_records": judged.held if judged else 0,
        "worst": worst_of(rows),
        "phases": rows,
    }


def _inferred(state: LearnState, drawing: Judged | None) -> dict[str, Any]:
    """How well what is hidden is drawn."""
    if drawing is None:
        return {"inferred": None, "calibration": None}
    inferred = {
        "function": state.inference,
        "accuracy": drawing.accuracy,
        "sights": drawing.records,
        "held_out_accuracy": drawing.held_accuracy,
        "held_out_sights": drawing.held,
    }
    return {"inferred": inferred, "calibration": drawing.calibration or None}


def _tensors(state: LearnState, chosen: Candidate | None) -> dict[str, Any] | None:
    """What the functions that turn observations into arrays came to; None where not asked for."""
    if chosen is None or state.stage != "tensors":
        return None
    if state.tensors:
        return {"used": False, "problem": state.tensors}
    met = state.judged[chosen.number]
    return {
        "used": True,
        "width": met.width,
        "observations": met.records,
        "held_out_accuracy": met.held_accuracy,
        "held_out_observations": met.held,
    }


def _predicting(state: LearnState, chosen: Candidate | None) -> Judged | None:
    """How the model fared that the chosen candidate stands on: its ancestor of the first stage."""
    found = own = state.judged.get(chosen.number) if chosen else None
    while chosen is not None and found is not None and not found.rows:
        if chosen.parent is None:
            return own  # a closed deck has no other stage
        chosen = state.candidate(chosen.parent)
        found = state.judged.get(chosen.number)
    return found


def worst_of(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The phase and type of action that is predicted worst, over all its records.

    >>> worst_of([{"phase": "a", "right": 1, "records": 2, "held_right": 0, "held": 0}])["phase"]
    'a'
    """
    return min(
        rows,
        key=lambda row: (row["right"] + row["held_right"]) / max(1, row["records"] + row["held"]),
        default=None,
    )


def contradictions(source: str, rules: str) -> list[dict[str, Any]]:
    """Where the modeller says that rules and matches part, with both quotes as it gives them.

    >>> contradictions('# CONTRADICTION: "Take two." / match 1 takes three', "Take  two. Stop.")
    [{'said': '"Take two." / match 1 takes three', 'in_the_rules': True}]
    """
    words = " ".join(rules.split()).lower()
    found = []
    for said in _CONTRADICTION.findall(source):
        quote = said.partition('"')[2].partition('"')[0].strip().lower()
        found.append({"said": said.strip(), "in_the_rules": bool(quote) and quote in words})
    return found


def final_words(told: dict[str, Any], folder: RunFolder) -> str:
    """What a person reads at the end."""
    lines = []
    if told["accuracy"] is None:
        lines.append(f"No model: {quoted(told['reason'])}")
    else:
        held, count = told["held_out_accuracy"], number_of(told["held_out_records"], "record")
        beside = "none held out" if held is None else f"held out {held:.4f} on {count}"
        bound = "≥ " if told["bound"] else ""
        said = f"accuracy {bound}{told['accuracy']:.4f} on {told['records']} records, {beside}"
        calls = ", ".join(f"{n} {function}" for function, n in told["calls"].items())
        lines.append(f"{told['end'].replace('_', ' ')}: {said}; calls: {calls or 'none'}")
        if used := told["usage"]:
            lines.append(f"the model was asked {_usage(used)}")
        if drawn := told["inferred"]:
            exact = (told["calibration"] or {}).get("places", 0)
            lines.append(
                f"{drawn['function']}: accuracy {drawn['accuracy']:.4f} at {drawn['sights']} "
                f"places, held against the exact posterior at {exact}"
            )
        if arrays := told["tensors"]:
            lines.append(
                f"observations as arrays of {arrays['width']} numbers and back: all of "
                f"{arrays['observations']}"
                if arrays["used"]
                else f"no arrays of observations: {quoted(arrays['problem'])}"
            )
        lines += [f"value functions: {quoted(note)}" for note in told["values"]["notes"][-1:]]
        lines += [_played(row) for row in (told["arena"] or [{}])[-1].get("rows", [])]
        if told["reason"]:
            lines.append(quoted(told["reason"]))
        lines += [quoted(f"rules and matches part: {c['said']}") for c in told["contradictions"]]
        players = " --player random" * told["num_players"]
        lines.append(f"play it with: rulewright match {folder.path / 'model.py'}{players}")
    return "\n".join([*lines, f"Everything is in {folder.path}: {', '.join(_FILES)}"])


def _usage(used: dict[str, Any]) -> str:
    """Requests, also those whose replies were of no use, and tokens."""
    lost = f", {used['failed_calls']} without a reply" if used["failed_calls"] else ""
    tokens = f"{used['tokens_in']:,} tokens in, {used['tokens_out']:,} out"
    return f"{number_of(used['calls'], 'time')}{lost}: {tokens}"


def _played(row: dict[str, Any]) -> str:
    """A row of the arena in words: what it predicted, lost, and was paid."""
    paid = row["paid over the others"] or {"value": None}
    more = "" if paid["value"] is None else (
        f", {paid['value']:+.3f} ({paid['low']:.3f} to {paid['high']:.3f}) paid over the others"
    )  # fmt: skip
    return (
        f"in play against {row['opponent']}: {row['distinct right']} of {row['distinct']} "
        f"transitions predicted, {row['forfeits']} of {row['matches']} matches forfeited{more}"
    )


def page_of(told: dict[str, Any], state: LearnState, chosen: Candidate | None) -> str:
    """The report as one self-contained page; the same run gives the same bytes."""
    parts = [
        f"<h1>A model of {_safe(told['environment'])}</h1>",
        f"<p>{_safe(told['num_players'])} seats, {_safe(told['deck'])} deck, recorded play: "
        f"{_safe(told['policy'])}. Modeller: {_safe(told['model'])}.</p>",
        f'<p class="{"passed" if told["end"] == "passed" else "problem"}">'
        f"{_safe(str(told['end']).replace('_', ' '))}. {_safe(told['reason'])}</p>",
        _summary(told),
    ]
    reached = [note.best for note in state.calls if note.function != "value"]
    if reached:
        parts.append("<h2>Accuracy by call</h2>")
        parts.append(curve(reached, title="Best accuracy", units=("call", "accuracy")))
        parts.append(_table(("call", "for", "candidates", "accuracy", "best", "held out", ""), [
            (n.call, n.function, ", ".join(map(str, n.candidates)), _figure(n.accuracy),
             _figure(n.best), _figure(n.held_out), "; ".join(n.refused))
            for n in state.calls
        ]))  # fmt: skip
    head = ("phase", "action", "right", "records", "held out")
    rows = [
        (*(row[name] for name in head[:-1]), f"{row['held_right']} of {row['held']}")
        for row in told["phases"]
    ]
    parts += _section("Phases and types of action", rows, head)
    parts += _listed("What is open", told["never_exercised"] or [])
    parts += _listed("Asked of the environment", told["active"])
    parts += _arena(told["arena"])
    parts += _listed("Rules and matches part", [one["said"] for one in told["contradictions"]])
    parts += _listed("Value functions", told["values"]["notes"])
    for name in ("inferred", "calibration", "branch_fidelity", "tensors"):
        parts += _section(name.replace("_", " ").capitalize(), [*(told[name] or {}).items()])
    parts += _failed_last(chosen) if chosen is not None and chosen.outcome != "passed" else []
    parts += _section("Settings", [*told["settings"].items()], ("setting", "value"))
    return styled(_safe(f"A model of {told['environment']}"), "\n".join(parts))


def _section(title: str, rows: list[Any], head: tuple[str, ...] = ("", "")) -> list[str]:
    """A heading and its table; nothing where there are no rows."""
    return [f"<h2>{title}</h2>", _table(head, rows)] if rows else []


def _failed_last(chosen: Candidate) -> list[str]:
    """The open findings, each with its line of the source."""
    parts, source = ["<h2>What failed last</h2>"], chosen.source.splitlines()
    for found in chosen.findings or ():
        number = found.line or 0
        line = source[number - 1].strip() if 0 < number <= len(source) else ""
        where = f", line {number}: {line}" if number else ""
        parts.append(f"<h3>{_safe(found.check)}: {_safe(found.function)}{_safe(where)}</h3>")
        parts.append(f"<pre>{_safe(found.evidence)}</pre>")
    return parts


def _arena(rounds: list[dict[str, Any]]) -> list[str]:
    """The rounds of the arena, a table each."""
    parts = []
    for number, found in enumerate(rounds, 1):
        parts.append(f"<h2>Arena, round {number}</h2>")
        for row in found.get("rows", [found]):
            parts.append(_table(("", ""), list(row.items())))
    return parts


def _summary(told: dict[str, Any]) -> str:
    rows = [
        ("accuracy", f"{_figure(told['accuracy'])} of {told['records']} training records"),
        ("of distinct records", _figure(told["distinct_accuracy"])),
        ("held out", f"{_figure(told['held_out_accuracy'])} of {told['held_out_records']} records"),
        ("calls", ", ".join(f"{n} {function}" for function, n in told["calls"].items())),
        ("matches", {name.replace("_", " "): n for name, n in told["matches"].items()}),
    ]
    worst = told["worst"]
    if worst:
        share = f"{worst['right'] + worst['held_right']} of {worst['records'] + worst['held']}"
        rows.insert(0, ("worst", f"{worst['phase']}, {worst['action']}: {share}"))
    if told["bound"]:
        rows.append(("bound", told["bound"]))
    return _table(("", ""), rows)


def _figure(value: float | None) -> str:
    return "not asked" if value is None else f"{value:.4f}"


def _listed(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [f"<h2>{title}</h2>", "<ul>", *(f"<li>{_safe(one)}</li>" for one in lines), "</ul>"]


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    cells = ["<table>", '<tr class="head">', *(f"<th>{one}</th>" for one in head), "</tr>"]
    for row in rows:
        told = zip(head, row, strict=True)
        shown = (
            f'<td data-label="{name}" style="white-space: pre-line">{_safe(value)}</td>'
            for name, value in told
        )
        cells += ["<tr>", *shown, "</tr>"]
    return "\n".join([*cells, "</table>"])


def _words(value: object) -> str:
    """A value as a person reads it.

    >>> _words({"forfeit": 1, "faults": [], "bound": None})
    'forfeit: 1, faults: none, bound: none'
    """
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_words(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    return "none" if value is None else str(value)


def _safe(value: object) -> str:
    return escape(plain_text(_words(value)))
