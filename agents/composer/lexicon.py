"""Lexicons: what players say about a family of games, and the settings it means."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from pydantic import BaseModel, JsonValue

from agents.composer.patterns import Capture
from games.library import read_game, source
from games.text import did_you_mean
from games.values import Json

Settings: TypeAlias = Mapping[str, Json]
Reads: TypeAlias = Callable[[Sequence[int]], Settings]
InContext: TypeAlias = Callable[[Settings, Settings, Sequence[Settings]], Settings]
Usual: TypeAlias = Callable[[int, Settings], Settings]
Vain: TypeAlias = Callable[[int, Settings], str]

PLAYERS = "num_players"

_PACKS = {13: "standard", 8: "short", 6: "tiny"}
_ORDER = "23456789TJQKA"
_MOST = 20  # of one size


def _from_lowest(match: Capture) -> int:
    """The number of ranks in a pack whose lowest is captured: nine for "from the six up"."""
    return len(_ORDER) - min(map(_ORDER.find, match.ranks))


def _by_counts(match: Capture) -> str:
    """So many of one size, so many of the next: "1 of 4, 2 of 3" is 4,3,3."""
    pairs = zip(match.numbers[::2], match.numbers[1::2], strict=False)
    sizes = [size for count, size in pairs for _ in range(min(count, _MOST))]
    return ",".join(map(str, sorted(sizes, reverse=True)))


def _pack(ranks: int) -> Json:
    return _PACKS.get(ranks, f"{ranks} ranks")


_HOLES: Mapping[str, Callable[[Capture], Json]] = {
    "<n>": lambda match: match.numbers[0],
    "<n2>": lambda match: match.numbers[1],
    "<last>": lambda match: match.numbers[-1],
    "<n+1>": lambda match: match.numbers[0] + 1,
    "<loss>": lambda match: -abs(match.numbers[0] if match.numbers else 1),
    "<all>": lambda match: ",".join(map(str, match.numbers)),
    "<counts>": _by_counts,
    "<rank>": lambda match: match.ranks[0],
    "<suit>": lambda match: match.suits[0],
    "<listed>": lambda match: len(set(match.ranks)),
    "<from>": _from_lowest,
    "<above>": lambda match: _from_lowest(match) - 1,
    "<pack from>": lambda match: _pack(_from_lowest(match)),
    "<pack above>": lambda match: _pack(_from_lowest(match) - 1),
}
HOLES = frozenset(_HOLES)
"""What the value of a setting may take from the match: a number, numbers with commas, a rank ..."""
_HOLE = re.compile(r"<[^<>]*>")


@dataclass(frozen=True)
class Phrase:
    """A way to say something, and what it sets.

    Attributes:
        pattern: In the phrase language of `agents.composer.patterns`, expanded.
        sets: Settings; a value may take what the match captured (`HOLES`).
        denied: Settings for the same words under a negation; None where that has no setting.
        always: What the family does whatever is set; such a phrase asks for what it has anyway.
        unless: Settings with each of which `always` is not so.
        refused: Why this cannot be honoured, for a demand that is understood but not available.
        assumes: What is assumed where the words leave it open.
        own_negation: Whether a negation before the phrase leaves its sense as it is.
        reads: Settings of the captured numbers, in place of `sets`.
        alike: The setting that takes the value where all of `sets` come to the same one.
    """

    pattern: str
    sets: Settings = field(default_factory=dict)
    denied: Settings | None = None
    always: str = ""
    unless: Settings = field(default_factory=dict)
    refused: str = ""
    assumes: str = ""
    own_negation: bool = False
    reads: Reads | None = None
    alike: str = ""

    def means(self, match: Capture) -> Settings:
        """The settings for a match."""
        if self.reads is not None:
            return self.reads(match.numbers)
        settings = {name: _filled(value, match) for name, value in self.sets.items()}
        values = list(settings.values())
        if self.alike and all(value == values[0] for value in values):
            return {self.alike: values[0]}
        return settings


def _filled(value: Json, match: Capture) -> Json:
    if not isinstance(value, str) or "<" not in value:
        return value
    if value in _HOLES:
        return _HOLES[value](match)
    return _HOLE.sub(lambda hole: str(_HOLES[hole[0]](match)), value)


@dataclass(frozen=True)
class Name:
    """A name or a kind of game that points to a family.

    Attributes:
        pattern: In the phrase language, expanded.
        preset: Library preset it stands for; empty for the family itself.
        kin: Said where the named game is only a relative of what is built.
        weight: Evidence for the family, in words; a name proper weighs most.
        sets: What the name implies where the brief says nothing else.
    """

    pattern: str
    preset: str = ""
    kin: str = ""
    weight: int = 20
    sets: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Lexicon:
    """One family's words.

    Attributes:
        family: Library family.
        title: How a player calls such a game.
        players: Number of players where the brief gives none.
        about: What such a game is, as its players would describe it.
        says: For a setting and each of its values (as in YAML, or of `HOLES`), statements of it.
        names: Names of games and kinds.
        hints: Words that point to the family without setting anything, with their weight.
        phrases: What can be said about such a game.
        together: For a setting, values that are several others at once, with these.
        base: Over the family's defaults, where the brief names no preset.
        places: Settings that the words name, each with its place ("file:line").
        in_context: Given one of the brief's settings, the base and all that the brief says, how to
            understand it (whether a card that is "worth 13" costs or earns them).
        usual: What the values that leave something to the game come to for so many players and
            these parameters: a brief that says the same leaves them as they are.
        vain: Why a game of so many players and these parameters, though possible, is in vain;
            empty where it is not.
    """

    family: str
    title: str
    players: int
    about: tuple[str, ...]
    names: tuple[Name, ...]
    hints: Mapping[str, int]
    phrases: tuple[Phrase, ...]
    says: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    together: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    base: Settings = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    in_context: InContext = lambda settings, _base, _said: settings
    usual: Usual = lambda _players, _parameters: {}
    vain: Vain = lambda _players, _parameters: ""

    @property
    def one(self) -> str:
        """The title with its article, as it is said aloud."""
        spoken = self.title.startswith(("a", "e", "i", "o", "u", "n-"))
        return f"{'an' if spoken else 'a'} {self.title}"

    def joined(self, meanings: Sequence[Settings | None]) -> list[Settings | None]:
        """Values said one beside the other, as the value that is both: same suit, same rank."""
        result = list(meanings)
        for name, wholes in self.together.items():
            said = {str(meaning[name]) for meaning in meanings if meaning and name in meaning}
            for whole, parts in wholes.items():
                if said - {whole} == set(parts):
                    result = [m and {**m, name: whole} if m and name in m else m for m in result]
        return result


@dataclass(frozen=True)
class Common:
    """Words that mean the same in every family.

    Attributes:
        fillers: Stems that ask for nothing when they stand alone.
        soft: Stems of every game: they ask for nothing beside a phrase that was understood.
        negators: Stems that deny.
        removers: Stems that take something out of the game.
        conditions: Stems that begin a condition.
        connectives: Stems that begin a new clause.
        kin: Stems of words for somebody whom the writer knows.
        player_counts: How many play.
        player_ranges: How many may play: a game is built for one number.
        refusals: What no game of the library has.
        talk: Talk around the game.
        replaced: Phrases before what is replaced.
        themes: Phrases before a theme.
        orders: Orders to the program.
        no_game: Requests for something that is no game.
        other_games: Games that the library does not have.
        says: Statements of seats, as `Lexicon.says` has them of settings.
        beings: Words for those who may play, by which the embeddings tell others.
        parts: Words for what a game is made of, likewise.
        kinds: Kinds of games that no family makes, described.
    """

    fillers: frozenset[str]
    soft: frozenset[str]
    negators: frozenset[str]
    removers: frozenset[str]
    conditions: frozenset[str]
    connectives: frozenset[str]
    kin: frozenset[str]
    player_counts: tuple[Phrase, ...]
    player_ranges: tuple[Phrase, ...]
    refusals: tuple[Phrase, ...]
    talk: tuple[Phrase, ...]
    replaced: tuple[str, ...]
    themes: tuple[str, ...]
    orders: tuple[str, ...]
    no_game: tuple[str, ...]
    other_games: tuple[str, ...]
    says: Mapping[str, Mapping[str, tuple[str, ...]]]
    beings: tuple[str, ...]
    parts: tuple[str, ...]
    kinds: Mapping[str, str]


class GameParameter(BaseModel, frozen=True):
    """A game's declaration of one parameter."""

    default: JsonValue
    meaning: str = ""
    choices: list[JsonValue] | None = None
    range: tuple[int, int] | None = None

    def objection(self, name: str, value: Json) -> str:
        """Why the parameter of this name cannot be this value; empty where it can."""
        if self.choices is not None:
            if any(value == item and type(value) is type(item) for item in self.choices):
                return ""
            known = [value_text(item) for item in self.choices]
            said = f"{name} can be {', '.join(known)}; not {value_text(value)}"
            return said + did_you_mean(value, known)
        if self.range is not None:
            least, most = self.range
            if type(value) is not int or not least <= value <= most:
                return f"{name} can be {least} to {most}; not {value_text(value)}"
        return ""


def value_text(value: Json) -> str:
    """A value of a setting as a person writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class GameCard(BaseModel, frozen=True):
    """The part of a family's `GAME` that the words need."""

    min_players: int
    max_players: int
    parameters: dict[str, GameParameter] = {}

    def defaults(self) -> dict[str, Json]:
        """The effective parameters of a game that is started without any."""
        return {name: field.default for name, field in self.parameters.items()}


@cache
def game_of(family: str) -> GameCard:
    """The family's `GAME`, read once."""
    return GameCard.model_validate(read_game(source(family)))
