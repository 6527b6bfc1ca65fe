"""The mechanic store: clusters within a depth, kept with whose vectors made them."""

from pathlib import Path

import pytest

from games.library import families
from games.mechanics import Mechanic, MechanicEdge, MechanicGraph
from vectorstore.documents import StoreError
from vectorstore.embedders import LexicalEmbedder
from vectorstore.mechanics import (
    BredMechanic,
    KnownMechanic,
    MechanicStore,
    clustered,
    known_graphs,
    known_mechanics,
    read_clusters,
    write_clusters,
)

EMBEDDER = LexicalEmbedder()
HANDS = [KnownMechanic(game=f"g{n}", name="empty the hand", depth=1) for n in range(4)]
KNOWN = [
    *HANDS,
    KnownMechanic(game="g4", name="empty the hand first", depth=1),
    KnownMechanic(game="g5", name="empty the hand", depth=2),
    KnownMechanic(game="g6", name="reach 100 points", depth=1),
]
NEW = BredMechanic(name="empty it twice", text="The hand is emptied twice.", mutation="in time")


def made(known: list[KnownMechanic], before: MechanicStore | None = None) -> MechanicStore:
    return clustered(known, EMBEDDER.embed, EMBEDDER.identity, before)


def test_mechanics_alike_are_one_cluster_only_within_a_depth() -> None:
    store = made(KNOWN)
    assert [(one.id, one.depth, len(one.members)) for one in store.clusters] == [
        ("C1", 1, 5),
        ("C2", 2, 1),
        ("C3", 1, 1),
    ]
    assert store.clusters[0].name == "empty the hand"  # four of five say exactly that
    assert store.clusters[0].games("g4") == {"g0", "g1", "g2", "g3"}


def test_a_mechanic_is_mapped_to_the_cluster_of_its_depth_or_to_none() -> None:
    found = made(KNOWN).nearest(
        [("empty the whole hand", 1), ("empty the hand", 3), ("sow seeds into pits", 1)],
        EMBEDDER.embed,
    )
    assert [one and one.id for one in found] == ["C1", None, None]


def test_a_cluster_of_the_same_members_keeps_what_was_bred() -> None:
    store = made(KNOWN)
    bred = store.but(store.clusters[0].model_copy(update={"theme": "Go out.", "bred": (NEW,)}))
    more = [*KNOWN, *(KnownMechanic(game=f"h{n}", name="sow the seeds", depth=3) for n in range(9))]
    newer = made(more, bred)
    assert newer.content != store.content
    assert (newer.clusters[0].name, newer.clusters[0].bred) == ("sow the seeds", ())
    assert (newer.clusters[1].id, newer.clusters[1].summary) == ("C2", "Go out.")
    assert newer.clusters[1].bred == (NEW,)
    assert made(KNOWN[:4], bred).clusters[0].bred == ()


def test_a_store_of_other_vectors_or_of_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "mechanics.json"
    assert read_clusters(path, EMBEDDER.identity) is None
    store = made(KNOWN)
    write_clusters(store, path)
    assert read_clusters(path, EMBEDDER.identity) == store
    with pytest.raises(StoreError, match="made with the embedder lexical-v1-512.*--anew"):
        read_clusters(path, "minilm-l6-v2-384")
    for wrong in ("{}", "not json", "\udcff"):
        path.write_bytes(wrong.encode("utf-8", "surrogateescape"))
        with pytest.raises(StoreError, match="is no mechanic store that can be read"):
            read_clusters(path, EMBEDDER.identity)


def test_the_known_mechanics_are_those_of_every_family_and_of_the_corpus_without_roots() -> None:
    graphs = known_graphs()
    assert {*families()} < {*graphs}
    known = known_mechanics(graphs)
    assert {one.game for one in known} == {*graphs}
    assert all(one.depth >= 1 and one.name != "the game ends" for one in known)


def test_a_mechanic_that_leads_nowhere_is_not_known() -> None:
    nodes = [Mechanic(id=f"M{n}", name=name) for n, name in enumerate(("the game ends", "a", "b"))]
    graph = MechanicGraph(nodes=tuple(nodes), edges=(MechanicEdge(source="M1", target="M0"),))
    assert [(one.name, one.depth) for one in known_mechanics({"g": graph})] == [("a", 1)]
