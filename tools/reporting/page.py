"""The report as one self-contained HTML page, with its plots as SVG text.

Plots have no script and no font from elsewhere, and the same bytes for the same numbers. They are
drawn 340 wide, which is a phone's width: on a wider page they grow, and stay legible.
"""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from games.text import plain_text
from tools.playtest.schedule import said_sides
from tools.reporting.content import Evaluation, Figure, Report, short_name
from tools.reporting.graphs import graph_svg
from tools.reporting.verdict import (
    THRESHOLDS,
    fairness_text,
    first_lines,
    order_of,
    percent,
    verdict_of,
)

if TYPE_CHECKING:
    from jinja2 import Template


_SHARES = ("wins_", "ties", "lead", "forced", "share", "win_share")
"""The beginnings of the keys of figures that are shares."""


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

    With a reference they are shares, and in percent.

    Args:
        bars: From top to bottom.
        title: Names the axis below the bars, and the plot for those who cannot see it.
        largest: Value at the right edge; None for the largest of the numbers.
        reference: A dashed line, such as an even share of wins.
    """
    ends = [end for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None]
    most = max(ends) if largest is None else largest
    return _drawn(
        "bars", bars=bars, title=title, least=min(0.0, *ends), most=most, reference=reference
    )


def histogram(values: Sequence[int], *, title: str, unit: str, bins: int = 16) -> str:
    """Counts of whole numbers in some equally wide ranges."""
    low, high = min(values), max(values)
    step = max(1, -(-(high - low + 1) // bins))
    met = Counter((value - low) // step for value in values)
    counts = [met[place] for place in range(-(-(high - low + 1) // step))]
    return _drawn("histogram", counts=counts, first=low, step=step, title=title, unit=unit)


def curve(values: Sequence[float], *, title: str, units: tuple[str, str]) -> str:
    """A line over positions 1, 2, 3, ..., such as branching by decision.

    Args:
        values: One a position.
        title: For those who cannot see the plot.
        units: Of the axis below, and of the axis at the left.
    """
    least = min(0.0, *values)
    most = max(*values, 1.0)
    return _drawn("curve", values=values, least=least, most=most, title=title, units=units)


@dataclass(frozen=True)
class Point:
    """A point from -1 to 1 in both directions, with its range upwards."""

    x: float
    y: float
    low: float
    high: float


def scatter(points: Sequence[Point], *, title: str, units: tuple[str, str]) -> str:
    """Points beside the line on which both axes agree; units as of `curve`."""
    return _drawn("points", points=points, title=title, units=units)


@dataclass(frozen=True)
class FrontPoint:
    """A candidate from 0 to 1 in both directions, and whether it is the best one."""

    x: float
    y: float
    best: bool


def front(
    points: Sequence[FrontPoint],
    *,
    box: Sequence[Sequence[float]],
    edge: Sequence[tuple[float, float]],
    title: str,
    units: Sequence[str],
    scales: Sequence[tuple[float, float]],
) -> str:
    """Candidates by two figures, with the range that is wanted and the front of the nearest.

    Args:
        points: From 0 to 1.
        box: Ends of the range in each direction, from 0 to 1.
        edge: The front, from left to right.
        title: For those who cannot see the plot.
        units: Of the axis below, and of the axis at the left.
        scales: What 0 and 1 stand for in each direction.
    """
    return _drawn(
        "front", points=points, box=box, edge=edge, title=title, units=units, scales=scales
    )


def _drawn(plot: str, **given: object) -> str:
    """A plot of the template, without its line ends and indents."""
    lines: str = getattr(_plots(), plot)(**given)
    return "".join(line.strip() for line in lines.splitlines())


@cache
def _plots() -> Any:  # noqa: ANN401 - a template's macros have no types
    filters = {
        "html": lambda text: escape(" ".join(text.splitlines())),
        "px": "{:.1f}".format,
        "number": "{:.3g}".format,
        "percent": percent,
    }
    return page_template(_text_of("plots.svg.j2"), filters, escapes=False).module


@cache
def _template() -> "Template":
    return page_template(
        _text_of("report.html.j2"),
        {
            "both": before_and_after,
            "figure": figure_text,
            "player": short_name,
            "fairness": fairness_text,
            "percent": percent,
        },
        # A module's own words may turn the reading direction or hide characters.
        finalize=lambda value: plain_text(value) if type(value) is str else value,
    )


def page_template(
    text: str,
    filters: Mapping[str, Callable[..., Any]],
    *,
    finalize: Callable[[Any], Any] | None = None,
    escapes: bool = True,
) -> "Template":
    """A template of a page: every value goes through `finalize`, and is then escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_text_of),
        undefined=StrictUndefined,
        autoescape=escapes,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    environment.filters |= filters
    return environment.from_string(text)


