"""Drawings of mechanic graphs: well formed, readable, and safe whatever the graph."""

import xml.etree.ElementTree as ET

import pytest

from games.library import families, preset
from games.library.annotated import family_graph
from games.library.settings import game_of
from games.mechanics import GraphError, Mechanic, MechanicEdge, MechanicGraph
from tools.reporting.graphs import graph_svg


def of_family(family: str) -> MechanicGraph:
    return family_graph(family, game_of(family).defaults(), preset(family).players)


def chain(count: int, *edges: tuple[int, int]) -> MechanicGraph:
    nodes = tuple(
        Mechanic(id=f"M{n}", name=f"<b>step</b> {n} \N{RIGHT-TO-LEFT OVERRIDE}")
        for n in range(1, count + 1)
    )
    return MechanicGraph(
        nodes=nodes,
        edges=tuple(MechanicEdge(source=f"M{a}", target=f"M{b}") for a, b in edges),
    )


@pytest.mark.parametrize("family", families())
def test_boxes_of_every_family_lie_apart_and_inside(family: str) -> None:
    graph = of_family(family)
    svg = ET.fromstring(graph_svg(graph, family))
    assert svg.attrib["role"] == "img"
    _, _, width, height = map(float, svg.attrib["viewBox"].split())
    boxes = [
        tuple(float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        for rect in svg.iterfind("g/rect")
    ]
    assert len(boxes) == len(graph.nodes)
    assert len(svg.findall("path")) == len(graph.edges)
    for at, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        for left, top, wide, high in boxes[:at]:
            assert x + w <= left or left + wide <= x or y + h <= top or top + high <= y
    labels = {one.attrib["aria-label"] for one in svg.iterfind("g")}
    assert all(any(f"{node.id}: {node.name}" in label for label in labels) for node in graph.nodes)


def test_a_graph_with_a_circle_and_lost_nodes_is_drawn_and_words_stay_words() -> None:
    graph = chain(4, (2, 1), (3, 2), (2, 3), (9, 1))
    text = graph_svg(graph, "<i>", {"M4": "dashed"})
    svg = ET.fromstring(text)
    assert len(svg.findall("g")) == 4
    assert "<b>" not in text
    assert "<i>" not in text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text
    assert text.count("stroke-dasharray") == 1
    assert text == graph_svg(graph, "<i>", {"M4": "dashed"})


def test_no_graph_is_drawn_as_none_and_a_large_one_is_refused() -> None:
    assert "0 mechanics" in graph_svg(MechanicGraph(nodes=(), edges=()), "none")
    with pytest.raises(GraphError, match="500 mechanics"):
        graph_svg(chain(500), "large")
