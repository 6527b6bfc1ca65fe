"""The library as documents: whole games, functions with their rules, mechanics."""

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from games.corpus import CorpusGame
from games.library import defaults, known_tags
from vectorstore.documents import LIBRARY_KINDS, Document, IndexReport, MetadataValue, StoreError
from vectorstore.sources import (
    BREAK,
    CONTRACT_FUNCTIONS,
    Definition,
    Library,
    LibraryGame,
    RuleSentence,
    all_rules,
    closure,
    definitions,
    faults,
    plain,
)
from vectorstore.store import Store

_KEY_CHARACTERS = 800  # of a whole game's rulebook; the embedders read about 1,000 characters
_SHORT_KEY = 200  # the rules of a function or mechanic are documents of their own
_MECHANIC_CHARACTERS = 600  # whole sentences
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
    source = library or Library()
    fingerprint = hashlib.sha256(f"{_own_fingerprint()} {source.fingerprint()}".encode())
    if store.mark() == fingerprint.hexdigest():
        return IndexReport()
    documents = library_documents(source.games()) + corpus_documents(source.corpus())
    return store.index(documents, (*LIBRARY_KINDS, "corpus"), mark=fingerprint.hexdigest())


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
            documents += code_documents(game, rules)
            documents += mechanic_documents(game, rules)
    return documents


def corpus_documents(games: Mapping[str, CorpusGame]) -> list[Document]:
    """One document a traditional game, and one for each of its mechanics but the root."""
    return [document for name, game in games.items() for document in _of_corpus(name, game)]


def _of_corpus(name: str, game: CorpusGame) -> Iterator[Document]:
    fewest, most = game.players
    shared: dict[str, MetadataValue] = {"game": name, "material": game.kind}
    shared |= {"min_players": fewest, "max_players": most}
    said = "; ".join([game.variant or "", *game.mechanics])  # a rulebook's first rules tell less
    key = f"{game.name}, {game.kind}. {said}"[:_KEY_CHARACTERS]
    yield Document("corpus", name, game.name, game.rulebook, key, {**shared, "what": "game"})
    for node in game.graph.nodes[1:]:
        text = " ".join(game.sentences[rule] for rule in node.rules)
        yield Document(
            kind="corpus",
            id=f"{name}/{node.id}",
            title=f"{node.name}, in {game.name}",
            text=text,
            key=f"{node.name}: {text}"[:_SHORT_KEY],
            metadata={
                **shared,
                "what": "mechanic",
                "mechanic": node.name,
                "kind": node.kind,
                "depth": node.depth or 0,
            },
        )


