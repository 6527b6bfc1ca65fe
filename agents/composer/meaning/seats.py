"""Number of players: a number directly tied to a word for players, or "for N", where it tells who
plays.

A number of players in a condition, or of some of the players ("skip the next two players"), tells
nothing of that.
"""

import re
from collections.abc import Iterator
from functools import cache

from agents.composer.lexicon import common, words
from agents.composer.meaning.brief import CORRECTS, Parsed
from agents.composer.meaning.suggest import Said
from games.library.settings import PLAYERS

_NO_BEFORE = re.compile(
    r"\b(?:next|last|first|other|remaining|remain|skip|skips|than|these|those|any|every|another"
    r"|if|when|whenever|until|once|unless|after|while|only|least|top|leading|between the|each time"
    r"|as soon as|tie|ties|tied|until only|out of|behind|ahead of)(?: \w+){0,2} $"
)
_NO_AFTER = re.compile(
    r" (?:or more|or fewer|swap|swaps|exchange|trade|tie|ties|tied|remain|remaining|left|are left"
    r"|stay|bid the|choose the|pick the|have the same|want the|share the|drop|draw level|finish"
    r"|behind|ahead|to go out|in a row|who)\b"
)
_ENDS = r"(?= (?:[,.;:!?()\n–]|and|with|where|on|in|but|who|that|at|using|or|to|around|if|when|as|it|please|pls)\b| [,.;:!?()\n–]|$)"
_NUMBER = r"(?P<n>\d+)"
_RANGE = rf"(?:(?:between|from) )?{_NUMBER}(?: (?:to|or|and|–|up to) \d+)?"


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """The ways to say how many play, over plain words."""
    beings = "|".join(sorted(words("beings") | {"player", "person", "human", "humans", "handed"}))
    kin = "|".join(sorted(words("kin")))
    some = f"(?:(?:{'|'.join(sorted(words('adjectives')))}) ){{0,2}}"
    groups = "|".join(common().groups)
    return tuple(
        re.compile(rf"(?<![\w']){pattern}(?![\w'])")
        for pattern in (
            rf"(?:me|myself|i|with|against) (?:and |plus |or )?(?:my |our |the )?(?P<more>\d+) "
            rf"{some}(?:{kin})",
            rf"(?:number of )?(?:players|people|seats)(?: are there| is| are)?(?: [:?|–*])* "
            rf"(?:\w+ : )?{_RANGE}(?! (?!players|people)[a-z])",
            rf"{_RANGE} {some}(?:{beings})",
            rf"{_RANGE} of (?:us|them|you)",
            rf"(?:us|we are|we re|there are|there is|seats|seat|seating) {_NUMBER}{_ENDS}",
            rf"(?:group|party|table|household|family|team|circle|club|band|crew|class|set) of "
            rf"{_RANGE}",
            rf"for (?:us |the )?{_RANGE}{_ENDS}",
            rf"(?:for|a|the|us) (?P<group>{groups})(?! of (?!us|friends|players|people))",
            r"(?P<two>heads up|head to head|duel|1 on 1|1 against 1)",
        )
    )


def seats(parsed: Parsed) -> list[Said]:
    """The numbers of players that a brief tells, the first that counts first.

    A number alone beside "no wait" or "make that" is in the place of the one before it.
    """
    found = sorted(_found(parsed), key=lambda said: said.run[0])
    kept: list[Said] = []
    for said in found:
        if not kept or said.run[0] > kept[-1].run[-1]:
            kept.append(said)
    for match in CORRECTS.finditer(parsed.words):
        before = [said for said in kept if parsed.tokens[said.run[-1]].end <= match.start()]
        after = [i for i, t in enumerate(parsed.tokens) if t.start >= match.end()][:4]
        alone = [i for i in after if parsed.tokens[i].kind == "number"][:1]
        others = {i for said in kept for i in said.run}
        if before and alone and not {*alone} & others and not parsed.content(after[: after.index(alone[0])]):
            follows = parsed.content(range(alone[0] + 1, min(alone[0] + 2, len(parsed.tokens))))
            near = parsed.tokens[before[-1].run[-1]].end >= match.start() - len("   ")
            if not follows and near:
                kept.append(Said(range(alone[0], alone[0] + 1), {PLAYERS: int(parsed.tokens[alone[0]].norm)}))
    return kept


def _found(parsed: Parsed) -> Iterator[Said]:
    text, _ = parsed.plain
    for pattern in _patterns():
        for match, run in parsed.found(pattern):
            groups = match.groupdict()
            before = re.split(r"[.;:!?\n]", text[: match.start()])[-1]
            if _NO_BEFORE.search(before) or _NO_AFTER.match(text[match.end() :]):
                continue
            if groups.get("group"):
                number = common().groups[groups["group"]]
            elif groups.get("two"):
                number = 2
            else:
                number = int(groups["more"]) + 1 if groups.get("more") else int(groups["n"])
            yield Said(run, {PLAYERS: number}, at=tuple(run))
