"""The report as one self-contained HTML page, with its plots as SVG text.

Plots have no script and no font from elsewhere, and the same bytes for the same numbers. They are
drawn 340 wide, which is a phone's width: on a wider page they grow, and stay legible.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from games.text import plain_text
from tools.playtest.schedule import said_sides
from tools.reporting.content import Evaluation, Figure, Report, short_name
from tools.reporting.verdict import THRESHOLDS, order_of, verdict_of

if TYPE_CHECKING:
    from jinja2 import Template

_WIDTH, _HEIGHT, _ROW = 340, 170, 40
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 12, 22, 34
_INK, _GRID, _FILL, _MARK = "#22303c", "#d5dde3", "#7aa6c2", "#c2553d"


@dataclass(frozen=True)
class Bar:
    """One bar with its interval, in the units of the plot.

    Attributes:
        label: What it is.
        value: Its length.
        low: Lower end of the interval, or None where none is known.
        high: Upper end.
        told: Whether the interval tells it from what it stands beside; an empty bar where not.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    told: bool = True


def interval_bars(
    bars: Sequence[Bar], *, title: str, largest: float | None, reference: float | None = None
) -> str:
    """Horizontal bars with whiskers from `low` to `high`, each under its label.

    Args:
        bars: From top to bottom.
        title: Names the axis below the bars, and the plot for those who cannot see it.
        largest: Value at the right edge; None for the largest of the numbers.
        reference: A dashed line, such as an even share of wins.
    """
    ends = [end for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None]
    least = min(0.0, *ends)
    most = max(ends) if largest is None else largest
    width, height = _WIDTH - 2 * _RIGHT, _ROW * len(bars) + _BOTTOM
    scale = width / ((most - least) or 1.0)

    def at(value: float) -> float:
        return _RIGHT + (value - least) * scale

    parts = [_open(height, title)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        value = least + (most - least) * share
        parts.append(_line(at(value), 2, at(value), height - _BOTTOM, _GRID))
        parts.append(_text(at(value), height - _BOTTOM + 14, f"{value:.3g}", anchor="middle"))
    for index, bar in enumerate(bars):
        y = index * _ROW
        said = "" if bar.told else ", could not be told apart"
        parts.append(_text(_RIGHT, y + 14, f"{bar.label}: {bar.value:.3g}{said}"))
        left, right = sorted((at(0.0), at(bar.value)))
        paint = f'fill="{_FILL}"' if bar.told else f'fill="none" stroke="{_GRID}"'
        parts.append(
            f'<rect x="{left:.1f}" y="{y + 18}" width="{right - left:.1f}" height="16" {paint}/>'
        )
        if bar.low is not None and bar.high is not None:
            parts += _whisker(at(bar.low), at(bar.high), y + 26)
    if reference is not None:
        x = at(reference)
        parts.append(_line(x, 2, x, height - _BOTTOM, _MARK, dashed=True))
    return "".join([*parts, _text(_WIDTH / 2, height - 4, title, anchor="middle"), "</svg>"])


def histogram(values: Sequence[int], *, title: str, unit: str, bins: int = 16) -> str:
    """How often a whole number fell into each of some equally wide ranges."""
    low, high = min(values), max(values)
    step = max(1, -(-(high - low + 1) // bins))
    counts = [0] * (-(-(high - low + 1) // step))
    for value in values:
        counts[(value - low) // step] += 1
    bar = (_WIDTH - _LEFT - _RIGHT) / len(counts)
    parts = _axes(title, unit, "matches", str(max(counts)))
    for index, count in enumerate(counts):
        size = (_HEIGHT - _TOP - _BOTTOM) * count / max(counts)
        x = _LEFT + index * bar
        parts.append(
            f'<rect x="{x:.1f}" y="{_HEIGHT - _BOTTOM - size:.1f}" '
            f'width="{max(1.0, bar - 2):.1f}" height="{size:.1f}" fill="{_FILL}"/>'
        )
        if index % max(1, -(-len(counts) // 6)) == 0:
            label = str(low + index * step)
            parts.append(_text(x + bar / 2, _HEIGHT - _BOTTOM + 14, label, anchor="middle"))
    return "".join([*parts, "</svg>"])


def curve(values: Sequence[float], *, title: str, units: tuple[str, str]) -> str:
    """A line over positions 1, 2, 3, ..., such as branching by decision.

    Args:
        values: One a position.
        title: For those who cannot see the plot.
        units: Of the axis below, and of the axis at the left.
    """
    top = max(max(values), 1.0)
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(values) - 1)
    points = " ".join(
        f"{_LEFT + index * step:.1f},"
        f"{_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top:.1f}"
        for index, value in enumerate(values)
    )
    y = _HEIGHT - _BOTTOM + 14
    return "".join(
        [
            *_axes(title, units[0], units[1], f"{top:.3g}"),
            f'<polyline points="{points}" fill="none" stroke="{_FILL}" stroke-width="2"/>',
            _text(_LEFT, y, "1", anchor="middle"),
            _text(_WIDTH - _RIGHT, y, str(len(values)), anchor="end"),
            "</svg>",
        ]
    )


def _axes(title: str, below: str, left: str, top: str) -> list[str]:
    """A plot with both axes: their units, and the number at the upper end of the left one."""
    floor = _HEIGHT - _BOTTOM
    return [
        _open(_HEIGHT, title),
        _line(_LEFT, _TOP, _LEFT, floor, _INK),
        _line(_LEFT, floor, _WIDTH - _RIGHT, floor, _INK),
        _text(_LEFT + 4, 13, left),
        _text(_LEFT - 4, _TOP + 10, top, anchor="end"),
        _text(_LEFT - 4, floor, "0", anchor="end"),
        _text(_WIDTH / 2, _HEIGHT - 4, below, anchor="middle"),
    ]


def _open(height: float, title: str) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img"><title>{escape(title)}</title>'


def _whisker(left: float, right: float, y: float) -> list[str]:
    ends = [_line(x, y - 5, x, y + 5, _INK) for x in (left, right)]
    return [_line(left, y, right, y, _INK), *ends]


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dashed: bool = False) -> str:
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dash}/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" font-family="sans-serif" fill="{_INK}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


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
        "verdict": verdict_of(report.evaluation, report.choiceless) if report.evaluation else (),
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
            whose = "of one side" if evaluation.has_teams else "at one seat"
            title, largest = f"Share of wins {whose}", 1.0
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
