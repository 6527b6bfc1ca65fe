"""Plots as SVG text: no script, no font from elsewhere, the same bytes for the same numbers.

They are drawn 340 wide, which is a phone's width: on a wider page they grow, and stay legible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

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