def game_document(game: LibraryGame) -> Document:
    """A whole game: its rulebook, then its source."""
    title = _words(game.name).capitalize()
    return Document(
        kind="games",
        id=game.name,
        title=title,
        text=_whole(game.rulebook, game.source),
        key=f"{title}. {game.game['summary']} {_plain(game.rulebook)}",
        metadata={
            "game": game.family,
            "players": game.players,
            **({"tags": [*game.shown]} if game.shown else {}),
        },
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
    """One document a function: its rule sentences, its source, then all that it uses.

    A function is left out that breaks the contract of the coder's prompt, or where neither a
    docstring nor a tag tells what it is for.

    Raises:
        StoreError: If a docstring or a tag names what the game does not have.
    """
    sentences = {rule.id: rule.text for rule in rules}
    code = definitions(plain(game.source))
    for name, said in (*game.shown.items(), *((head.name, head.rules) for head in code.values())):
        unknown = [item for item in said if item not in sentences and item not in code]
        if unknown:
            raise StoreError(
                f"{game.name}: {name} names {unknown}, which the rulebook and the source do not "
                "have; mend the docstring, the rulebook or the tags"
            )
    for name in (*closure(code, CONTRACT_FUNCTIONS), "value_function"):
        wanted = name in code and name not in ("get_player_name", "parse_action")
        if wanted and issubclass(code[name].kind, ast.FunctionDef):
            yield from _snippet(game, code, code[name], sentences)


def _snippet(
    game: LibraryGame,
    code: Mapping[str, Definition],
    head: Definition,
    sentences: Mapping[str, str],
) -> Iterator[Document]:
    tags = [tag for tag, items in game.shown.items() if {head.name, *head.rules} & {*items}]
    meant = [i for tag in tags if head.name in game.shown[tag] for i in game.shown[tag]]
    rules = head.rules or tuple(dict.fromkeys(item for item in meant if item in sentences))
    text = _with_helpers(code, head, [f"# {id_}: {sentences[id_]}" for id_ in rules])
    if not text or not (rules or head.summary):
        return
    others = () if head.name in CONTRACT_FUNCTIONS else CONTRACT_FUNCTIONS
    serves = [f for f in others if head.name in closure(code, (f,), but=CONTRACT_FUNCTIONS)]
    lists = {"rules": rules, "tags": tags, "serves": serves}
    yield Document(
        kind="snippets",
        id=f"{game.name}/{head.name}",
        title=f"{head.name} of {_words(game.name)}" + (f" ({', '.join(tags)})" if tags else ""),
        text=text,
        key=" ".join([f"{_words(head.name)}:", head.summary, *(sentences[i] for i in rules)])[
            :_SHORT_KEY
        ],
        metadata={
            "game": game.name,
            "function": head.name,
            **{name: list(values) for name, values in lists.items() if values},
        },
    )


@cache  # most definitions are parts of several pieces
def _breaks_the_contract(definition: str) -> bool:
    return bool(faults(definition))


def _with_helpers(code: Mapping[str, Definition], head: Definition, comments: Iterable[str]) -> str:
    """The text of a piece; "" where a part of it breaks the contract."""
    declared = ("ZONES",) if head.name == "visible" else ()
    used = closure(code, (head.name, *declared), but=("GAME", *CONTRACT_FUNCTIONS))[1:]
    helpers = [code[use].source for use in used]
    if any(map(_breaks_the_contract, (head.source, *helpers))):
        return ""
    parts = ["\n".join([*comments, head.source]), *helpers]
    return BREAK.join(dict.fromkeys(parts))


def code_documents(game: LibraryGame, rules: Iterable[RuleSentence]) -> Iterator[Document]:
    """One document a mechanic and function that carries it out, found by the mechanic's rules.

    Its text is that of a snippet under these rules alone.
    """
    sentences = {rule.id: rule.text for rule in rules}
    code = definitions(plain(game.source))
    for mechanic, of in game.mechanics.items():
        told = [rule for rule in of.rules if rule in sentences]
        said = " ".join(sentences[rule] for rule in told)
        for function in dict.fromkeys(part.partition(" if ")[0] for part in of.code):
            comments = [f"# {rule}: {sentences[rule]}" for rule in told]
            text = _with_helpers(code, code[function], comments)
            tags = [tag for tag, items in game.shown.items() if {function, *told} & {*items}]
            lists = {"rules": told, "tags": tags}
            if text:
                yield Document(
                    kind="code",
                    id=f"{game.name}/{mechanic}/{function}",
                    title=f"{function} of {_words(game.name)} ({mechanic})",
                    text=text,
                    key=f"{mechanic}: {said}"[:_SHORT_KEY],
                    metadata={
                        "game": game.name,
                        "function": function,
                        "mechanic": mechanic,
                        **{name: values for name, values in lists.items() if values},
                    },
                )


def mechanic_documents(game: LibraryGame, rules: Iterable[RuleSentence]) -> Iterator[Document]:
    """One document a parameter, by its meaning, one a rule sentence, one a tag with its rules."""
    title = _words(game.name)
    declared: Any = game.game.get("parameters") or {}
    for name, parameter in declared.items():
        allowed = {key: parameter[key] for key in ("choices", "range") if key in parameter}
        text = f"{parameter['meaning']} Parameter {name} of {game.name}, default "
        text += f"{json.dumps(parameter['default'])}, allowed {json.dumps(allowed)}."
        key = f"{_words(name)}: {parameter['meaning']}"
        head = f"{_words(name)} in {title}"
        yield _mechanic(game, name, head, text, key, parameter=name, what="parameter")
    sentences: dict[str, str] = {}
    for rule in rules:
        needs = "".join(f" (with {name} {json.dumps(v)})" for name, v in rule.when.items())
        sentences[rule.id] = rule.text.removesuffix(".") + needs + "."
        about = {"rule": rule.id, "section": rule.section, "what": "rule"}
        about |= {"when": json.dumps(dict(rule.when))} if rule.when else {}
        head = f"{rule.id} of {title}, {rule.section}{needs}"
        yield _mechanic(game, rule.id, head, rule.text, rule.text, **about)
    for tag, items in game.shown.items():
        said = ""
        for text in (sentences[item] for item in items if item in sentences):
            said += f" {text}" if len(said) + len(text) < _MECHANIC_CHARACTERS else ""
        if said:
            key = f"{tag}: {known_tags()[tag].means} {said}"[:_SHORT_KEY]
            names = f"mechanic {tag}", f"{tag} in {title}"
            yield _mechanic(game, *names, said.strip(), key, tags=[tag], what="mechanic")


def _mechanic(
    game: LibraryGame, name: str, title: str, text: str, key: str, **about: MetadataValue
) -> Document:
    id_, metadata = f"{game.name}/{name}", {"game": game.name, **about}
    return Document("mechanics", id_, title, text, key, metadata)


def _whole(rulebook: str, source: str) -> str:
    return f"{rulebook.rstrip()}\n\n## Source\n\n```python\n{source.rstrip()}\n```\n"


def _plain(rulebook: str) -> str:
    return " ".join(_MARKUP.sub("", rulebook).split())[:_KEY_CHARACTERS]


def _words(name: str) -> str:
    return name.strip("_").replace("_", " ")


def _own_fingerprint() -> str:
    """Changes with the code that makes the documents."""
    digest = hashlib.sha256()
    for name in ("indexing.py", "sources.py", "documents.py"):
        digest.update((files("vectorstore") / name).read_bytes())
    return digest.hexdigest()
