"""Seats by meaning: how many play, where a brief counts persons and no phrase knows their word.

Persons are told as a list ("me, my wife and both our boys" is four), or as a number of beings that
a phrase does not name ("three flatmates", "six little scouts"): what is a being, and no part of a
game, the embeddings tell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from agents.composer.accounting import SUPPOSING
from agents.composer.lexicon import PLAYERS, Lexicon, Phrase, game_of
from agents.composer.loader import common
from agents.composer.meaning.statements import Embed
from agents.composer.mentions import Mention, ParsedBrief
from agents.composer.patterns import Capture
from agents.composer.tokens import FUNCTION_WORDS, Token, stems, word_set
from games.contract import Json

BEING = 0.03
"""Least lead of a word's nearness to beings over its nearness to parts of a game."""
_I = word_set("me myself i")
_AND = word_set(", and plus with n + &")
_TILL = word_set("to till until or and – -")
_GROUPS = stems("group gang crew family table party club class team")
_AMONG = stems("for with between against")
_FOND = stems("little big old young dear our")
_PAIRED = stems("twin parent grandparent")
_SPARSE = stems("only just there is are we have exactly as few")
_PERSONS = stems("us player people person friend")
_COMING = stems("turn show come attend arrive play sit make around here home free join")
_JOINING = frozenset({"and", "but"})
_ONE_NUMBER = "a condition; how many play is one number for the whole game"
_BOTH = 2
_MOST = 8
_FEW = 4  # words from a number to what it counts: "six dino-mad kids"
_BESIDE = 3  # words before a relative: "my two little"
_TOLD = word_set("you he she they")  # who did what: "you asked how Father played"
_OWNED = stems("each every per have give get with contain use own than")


def with_seats(
    parsed: ParsedBrief, lexicon: Lexicon, mentions: Sequence[Mention], embed: Embed | None
) -> list[Mention]:
    """The mentions of a brief, of how many play the surest alone.

    A number beside a word for persons is surer than a list of persons, and that surer than words
    such as "duel". Beings are counted where nothing else tells.
    """
    seats = [one for one in mentions if _number(one) and not one.negated]
    listed = [one for one in _listed(parsed) if seatable(lexicon, one)][:1]
    inside = {index for one in listed for index in one.covered}
    counted = [one for one in seats if one.capture.numbers and seatable(lexicon, one)]
    told = [_number(one) for one in counted if not inside & {*one.covered}]
    told = told or [_number(one) for one in seats if _number(one) in map(_number, listed)]
    if told:
        unsure = [one for one in seats if one not in counted and _number(one) not in told]
        return [one for one in mentions if one not in unsure]
    found = listed
    lost = (one for one in mentions if isinstance(one.source, Phrase) and one.source.refused)
    refused = {index for one in lost for index in one.covered}
    if not seats and not listed and embed is not None:
        counted = [*_bracketed(parsed), *_beings(parsed, embed)]
        free = [one for one in counted if not {*one.covered} & refused]
        found = [one for one in free if seatable(lexicon, one)][:1]
    taken = {index for one in found for index in one.covered}
    beside = [*seats] if listed else []
    kept = [one for one in mentions if one not in beside and not taken & {*one.covered}]
    return sorted([*kept, *found], key=lambda one: one.covered) if found else kept


