"""Mechanic store of this machine: clustered from all known games, and bred by a model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.model.recording import place
from agents.roles.mechanics import breed
from games.text import bare_words
from graph.run.folder import RunFolder
from graph.vary.rulebooks import Rulebook
from vectorstore.mechanics import (
    LARGE,
    Embed,
    MechanicStore,
    clustered,
    known_graphs,
    known_mechanics,
    read_clusters,
    write_clusters,
)

if TYPE_CHECKING:
    from agents.model.chat import ChatModel
    from vectorstore.store import Store

_KEPT = ".state/mechanics.json"
BRED = 3
"""Mechanics that are bred for a cluster."""
_SAME = 0.1  # cosine distance of two names that say the same


def clusters_path(store: "Store") -> Path:
    """The file of the clusters, beside the store."""
    return store.settings.path / "mechanics.json"


def clusters_here(store: "Store", *, anew: bool = False) -> MechanicStore:
    """The clusters of all known games, written where they are missing, outdated or wanted `anew`.

    Clusters that did not change keep what was bred.

    Raises:
        StoreError: If they were made with another embedder, or cannot be read or written.
    """
    path, identity = clusters_path(store), store.embedder.identity
    before = None if anew else read_clusters(path, identity)
    made = clustered(known_mechanics(known_graphs()), store.vectors, identity, before)
    if before is None or before.content != made.content:
        write_clusters(made, path)
        return made
    return before


def clusters_of(book: Rulebook | None, known: MechanicStore, embed: Embed) -> list[str]:
    """Ids of the large clusters that lack bred mechanics, of all games or of a game's mechanics.

    A cluster of which a model had nothing more is not among them. The largest come first.
    """
    large = [one for one in known.clusters if len(one.members) >= LARGE]
    lacking = [one.id for one in large if len(one.bred) < BRED and not one.remark]
    if book is None or book.graph is None:
        return lacking
    depths = book.graph.depths
    named = [(node.name, depths[node.id]) for node in book.graph.nodes if depths.get(node.id)]
    found = {one.id for one in known.nearest(named, embed) if one}
    return [id_ for id_ in lacking if id_ in found]


def breed_clusters(
    known: MechanicStore,
    chat: "ChatModel",
    embed: Embed,
    among: Sequence[str],
    kept: Callable[[MechanicStore], None],
) -> MechanicStore:
    """Breed in clusters, one after the other.

    Args:
        known: The clusters.
        chat: Whom to ask.
        embed: Of the store's embedder.
        among: Ids of the clusters.
        kept: Takes the store after each cluster, so that a kill loses one at most.

    Raises:
        ModelError: If the model gave no usable reply; what was bred before is kept.
    """

    def is_known(one: str, other: str) -> bool:
        if bare_words(one) == bare_words(other):
            return True
        first, second = embed([one, other])
        return 1 - float(first @ second) <= _SAME

    for cluster in [one for one in known.clusters if one.id in among]:
        with place(f"breed/{cluster.id}"):
            known = known.but(breed(chat.of_role("designer"), cluster, BRED, is_known))
        kept(known)
    return known


def keep_clusters(clusters: MechanicStore, folder: RunFolder) -> None:
    """Keep the mechanic store that a run draws on, so that it can be resumed."""
    folder.write_json(_KEPT, clusters.model_dump(mode="json"))


def kept_clusters(folder: RunFolder) -> MechanicStore:
    """The mechanic store that a run draws on.

    Raises:
        RunFolderError: If it cannot be read, or another version of the product wrote it.
    """
    wrong = "is of no version that this one reads ({} faults); start the run anew: rulewright vary"
    return folder.read_model(_KEPT, MechanicStore, wrong)
