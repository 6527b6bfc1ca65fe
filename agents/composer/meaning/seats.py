"""Number of players: a number tied to a word for players, or "for N", where it tells who plays.

A number of players in a condition, or of some of the players ("skip the next two players"), tells
nothing of that.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from agents.composer.lexicon import common, word_list
from agents.composer.meaning.brief import CORRECTS, Parsed
from agents.composer.meaning.suggest import Stated
from games.library.settings import PLAYERS

_NO_BEFORE = re.compile(
    r"\b(?:next|last|first|other|remaining|remain|skips?|than|these|those|any|every|another"
    r"|if|when|whenever|until|once|unless|after|while|only|least|top|leading|each time"
    r"|as soon as|ties?|tied|out of|behind|ahead of)(?: \w+){0,2} $"
)
_NO_AFTER = re.compile(
    r" (?:or more|or fewer|swaps?|exchange|trade|ties?|tied|remain|remaining|left|are left"
    r"|stay|bid the|choose the|pick the|have the same|want the|share the|drop|draw level|finish"
    r"|behind|ahead|to go out|in a row|who)\b"
)
_END = (
    r"(?= (?:and|with|where|on|in|but|who|that|at|using|or|to|around|if|when|as|it|please|pls)\b"
    r"| [,.;:!?()\n–]|$)"
)
_N = r"(?P<n>\d+)"
_RANGE = rf"(?:(?:between|from) )?{_N}(?: (?:to|or|and|–|up to) \d+)?"
_MY = r"(?:and |plus |or )?(?:my |our |the )?"
_KEY = r"(?:number of )?(?:players|people|seats|group)(?: are there| is| are)?"
_TABLE = "groups?|party|tables?|household|family|teams?|circle|club|band|crew"
_PLAY = "of us|of you|of them at the table|can play|may play|can join|play|at the table|per table"
_ARE = "us|we are|we re|there are|there is|seats|seat|seating|play with"


@cache
def _patterns() -> tuple[str, ...]:
    """The ways to say how many play, over plain words."""
    kin, beings, things = (
        "|".join(sorted(word_list(name) | more))
        for name, more in (
            ("kin", set()),
            ("beings", {"player", "person", "human", "humans", "handed"}),
            ("things", {"of", "more", "or"}),
        )
    )
    some = f"(?:(?:{'|'.join(sorted(word_list('adjectives')))}) ){{0,2}}"
    return (
        rf"(?:me|myself|i|with|against) {_MY}(?P<more>\d+) {some}(?:{kin})",
        rf"(?P<more>\d+) {some}(?:{kin}) and (?:me|i|myself)",
        r"(?P<times>\d+) (?:couples|pairs|teams of 2)",
        rf"{_KEY}(?: [:?|–\n])* (?:\w [.:] )?{_RANGE}(?! (?!players|people|to|or)[a-z])",
        rf"how many(?: \w+){{0,5}} \? (?:[–\n] )*(?:\w+ [.:] )?{_RANGE}(?= [.,;!\n]|$)",
        rf"{_RANGE} {some}(?:{beings})",
        rf"{_RANGE} (?:{_PLAY})",
        rf"(?:{_ARE}) {_N}{_END}",
        rf"(?:{_TABLE}) of {_RANGE}(?! year)",
        rf"for (?:us |the )?{_RANGE}{_END}",
        rf"for (?:us |the )?{_N} {some}(?!(?:{things})\b)[a-z]+s",
        rf"for (?:a |the )?(?P<group>{'|'.join(common().groups)})(?! of (?!us|friends|players))",
        r"(?:heads up|head to head|duel|1 on 1|1 against 1|1 vs? 1)",
    )


def seats(parsed: Parsed) -> list[Stated]:
    """The numbers of players that a brief tells, in its order."""
    kept: list[Stated] = []
    for said in sorted(_found(parsed), key=lambda said: (said.run[0], -len(said.run))):
        if not kept or said.run[0] > kept[-1].run[-1]:
            kept.append(said)
    return [*kept, *_corrected(parsed, kept)]


def _found(parsed: Parsed) -> Iterator[Stated]:
    text, _ = parsed.plain
    for pattern in _patterns():
        for match, run in parsed.found(pattern):
            before = re.split(r"[.;:!?\n]", text[: match.start()])[-1]
            number = _counted(match.groupdict())
            partial = _NO_BEFORE.search(before) or _NO_AFTER.match(text[match.end() :])
            if number > 1 and not partial:
                yield Stated(run, {PLAYERS: number}, at=tuple(run))


def _counted(groups: Mapping[str, str | None]) -> int:
    """The number that a pattern's groups come to; two where it has none."""
    if group := groups.get("group"):
        return common().groups[group]
    more, times = groups.get("more"), groups.get("times")
    return int(more) + 1 if more else 2 * int(times) if times else int(groups.get("n") or 2)


def _corrected(parsed: Parsed, kept: list[Stated]) -> Iterator[Stated]:
    """A number alone right after "no wait" or "make that" stands for the seats right before it."""
    for match in CORRECTS.finditer(parsed.words):
        back = parsed.inside(*match.span())
        before = [said for said in kept if back and said.run[-1] in range(back[0] - 2, back[0])]
        after = parsed.tokens[back.stop :] if before else ()
        number = next((i for i, token in enumerate(after) if token.kind != "stop"), len(after))
        alone = len(after) == number + 1 or (
            number + 1 < len(after) and after[number + 1].kind == "stop"
        )
        if alone and after[number].kind == "number":
            at = back.stop + number
            yield Stated(range(at, at + 1), {PLAYERS: int(after[number].norm)}, at=(at,))
