"""`mechanics`: a game's mechanic graph; or the clusters of all known mechanics, and new ones."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.console import Progress, give, note, say
from games.text import one_line, quoted

if TYPE_CHECKING:
    from graph.vary.rulebooks import Rulebook
    from vectorstore.mechanics import MechanicStore


@options.grouped
def show_mechanics(
    game: Annotated[
        str | None,
        typer.Argument(
            help="A run, a library name, or a text file of rules; none: the clusters of all games."
        ),
    ] = None,
    *,
    breed: Annotated[
        int,
        typer.Option(
            "--breed", min=0, max=500, help="Breed in so many clusters, or in so many of the game."
        ),
    ] = 0,
    anew: Annotated[
        bool, typer.Option("--anew", help="Cluster anew; what was bred is given up.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show what a game is made of, or cluster the mechanics of all games and breed new ones."""
    if game is None:
        found = _clusters(breed, None, anew=anew, as_json=as_json)
        give(found.model_dump(mode="json"), lambda: _show_clusters(found), as_json=as_json)
        return
    if anew:
        raise typer.BadParameter("--anew is of the clusters of all games; name none")
    book = _taken_apart(game, as_json=as_json)
    if breed:
        found = _clusters(breed, book, as_json=as_json)
        give(found.model_dump(mode="json"), lambda: _show_clusters(found), as_json=as_json)
        return
    give(book.model_dump(mode="json"), lambda: _show_graph(book), as_json=as_json)


def _taken_apart(game: str, *, as_json: bool) -> "Rulebook":
    """A game's rulebook with its graph, which is kept in the design of a run."""
    from graph.run.events import hearing_waits
    from graph.run.opening import open_chat
    from graph.vary.rulebooks import game_folder, keep_graph, rulebook_named
    from graph.vary.runs import require_chat_settings

    book, folder = rulebook_named(game), game_folder(game)
    with Progress(quiet=as_json) as progress, hearing_waits(progress):
        kept = folder.root.exchanges if folder else None
        if folder is None:
            return book.taken_apart(lambda: open_chat(require_chat_settings(), kept))
        with folder.held():
            found = book.taken_apart(lambda: open_chat(require_chat_settings(), kept))
            if found != book:
                keep_graph(folder, found)
    return found


def _clusters(
    breed: int, book: "Rulebook | None", *, as_json: bool, anew: bool = False
) -> "MechanicStore":
    """The clusters of all games, bred in where that is asked for: in those of one game alone."""
    from graph.run.events import hearing_waits
    from graph.run.opening import open_chat, open_embedder
    from graph.vary.breeding import breed_clusters, clusters_here, clusters_of, clusters_path
    from graph.vary.runs import require_chat_settings
    from vectorstore.mechanics import write_clusters

    chat = open_chat(require_chat_settings()) if breed else None
    with (
        open_embedder(note) as store,
        Progress(quiet=as_json) as progress,
        hearing_waits(progress),
    ):
        known = clusters_here(store, anew=anew)
        if chat is None:
            return known
        path, among = clusters_path(store), clusters_of(book, known, store.vectors)
        return breed_clusters(
            known, chat, store.vectors, among[:breed], lambda newer: write_clusters(newer, path)
        )


def _show_graph(book: "Rulebook") -> None:
    graph = book.graph
    say(f"{one_line(book.title)}: {len(graph.nodes) if graph else 0} mechanics")
    for node in graph.ordered().nodes if graph else ():
        said: list[Any] = [node.kind, f"depth {node.depth}", *node.rules]
        leads = ", ".join(sorted(graph.targets(node.id))) if graph else ""
        arrow = f" → {leads}" if leads else ""
        say(f"  {node.id} {quoted(node.name)} ({', '.join(said)}){arrow}")
    for problem in book.problems:
        say(f"open in the rules: {quoted(problem)}")


def _show_clusters(found: "MechanicStore") -> None:
    from vectorstore.mechanics import LARGE

    large = [one for one in found.clusters if len(one.members) >= LARGE]
    for one in large:
        say(f"{one.id} (depth {one.depth}, {len(one.members)} mechanics): {quoted(one.summary)}")
        for bred in one.bred:
            say(f"    new, {bred.mutation}: {quoted(bred.name)}: {quoted(bred.text)}")
        if one.remark:
            say(f"    {one.remark}")
    total = sum(len(one.members) for one in found.clusters)
    note(
        f"{len(large)} of {len(found.clusters)} clusters have {LARGE} mechanics or more, of "
        f"{total} in all; by the embedder {found.embedder}"
    )
