"""Persons by name, kin or kind: who a brief lists, and whether those play.

"Me, jo and both our boys" is four. A list counts where the writer is one of it, the game is for it,
or it plays; "all of us" stands for everybody whom the brief told of before.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.composer.loader import common
from agents.composer.meaning.statements import Embed
from agents.composer.mentions import ParsedBrief, is_filler
from agents.composer.tokens import FUNCTION_WORDS, Token, stem, stems, word_set

BEING = 0.03
"""Least lead of a word's nearness to beings over its nearness to parts of a game."""
PLAY = stems("play attend participate compete")
OWNERS = word_set("my our your his her their")
_SOMEBODY = 0.1  # the same lead, for a single being that no number counts
_I = word_set("me myself i")
_AND = word_set(", and plus with n + &")
_THERE = stems("there is")  # "there's Bo, there's Cy and there's me"
_AMONG = stems("for with between against")
_FOND = stems("little big old young dear our")
_USUAL = {"twin": 2, "parent": 2, "grandparent": 2, "triplet": 3}
_COUPLE, _PAIR = stem("couple"), stem("pair")
_BESIDE = 3  # words before a relative: "my two little"
_TOLD = word_set("you he she they")  # who did what: "you asked how Father played"
_WISHING = FUNCTION_WORDS | stems("all both always often want like love together")
_WANTING = PLAY | stems("want like love would will can")
_PREPOSITIONS = word_set("on in at to from of about after")
_SOON = 4  # words from a list to what its persons do
_BACK = (("all", "of", "us"), ("we", "all"), ("we", "would", "all"), ("with", "them"))
"""Words that stand for everybody whom a brief told of before."""
_HEARTY = stems("dear hi hello hey")


@dataclass(frozen=True)
class Persons:
    """Persons that stand together in a brief.

    Attributes:
        covered: Their tokens.
        number: How many they are.
        plays: Whether the words beside them say that they play.
    """

    covered: tuple[int, ...]
    number: int
    plays: bool = False


