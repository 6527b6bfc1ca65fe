"""Adapter: a game of OpenSpiel as an environment. `pyspiel` is an extra, imported when needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from types import ModuleType

from games.environments import EnvironmentNotFoundError
from games.environments.openspiel import Encoding, Native
from games.environments.openspiel.boards import BOARDS
from games.environments.openspiel.cards import CARDS
from games.environments.openspiel.plain import plain_game, plain_rules
from games.table import Position
from games.values import CHANCE, Action, Json

_EXPLORATION = 2.0  # of UCT, for returns as the game pays them
_MEMORY_MB = 200
_PAIR = 2

ENCODINGS: Mapping[str, Encoding] = {**BOARDS, **CARDS}


@dataclass(frozen=True)
class NativePosition(Position):
    """A position that carries OpenSpiel's own state, which its JSON need not restore.

    Attributes:
        native: The `pyspiel.State`; not to be changed.
        numbers: OpenSpiel's number of each legal action.
    """

    native: Native = field(repr=False, compare=False)
    numbers: Mapping[Action, int] = field(repr=False, compare=False)


@dataclass(frozen=True)
class OpenSpielEnvironment:
    """One game of OpenSpiel; see `Environment`."""

    name: str
    num_players: int
    parameters: Mapping[str, Json]
    rules: str
    game: Native = field(repr=False)
    encoding: Encoding = field(repr=False)

    @property
    def versions(self) -> Mapping[str, str]:
        """See `Environment.versions`."""
        return {"open_spiel": version("open_spiel")}

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        if num_players != self.num_players or dict(parameters) != dict(self.parameters):
            raise EnvironmentNotFoundError(
                f"{self.name} is played by {self.num_players} with its own parameters"
            )
        return self._position(self.game.new_initial_state())

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        if not isinstance(position, NativePosition):
            raise TypeError("required: a position that this environment gave")
        native = position.native.clone()
        native.apply_action(position.numbers[action])
        return self._position(native)

    def best(self, position: Position, simulations: int, seed: int) -> Action | None:
        """See `SearchableEnvironment.best`: OpenSpiel's UCT with one random rollout a leaf."""
        if not isinstance(position, NativePosition):
            return None
        spiel = _pyspiel()
        found = spiel.MCTSBot(
            self.game,
            spiel.RandomRolloutEvaluator(1, seed),
            _EXPLORATION,
            simulations,
            _MEMORY_MB,
            solve=True,
            seed=seed,
            verbose=False,
        ).step(position.native)
        return next(action for action, number in position.numbers.items() if number == found)

    def _position(self, native: Native) -> NativePosition:
        player = native.current_player()
        chances = dict(native.chance_outcomes()) if player == CHANCE else {}
        actions = [] if native.is_terminal() else [*chances] or native.legal_actions()
        numbers = self.encoding.numbered(native, actions)
        if len(numbers) != len(actions):
            raise ValueError(f"{self.name}: two legal actions have one name: {sorted(numbers)}")
        state, observations = self.encoding.view(native)
        return NativePosition(
            state=state,
            player=player,
            legal=tuple(numbers),
            probabilities=tuple(chances.values()),
            rewards=tuple(native.rewards()),
            observations=tuple(observations),
            events=((),) * self.num_players,
            native=native,
            numbers=numbers,
        )


def of_openspiel(name: str, rules: str) -> OpenSpielEnvironment:
    """The environment of a game of OpenSpiel.

    Args:
        name: One of `ENCODINGS`, or any other of OpenSpiel's; with parameters as OpenSpiel writes
            them, `NAME(key=value,...)`.
        rules: Its rulebook; "" for what OpenSpiel tells of it.

    Raises:
        EnvironmentNotFoundError: If the extra is missing, there is no such game, or the parameters
            are none of its own.
    """
    plain, opens, given = name.partition("(")
    if plain not in ENCODINGS:
        return _of_any(name)
    encoding = ENCODINGS[plain]
    pairs = [pair.split("=") for pair in given.removesuffix(")").split(",") if opens]
    known = f"openspiel:{plain} takes {', '.join(encoding.free) or 'no parameters'}"
    if (opens and not given.endswith(")")) or any(
        len(p) != _PAIR or p[0] not in encoding.free or not p[1].isdecimal() for p in pairs
    ):
        raise EnvironmentNotFoundError(
            f"no environment 'openspiel:{name}': {known}, as NAME(key=number,...)"
        )
    spiel = _pyspiel()
    usual = spiel.game_parameters_from_string(encoding.game)
    changed = {key: int(number) for key, number in pairs}
    try:
        game = spiel.load_game(usual.pop("name"), {**usual, **changed})
    except (RuntimeError, TypeError) as error:
        raise EnvironmentNotFoundError(f"openspiel:{name} is refused: {error}; {known}") from error
    told = ", ".join(f"{number} {encoding.free[key]}" for key, number in changed.items())
    return OpenSpielEnvironment(
        name=f"openspiel:{name}",
        num_players=game.num_players(),
        parameters=game.get_parameters(),
        rules=f"{rules}\nBut here: {told}.\n" if told else rules,
        game=game,
        encoding=encoding,
    )


def _of_any(name: str) -> OpenSpielEnvironment:
    game, encoding = plain_game(_pyspiel(), name)
    return OpenSpielEnvironment(
        name=f"openspiel:{name}",
        num_players=game.num_players(),
        parameters={},  # they stand in its name
        rules=plain_rules(game),
        game=game,
        encoding=encoding,
    )


def _pyspiel() -> ModuleType:
    try:
        import pyspiel
    except ImportError as error:
        raise EnvironmentNotFoundError(
            "environments openspiel:NAME need OpenSpiel: pip install 'rulewright[openspiel]'"
        ) from error
    module: ModuleType = pyspiel
    return module
