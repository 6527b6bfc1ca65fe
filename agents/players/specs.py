"""Specs of players: `NAME[:key=value,...]`, read by the settings that a player declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from agents.search.settings import LARGEST, PlayerSettings, When
from games.text import did_you_mean
from tools.playtest.jobs import GameSetup, Setting
from tools.sandbox import Sandbox

if TYPE_CHECKING:
    from agents.players.endpoint import ModelTable

# What the sandbox of players must preload, with the lessons that heuristics are fitted to, and with
# what positions are analysed by. It stands here, as whoever opens a sandbox may seat nobody.
PRELOAD = (
    *("agents.worker.session", "agents.worker.solving"),
    *("agents.strategy.lessons", "agents.worker.analysing"),
)
_SHOWN = 40  # characters of what a person typed that an error quotes


class PlayerSpecError(ValueError):
    """A player that does not exist, is set up wrongly, or cannot play this game."""


@dataclass(frozen=True)
class Parameter:
    """One setting of a player.

    Attributes:
        name: Its key.
        default: Its value where none is given; its type is the setting's type.
        meaning: What it does, with its unit.
        least: Smallest number allowed.
        most: Largest number allowed, finite.
        choices: Words allowed, where it is a word from a list.
        when: The setting that decides whether this one is used; None where it always is.
    """

    name: str
    default: Setting
    meaning: str
    least: float = 0
    most: float = LARGEST
    choices: tuple[str, ...] = ()
    when: When | None = None

    def read(self, text: str) -> Setting:
        """The value that `text` stands for.

        Raises:
            PlayerSpecError: If it is no such value.
        """
        if isinstance(self.default, str):
            if self.choices and text not in self.choices:
                known = ", ".join(self.choices)
                near = did_you_mean(text, self.choices)
                raise PlayerSpecError(f"{self.name} is {_shown(text)}{near}; known values: {known}")
            return text
        kind = type(self.default)
        refusal = (
            f"{self.name} is {_shown(text)}; required: {'a whole' if kind is int else 'a finite'} "
            f"number >= {self.least:g} and <= {self.most:,.0f}"
        )
        try:
            value = kind(text)
        except ValueError as error:
            raise PlayerSpecError(refusal) from error
        if not self.least <= value <= self.most:
            raise PlayerSpecError(refusal)
        return value

    def is_used(self, settings: Mapping[str, Setting]) -> bool:
        """True where it has an effect beside the other settings of its player."""
        if self.when is None:
            return True
        name, values = self.when.setting, self.when.values
        if name not in settings:
            return False
        return settings[name] in values if values else float(settings[name]) > 0

    def refuse_unused(self) -> PlayerSpecError:
        """The error of a spec that gives it where it is not used."""
        other, values = (self.when.setting, self.when.values) if self.when else ("", ())
        wanted = " or ".join(f"{other}={value}" for value in values) or f"{other} above 0"
        return PlayerSpecError(f"{self.name} has no effect here; it needs {wanted}")


@dataclass(frozen=True)
class Seating:
    """The seat of a player at a table.

    Attributes:
        seat: 0-based.
        game: The game and its table, as the player is told of them.
        sandbox: Where the module and the heuristics run; it must preload what players need.
        match: Index of the match.
        host_search: Whether searches run on the host, out of the module's reach.
        models: Whom players that are models ask; None where no endpoint is open.
    """

    seat: int
    game: GameSetup
    sandbox: Sandbox
    match: int = 0
    host_search: bool = False
    models: "ModelTable | None" = None


def require_unchanged(path: str, found: str, required: str) -> None:
    """Hold the hash of a player's file against the one that its spec gives, "" for none.

    Raises:
        PlayerSpecError: If it is another.
    """
    if required not in ("", found):
        raise PlayerSpecError(
            f"{path} has changed: its hash is {found}, required: {required}; put the file back as "
            "it was, or begin anew with it as it is"
        )


def require_suited(
    path: str, about: Mapping[str, Any], game: GameSetup, *, elsewhere: bool = False
) -> None:
    """Refuse what was trained on another game: one of another name, and of another module.

    Args:
        path: The file, for the message.
        about: What it says of its training.
        game: Which is played.
        elsewhere: Whether a game of another name will do, where seats are the same.

    Raises:
        PlayerSpecError: Naming both.
    """
    seats = f"{about['num_players']} seats", f"a table of {game.num_players}"
    module = sha256(game.source.encode("utf-8", "surrogatepass")).hexdigest()
    same = game.name == about["game"] or module == about.get("source")  # a file may have moved
    given, own = about.get("varied") or [about["parameters"]], {**game.parameters}
    if about["num_players"] != game.num_players:
        trained, here = seats
    elif not elsewhere and not same:
        trained, here = f"{about['game']}", game.name
    elif not elsewhere and own not in given:
        every = sorted({name for one in (*given, own) for name in one})
        apart = [name for name in every if any(one.get(name) != own.get(name) for one in given)]
        *others, here = (
            ", ".join(f"{name}={one.get(name)}" for name in apart) for one in (*given, own)
        )
        trained = " or ".join(others)
    else:
        return
    raise PlayerSpecError(
        f"{path} was trained on {trained[:200]}, and this is {here[:200]}; train one for it, or "
        "give elsewhere=yes where the player takes it and seats are the same"
    )


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


@cache
def parameters_of(model: type[PlayerSettings]) -> tuple[Parameter, ...]:
    """The settings that a model declares, in its order.

    >>> from agents.search.alphabeta import AlphaBetaSettings
    >>> [parameter.name for parameter in parameters_of(AlphaBetaSettings)]
    ['depth', 'calls']
    """
    found = []
    for name, declared in model.model_fields.items():
        is_word = get_origin(declared.annotation) is Literal
        bounds = {
            bound: getattr(about, bound)
            for about in declared.metadata
            for bound in ("ge", "le")
            if hasattr(about, bound)
        }
        found.append(
            Parameter(
                name,
                float(declared.default) if declared.annotation is float else declared.default,
                declared.description or "",
                least=bounds.get("ge", 0),
                most=bounds.get("le", LARGEST),
                choices=get_args(declared.annotation) if is_word else (),
                when=next((about for about in declared.metadata if isinstance(about, When)), None),
            )
        )
    return tuple(found)


def given_settings(name: str, parameters: tuple[Parameter, ...], pairs: str) -> dict[str, Setting]:
    """The settings that a spec gives itself.

    Args:
        name: The player, for errors.
        parameters: Its settings.
        pairs: `key=value,...`.

    Raises:
        PlayerSpecError: Listing what is known, if a key or a value is not.
    """
    known = {parameter.name: parameter for parameter in parameters}
    given: dict[str, Setting] = {}
    for pair in filter(None, pairs.split(",")):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if key not in known:
            listed = ", ".join(known) or "none"
            near = did_you_mean(key, known)
            raise PlayerSpecError(f"{name} has no setting {key!r}{near}; known settings: {listed}")
        if not equals:
            raise PlayerSpecError(f"{key!r} has no value; write {key}={known[key].default}")
        if key in given:
            raise PlayerSpecError(f"{key!r} is given twice; give it once")
        given[key] = known[key].read(value)
    return given


def filled(parameters: tuple[Parameter, ...], given: Mapping[str, Setting]) -> dict[str, Setting]:
    """Every setting that has an effect, those not given by default.

    Raises:
        PlayerSpecError: If one is given that has none.
    """
    settings: dict[str, Setting] = {}
    for parameter in parameters:
        if parameter.is_used(settings):
            settings[parameter.name] = given.get(parameter.name, parameter.default)
        elif parameter.name in given:
            raise parameter.refuse_unused()
    return settings
