"""The report as one self-contained HTML page."""

import json
from importlib.resources import files
from typing import Any

from games.text import plain_text
from tools.reporting.content import Evaluation, Figure, Report, short_name
from tools.reporting.svg import Bar, curve, histogram, interval_bars
from tools.reporting.verdict import THRESHOLDS, verdict_of


def render(report: Report) -> str:
    """The page; the same report gives the same bytes."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # A module's own words may turn the reading direction or hide characters.
        finalize=lambda value: plain_text(value) if type(value) is str else value,
    )
    environment.filters["figure"] = figure_text
    environment.filters["player"] = short_name
    template = files("tools.reporting") / "report.html.j2"
    plots = {name: Markup(svg) for name, svg in plots_of(report.evaluation).items()}  # noqa: S704
    values: dict[str, Any] = {
        "report": report,
        "plots": plots,
        "verdict": verdict_of(report.evaluation) if report.evaluation else (),
        "thresholds": THRESHOLDS,
        "settings": json.dumps(report.settings, indent=2, sort_keys=True),
    }
    return environment.from_string(template.read_text(encoding="utf-8")).render(values)


def figure_text(figure: Figure) -> str:
    """A figure as text.

    >>> figure_text(Figure(name="draws", meaning="", value=0.25, low=0.1, high=0.4, n=20))
    '0.250 (0.100 to 0.400, n = 20)'
    >>> figure_text(Figure(name="draws", meaning="", problem="no match finished"))
    'could not be measured: no match finished'
    """
    if figure.value is None:
        return f"could not be measured: {figure.problem}"
    if figure.low is None or figure.high is None:
        return f"{figure.value:.3f} (n = {figure.n})"
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f}, n = {figure.n})"


def plots_of(evaluation: Evaluation | None) -> dict[str, str]:
    """The plots there are numbers for: ladder or scores, lengths, branching."""
    plots: dict[str, str] = {}
    if evaluation is None:
        return plots
    if evaluation.shared:
        rows = [(short_name(p.player), p.figures["score"]) for p in evaluation.plays]
        title = "Mean score of a match, by who has every seat"
    else:
        rows = [
            (f"{short_name(rung.stronger)} against {short_name(rung.weaker)}", rung.figure)
            for rung in evaluation.ladder
        ]
        title = "Share of wins at one seat"
    bars = [Bar(name, f.value, f.low, f.high) for name, f in rows if f.value is not None]
    if bars:
        even = None if evaluation.shared else evaluation.ladder[0].even
        plots["ladder"] = interval_bars(
            bars, title=title, largest=None if evaluation.shared else 1.0, reference=even
        )
    best = evaluation.best
    who = f"{short_name(best.player)} players"
    if best.lengths:
        plots["lengths"] = histogram(
            best.lengths, title=f"Decisions a match, {who}", unit="decisions a match"
        )
    if len(best.branching) > 1:
        plots["branching"] = curve(
            best.branching,
            title=f"Legal actions at each decision, {who}",
            units=("decision of the match", "legal actions"),
        )
    return plots