@dataclass
class Company:
    """The persons of a brief.

    Attributes:
        parsed: The brief.
        unknown: Whether a token is a word that talk of games does not know; it may be a name.
        embed: How words become vectors; None: nobody is known by meaning.
    """

    parsed: ParsedBrief
    unknown: Callable[[int], bool]
    embed: Embed | None
    kin: set[int] = field(init=False)

    def __post_init__(self) -> None:
        tokens = enumerate(self.parsed.tokens)
        self.kin = {i for i, t in tokens if t.norm in common().kin and "'" not in t.text}

    def everybody(self) -> list[Persons]:
        """Who may be all that play, the surest first."""
        return [*self.together(), *self.listed()]

    def listed(self) -> list[Persons]:
        """Lists of which the writer is one, for whom the game is, or who play: those first."""
        tokens, start, found = self.parsed.tokens, 0, list[Persons]()
        while start < len(tokens):
            start = self._greeted(start)
            covered, number, itself = self._list_at(start)
            end = covered[-1] + 1 if covered else start + 1
            before = tokens[start - 1].norm if start else ""
            number += before == "with" and number > 1 and not itself  # who writes plays with them
            plays = bool(covered) and plays_after(tokens, end)
            past = [token.norm for token in tokens[end : end + 2]] == ["use", "to"]
            if plays:
                others, more = self._beside(end)
                covered, number = covered + others, number + more
            if number > 1 and (itself or plays or before in ("for", "with")):
                found.append(Persons(tuple(covered), number, plays and not past))
            start = covered[-1] + 1 if covered else start + 1
        return sorted(found, key=lambda one: not one.plays)

    def _beside(self, end: int) -> tuple[list[int], int]:
        """The list with whom those play whose words end here: "play hearts with our sons"."""
        tokens = self.parsed.tokens
        while end < len(tokens) and tokens[end].kind != "stop" and tokens[end].norm != "with":
            end += 1
        return self._list_at(end + 1)[:2]

    def together(self) -> Iterator[Persons]:
        """Everybody told of before "all of us", or before "I play with them"."""
        tokens = self.parsed.tokens
        for at in range(len(tokens)):
            words = tuple(token.norm for token in tokens[at : at + 3])
            back = next((one for one in _BACK if words[: len(one)] == one), ())
            end = at + len(back)
            if not back or not (plays_after(tokens, end) or plays_before(tokens, at)):
                continue
            covered, number, start = [*range(at, end)], 1, 0  # one is the writer
            while (start := self._greeted(start)) < at:
                item = None if self._strays(start) else self._person_at(start)
                if item and item[0] <= at:
                    number += item[1] if tokens[item[0] - 1].norm not in _I else 0
                    covered += range(start, item[0])
                start = item[0] if item else start + 1
            if number > 1 + 1:
                yield Persons(tuple(sorted({*covered})), number, plays=True)

    def _strays(self, at: int) -> bool:
        """True for a name that may be no person's: "on Wednesdays", "Crazy Eights"."""
        tokens, end = self.parsed.tokens, name_end(self.parsed.tokens, at)
        beside = {token.norm for token in (*tokens[max(0, at - 1) : at], *tokens[end : end + 1])}
        return end > at and (not beside & _AND or tokens[at - 1].norm in _PREPOSITIONS)

    def _list_at(self, start: int) -> tuple[list[int], int, bool]:
        """The tokens of a list that begins at a token, its number of persons, and if "I" am one."""
        tokens, covered = self.parsed.tokens, list[int]()
        number, itself, at, until = 0, False, start, self._names_until(start)
        while (item := self._person_at(at, until)) is not None:
            end, persons = item
            itself = itself or tokens[end - 1].norm in _I
            covered, number, at = [*range(start, end)], number + persons, end
            while at < len(tokens) and tokens[at].norm in _AND | _THERE:
                at += 1
            if at == end and tokens[end - 1].norm != "you":  # "you me and kev"
                break
        return covered, number, itself

    def _names_until(self, start: int) -> int:
        """Where a list of the writer and others ends, in which unknown words are names; or 0.

        Its last is joined by "and", and it has no known word, or wants something: "me, jo and bas
        want it", but not "for me, pls".
        """
        tokens, end, joint = self.parsed.tokens, start, 0
        while end < len(tokens) and (
            tokens[end].norm in _AND | _I | _FOND | {"you"}
            or (tokens[end].kind == "word" and not is_filler(tokens[end]))
        ):
            joint = end if tokens[end].norm == "and" else joint
            end += 1
        end = next((i for i in range(joint + 1, end) if tokens[i].norm in _AND), end)
        known = [i for i in range(start, end) if tokens[i].norm not in _AND | _I | _FOND | {"you"}]
        known = [i for i in known if not self.unknown(i)]
        wants = end < len(tokens) and tokens[end].norm in _WANTING
        itself = any(token.norm in _I for token in tokens[start:end])
        return end if itself and start < joint < end - 1 and (wants or not known) else 0

    def _greeted(self, at: int) -> int:
        """Where a letter's opening ends that begins at a token, or the same place: "Dear Sir"."""
        tokens = self.parsed.tokens
        opens = at < len(tokens) and (at == 0 or tokens[at - 1].kind == "stop")
        if not opens or tokens[at].norm not in _HEARTY or name_end(tokens, at + 1) == at + 1:
            return at
        end = name_end(tokens, at + 1)
        rest = range(end, min(end + _SOON, len(tokens)))
        comma = next((i for i in rest if tokens[i].norm in {",", *_I}), end)
        return end if tokens[comma].norm in _I else comma

    def _person_at(self, at: int, until: int = 0) -> tuple[int, int] | None:
        """Where a person, or several, end that begin at a token, and how many they are."""
        tokens = self.parsed.tokens
        if at < len(tokens) and (tokens[at].norm in _I or _pronoun(tokens, at)):
            return at + 1, 1
        if name_end(tokens, at) > at and not self._is_heading(at):
            return name_end(tokens, at), 1
        if (end := self._unknown_run(at, until)) > at:
            return end, 1
        number = 0
        for index in range(at, min(at + _BESIDE + 1, len(tokens))):
            token = tokens[index]
            if found := self._kind_at(at, index, number):
                return found
            if token.kind == "number":
                number = int(token.norm)
            elif token.norm == "both":
                number = 2
            elif token.kind == "stop" or token.norm in common().connectives | _I | _AMONG | _TOLD:
                return None
        return None

    def _is_heading(self, at: int) -> bool:
        """True where a known word has its capital as a sentence begins: "Hearts, and my ..."."""
        before = self.parsed.tokens[at - 1] if at else None
        opens = before is None or (before.kind == "stop" and before.norm != ",")
        return opens and not self.unknown(at)

    def _kind_at(self, at: int, index: int, number: int) -> tuple[int, int] | None:
        """Where persons end whose last word or whose number is a token, and how many they are."""
        tokens = self.parsed.tokens
        if index > at and tokens[index - 1].norm in _FOND and name_end(tokens, index) > index:
            return name_end(tokens, index), 1
        if end := self._coupled(index):
            return end, 2 * (number or 1)
        if index in self.kin or tokens[index].norm in _USUAL:
            return self._counted(index, number)
        if index > at and tokens[index - 1].norm in OWNERS and self._somebody(tokens[index]):
            return index + 1, 1
        joined = at > 0 and tokens[at - 1].norm == "and" and _counts(tokens[index])
        of_us = [token.norm for token in tokens[index + 1 : index + 3]] == ["of", "us"]
        return (index + 3, int(tokens[index].norm)) if joined and of_us else None

    def _coupled(self, index: int) -> int:
        """Where a couple, or a pair of friends, ends that is a word; 0 where it is none."""
        tokens = self.parsed.tokens
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        if tokens[index].norm == _PAIR and after is not None and after.norm == "of":
            return index + 3 if index + 2 in self.kin else 0
        ends = after is None or after.kind == "stop" or after.norm in _WISHING | _AND | PLAY
        return index + 1 if tokens[index].norm == _COUPLE and ends else 0

    def _counted(self, index: int, number: int) -> tuple[int, int] | None:
        """Where kin end whom a number, or their names, count, and how many they are."""
        token = self.parsed.tokens[index]
        plural = token.text.lower().endswith(("s", "ren")) and not token.text.endswith("ss")
        names = name_end(self.parsed.tokens, index + 1)
        usual = _USUAL.get(token.norm, 0) if plural else 1
        persons = number or usual or int(names > index + 1)
        return (names, persons) if persons else None

    def _unknown_run(self, at: int, until: int) -> int:
        """Where a name in small letters ends, in a list that ends at `until`."""
        while at < until and self.parsed.tokens[at].norm not in _AND | _I and at not in self.kin:
            at += 1
        return at

    def _somebody(self, token: Token) -> bool:
        return token.kind == "word" and self.leads(token.text) >= _SOMEBODY

    def leads(self, word: str) -> float:
        """The amount by which a word is nearer to beings than to parts of a game."""
        return nearness(word, common().beings, self.embed)


