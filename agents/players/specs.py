"""Which players there are, and reading `NAME[:key=value,...]`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.players.options import DAY
from agents.players.parameters import Parameter, PlayerInfo, PlayerSpecError, Setting
from agents.players.searching import SEARCHING
from agents.search.algorithms import USES, planned

__all__ = [
    "Parameter",
    "PlayerInfo",
    "PlayerSpec",
    "PlayerSpecError",
    "Setting",
    "known_players",
    "parse_spec",
]


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
    *SEARCHING,
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
                most=DAY,
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
    given = _given(info, rest)
    settings: dict[str, Setting] = {}
    for parameter in info.parameters:
        if parameter.is_used(settings):
            settings[parameter.name] = given.get(parameter.name, parameter.default)
        elif parameter.name in given and parameter.when is not None:
            other, values = parameter.when
            wanted = " or ".join(f"{other}={value}" for value in values) or f"{other} above 0"
            raise PlayerSpecError(f"{parameter.name} has no effect here; it needs {wanted}")
    _require_together(name, settings)
    return PlayerSpec(name, settings)


def _given(info: PlayerInfo, pairs: str) -> dict[str, Setting]:
    """The settings that a spec gives itself."""
    known = {parameter.name: parameter for parameter in info.parameters}
    given: dict[str, Setting] = {}
    for pair in filter(None, pairs.split(",")):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if key not in known:
            listed = ", ".join(known) or "none"
            raise PlayerSpecError(f"{info.name} has no setting {key!r}; known settings: {listed}")
        if not equals:
            raise PlayerSpecError(f"{key!r} has no value; write {key}={known[key].default}")
        if key in given:
            raise PlayerSpecError(f"{key!r} is given twice; give it once")
        given[key] = known[key].read(value)
    return given


def _require_together(name: str, settings: Mapping[str, Setting]) -> None:
    """Hold the settings of a search against each other."""
    if name not in USES:
        return
    seconds, deadline = settings.get("seconds", 0.0), settings["deadline"]
    if float(seconds) >= float(deadline):
        raise PlayerSpecError(
            f"{name}: seconds is {seconds} with deadline={deadline}; required: fewer, so that the "
            "search has ended by then"
        )
    try:
        planned(name, {key: settings[key] for key in settings.keys() & USES[name]})
    except ValueError as error:
        raise PlayerSpecError(f"{name}: {error}") from error
    if settings.get("reuse") == "yes" and settings.get("belief") not in (None, "none"):
        raise PlayerSpecError(f"{name}: reuse=yes needs belief=none, as its tree is of one state")
