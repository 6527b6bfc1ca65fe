"""Mechanic store (Cardiverse §3.1.2): the mechanics of all known games, clustered within a depth.

Nothing here asks a model: themes and bred mechanics are given, and kept beside their cluster.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from games.corpus import corpus_game, corpus_names
from games.library import families, preset
from games.library.annotated import family_graph
from games.library.settings import game_of
from games.mechanics import MechanicGraph
from vectorstore.clusters import DISTANCE, unit_vectors, upgma
from vectorstore.documents import StoreError, Vectors

Embed: TypeAlias = Callable[[Sequence[str]], Vectors]
LARGE = 4
"""Members from which on a cluster can be summarised and bred: "more than 3"."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KnownMechanic(_Part):
    """A mechanic of a known game; its name is its text where nobody says more."""

    game: str
    name: str
    depth: int


class BredMechanic(_Part):
    """A mechanic that no game has: a model bred it within a cluster.

    Attributes:
        mutation: Name of the instruction that it was bred with.
    """

    name: str
    text: str
    mutation: str


class MechanicCluster(_Part):
    """Mechanics of one depth that are alike.

    Attributes:
        id: C1, C2, ..., the largest first.
        name: Of its medoid, the member that is nearest to all others.
        theme: What unites them, in a model's words; empty where none was asked.
        variation: In what they differ, likewise.
        bred: New mechanics of it.
        remark: Why there are fewer than wanted.
    """

    id: str
    depth: int
    name: str
    members: tuple[KnownMechanic, ...]
    theme: str = ""
    variation: str = ""
    bred: tuple[BredMechanic, ...] = ()
    remark: str = ""

    def games(self, but: str = "") -> frozenset[str]:
        """The games that have a mechanic of it, `but` one."""
        return frozenset(one.game for one in self.members) - {but}

    @property
    def summary(self) -> str:
        """Its theme, or its medoid's name."""
        return self.theme or self.name


class MechanicStore(_Part):
    """All clusters, and whose vectors made them.

    Attributes:
        embedder: Identity of the embedder; other vectors compare with nothing here.
        content: Hash of the mechanics that were clustered.
    """

    format: Literal[1] = 1
    embedder: str
    content: str
    clusters: tuple[MechanicCluster, ...]

    def but(self, newer: MechanicCluster) -> "MechanicStore":
        """The store with a cluster in the place of the one of its id."""
        kept = tuple(newer if one.id == newer.id else one for one in self.clusters)
        return self.model_copy(update={"clusters": kept})

    def nearest(
        self, mechanics: Sequence[tuple[str, int]], embed: Embed
    ) -> list[MechanicCluster | None]:
        """The cluster of each mechanic, given as name and depth.

        It is the one of its depth with the least mean distance to its members, as average linkage
        would join it; None where that is beyond the cut.
        """
        texts = dict.fromkeys(one.name for each in self.clusters for one in each.members)
        known = dict(zip(texts, unit_vectors(embed([*texts])), strict=True))
        found: list[MechanicCluster | None] = []
        for vector, (_, depth) in zip(
            unit_vectors(embed([name for name, _ in mechanics])), mechanics, strict=True
        ):
            near = [
                (1 - float(np.mean([known[one.name] @ vector for one in each.members])), at)
                for at, each in enumerate(self.clusters)
                if each.depth == depth
            ]
            distance, at = min(near, default=(np.inf, 0))
            found.append(self.clusters[at] if distance <= DISTANCE else None)
        return found


def known_graphs() -> dict[str, MechanicGraph]:
    """The graph of every family of the library as it is usually played, and of the corpus."""
    graphs = {
        family: family_graph(family, game_of(family).defaults(), preset(family).players)
        for family in families()
    }
    others = (name for name in corpus_names() if name not in graphs)
    return graphs | {name: corpus_game(name).graph for name in others}


def known_mechanics(graphs: Mapping[str, MechanicGraph]) -> list[KnownMechanic]:
    """The mechanics of graphs by game, without the roots, which all games share."""
    return [
        KnownMechanic(game=game, name=node.name, depth=node.depth)
        for game, graph in graphs.items()
        for node in graph.ordered().nodes
        if node.depth
    ]


def clustered(
    mechanics: Iterable[KnownMechanic],
    embed: Embed,
    identity: str,
    before: MechanicStore | None = None,
) -> MechanicStore:
    """The mechanics in clusters, each within a depth.

    Args:
        mechanics: Of all games.
        embed: The embedder.
        identity: Its identity.
        before: An earlier store: a cluster of the same members keeps what was bred for it.
    """
    known = list(mechanics)
    vectors = unit_vectors(embed([one.name for one in known]))
    groups: list[tuple[str, list[int]]] = []
    for depth in sorted({one.depth for one in known}):
        rows = np.array([at for at, one in enumerate(known) if one.depth == depth])
        labels = upgma(vectors[rows])
        for first in np.unique(labels):
            members = rows[labels == first]
            sums = (vectors[members] @ vectors[members].T).sum(axis=1)
            medoid = known[members[int(sums.argmax())]].name
            groups.append((medoid, members.tolist()))
    groups.sort(key=lambda group: (-len(group[1]), group[1]))
    older = {one.members: one for one in before.clusters} if before else {}
    made = []
    for number, (medoid, rows_of) in enumerate(groups, 1):
        members_of = tuple(known[row] for row in rows_of)
        new = MechanicCluster(
            id=f"C{number}", depth=members_of[0].depth, name=medoid, members=members_of
        )
        old = older.get(members_of)
        made.append(old.model_copy(update={"id": new.id}) if old else new)
    text = json.dumps([one.model_dump() for one in known], sort_keys=True)
    content = hashlib.sha256(text.encode()).hexdigest()
    return MechanicStore(embedder=identity, content=content, clusters=tuple(made))


def read_clusters(path: Path, identity: str) -> MechanicStore | None:
    """The store in a file; None where there is none.

    Raises:
        StoreError: If it cannot be read, or another embedder's vectors made it.
    """
    anew = "cluster anew: rulewright mechanics --anew"
    try:
        found = MechanicStore.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} is no mechanic store that can be read; {anew}") from error
    if found.embedder != identity:
        raise StoreError(
            f"{path} was made with the embedder {found.embedder}, and this one is {identity}: "
            f"their vectors cannot be compared. Choose that one by RULEWRIGHT_EMBEDDINGS, or {anew}"
        )
    return found


def write_clusters(store: MechanicStore, path: Path) -> None:
    """Write the store, whole or not at all.

    Raises:
        StoreError: If it cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(store.model_dump_json(indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; see that it can be") from error
