"""Retrieval for the roles: whole games, functions and mechanics for a structured description.

A description is free text, the contract function that is to be written, and the tags that the
text's words carry (`games.library`). A piece ranks by its nearest meaning, its own or that of
a rule it implements, and by the tags it shows. Where no function is named, the code of single
mechanics is ranked by their meaning and by shared words. Pieces are cut at definitions, never
within one.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import log
from typing import Any, Protocol

from games.library import empty_words, families, likeness, shown, tags_in
from vectorstore.clusters import unit_vectors
from vectorstore.documents import LIBRARY_KINDS, Example, Kind
from vectorstore.sources import BREAK, CONTRACT_FUNCTIONS, closure, definitions, fitted, readable
from vectorstore.store import Store

LONGEST_EXAMPLE = 13_500
LONGEST_SNIPPET = 3_300
_LONGEST_MECHANIC = 600
_TAGS_WEIGHT = 0.5  # of showing every tag asked for, against a cosine of 1
_FUNCTION_WEIGHT = 0.25
_RULE_COST = 0.005  # of each rule a function implements: the narrower one is the better answer
_NEAR = 0.6  # of a mechanic with a tag asked for; see tests/tools/mechanic_queries.yaml
_NEAR_UNTAGGED = 0.5  # how a game ends, or who is out, is near to the words for any game
_BEHIND = 0.1  # the best snippet; fitted on tests/tools/retrieval_queries.yaml
_LEAST_WORTH = 0.06  # where no function is named; fitted on tests/tools/judged_needs.yaml
_STEM = 5  # letters by which words are compared
_CONSIDERED = 150  # of each kind; Chroma's index finds at most 200
_FENCE = "```python\n"
_DRAFTED: Mapping[str, tuple[str, ...]] = {
    "visible": ("Observations",),
    "get_legal_actions": ("Legal Actions", "Turn"),
    "apply_action": ("Turn", "Rounds and Phases", "Legal Actions"),
    "get_observations": ("Observations",),
    "get_rewards": ("Scoring",),
    "get_events": ("Observations", "Turn"),
    "initial_state": ("Setup", "Components"),
}
"""Contract function -> the sections of a design that it codes, in the order of their worth."""


class DescribedGame(Protocol):
    """A design, such as `agents.protocols.Design`; each rule has a `section` and a `text`."""

    title: str
    summary: str

    @property
    def rules(self) -> Sequence[Any]:
        """Its rules."""


class Retrieval:
    """Reads one store; raises what `Store.search` raises."""

    def __init__(self, store: Store, *, own_games: bool = False, corpus: bool = False) -> None:
        """Read `store`; `own_games` adds accepted games of earlier runs to the examples.

        `corpus` adds the mechanics of traditional games to those of the library.
        """
        self.store = store
        self.own_games, self.corpus = own_games, corpus

    def examples(self, query: str, n: int = 3, *, limit: int = LONGEST_EXAMPLE) -> list[Example]:
        """At most `n` games, rulebook and source, nearest first, each in `limit` characters.

        The source is plain, as the coder's contract asks. Where it does not fit, it holds the
        contract's functions before their helpers, whole ones alone, and says what is left out.
        """
        pieces = self.store.search("games", query, _CONSIDERED)
        if self.own_games:
            own = self.store.search("own_games", query, n)
            pieces += [replace(piece, id=f"own/{piece.id}") for piece in own]
        asked = tags_in(query)
        pieces.sort(key=lambda piece: (piece.distance - _bonus(piece, asked), piece.id))
        fit = [replace(piece, text=_example(piece.text, limit)) for piece in pieces[:n]]
        return [piece for piece in fit if piece.text]

    def snippets(
        self, query: str, n: int = 4, *, function: str | None = None, limit: int = LONGEST_SNIPPET
    ) -> list[Example]:
        """At most `n` functions with the rules they implement and the helpers they call.

        Args:
            query: What the code is to do, in words.
            n: At most so many.
            function: The contract function that is to be written, or None for the one that the
                query names (`get_events ...`). Its like in other games, and the helpers that these
                call, go first; any other name counts as None.
            limit: Characters of each piece. What does not fit is left out whole and named.

        Returns:
            Best first; at most two of one family, none that another one holds, or that is much
            further away than the best. Where no contract function is wanted, each under the rules
            of the one mechanic that it carries out, and none that is far from the words, so it
            may be empty.
        """
        named = [name for name in CONTRACT_FUNCTIONS if "_" in name and name in query]
        wanted = function if function in CONTRACT_FUNCTIONS else named[0] if named else None
        if wanted is None:
            return _chosen(self._carrying(query), n, limit)
        ranked, far = self._ranked(query, tags_in(query), wanted)
        found = _chosen(ranked, n, limit)
        return [piece for piece in found if far[piece.id] <= far[found[0].id] + _BEHIND]

    def drafting_snippets(self, design: DescribedGame, *, limit: int = 8_000) -> list[Example]:
        """Functions of other games for a first draft, of different contract functions.

        For each contract function the rules of its sections are looked up, by meaning and tags.

        Args:
            design: Title, summary, and rules with their sections.
            limit: Characters of all texts together.

        Returns:
            At most one piece a contract function, the most useful functions first, and at most
            three of one family.
        """
        rules = [(rule.section, rule.text) for rule in design.rules]
        whole = tags_in(" ".join([design.title, design.summary, *(text for _, text in rules)]))
        chosen: list[Example] = []
        for place, (function, sections) in enumerate(_DRAFTED.items()):
            words = " ".join(text for section, text in rules if section in sections)
            ranked, _ = self._ranked(words or design.summary, tags_in(words) | whole, function)
            fit = [piece for piece in ranked if _drafts(piece, function)]
            room = limit - sum(len(piece.text) for piece in chosen)
            share = min(LONGEST_SNIPPET, 2 * room // (len(_DRAFTED) - place + 1))
            chosen = _chosen(fit, len(chosen) + 1, share, beside=chosen, of_family=3)
        return chosen

    def mechanics(self, query: str, n: int = 6) -> list[Example]:
        """At most `n` mechanics for a design: rules of one game that make one mechanic together.

        Returns:
            Best first, at most two of one family; none that is not near, so it may be empty.
        """
        asked = tags_in(query)
        kinds: tuple[Kind, ...] = ("mechanics", "corpus") if self.corpus else ("mechanics",)
        only = {"what": "mechanic"}
        found = [p for kind in kinds for p in self.store.search(kind, query, _CONSIDERED, only)]
        scored = [(p.distance - (bonus := _bonus(p, asked)), p.id, bonus, p) for p in found]
        near = [one for one in scored if one[0] <= (_NEAR if one[2] else _NEAR_UNTAGGED)]
        return _chosen([one[-1] for one in sorted(near)], n, _LONGEST_MECHANIC)

    def snapshot_id(self) -> str:
        """Content id of what it sees: the library, and what else is asked for."""
        own: tuple[Kind, ...] = ("own_games",) if self.own_games else ()
        traditional: tuple[Kind, ...] = ("corpus",) if self.corpus else ()
        return self.store.snapshot_id((*LIBRARY_KINDS, *traditional, *own))

    def _carrying(self, need: str) -> list[Example]:
        """The code that best carries a need out, and its equals; none that is far from it.

        What comes second is of use in one need of two, and nearly never where the first is not.

        Its worth is m^2 w: m is the mean likeness of the need to the mechanic's name and to its
        rules, w the share of the need's words, rare ones weighing more, that they and the function
        hold.
        """
        pieces, words = self.store.compared("code", need), _stems(need)
        names = sorted({str(piece.metadata["mechanic"]) for piece in pieces})
        asked, *named = unit_vectors(self.store.vectors([need, *names]))
        like = {name: float(vector @ asked) for name, vector in zip(names, named, strict=True)}
        said = {piece.id: _said(piece) for piece in pieces}
        held = Counter(word for rules, code in said.values() for word in rules | code)
        rarity = {word: log((len(pieces) + 1) / (held[word] + 0.5)) for word in words}
        whole = 2 * sum(rarity.values()) or 1.0

        def worth(piece: Example) -> float:
            meant = (1 - piece.distance + like[str(piece.metadata["mechanic"])]) / 2
            shared = sum(rarity[word] for text in said[piece.id] for word in words & text)
            return max(0.0, meant) ** 2 * shared / whole

        ranked = sorted((replace(p, distance=1 - worth(p)) for p in pieces), key=_by_distance)
        bar = max(_LEAST_WORTH, 1 - ranked[0].distance) if ranked else 0.0
        return [piece for piece in ranked if 1 - piece.distance >= bar]

    def _ranked(
        self, query: str, asked: frozenset[str], function: str
    ) -> tuple[list[Example], dict[str, float]]:
        """Snippets, best first, and by their ids how far they are: the less the better.

        The distance of each is that of its nearest meaning.
        """
        pieces = self.store.search("snippets", query, _CONSIDERED)
        rules = self.store.search("mechanics", query, _CONSIDERED, {"what": "rule"})
        near = {rule.id: rule.distance for rule in rules}

        def nearest(piece: Example) -> float:
            ids = [f"{piece.metadata['game']}/{rule}" for rule in _items(piece, "rules")]
            return min([piece.distance, *(near[id_] for id_ in ids if id_ in near)])

        def far(piece: Example) -> float:
            fit = _FUNCTION_WEIGHT if _serves(piece, function) else 0.0
            broad = _RULE_COST * len(_items(piece, "rules"))
            return piece.distance - _bonus(piece, asked) - fit + broad

        pieces = [replace(piece, distance=nearest(piece)) for piece in pieces]
        farness = {piece.id: far(piece) for piece in pieces}
        return sorted(pieces, key=lambda piece: (farness[piece.id], piece.id)), farness


class NothingRetrieved(Retrieval):
    """A store in which nothing is found: what retrieval is worth shows beside it."""

    def examples(self, *_: object, **__: object) -> list[Example]:
        """Nothing."""
        return []

    snippets = drafting_snippets = mechanics = examples


def _by_distance(piece: Example) -> tuple[float, str]:
    return piece.distance, piece.id


def _said(piece: Example) -> tuple[frozenset[str], frozenset[str]]:
    """The stems of a mechanic with its rules, and of the function alone."""
    rules, _, code = piece.text.partition(BREAK)[0].partition("def ")
    return _stems(f"{piece.metadata['mechanic']} {rules}"), _stems(code)


def _items(piece: Example, name: str) -> list[str]:
    found = piece.metadata.get(name, [])
    return found if isinstance(found, list) else []


def _bonus(piece: Example, asked: frozenset[str]) -> float:
    """The weight of the asked tags that a piece has; a rare tag weighs more."""
    held = frozenset(_items(piece, "tags"))
    weights = {tag: 1 / max(1, _families()[tag]) for tag in asked}
    got = sum(weight * likeness(tag, held) for tag, weight in weights.items())
    return _TAGS_WEIGHT * got / max(sum(weights.values()), 1e-9)


@cache
def _families() -> Counter[str]:
    """In how many families each tag is shown."""
    return Counter(tag for family in families() for tag in shown(family))


def _drafts(piece: Example, function: str) -> bool:
    """True where it may stand for a contract function in a draft."""
    own = piece.metadata["function"] == function
    return own or (function in ("apply_action", "get_rewards") and _serves(piece, function))


@cache
def _stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text or a source that tell something.

    >>> sorted(_stems("the discards of _discard_pile"))
    ['disca', 'pile']
    """
    words = re.findall(r"[a-z]{2,}", text.lower())
    return frozenset(word[:_STEM] for word in words if word not in empty_words())


