"""Mechanic graphs: depths, what is wrong with a stranger's, and the edges that two share."""

import itertools
import random
import re

import pytest

from games.mechanics import GraphError, Mechanic, MechanicEdge, MechanicGraph, bounded
from games.mechanics.matching import best_assignment, match_graphs


def graph(*edges: str, names: dict[str, str] | None = None) -> MechanicGraph:
    """A graph of edges "2>1"; node 1 is the root, and others are called by their numbers."""
    ends = [edge.split(">") for edge in edges]
    ids = sorted({end for pair in ends for end in pair} | {"1"}, key=int)
    called = {"1": "the game ends", **(names or {})}
    return MechanicGraph(
        nodes=tuple(
            Mechanic(id=f"M{one}", name=called.get(one, f"mechanic {one}"), rules=("R1",))
            for one in ids
        ),
        edges=tuple(MechanicEdge(source=f"M{a}", target=f"M{b}") for a, b in ends),
    )


UNO = graph("2>1", "3>2", "4>3", "5>3", "5>2")


def test_a_depth_is_the_shortest_way_to_the_root() -> None:
    assert UNO.depths == {"M1": 0, "M2": 1, "M3": 2, "M5": 2, "M4": 3}
    assert [node.id for node in UNO.ordered().nodes] == ["M1", "M2", "M3", "M5", "M4"]
    assert UNO.faults(["R1"]) == ()
    assert UNO.targets("M5") == {"M3", "M2"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (graph("2>1", "3>2", "4>3", "2>4"), "in a circle: M2 mechanic 2 → M4 .* → M3 .* → M2"),
        (graph("2>1", "2>2"), "in a circle: M2 mechanic 2 → M2 mechanic 2"),
        (graph("2>1", "4>3"), "no way leads from M3, M4"),
        (graph("2>1", names={"1": "everybody goes home"}), "no mechanic is called"),
        (MechanicGraph(nodes=UNO.nodes, edges=(MechanicEdge(source="M9", target="M1"),)), "M9"),
        (MechanicGraph(nodes=UNO.nodes * 2, edges=UNO.edges), "several mechanics are called M1"),
        (MechanicGraph(nodes=(), edges=()), "has no mechanics"),
    ],
)
def test_what_is_wrong_with_a_graph_is_told(wrong: MechanicGraph, said: str) -> None:
    assert re.search(said, "; ".join(wrong.faults(["R1"])))
    assert wrong.ordered().depths == wrong.depths


def test_rules_that_there_are_not_and_nodes_without_any_are_told() -> None:
    bare = MechanicGraph(
        nodes=(
            UNO.nodes[0],
            Mechanic(id="M2", name="bluff"),
            Mechanic(id="M3", name="x", rules=("R9",)),
        ),
        edges=(MechanicEdge(source="M2", target="M1"), MechanicEdge(source="M3", target="M1")),
    )
    assert bare.faults(["R1"]) == ("M3 names rules that there are not: R9", "no rule backs M2")


def test_a_graph_that_is_too_large_is_refused() -> None:
    large = graph(*(f"{n}>1" for n in range(2, 502)))
    with pytest.raises(GraphError, match="501 mechanics; required: at most 100"):
        bounded(large)
    assert not large.fits
    assert large.faults(["R1"]) == ()
    dense = graph(*(f"{a}>{b}" for a in range(2, 40) for b in range(1, a)))
    with pytest.raises(GraphError, match="edges; required: at most 400"):
        match_graphs(dense, UNO)


@pytest.mark.parametrize("seed", range(40))
def test_an_assignment_is_the_best_of_all_by_enumeration(seed: int) -> None:
    drawn = random.Random(seed)
    rows, columns = drawn.randint(1, 5), drawn.randint(1, 5)
    gains = [
        [drawn.choice([0.0, 0.5, drawn.random()]) for _ in range(columns)] for _ in range(rows)
    ]
    found = best_assignment(gains)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == min(rows, columns)
    few, many = sorted((rows, columns))
    all_ = (
        sum(gains[i][j] if rows <= columns else gains[j][i] for i, j in enumerate(chosen))
        for chosen in itertools.permutations(range(many), few)
    )
    assert sum(gains[i][j] for i, j in found) == pytest.approx(max(all_))


def test_no_rows_are_assigned_to_nothing() -> None:
    assert best_assignment([]) == []


def test_two_graphs_share_the_edges_between_partners() -> None:
    one = graph(
        "2>1", "3>2", "4>2", names={"2": "empty hand", "3": "play a card", "4": "draw a card"}
    )
    other = graph(
        "3>1", "2>3", "4>2", names={"3": "empty the hand", "2": "play cards", "4": "bid tricks"}
    )
    found = match_graphs(one, other)
    assert {(a, b) for a, b, _ in found.pairs} == {("M1", "M1"), ("M2", "M3"), ("M3", "M2")}
    assert found.shared == (("M2", "M1"), ("M3", "M2"))
    assert found.removed == (("M4", "M2"),)
    assert found.added == (("M4", "M2"),)
    assert found.similarity == pytest.approx(2 * 2 / (3 + 3))


def test_a_graph_shares_all_edges_with_itself_and_none_with_no_graph() -> None:
    assert match_graphs(UNO, UNO).similarity == 1
    empty = MechanicGraph(nodes=(), edges=())
    assert match_graphs(UNO, empty).similarity == 0
    assert match_graphs(empty, empty).similarity is None


def test_names_are_as_alike_as_the_embedder_says() -> None:
    """By words "bust" and "lose the turn" share nothing; here they mean the same."""
    one, other = graph("2>1", names={"2": "bust"}), graph("2>1", names={"2": "lose the turn"})
    assert match_graphs(one, other).shared == ()
    assert match_graphs(one, other, lambda a, b: [[0.9] * len(b) for _ in a]).shared == (
        ("M2", "M1"),
    )
