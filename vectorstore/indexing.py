"""The library as documents: whole games, functions with their rules, mechanics."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any

from games.specialise import defaults
from vectorstore.documents import LIBRARY_KINDS, Document, IndexReport
from vectorstore.errors import StoreError
from vectorstore.library import Library, LibraryGame, PackagedLibrary
from vectorstore.rules import RuleSentence, all_rules, annotated, functions
from vectorstore.store import Store

_KEY_CHARACTERS = 800  # of a whole game's rulebook; the embedders read about 1,000 characters
_MARKUP = re.compile(r"^(#+ |- (R[0-9]+: )?)", re.MULTILINE)


def ensure_indexed(store: Store, library: Library | None = None) -> IndexReport:
    """Make the store hold the library, doing nothing where it is current.

    An interrupted run is completed by the next one; vectors already worked out are not again.

    Args:
        store: The open store.
        library: Instead of the packaged one.

    Returns:
        What changed; all zeros where the store was current.

    Raises:
        StoreError: If the library contradicts itself, or the store cannot be written.
    """
    source = library or PackagedLibrary()
    fingerprint = hashlib.sha256(f"{_own_fingerprint()} {source.fingerprint()}".encode())
    if store.mark() == fingerprint.hexdigest():
        return IndexReport()
    documents = library_documents(source.games())
    return store.mirror(documents, LIBRARY_KINDS, mark=fingerprint.hexdigest())


def library_documents(games: Iterable[LibraryGame]) -> list[Document]:
    """Every document of a library: a whole game a name, the rest once a family.

    Raises:
        StoreError: Naming the game whose source and rulebook contradict each other.
    """
    documents: list[Document] = []
    for game in games:
        documents.append(game_document(game))
        if game.name == game.family:
            rules = all_rules(game.template, game.game, defaults(game.game), game.players)
            documents += snippet_documents(game, rules)
            documents += mechanic_documents(game, rules)
    return documents


def game_document(game: LibraryGame) -> Document:
    """A whole game: its rulebook, then its source."""
    title = _words(game.name).capitalize()
    return Document(
        kind="games",
        id=game.name,
        title=title,
        text=_whole(game.rulebook, game.source),
        key=f"{title}. {game.game['summary']} {_plain(game.rulebook)}",
        metadata={"game": game.family, "players": game.players},
    )


def own_game_document(
    run: str, *, title: str, summary: str, rulebook: str, source: str
) -> Document:
    """An accepted game of a run, for the collection that is searched only when asked for."""
    return Document(
        kind="own_games",
        id=run,
        title=title,
        text=_whole(rulebook, source),
        key=f"{title}. {summary} {_plain(rulebook)}",
        metadata={"run": run},
    )


def snippet_documents(game: LibraryGame, rules: Iterable[RuleSentence]) -> Iterator[Document]:
    """One document a function: its rule sentences and its source, found by the sentences."""
    sentences = {rule.id: rule.text for rule in rules}
    for function in functions(game.source):
        try:
            text = annotated(function, sentences)
        except StoreError as error:
            raise StoreError(f"{game.name}: {error}") from error
        spoken = [sentences[id_] for id_ in function.rules]
        yield Document(
            kind="snippets",
            id=f"{game.name}/{function.name}",
            title=f"{function.name} of {_words(game.name)}",
            text=text,
            key=" ".join([*spoken, f"{_words(function.name)}:", function.summary]),
            metadata={
                "game": game.name,
                "function": function.name,
                **({"rules": list(function.rules)} if function.rules else {}),
            },
        )


def mechanic_documents(game: LibraryGame, rules: Iterable[RuleSentence]) -> Iterator[Document]:
    """One document a parameter, by its meaning, and one a rule sentence."""
    title = _words(game.name)
    declared: Any = game.game.get("parameters") or {}
    for name, parameter in declared.items():
        allowed = {key: parameter[key] for key in ("choices", "range") if key in parameter}
        yield Document(
            kind="mechanics",
            id=f"{game.name}/{name}",
            title=f"{_words(name)} in {title}",
            text=f"{parameter['meaning']} Parameter {name} of {game.name}, default "
            f"{json.dumps(parameter['default'])}, allowed {json.dumps(allowed)}.",
            key=f"{_words(name)}: {parameter['meaning']}",
            metadata={"game": game.name, "parameter": name},
        )
    for rule in rules:
        needs = "".join(f" (with {name} {json.dumps(v)})" for name, v in rule.when.items())
        yield Document(
            kind="mechanics",
            id=f"{game.name}/{rule.id}",
            title=f"{rule.id} of {title}, {rule.section}{needs}",
            text=rule.text,
            key=rule.text,
            metadata={
                "game": game.name,
                "rule": rule.id,
                "section": rule.section,
                **({"when": json.dumps(dict(rule.when))} if rule.when else {}),
            },
        )


def _whole(rulebook: str, source: str) -> str:
    return f"{rulebook.rstrip()}\n\n## Source\n\n```python\n{source.rstrip()}\n```\n"


def _plain(rulebook: str) -> str:
    return " ".join(_MARKUP.sub("", rulebook).split())[:_KEY_CHARACTERS]


def _words(name: str) -> str:
    return name.strip("_").replace("_", " ")


def _own_fingerprint() -> str:
    """Changes with the code that makes the documents."""
    digest = hashlib.sha256()
    for name in ("indexing.py", "rules.py", "documents.py"):
        digest.update((files("vectorstore") / name).read_bytes())
    return digest.hexdigest()
