"""Page of a balance: the targets with their figures, what was tried, and a plot of the front."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from games.values import show
from tools.balancing.answer import balance_remarks
from tools.reporting.page import FrontPoint, front, told_page

_ROWS = 200  # candidates in the table, the nearest first


def balance_page(found: Mapping[str, Any]) -> str:
    """The page; it has no script, and says so to the browser. Equal answers give equal bytes.

    Args:
        found: From `tools.balancing.answer`, with the game's name and seats.
    """
    from markupsafe import Markup

    known = [row for row in found["tried"] if row["values"]]
    known.sort(key=lambda row: (row["loss"], -row["matches"]))
    return told_page(
        "tools.reporting",
        "balance.html.j2",
        words=_told,
        found=found,
        remarks=balance_remarks(found) if found["settings"] is not None else [],
        plot=Markup(_plot(found, known)),  # ours
        rows=[
            [_changed(row["changed"]), row["matches"], *_values(found["targets"], row["values"])]
            for row in known[:_ROWS]
        ],
        left_out=[[_changed(row["changed"]), row["why"]] for row in found["tried"] if row["why"]],
        start=_changed(found["start"]),
        changed=_changed(found["changed"]),
    )


def _plot(found: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> str:
    """Candidates by the two figures that miss most often; of one target, by their order."""
    targets = found["targets"]
    if not known:
        return ""

    def misses(place: int) -> float:
        ends = targets[place]["low"], targets[place]["high"]
        values = [row["values"][place] for row in known]
        return sum(not _within(value, ends) for value in values) / len(values)

    distinct = {one["figure"]: place for place, one in enumerate(targets)}
    order = sorted(distinct.values(), key=lambda place: (-misses(place), place))[:2]
    axes = [[row["values"][place] for row in known] for place in order]
    if len(axes) == 1:
        axes.insert(0, [float(number) for number in range(1, len(known) + 1)])
    ends = [(targets[place]["low"], targets[place]["high"]) for place in order]
    ends = [(None, None)] * (2 - len(ends)) + ends
    titles = [targets[place]["figure"] for place in order]
    titles = ["candidates, the nearest first"] * (2 - len(titles)) + titles
    scales = [_scale(axis, end) for axis, end in zip(axes, ends, strict=True)]
    best = [row["changed"] == found["changed"] for row in known]
    points = [
        FrontPoint(_placed(x, scales[0]), _placed(y, scales[1]), is_best)
        for x, y, is_best in zip(*axes, best, strict=True)
    ]
    box = [[_placed(_end(e, s), scale) for e, s in zip(end, scale, strict=True)]
           for end, scale in zip(ends, scales, strict=True)]  # fmt: skip
    edge = _edge(list(zip(*axes, strict=True)), ends, scales) if len(order) > 1 else []
    title = f"Candidates by {titles[0]} and {titles[1]}"
    return front(points, box=box, edge=edge, title=title, units=titles, scales=scales)


def _within(value: float, ends: tuple[float | None, float | None]) -> bool:
    low, high = ends
    return (low is None or value >= low) and (high is None or value <= high)


def _beyond(value: float, ends: tuple[float | None, float | None]) -> float:
    low, high = ends
    return max(0.0, 0.0 if low is None else low - value,
               0.0 if high is None else value - high)  # fmt: skip


def _edge(
    points: Sequence[tuple[float, float]],
    ends: Sequence[tuple[float | None, float | None]],
    scales: Sequence[tuple[float, float]],
) -> list[tuple[float, float]]:
    """The front: candidates of which none other is nearer to both ranges, along the first axis."""
    apart = [tuple(_beyond(v, e) for v, e in zip(point, ends, strict=True)) for point in points]
    kept = {
        point
        for point, mine in zip(points, apart, strict=True)
        if not any(all(a <= b for a, b in zip(one, mine, strict=True)) and one != mine
                   for one in apart)
    }  # fmt: skip
    return [(_placed(x, scales[0]), _placed(y, scales[1])) for x, y in sorted(kept)]


def _scale(values: Sequence[float], ends: tuple[float | None, float | None]) -> tuple[float, float]:
    """The ends of an axis: the target, and most candidates; others lie at its edge."""
    known = [end for end in ends if end is not None]
    usual = [one for one in values if one <= 4 * max([median(values), *known])]
    low, high = min([*usual, *known, *values[:1]]), max([*usual, *known, *values[:1]])
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _end(end: float | None, edge: float) -> float:
    return edge if end is None else end


def _placed(value: float, scale: tuple[float, float]) -> float:
    low, high = scale
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _values(targets: Sequence[Mapping[str, Any]], values: Sequence[float]) -> list[str]:
    shares = ("wins", "ties", "forced")
    return [
        f"{100 * value:.1f} %" if target["figure"].startswith(shares) else f"{value:.2f}"
        for target, value in zip(targets, values, strict=True)
    ]


def _changed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_told(value)}" for name, value in settings.items()) or "none"


def _told(value: object) -> str:
    """A value as a person reads it; what is not known is a dash, never a number."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else show(value, 200)
