"""Mechanic graphs as SVG text: a column a depth, the root at the left, a colour a kind."""

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from statistics import fmean

from games.mechanics import Mechanic, MechanicGraph, bounded
from games.text import number_of, one_line

_COLOURS = {
    "end": "#f3d9d3",
    "goal": "#f6e6c3",
    "scoring": "#eef0c4",
    "turn": "#d9ecd5",
    "action": "#cfe6ea",
    "limit": "#e4dcf0",
    "effect": "#f1d9ea",
    "chance": "#fbe3cf",
    "information": "#d8e2f3",
    "setup": "#e2e7ea",
    "components": "#ebe6df",
    "other": "#ffffff",
}
_INK, _LINE = "#22303c", "#8a99a5"
_WIDE, _GAP, _ROW, _BETWEEN, _LETTERS = 150, 46, 14, 10, 20
_SWEEPS = 4
_STROKES = {"dashed": ' stroke-dasharray="4 3"', "bold": ' stroke-width="2.5"'}
_Places = dict[str, tuple[float, float, float]]


def graph_svg(graph: MechanicGraph, title: str, marks: Mapping[str, str] | None = None) -> str:
    """The graph as one SVG element; the same graph gives the same bytes.

    Args:
        graph: Drawn with whatever is wrong with it; nodes that do not lead to the root stand last.
        title: For those who cannot see it.
        marks: "dashed" or "bold" by id, for nodes that stand out.

    Raises:
        GraphError: If it is too large.
    """
    columns = _columns(bounded(graph.ordered()))
    places = _placed(columns)
    width = len(columns) * (_WIDE + _GAP) - _GAP + 2 * _BETWEEN
    floor = max((y + height for _, y, height in places.values()), default=0) + _BETWEEN
    edges = [
        _curve(places[edge.source], places[edge.target])
        for edge in graph.edges
        if places.keys() >= {edge.source, edge.target}
    ]
    nodes = [_box(node, places[node.id], marks or {}) for column in columns for node in column]
    legend, height = _legend([node for column in columns for node in column], width, floor)
    said = f"{title}: {number_of(len(nodes), 'mechanic')}, {number_of(len(edges), 'edge')}"
    return (
        f'<svg viewBox="0 0 {width} {height:g}" role="img">'
        f"<title>{escape(one_line(said))}</title>{''.join([*edges, *nodes, *legend])}</svg>"
    )


def _columns(graph: MechanicGraph) -> list[list[Mechanic]]:
    """Nodes by depth, each column ordered so that edges cross little: by mean neighbours."""
    deepest = max(graph.depths.values(), default=0) + 1
    columns: list[list[Mechanic]] = [[] for _ in range(deepest + 1)]
    for node in {node.id: node for node in graph.nodes}.values():
        columns[graph.depths.get(node.id, deepest)].append(node)
    near: dict[str, set[str]] = {node.id: set() for node in graph.nodes}
    for edge in graph.edges:
        if near.keys() >= {edge.source, edge.target}:
            near[edge.source].add(edge.target)
            near[edge.target].add(edge.source)
    for _ in range(_SWEEPS):
        at = {n.id: (i + 0.5) / len(column) for column in columns for i, n in enumerate(column)}
        for column in columns:
            column.sort(key=lambda n: (fmean([at[m] for m in near[n.id]] or [1.0]), int(n.id[1:])))
    return [column for column in columns if column]


def _placed(columns: Sequence[Sequence[Mechanic]]) -> _Places:
    """Left, top and height of every node; shorter columns stand in the middle."""
    sizes = [[len(_lines(node)) * _ROW + 12 for node in column] for column in columns]
    heights = [sum(column) + _BETWEEN * len(column) for column in sizes]
    places: _Places = {}
    for number, (column, rows) in enumerate(zip(columns, sizes, strict=True)):
        x = _BETWEEN + number * (_WIDE + _GAP)
        y = _BETWEEN + (max(heights) - heights[number]) / 2
        for node, height in zip(column, rows, strict=True):
            places[node.id] = (x, y, height)
            y += height + _BETWEEN
    return places


def _lines(node: Mechanic) -> list[str]:
    text = one_line(f"{node.id} {node.name}")
    return textwrap.wrap(text, _LETTERS, max_lines=4, placeholder=" …") or [node.id]


def _curve(source: tuple[float, float, float], target: tuple[float, float, float]) -> str:
    (x1, top1, high1), (x2, top2, high2) = source, target
    y1, y2 = top1 + high1 / 2, top2 + high2 / 2
    if x1 > x2:
        end, bend = x2 + _WIDE, (x1 - x2 - _WIDE) / 2
        path = f"M{x1:g} {y1:g}C{x1 - bend:g} {y1:g} {end + bend:g} {y2:g} {end:g} {y2:g}"
    else:  # of one depth, or backward in a circle: around the right of both
        far = max(x1, x2) + _WIDE + _GAP / 2
        path = f"M{x1 + _WIDE:g} {y1:g}C{far:g} {y1:g} {far:g} {y2:g} {x2 + _WIDE:g} {y2:g}"
    return f'<path d="{path}" fill="none" stroke="{_LINE}"/>'


def _box(node: Mechanic, place: tuple[float, float, float], marks: Mapping[str, str]) -> str:
    x, y, height = place
    rules = f"; rules {', '.join(node.rules)}" if node.rules else ""
    told = escape(one_line(f"{node.id}: {node.name} ({node.kind}{rules})"))
    stroke = _STROKES.get(marks.get(node.id, ""), "")
    texts = [
        f'<text x="{x + 6:g}" y="{y + 17 + row * _ROW:g}" font-size="12" '
        f'font-family="sans-serif" fill="{_INK}">{escape(line)}</text>'
        for row, line in enumerate(_lines(node))
    ]
    return (
        f'<g role="img" aria-label="{told}"><title>{told}</title><rect x="{x:g}" y="{y:g}" '
        f'width="{_WIDE}" height="{height:g}" rx="5" fill="{_COLOURS[node.kind]}" '
        f'stroke="{_INK}"{stroke}/>{"".join(texts)}</g>'
    )


def _legend(nodes: Sequence[Mechanic], width: float, floor: float) -> tuple[list[str], float]:
    """A patch and a word for each kind that is drawn; and where it ends."""
    kinds = [kind for kind in _COLOURS if any(node.kind == kind for node in nodes)]
    each = 96
    in_row = max(1, int((width - _BETWEEN) // each))
    patches = []
    for number, kind in enumerate(kinds):
        x, y = _BETWEEN + number % in_row * each, floor + number // in_row * 20 + 8
        patches.append(
            f'<rect x="{x:g}" y="{y:g}" width="12" height="12" fill="{_COLOURS[kind]}" '
            f'stroke="{_LINE}"/><text x="{x + 17:g}" y="{y + 10:g}" font-size="12" '
            f'font-family="sans-serif" fill="{_INK}">{kind}</text>'
        )
    return patches, floor + -(-len(kinds) // in_row) * 20 + 16
