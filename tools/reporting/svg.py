"""Plots as SVG text: no script, no font from elsewhere, the same bytes for the same numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_LEFT, _RIGHT, _ROW = 190, 70, 34
_INK, _GRID, _FILL, _MARK = "#22303c", "#d5dde3", "#7aa6c2", "#c2553d"


@dataclass(frozen=True)
class Bar:
    """One bar with its interval, in the units of the plot.

    Attributes:
        label: What it is.
        value: Its length.
        low: Lower end of the interval, or None where none is known.
        high: Upper end.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None


def interval_bars(
    bars: Sequence[Bar], *, title: str, largest: float, reference: float | None = None
) -> str:
    """Horizontal bars with whiskers from `low` to `high`.

    Args:
        bars: From top to bottom.
        title: Text for those who cannot see the plot.
        largest: Value at the right edge, `> 0`.
        reference: A dashed line, such as an even share of wins.
    """
    width = 460
    height = _ROW * len(bars) + 28
    scale = width / largest
    parts = [_open(_LEFT + width + _RIGHT, height, title)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = _LEFT + width * share
        parts.append(_line(x, 4, x, height - 22, _GRID))
        parts.append(_text(x, height - 6, f"{largest * share:.4g}", anchor="middle"))
    for index, bar in enumerate(bars):
        y = 8 + index * _ROW
        parts.append(_text(_LEFT - 8, y + 15, bar.label, anchor="end"))
        parts.append(
            f'<rect x="{_LEFT}" y="{y}" width="{max(0.0, bar.value) * scale:.1f}" height="20" '
            f'fill="{_FILL}"/>'
        )
        parts.append(_text(_LEFT + width + 8, y + 15, f"{bar.value:.3g}"))
        if bar.low is not None and bar.high is not None:
            parts += _whisker(_LEFT + bar.low * scale, _LEFT + bar.high * scale, y + 10)
    if reference is not None:
        x = _LEFT + reference * scale
        parts.append(_line(x, 4, x, height - 22, _MARK, dashed=True))
    return "".join([*parts, "</svg>"])


def histogram(values: Sequence[int], *, title: str, bins: int = 16) -> str:
    """How often a whole number fell into each of some equally wide ranges."""
    width, height = 640, 180
    parts = [_open(width, height, title)]
    low, high = min(values), max(values)
    step = max(1, -(-(high - low + 1) // bins))
    counts = [0] * (-(-(high - low + 1) // step))
    for value in values:
        counts[(value - low) // step] += 1
    bar = (width - 60) / len(counts)
    tallest = max(counts)
    for index, count in enumerate(counts):
        size = (height - 50) * count / tallest
        x = 40 + index * bar
        parts.append(
            f'<rect x="{x:.1f}" y="{height - 30 - size:.1f}" width="{max(1.0, bar - 2):.1f}" '
            f'height="{size:.1f}" fill="{_FILL}"/>'
        )
        if index % max(1, len(counts) // 8) == 0:
            parts.append(_text(x + bar / 2, height - 12, str(low + index * step), anchor="middle"))
    parts.append(_text(4, 24, f"{tallest}"))
    parts.append(_line(36, height - 30, width - 20, height - 30, _INK))
    return "".join([*parts, "</svg>"])


def curve(values: Sequence[float], *, title: str, label: str) -> str:
    """A line over positions 0, 1, 2, ..., such as branching by decision."""
    width, height = 640, 180
    top = max(max(values), 1.0)
    step = (width - 60) / max(1, len(values) - 1)
    points = " ".join(
        f"{40 + index * step:.1f},{height - 30 - (height - 50) * value / top:.1f}"
        for index, value in enumerate(values)
    )
    return "".join(
        [
            _open(width, height, title),
            _line(36, height - 30, width - 20, height - 30, _INK),
            f'<polyline points="{points}" fill="none" stroke="{_FILL}" stroke-width="2"/>',
            _text(4, 24, f"{top:.3g}"),
            _text(40, height - 12, "0"),
            _text(width - 20, height - 12, f"{len(values) - 1} {label}", anchor="end"),
            "</svg>",
        ]
    )


def _open(width: float, height: float, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">'
        f"<title>{escape(title)}</title>"
    )


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
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="13" font-family="sans-serif" fill="{_INK}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
