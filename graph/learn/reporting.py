"""`learn.json` and `report.html`: what a run of `learn` came to, and how."""

import re
from collections import Counter
from html import escape
from importlib.resources import files
from typing import Any

from games.text import number_of, plain_text, quoted
from graph.learn.matches import Material
from graph.learn.state import Judged, LearnContext, LearnState
from graph.run.candidates import Candidate
from graph.run.folder import RunFolder
from tools.reporting.page import curve, page_style, page_template

_CONTRADICTION = re.compile(r"#\s*CONTRADICTION:\s*(.{1,500})")
_FILES = ("model.py", "learn.json", "report.html", "rules.md", "trace.jsonl")


def learn_object(
    state: LearnState, context: LearnContext, chosen: Candidate | None, sandbox: dict[str, Any]
) -> dict[str, Any]:
    """The run as one JSON object: what it came to, the curve, and all effective parameters."""
    model = state.candidate(state.base) if chosen and state.stage == "tensors" else chosen  # type: ignore[arg-type]
    drawing = state.judged.get(model.number) if model else None
    judged = _predicting(state, model)
    if judged is drawing:
        drawing = None
    return {
        "end": state.end,
        "reason": state.reason,
        **_recorded(state, context.material),
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
        **context.budget.as_object(),
        "versions": dict(context.versions),
        "sandbox": sandbox,
    }


def _recorded(state: LearnState, material: Material) -> dict[str, Any]:
    """The environment, and the matches by what they served for."""
    header = material.header
    return {
        "environment": header.environment,
        "num_players": header.num_players,
        "parameters": dict(header.parameters),
        "deck": header.deck,
        "policy": header.policy,
        "recorded_by": dict(header.versions),
        "matches": {
            "recorded": material.recorded,
            "training": len(material.training(state.promoted)),
            "held_out": len(material.heldout(state.promoted)),
            "failed_when_held_out": sorted(state.promoted),
            "asked_of_the_environment": state.asked,
        },
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
        unasked = "held-out matches not asked" if told["matches"]["held_out"] else "none held out"
        beside = unasked if held is None else f"held out {held:.4f} on {count}"
        bound = "≥ " if told["bound"] else ""
        said = f"accuracy {bound}{told['accuracy']:.4f} on {told['records']} records, {beside}"
        calls = _asked(told) or "none"
        lines.append(f"{told['end'].replace('_', ' ')}: {said}; calls: {calls}")
        if used := told["usage"]:
            lines.append(f"the model was asked {_usage(used)}")
        if drawn := told["inferred"]:
            exact = told["calibration"] or {"places": 0, "untested": []}
            lines.append(
                f"{drawn['function']}: accuracy {drawn['accuracy']:.4f} at {drawn['sights']} "
                f"places, held against the exact posterior at {exact['places']}"
            )
            if exact["untested"]:
                lines.append(f"at none of {quoted('; '.join(exact['untested']))}")
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


def _asked(told: dict[str, Any]) -> str:
    return ", ".join(f"{n} {function}" for function, n in told["calls"].items())


def _usage(used: dict[str, Any]) -> str:
    """Requests, also those whose replies were of no use, and tokens."""
    lost = f", {used['failed_calls']} without a reply" if used["failed_calls"] else ""
    tokens = f"{used['tokens_in']:,} tokens in, {used['tokens_out']:,} out"
    return f"{number_of(used['calls'], 'time')}{lost}: {tokens}"


def _played(row: dict[str, Any]) -> str:
    """A row of the arena in words: what it predicted, lost, and was paid."""
    more = ""
    for to_whom in ("paid over the others", "paid to every seat"):
        paid = row.get(to_whom) or {"value": None}
        if paid["value"] is not None:
            more = f", {paid['value']:+.3f} ({paid['low']:.3f} to {paid['high']:.3f}) {to_whom}"
    return (
        f"in play against {row['opponent']}: {row['distinct right']} of {row['distinct']} "
        f"transitions predicted, {row['forfeits']} of {row['matches']} matches forfeited{more}"
    )


def page_of(told: dict[str, Any], state: LearnState, chosen: Candidate | None) -> str:
    """The report as one self-contained page; the same run gives the same bytes."""
    from markupsafe import Markup

    reached = [note.best for note in state.calls if note.function != "value"]
    plot = curve(reached, title="Best accuracy", units=("call", "accuracy")) if reached else ""
    template = page_template(
        (files("graph.learn") / "report.html.j2").read_text(encoding="utf-8"),
        {"figure": lambda value: "not asked" if value is None else f"{value:.4f}", "words": _words},
        finalize=lambda value: value if isinstance(value, Markup) else Markup(_safe(value)),  # noqa: S704
    )
    page = template.render(
        told=told,
        calls=state.calls,
        chosen=chosen,
        asked=_asked(told),
        plot=Markup(plot),  # noqa: S704
        style=Markup(page_style()),  # noqa: S704
    )
    return f"{page}\n"


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
