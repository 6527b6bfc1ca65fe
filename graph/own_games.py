"""The accepted game joins the own games, which retrieval sees only when it was asked to."""

import hashlib
import re

from graph.context import RunContext
from graph.rulebook import rulebook_text
from graph.state import RunState

_LONGEST_NAME = 40


def keep_own_game(state: RunState, context: RunContext) -> dict[str, str] | None:
    """Put the accepted game into the store's own games.

    The same game is kept once, however often it is made: its name is made from its content.

    Returns:
        `{"id": name}` where it was kept, `{"problem": why}` where the store could not take it,
        None where there is no accepted game or the run keeps none.
    """
    from vectorstore.errors import StoreError
    from vectorstore.indexing import own_game_document

    if state.accepted is None or state.design is None or state.brief is None:
        return None
    if not context.keeps_own_games:
        return None
    source = state.candidate(state.accepted).source
    document = own_game_document(
        own_name(state.design.title, source),
        title=state.design.title,
        summary=state.design.summary,
        rulebook=rulebook_text(state.design, state.brief),
        source=source,
    )
    try:
        context.retrieval.store.index([document])
    except StoreError as error:
        return {"problem": f"the game was not added to the own games: {error}"}
    return {"id": document.id}


def own_name(title: str, source: str) -> str:
    """A name that the same source and title get every time.

    >>> own_name("Dragon Hearts!", "GAME = {}")
    'dragon-hearts-f4b5a209d5c5'
    """
    slug = "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:_LONGEST_NAME].strip("-") or "game"
    return f"{slug}-{hashlib.sha256(source.encode()).hexdigest()[:12]}"
