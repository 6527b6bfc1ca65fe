"""What a lexicon is made of: phrases of players' language and the settings they mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from agents.composer.patterns import RANK_NAMES, Match
from games.contract import Json

Settings: TypeAlias = Mapping[str, Json]
Meaning: TypeAlias = Callable[[Match], Settings]
Context: TypeAlias = Callable[[Settings, Sequence[Settings]], Callable[[Settings], Settings]]

Usual: TypeAlias = Callable[[int, Settings], Settings]

PLAYERS = "num_players"
TITLE = "title"


@dataclass(frozen=True)
class Phrase:
    """A way to say something, and what it sets.

    Attributes:
        pattern: In the phrase language of `agents.composer.patterns`.
        means: Settings for a match; an empty mapping where `always` says what it describes.
        denied: Settings for the same words under a negation; None where that has no setting.
        always: What the family does whatever is set; such a phrase asks for what it has anyway.
        refusal: Why this cannot be honoured, for a demand that is understood but not available.
        assumes: What is assumed where the words leave it open.
        free: Whether a negation before the phrase leaves its sense as it is (it has its own).
    """

    pattern: str
    means: Meaning = lambda _: {}
    denied: Meaning | None = None
    always: str = ""
    refusal: str = ""
    assumes: str = ""
    free: bool = False


@dataclass(frozen=True)
class Name:
    """A name or a kind of game that points to a family.

    Attributes:
        pattern: In the phrase language.
        preset: Library preset it stands for; empty for the family itself.
        kin: Said where the named game is only a relative of what is built.
        weight: Evidence for the family, in words; a name proper weighs most.
        settings: What the name implies where the brief says nothing else.
    """

    pattern: str
    preset: str = ""
    kin: str = ""
    weight: int = 20
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Lexicon:
    """One family's words.

    Attributes:
        family: Library family.
        title: How a player calls such a game.
        players: Number of players where the brief gives none.
        names: Names of games and kinds.
        hints: Words that point to the family without setting anything, with their weight.
        phrases: What can be said about such a game.
        base: Over the family's defaults, where the brief names no preset.
        context: Given the base and all that the brief says, how to understand each of its
            settings (whether a card that is "worth 13" costs or earns them).
        usual: What the values that leave something to the game come to for so many players and
            these parameters: a brief that says the same leaves them as they are.
    """

    family: str
    title: str
    players: int
    names: tuple[Name, ...]
    hints: Mapping[str, int]
    phrases: tuple[Phrase, ...]
    base: Settings = field(default_factory=dict)
    context: Context = lambda _base, _all: lambda settings: settings
    usual: Usual = lambda _players, _parameters: {}


def number(
    name: str, *patterns: str, at: int = 0, plus: int = 0, zero: Json | None = None
) -> tuple[Phrase, ...]:
    """The `at`-th captured number (plus `plus`) is the value; `zero` is it under a negation."""
    denied = None if zero is None else _constant({name: zero})
    return tuple(Phrase(p, lambda m: {name: m.numbers[at] + plus}, denied) for p in patterns)


def minus(name: str, *patterns: str, factor: int = -1) -> tuple[Phrase, ...]:
    """A captured number of points that are lost; without a number, one point a unit."""

    def means(match: Match) -> Settings:
        return {name: factor * abs(match.numbers[0] if match.numbers else 1)}

    return tuple(Phrase(p, means, _constant({name: 0})) for p in patterns)


def flag(name: str, *patterns: str, value: bool = True) -> tuple[Phrase, ...]:
    """A switch; a negation before the phrase turns it round."""
    on, off = _constant({name: value}), _constant({name: not value})
    return tuple(Phrase(p, on, off) for p in patterns)


def choice(
    name: str, value: Json, *patterns: str, denied: Json | None = None
) -> tuple[Phrase, ...]:
    """A fixed value; `denied` is the value under a negation, where there is one."""
    other = None if denied is None else _constant({name: denied})
    return tuple(Phrase(p, _constant({name: value}), other) for p in patterns)


def sets(settings: Settings, *patterns: str, denied: Settings | None = None) -> tuple[Phrase, ...]:
    """Several settings at once."""
    other = None if denied is None else _constant(denied)
    return tuple(Phrase(p, _constant(settings), other) for p in patterns)


def suit(name: str, *patterns: str, denied: Json | None = None) -> tuple[Phrase, ...]:
    """The captured suit is the value."""
    other = None if denied is None else _constant({name: denied})
    return tuple(Phrase(p, lambda m: {name: m.suits[0]}, other) for p in patterns)


def rank(name: str, *patterns: str, denied: Json | None = None) -> tuple[Phrase, ...]:
    """The captured rank is the value, as its letter."""
    other = None if denied is None else _constant({name: denied})
    return tuple(Phrase(p, lambda m: {name: m.ranks[0]}, other) for p in patterns)


def always(what: str, *patterns: str) -> tuple[Phrase, ...]:
    """Words that describe what the family does anyway."""
    return tuple(Phrase(p, always=what) for p in patterns)


def refused(why: str, *patterns: str) -> tuple[Phrase, ...]:
    """Words that are understood and cannot be honoured."""
    return tuple(Phrase(p, refusal=why) for p in patterns)


def own_negation(phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """The same phrases, whose sense a negation before them leaves as it is."""
    return tuple(replace(phrase, free=True) for phrase in phrases)


def rank_word(letter: str) -> str:
    """A rank letter as players say it.

    >>> rank_word("8"), rank_word("Q")
    ('8', 'queen')
    """
    return {v: k for k, v in RANK_NAMES.items() if k != "knave"}.get(letter, letter)


def assuming(what: str, phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """The same phrases, with what is assumed where they are honoured."""
    return tuple(replace(phrase, assumes=what) for phrase in phrases)


def _constant(settings: Settings) -> Meaning:
    return lambda _: settings