def _serves(piece: Example, function: str) -> bool:
    """True where it is this contract function or a helper of it."""
    names = {piece.metadata["function"], *_items(piece, "serves")}
    return bool(
        names & {function, "apply_action"} if function == "get_rewards" else function in names
    )


def _chosen(
    ranked: Sequence[Example],
    n: int,
    limit: int,
    *,
    beside: Sequence[Example] = (),
    of_family: int = 2,
) -> list[Example]:
    """The best pieces beside others: `n` together, each fitted, none twice, families mixed."""
    chosen = list(beside)
    for piece in ranked:
        kin = [other for other in chosen if _game(other) == _game(piece)]
        if len(chosen) >= n or len(kin) >= of_family or any(_overlap(piece, o) for o in kin):
            continue
        near = {_name(p): p.distance for p in reversed(ranked) if _game(p) == _game(piece)}
        text = fitted(piece.text, limit, nearest=near)
        if text:
            chosen.append(replace(piece, text=text))
    return chosen


def _game(piece: Example) -> str:
    return str(piece.metadata["game"])


def _name(piece: Example) -> str:
    return str(piece.metadata.get("function", piece.id))


def _overlap(one: Example, other: Example) -> bool:
    """True where one of two pieces holds the function of the other."""
    return f"def {_name(one)}(" in other.text or f"def {_name(other)}(" in one.text


def _example(text: str, limit: int) -> str:
    """A rulebook and its source within `limit`, "" where the rulebook alone is longer."""
    head, fence, rest = text.partition(_FENCE)
    source = readable(rest.rpartition("```")[0])
    code = definitions(source)
    order = closure(code, ("GAME", "ZONES", *CONTRACT_FUNCTIONS))
    near = {name: float(place) for place, name in enumerate(order)}
    code_shown = fitted(source, limit - len(head) - len(fence) - len("\n```\n"), nearest=near)
    return f"{head}{fence}{code_shown}\n```\n" if code_shown else ""
