"""Which players there are, and reading `NAME[:key=value,...]`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Setting: TypeAlias = int | float | str


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
        choices: Words allowed, where it is a word from a list.
    """

    name: str
    default: Setting
    meaning: str
    least: float = 0
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Setting:
        """The value that `text` stands for.

        Raises:
            PlayerSpecError: If it is no such value.
        """
        if isinstance(self.default, str):
            if self.choices and text not in self.choices:
                known = ", ".join(self.choices)
                raise PlayerSpecError(f"{self.name} is {text!r}; known values: {known}")
            return text
        kind = type(self.default)
        wanted = f"required: {'a whole' if kind is int else 'a finite'} number >= {self.least:g}"
        try:
            value = kind(text)
        except ValueError as error:
            raise PlayerSpecError(f"{self.name} is {text!r}; {wanted}") from error
        if not self.least <= value < float("inf"):
            raise PlayerSpecError(f"{self.name} is {text!r}; {wanted}")
        return value


@dataclass(frozen=True)
class PlayerInfo:
    """One kind of player.

    Attributes:
        name: Its name in a spec.
        meaning: What it does.
        parameters: Its settings.
    """

    name: str
    meaning: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class PlayerSpec:
    """A player with all its settings, defaults filled in.

    Attributes:
        name: Which kind of player.
        settings: Every parameter of that kind, by name.
    """

    name: str
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __str__(self) -> str:
        """The spec that gives this player again, with every setting."""
        pairs = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.name}:{pairs}" if pairs else self.name


_SEARCH = (
    Parameter("simulations", 1000, "Simulations a decision.", least=1),
    Parameter("rollouts", 1, "Random rollouts averaged at a new leaf.", least=1),
    Parameter("rollout_limit", 1000, "Plies after which a rollout is cut.", least=1),
    Parameter(
        "leaf",
        "rollout",
        "What a new leaf is worth: random rollouts, or the game's own value function.",
        choices=("rollout", "value"),
    ),
    Parameter("deadline", 60.0, "Seconds a decision may take before the seat forfeits.", least=0.1),
)
_EXPLORATION = "Weight of the exploration term, for returns in [0, 1]."

_PLAYERS = (
    PlayerInfo("random", "Plays a legal action drawn uniformly."),
    PlayerInfo(
        "greedy",
        "Plays the action that a heuristic scores highest; of equals one at random.",
        (
            Parameter(
                "heuristic",
                "ensemble",
                "Name of one heuristic, or 'ensemble' for the mean rank over all of them.",
            ),
        ),
    ),
    PlayerInfo(
        "uct",
        "Tree search for games in which what a player sees determines the state.",
        (Parameter("exploration", 1.0, _EXPLORATION), *_SEARCH),
    ),
    PlayerInfo(
        "ismcts",
        "Tree search over the player's information sets, for games with hidden information.",
        (
            Parameter("exploration", 0.7, _EXPLORATION),
            *_SEARCH,
            Parameter(
                "belief",
                "auto",
                "Where hidden states come from: the game's own sampler, exact enumeration, "
                "or replaying the game; auto tries them in this order; or a particle filter.",
                choices=("auto", "module", "exact", "replay", "particle"),
            ),
            Parameter(
                "determinizations",
                0,
                "Hidden states drawn for a decision and used in turn; 0 draws one a simulation.",
            ),
        ),
    ),
    PlayerInfo(
        "cfr",
        "Solves the whole game by CFR+ and plays its average policy, for games small enough to "
        "enumerate; an equilibrium is guaranteed for two-player zero-sum games only, and every "
        "decision reports the NashConv that was reached.",
        (
            Parameter("iterations", 1000, "Iterations of CFR+ over the whole game.", least=1),
            Parameter(
                "histories",
                200_000,
                "Histories to enumerate at the most; a larger game is refused.",
                least=1,
            ),
            Parameter(
                "deadline",
                60.0,
                "Seconds that enumerating the game may take, and solving it at the first decision.",
                least=0.1,
            ),
        ),
    ),
)


def known_players() -> list[PlayerInfo]:
    """Every kind of player that a spec can name."""
    return list(_PLAYERS)


def parse_spec(text: str) -> PlayerSpec:
    """Read `NAME[:key=value,...]`, filling defaults in.

    Raises:
        PlayerSpecError: Listing what is known, if a name, a key or a value is not.

    >>> str(parse_spec("greedy"))
    'greedy:heuristic=ensemble'
    """
    name, _, rest = text.strip().partition(":")
    info = next((info for info in _PLAYERS if info.name == name), None)
    if info is None:
        known = ", ".join(info.name for info in _PLAYERS)
        raise PlayerSpecError(f"there is no player {name!r}; known players: {known}")
    settings = {parameter.name: parameter.default for parameter in info.parameters}
    given: set[str] = set()
    for pair in filter(None, rest.split(",")):
        key, equals, value = (part.strip() for part in pair.partition("="))
        parameter = next((p for p in info.parameters if p.name == key), None)
        if parameter is None:
            known = ", ".join(settings) or "none"
            raise PlayerSpecError(f"{name} has no setting {key!r}; known settings: {known}")
        if not equals:
            raise PlayerSpecError(f"{key!r} has no value; write {key}={parameter.default}")
        if key in given:
            raise PlayerSpecError(f"{key!r} is given twice; give it once")
        given.add(key)
        settings[key] = parameter.read(value)
    return PlayerSpec(name, settings)
