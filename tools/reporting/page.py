"""The report as one self-contained HTML page."""

import json
from importlib.resources import files
from typing import Any

from games.text import plain_text
from tools.reporting.content import Evaluation, Figure, Report
from tools.reporting.svg import Bar, curve, histogram, interval_bars


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
    template = files("tools.reporting") / "report.html.j2"
    plots = {name: Markup(svg) for name, svg in plots_of(report.evaluation).items()}  # noqa: S704
    values: dict[str, Any] = {
        "report": report,
        "plots": plots,
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
    """The plots there are numbers for: ladder, lengths, branching."""
    plots: dict[str, str] = {}
    if evaluation is None:
        return plots
    bars = [
        Bar(_short(rung.stronger), figure.value, figure.low, figure.high)
        for rung in evaluation.ladder
        if (figure := rung.figure).value is not None and rung.measure == "win_share"
    ]
    if bars:
        plots["ladder"] = interval_bars(
            bars,
            title="Share of wins against the player one rung below",
            largest=1.0,
            reference=evaluation.ladder[0].even,
        )
    if evaluation.lengths:
        plots["lengths"] = histogram(evaluation.lengths, title="Decisions a match in random play")
    if len(evaluation.branching) > 1:
        plots["branching"] = curve(
            evaluation.branching, title="Legal actions by decision", label="decisions"
        )
    return plots


def _short(spec: str) -> str:
    name, _, settings = spec.partition(":")
    for pair in settings.split(","):
        key, _, value = pair.partition("=")
        if key == "simulations":
            return f"{name}, {value} simulations"
    return name
