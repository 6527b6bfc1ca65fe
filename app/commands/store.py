"""`index` and `search`: the store of games, functions and mechanics."""

import time
from typing import Annotated

import typer

from app.console import note, print_json, say
from app.options import Json


def build_index(*, as_json: Json = False) -> None:
    """Build or update the store of games, functions and mechanics."""
    from graph.run.opening import open_store_here
    from vectorstore.documents import KINDS

    started = time.monotonic()
    with open_store_here(note) as store:
        snapshot = store.snapshot_id()
        counts = {kind: store.count(kind) for kind in KINDS}
        seconds = time.monotonic() - started
        if as_json:
            print_json(
                {
                    "snapshot": snapshot,
                    "embedding": store.embedder.identity,
                    "counts": counts,
                    "path": str(store.settings.path),
                    "seconds": round(seconds, 3),
                }
            )
            return
        for kind, count in counts.items():
            say(f"{kind:<10} {count}")
        say(f"embedding {store.embedder.identity}, snapshot {snapshot[:16]}, {seconds:.1f} s")


def search_store(
    query: Annotated[str, typer.Argument(help="What to look for, in words.")],
    *,
    kind: Annotated[
        str, typer.Option("--kind", help="games, snippets or mechanics.")
    ] = "mechanics",
    limit: Annotated[int, typer.Option("--limit", min=1, max=50)] = 5,
    as_json: Json = False,
) -> None:
    """Search the store by meaning."""
    from graph.run.opening import open_store_here
    from vectorstore.documents import KINDS

    if kind not in KINDS:
        raise typer.BadParameter(f"kind is {kind!r}; known: {', '.join(KINDS)}")
    if not query.isprintable():
        raise typer.BadParameter("the query holds control characters, or bytes that are no UTF-8")
    if not query.strip():
        raise typer.BadParameter("the query is empty; say what to look for, in words")
    with open_store_here(note) as store:
        hits = store.search(kind, query, limit)
        embedding = store.embedder.identity
    if as_json:
        rows = [
            {"id": hit.id, "title": hit.title, "distance": hit.distance, "text": hit.text}
            for hit in hits
        ]
        print_json({"query": query, "kind": kind, "embedding": embedding, "hits": rows})
        return
    for hit in hits:
        say(f"{hit.distance:.3f}  {hit.id}  {hit.title}")
        first = hit.text.strip().splitlines()[0] if hit.text.strip() else ""
        if first and first != hit.title:
            say(f"       {first[:110]}")