def told_page(
    package: str,
    file: str = "report.html.j2",
    *,
    words: Callable[[Any], str] = str,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **values: Any,  # noqa: ANN401 - whatever the template shows
) -> str:
    """A page that extends `told.html.j2`; it has no script, and says so to the browser.

    Equal values give equal bytes.

    Args:
        package: Of the template.
        file: The template.
        words: A value as a person reads it.
        filters: By name.
        values: What the template shows; what is `Markup` goes in as it stands.
    """
    from markupsafe import Markup

    style = page_style()
    template = page_template(
        (files(package) / file).read_text(encoding="utf-8"),
        filters or {},
        finalize=lambda value: value if isinstance(value, Markup) else plain_text(words(value)),
    )
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"{template.render(values, style=Markup(style), style_hash=digest)}\n"


def _text_of(file: str) -> str:
    return (files("tools.reporting") / file).read_text(encoding="utf-8")


def render(report: Report) -> str:
    """The page; the same report gives the same bytes."""
    from markupsafe import Markup

    drawn = plots_of(report.evaluation)
    if report.graph is not None:
        silent = report.evaluation.silent if report.evaluation else ()
        drawn["graph"] = graph_svg(report.graph, "Mechanics", dict.fromkeys(silent, "dashed"))
    plots = {name: Markup(svg) for name, svg in drawn.items()}  # our own SVG
    values: dict[str, Any] = {
        "report": report,
        "plots": plots,
        "verdict": verdict_of(report.evaluation, report.choiceless, percent)
        if report.evaluation
        else (),
        "order": order_of(report.evaluation) if report.evaluation else "",
        "sides": said_sides(report.evaluation.sides) if report.evaluation else "",
        "first": first_lines(report.evaluation) if report.evaluation else (),
        "thresholds": THRESHOLDS,
        "settings": json.dumps(report.settings, indent=2, sort_keys=True),
    }
    return _template().render(values)


def page_style() -> str:
    """The style of the page, for pages of another content."""
    return _text_of("report.html.j2").partition("<style>")[2].partition("</style>")[0]


def figure_text(figure: Figure, key: str = "") -> str:
    """A figure as text; a share, as its key says, in percent.

    >>> found = Figure(name="", meaning="", value=0.25, low=0.1, high=0.4, n=9, of="deals")
    >>> figure_text(found), figure_text(found, "ties")
    ('0.250 (0.100 to 0.400, n = 9 deals)', '25.0 % (10.0 % to 40.0 %, n = 9 deals)')
    >>> figure_text(Figure(name="draws", meaning="", problem="no match finished"))
    'could not be measured: no match finished'
    """
    if figure.value is None:
        return f"could not be measured: {figure.problem}"
    is_share = key.startswith(_SHARES)
    value, *ends = (
        f"{100 * one:.1f} %" if is_share else f"{one:.3f}"
        for one in (figure.value, figure.low, figure.high)
        if one is not None
    )
    return f"{value} ({', '.join([*filter(None, [' to '.join(ends)]), figure.samples])})"


def before_and_after(
    old: Mapping[str, Figure], new: Mapping[str, Figure]
) -> list[tuple[str, str, str]]:
    """Name of each figure of either game, with its text in both; a seat of one alone has a dash.

    >>> player = Figure(name="player 3 wins", meaning="", value=0.5, n=2, of="matches")
    >>> before_and_after({}, {"wins_2": player})
    [('player 3 wins', '-', '50.0 % (n = 2 matches)')]
    """
    before, after = ({key: figure_text(one, key) for key, one in of.items()} for of in (old, new))
    names = {key: one.name for key, one in (*new.items(), *old.items())}
    return [(name, before.get(key, "-"), after.get(key, "-")) for key, name in names.items()]


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
    if len({*best.lengths}) > 1:
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