def on_occasion(parsed: ParsedBrief, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions; what a condition says of some players is refused as how many play.

    "When only five of us turn up" may still mean that five play; "if two players tie" does not.
    """
    others = [one for one in mentions if not _number(one)]
    taken = {index for one in others for index in one.covered}
    ruled = {index for one in others if isinstance(one.source, Phrase) for index in one.covered}
    found = []
    for one in mentions:
        run, comes = range(0), False
        if _number(one):
            run, comes = _condition(parsed.tokens, one.covered, ruled)
        if run:
            told = parsed.content(run) if comes else one.covered
            sets = {PLAYERS: _number(one)} if comes else {}
            covered = tuple(i for i in told if i not in taken)
            one = replace(one, covered=covered, source=Phrase("", sets=sets, refused=_ONE_NUMBER))
        found.append(one)
    return [one for one in found if one.covered]


def _condition(
    tokens: Sequence[Token], covered: Sequence[int], ruled: set[int]
) -> tuple[range, bool]:
    """The condition that begins with a number, and whether it says no more than who comes.

    It opens a clause, or stands behind a rule: "deal six when only five of us turn up".
    """
    first, end = covered[0] - 1, covered[-1] + 1
    while first >= 0 and tokens[first].norm in _SPARSE:
        first -= 1
    while end < len(tokens) and tokens[end].kind != "stop":
        end += 1
    before = tokens[first - 1] if first > 0 else None
    opens = before is None or before.kind == "stop" or before.norm in _JOINING or first - 1 in ruled
    if first < 0 or tokens[first].norm not in SUPPOSING or not opens:
        return range(0), False
    rest = {token.norm for token in tokens[covered[-1] + 1 : end]} - FUNCTION_WORDS - _PERSONS
    return range(first, end), not rest or bool(rest & _COMING)


def _number(mention: Mention) -> Json:
    """The number of players that a mention tells of, and of nothing else; None for another."""
    source = mention.source
    if not isinstance(source, Phrase) or source.refused:
        return None
    said = source.means(mention.capture)
    return said[PLAYERS] if set(said) == {PLAYERS} else None


def seatable(lexicon: Lexicon, mention: Mention) -> bool:
    """Whether a mention of how many play is one of what the family seats."""
    number, game = _number(mention), game_of(lexicon.family)
    return isinstance(number, int) and game.min_players <= number <= game.max_players


def _mention(covered: Sequence[int], number: int) -> Mention:
    capture = Capture(tuple(covered), (number,), (), ())
    return Mention(tuple(covered), capture, Phrase("", sets={PLAYERS: number}))


def _listed(parsed: ParsedBrief) -> Iterator[Mention]:
    """Lists of persons of whom the writer is one, or for whom the game is."""
    kin = {i for i, token in enumerate(parsed.tokens) if token.norm in common().kin}
    start = 0
    while start < len(parsed.tokens):
        covered, number, itself = _list_at(parsed.tokens, kin, start)
        before = parsed.tokens[start - 1].norm if start else ""
        number += before == "with" and number > 1 and not itself  # who writes plays with them
        itself = itself or before in ("for", "with")
        if itself and number > 1:
            yield _mention(covered, number)
        start = covered[-1] + 1 if covered else start + 1


def _list_at(tokens: Sequence[Token], kin: set[int], start: int) -> tuple[list[int], int, bool]:
    """The tokens of a list that begins at a token, its number of persons, and if "I" am one."""
    covered: list[int] = []
    number, itself, at = 0, False, start
    while (item := _person_at(tokens, kin, at)) is not None:
        end, persons = item
        itself = itself or tokens[end - 1].norm in _I
        covered, number, at = [*range(start, end)], number + persons, end
        while at < len(tokens) and tokens[at].norm in _AND:
            at += 1
        if at == end:
            break
    return covered, number, itself


def _person_at(tokens: Sequence[Token], kin: set[int], at: int) -> tuple[int, int] | None:
    """Where a person, or several, end that begin at a token, and how many they are."""
    if at < len(tokens) and tokens[at].norm in _I:
        return at + 1, 1
    if _named(tokens, at) > at:
        return _named(tokens, at), 1
    number = 0
    for index in range(at, min(at + _BESIDE + 1, len(tokens))):
        token = tokens[index]
        if index > at and tokens[index - 1].norm in _FOND and _named(tokens, index) > index:
            return _named(tokens, index), 1
        if index in kin:
            plural = token.text.lower().endswith(("s", "ren")) and not token.text.endswith("ss")
            usual = _BOTH if token.norm in _PAIRED else 0
            persons = number or (usual if plural else 1)
            return (_named(tokens, index + 1), persons) if persons else None
        if token.kind == "number":
            number = int(token.norm)
        elif token.norm == "both":
            number = _BOTH
        elif token.kind == "stop" or token.norm in common().connectives | _I | _AMONG | _TOLD:
            return None
    return None


def _named(tokens: Sequence[Token], at: int) -> int:
    """Where a name ends that begins at a token, or the same place: "Big Dave"."""
    while at < len(tokens) and tokens[at].kind == "word" and tokens[at].text.istitle():
        if tokens[at].norm in FUNCTION_WORDS | _I | _AND:
            break
        at += 1
    return at


def _bracketed(parsed: ParsedBrief) -> Iterator[Mention]:
    """A number alone in brackets, behind a group or a title: "my D&D group (4)"."""
    tokens = parsed.tokens
    for at in range(1, len(tokens) - 2):
        opened, inside, closed = tokens[at : at + 3]
        if (opened.norm, inside.kind, closed.norm) == ("(", "number", ")"):
            ends_title = "\n" not in parsed.words[: opened.start] and (
                at + 3 == len(tokens) or "\n" in parsed.words[closed.end : tokens[at + 3].end]
            )
            if tokens[at - 1].norm in _GROUPS or ends_title:
                yield _mention([at + 1], int(inside.norm))


def _beings(parsed: ParsedBrief, embed: Embed) -> Iterator[Mention]:
    """Numbers of beings that nobody owns: "three dragons", not "each has three dragons"."""
    tokens = parsed.tokens
    for at in parsed.kept:
        if tokens[at].kind != "number" or not 1 < int(tokens[at].norm) <= _MOST:
            continue
        first = at - 2 if _is_range(tokens, at) else at
        before = {token.norm for token in tokens[max(0, first - 2) : first]}
        noun = _plural_after(tokens, at)
        if noun is None or before & _OWNED:
            continue
        word = embed([tokens[noun].text.lower()])[0]
        near = [float(np.max(embed(texts) @ word)) for texts in (common().beings, common().parts)]
        if near[0] - near[1] >= BEING:
            yield _mention([*range(first, noun + 1)], int(tokens[first].norm))


def _plural_after(tokens: Sequence[Token], at: int) -> int | None:
    """The noun that a number counts: the first plural of the few words after it."""
    for index in range(at + 1, min(at + _FEW + 1, len(tokens))):
        word = tokens[index].text.lower()
        if word.endswith("s") or word in common().beings:
            return index
        if word != "-" and (tokens[index].kind != "word" or tokens[index].norm in FUNCTION_WORDS):
            return None
    return None


def _is_range(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number is the larger of two: "two to six"."""
    return at > 1 and tokens[at - 1].norm in _TILL and tokens[at - 2].kind == "number"
