"""`index` and `search`: the store of games, functions and mechanics."""

import time
from typing import TYPE_CHECKING, cast, get_args

from app.console import note, print_json, say

if TYPE_CHECKING:
    from vectorstore.documents import Kind


def build_index(*, as_json: bool) -> None:
    """Index the library, or bring the index up to date."""
    from graph.resources import open_store_here

    started = time.monotonic()
    with open_store_here(note) as store:
        snapshot = store.snapshot_id()
        counts = {kind: store.count(kind) for kind in _kinds()}
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


def search_store(query: str, *, kind: str, limit: int, as_json: bool) -> None:
    """Print what lies nearest to a query."""
    import typer

    from graph.resources import open_store_here

    if kind not in _kinds():
        raise typer.BadParameter(f"kind is {kind!r}; known: {', '.join(_kinds())}")
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


def _kinds() -> "tuple[Kind, ...]":
    from vectorstore.documents import Kind

    return cast("tuple[Kind, ...]", get_args(Kind))
