"""Page of two games side by side; it has no script."""

from collections.abc import Sequence
from importlib.resources import files

from games.mechanics import MechanicGraph
from games.text import plain_text
from tools.comparing.games import GamesDifference
from tools.reporting.graphs import graph_svg
from tools.reporting.page import figure_text, page_style, page_template

Compared = tuple[GamesDifference, MechanicGraph, MechanicGraph]


def comparison_page(compared: Sequence[Compared]) -> str:
    """The page; equal differences give equal bytes.

    Args:
        compared: Differences, each with the graphs of both games; mechanics of one alone are bold.
    """
    from markupsafe import Markup

    drawn = []
    for found, *graphs in compared:
        svgs = []
        for title, graph, state in zip(found.titles, graphs, ("removed", "added"), strict=True):
            apart = {part.name for part in found.mechanics if part.state == state}
            marks = {node.id: "bold" for node in graph.nodes if node.name in apart}
            svgs.append(Markup(graph_svg(graph, f"Mechanics of {title}", marks)))  # ours, escaped
        drawn.append((found, svgs))
    template = page_template(
        (files("tools.comparing") / "compare.html.j2").read_text(encoding="utf-8"),
        {"figure": figure_text},
        finalize=lambda value: plain_text(value) if type(value) is str else value,
    )
    return template.render(compared=drawn, style=Markup(page_style()))
