"""The report as one self-contained HTML page."""

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from games.text import plain_text
from tools.playtest.schedule import said_sides
from tools.reporting.content import Evaluation, Figure, Report, short_name
from tools.reporting.svg import Bar, curve, histogram, interval_bars
from tools.reporting.verdict import THRESHOLDS, order_of, verdict_of

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

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
    text = (files("tools.reporting") / "report.html.j2").read_text(encoding="utf-8")
    return environment.from_string(text)


def render(report: Report) -> str:
    """The page; the same report gives the same bytes."""
    from markupsafe import Markup

    plots = {name: Markup(svg) for name, svg in plots_of(report.evaluation).items()}  # noqa: S704
    values: dict[str, Any] = {
        "report": report,
        "plots": plots,
        "verdict": verdict_of(report.evaluation) if report.evaluation else (),
        "order": order_of(report.evaluation) if report.evaluation else "",
        "sides": said_sides(report.evaluation.sides) if report.evaluation else "",
        "thresholds": THRESHOLDS,
        "settings": json.dumps(report.settings, indent=2, sort_keys=True),
    }
    return _template().render(values)


def styled(title: str, body: str) -> str:
    """A page of another content in the same style; `title` and `body` are HTML that is safe."""
    text = (files("tools.reporting") / "report.html.j2").read_text(encoding="utf-8")
    style = text.partition("<style>")[2].partition("</style>")[0]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


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


def _place(evaluation: Evaluation) -> str:
    return "of one side" if evaluation.has_teams else "at one seat"


def _ladder_bars(evaluation: Evaluation) -> tuple[list[Bar], float | None]:
    """The ladder's bars and the share of equals; of one side the players' scores, and no share.

    A bar is full where an interval tells the player from the one it is compared with: of scores,
    from the next weaker one.
    """
    if not evaluation.shared:
        bars = [
            Bar(f"{short_name(r.stronger)} against {short_name(r.weaker)}",
                r.figure.value, r.figure.low, r.figure.high, r.is_told)
            for r in evaluation.ladder if r.figure.value is not None
        ]  # fmt: skip
        return bars, evaluation.ladder[0].even if evaluation.ladder else None
    told = {group[0] for group in evaluation.apart}
    figures = {play.player: play.figures["score"] for play in evaluation.plays}
    return [
        Bar(short_name(player), f.value, f.low, f.high, player in told)
        for player in evaluation.players
        if (f := figures.get(player)) is not None and f.value is not None
    ], None


def plots_of(evaluation: Evaluation | None) -> dict[str, str]:
    """The plots there are numbers for: ladder or scores, lengths, branching."""
    plots: dict[str, str] = {}
    if evaluation is None:
        return plots
    bars, even = _ladder_bars(evaluation)
    if bars:
        title, largest = "Mean score of a match, by who has every seat", None
        if even is not None:
            title, largest = f"Share of wins {_place(evaluation)}", 1.0
        plots["ladder"] = interval_bars(bars, title=title, largest=largest, reference=even)
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