def nearness(word: str, kind: Sequence[str], embed: Embed | None) -> float:
    """The amount by which a word is nearer to a kind than to parts of a game."""
    if embed is None:
        return -1.0
    vector = embed([word.lower()])[0]
    kinds, parts = (float(np.max(embed(texts) @ vector)) for texts in (kind, common().parts))
    return kinds - parts


def name_end(tokens: Sequence[Token], at: int) -> int:
    """Where a name ends that begins at a token, or the same place: "Big Dave"."""
    while at < len(tokens) and tokens[at].kind == "word" and tokens[at].text.istitle():
        if tokens[at].norm in FUNCTION_WORDS | common().fillers | _I | _AND:
            break
        at += 1
    return at


def _counts(token: Token) -> bool:
    return token.kind == "number" and int(token.norm) > 0


def _pronoun(tokens: Sequence[Token], at: int) -> bool:
    """True where "he", "she" or "you" is one of a list, as in "he, his granddad and I"."""
    after = tokens[at + 1].norm if at + 1 < len(tokens) else ""
    if tokens[at].norm == "you":
        return after in {",", "and"} | _I or (at > 1 and tokens[at - 2].norm in _I)
    return tokens[at].norm in ("he", "she") and after in (",", "and")


def plays_after(tokens: Sequence[Token], end: int) -> bool:
    """True where the words after some persons say that they play, or want to."""
    for token in tokens[end : end + _SOON + 1]:
        if token.norm in PLAY:
            return True
        if token.norm not in _WISHING:
            return False
    return False


def plays_before(tokens: Sequence[Token], at: int) -> bool:
    """True where somebody plays in the same sentence before a token."""
    first = at
    while first > 0 and (tokens[first - 1].kind != "stop" or tokens[first - 1].norm == ","):
        first -= 1
    return any(token.norm in PLAY for token in tokens[first:at])
