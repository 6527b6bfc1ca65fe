"""Reader of what shall stay: the settings of a game that a person's words name."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from agents.composer.lexicon import lexicon_of, word_list
from agents.composer.meaning.tokens import tokenise
from agents.composer.reader import read
from games.library import exemplars
from games.library.settings import PLAYERS, GameParameter

_FEW = 3  # a word of more than one in so many settings names none of them
_APART = re.compile(r"[.;,\n]+|\band\b")


@dataclass(frozen=True)
class Keeping:
    """The settings that words name.

    Attributes:
        held: Setting -> the words that name it.
        unread: Words that name none.
    """

    held: dict[str, str]
    unread: tuple[str, ...]


def kept_settings(words: str, family: str, fields: Mapping[str, GameParameter]) -> Keeping:
    """The settings that stay, as a person says it: by their names, meanings, or values.

    Args:
        words: The person's.
        family: The library family; empty for none, whose words are not known.
        fields: The game's declarations by name.

    Raises:
        RoleError: If the words cannot be read.
    """
    held: dict[str, str] = {}
    unread: list[str] = []
    about = {name: _content(f"{_spoken(name)} {one.meaning}") for name, one in fields.items()}
    often = Counter(word for of in about.values() for word in of)
    plain = {w for w, count in often.items() if len(fields) > _FEW and count * _FEW > len(fields)}
    for part in filter(None, map(str.strip, _APART.split(words))):
        said, spoken = _content(part) - plain, {token.plain for token in tokenise(part)}
        named = {name for name in fields if {*_spoken(name).split()} <= spoken}
        if family in exemplars():
            asked = read(part, lexicon_of(family))
            named |= asked.asked.keys() | ({PLAYERS} if asked.seated else set())
        if not named:
            most = max((len(said & of) for of in about.values()), default=0)
            named = {name for name, of in about.items() if most and len(said & of) == most}
        held |= {name: part for name in sorted(named) if name not in held}
        unread += [] if named or not _content(part) else [part]
    return Keeping(held, tuple(unread))


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _content(text: str) -> set[str]:
    empty = word_list("function") | word_list("fillers")
    return {t.norm for t in tokenise(text) if t.kind == "word" and t.norm not in empty}
