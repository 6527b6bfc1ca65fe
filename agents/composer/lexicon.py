"""Words of the library's families: their titles, their games' names, and arithmetic on settings.

`games/library/FAMILY/words.yaml` has `title`, `players` (the usual number), `names` (each with a
regular expression `match` over plain words, and where needed a `preset`, or `kin`: how it differs),
`base` (settings where no preset is named) and `together` (a value that is several others at once).
A family's `words.py` may define `in_context`, `usual` and `vain`. `games/library/words.yaml` has
the words that mean the same in every game.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TypeAlias, TypeVar

import yaml
from pydantic import BaseModel, JsonValue, ValidationError, model_validator

from games.library import exemplars, families, preset, presets
from games.text import read_yaml
from games.values import Json

Settings: TypeAlias = Mapping[str, Json]
InContext: TypeAlias = Callable[[Settings, Settings, Sequence[Settings]], Settings]
Usual: TypeAlias = Callable[[int, Settings], Settings]
Vain: TypeAlias = Callable[[int, Settings], str]


class WordsError(ValueError):
    """A bad `words.yaml`; the message begins with its file."""


class Name(BaseModel, frozen=True, extra="forbid"):
    """A name of a game.

    Attributes:
        match: A regular expression over plain words, numbers as digits.
        preset: Library preset it stands for; empty for the family itself.
        kin: Stated where the named game is only a relative of what is built.
    """

    match: str
    preset: str = ""
    kin: str = ""

    @model_validator(mode="after")
    def _is_expression(self) -> "Name":
        re.compile(self.match)
        return self


class Lexicon(BaseModel, frozen=True, extra="forbid"):
    """One family's words.

    Attributes:
        family: Library family.
        title: How a player calls such a game.
        players: Number of players where the brief gives none.
        names: Names of games.
        base: Settings over the family's defaults, where the brief names no preset.
        together: For a setting, values that are several others at once, with these.
        in_context: Given one of the brief's settings, the base and all that the brief says, how to
            understand it.
        usual: What the values that leave something to the game come to for so many players and
            these parameters.
        vain: Why a game of so many players and these parameters, though possible, is in vain;
            empty where it is not.
    """

    family: str
    title: str
    players: int
    names: tuple[Name, ...]
    base: dict[str, JsonValue] = {}
    together: dict[str, dict[str, tuple[str, ...]]] = {}
    in_context: InContext = lambda settings, _base, _said: settings
    usual: Usual = lambda _players, _parameters: {}
    vain: Vain = lambda _players, _parameters: ""

    @property
    def one(self) -> str:
        """The title with its article, as it is said aloud."""
        spoken = self.title.startswith(("a", "e", "i", "o", "u", "n-"))
        return f"{'an' if spoken else 'a'} {self.title}"

    def joined(self, said: Sequence[Settings]) -> list[Settings]:
        """Values said one beside the other, as the value that is both: same suit, same rank."""
        result = list(said)
        for name, wholes in self.together.items():
            values = {str(one[name]) for one in said if name in one}
            for whole, parts in wholes.items():
                if values - {whole} == set(parts):
                    result = [{**one, name: whole} if name in one else one for one in result]
        return result

    def start(self, chosen: str) -> tuple[int, dict[str, Json]]:
        """Usual seats, and settings over the defaults, of the family or of one of its presets."""
        if chosen == self.family:
            return self.players, dict(self.base)
        return preset(chosen).players, dict(preset(chosen).parameters)


class Common(BaseModel, frozen=True, extra="forbid"):
    """Words that mean the same in every family, a list a line; see `games/library/words.yaml`."""

    irregular: dict[str, str]
    typed: dict[str, str]
    kept: str
    function: str
    fillers: str
    soft: str
    negators: str
    reversers: str
    beings: str
    things: str
    kin: str
    adjectives: str
    groups: dict[str, int]
    units: str
    tens: str
    before_one: str
    after_one: str
    foreign: str
    english: str
    orders: tuple[str, ...]
    no_game: tuple[str, ...]


@cache
def common() -> Common:
    """The words of every game.

    Raises:
        WordsError: Naming the file and the bad entry.
    """
    name = "games/library/words.yaml"
    text = (files("games.library") / "words.yaml").read_text(encoding="utf-8")
    return _read(name, text, Common)


@cache
def word_list(name: str) -> frozenset[str]:
    """A list of the words of every game, as a set."""
    return frozenset(getattr(common(), name).split())


@cache
def lexicons() -> tuple[Lexicon, ...]:
    """The lexicons, in the order of the library's families; one without words has none."""
    return tuple(lexicon_of(family) for family in families() if family in exemplars())


@cache
def lexicon_of(family: str) -> Lexicon:
    """The words of one family.

    Raises:
        WordsError: If they cannot be read.
    """
    folder = files("games.library") / family
    own = (folder / "words.py").is_file()
    hooks = vars(import_module(f"games.library.{family}.words")) if own else {}
    text = (folder / "words.yaml").read_text(encoding="utf-8")
    return read_lexicon(family, text, hooks)


def read_lexicon(family: str, text: str, hooks: Mapping[str, object] | None = None) -> Lexicon:
    """Read one family's words.

    Args:
        family: The library family.
        text: Of its `words.yaml`.
        hooks: What its `words.py` defines.

    Raises:
        WordsError: Naming the file and the bad entry.
    """
    name = f"games/library/{family}/words.yaml"
    known = {hook: own for hook, own in (hooks or {}).items() if hook in Lexicon.model_fields}
    lexicon = _read(name, text, Lexicon, family=family, **known)
    for one in lexicon.names:
        if one.preset and (one.preset not in presets() or preset(one.preset).family != family):
            raise WordsError(f"{name}: {family} has no preset {one.preset!r}")
    return lexicon


P = TypeVar("P", bound=BaseModel)


def _read(name: str, text: str, page: type[P], **more: object) -> P:
    try:
        return page.model_validate({**read_yaml(text), **more})
    except (yaml.YAMLError, TypeError, ValidationError, re.error) as error:
        raise WordsError(f"{name}: {error}; mend it") from error
