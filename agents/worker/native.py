"""Rules over the positions of an environment that is no module: what a search on the host calls.

A state stands as `{"h": [...]}`, all actions and outcomes that led to it: plain JSON, from which
the environment's own position is made again where it was forgotten.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Protocol

from games.contract import CHANCE, Action, Json, Observation, State, canonical_key
from games.environments.environment import Environment
from games.environments.openspiel.adapter import OpenSpielEnvironment
from games.modules import reseed
from games.table import Position

_DRAWING = Lock()  # the numbers that an environment draws with are one for all threads
_KEPT = 50_000  # positions that are held at once: some hundred bytes each, or some thousand
_ALIKE = 1e-9  # by which probabilities of uniform chance may differ


class _Place(Protocol):
    """A position, as far as a search looks at it."""

    @property
    def player(self) -> int: ...

    @property
    def key(self) -> str: ...

    @property
    def rewards(self) -> Sequence[float]: ...

    @property
    def legal(self) -> Iterable[Action]: ...

    @property
    def observations(self) -> Sequence[Observation]: ...

    def after(self, action: Action) -> "_Place": ...


class _Plain:
    """A position of any environment."""

    def __init__(self, environment: Environment, position: Position) -> None:
        self._environment, self._position = environment, position
        self.player, self.rewards = position.player, position.rewards
        self.legal, self.observations = position.legal, position.observations
        self.key = canonical_key(position.state)
        _require_uniform(position.probabilities)

    def after(self, action: Action) -> "_Plain":
        return _Plain(self._environment, self._environment.advance(self._position, action))


class _Lazy:
    """A state of OpenSpiel, whose names and observations are made when they are asked for."""

    def __init__(self, environment: OpenSpielEnvironment, native: Any) -> None:  # noqa: ANN401
        self._environment, self._native = environment, native
        self.player: int = native.current_player()
        self.rewards: list[float] = native.rewards()

    @cached_property
    def legal(self) -> dict[Action, int]:
        native, name = self._native, self._environment.encoding.action
        chances = native.chance_outcomes() if self.player == CHANCE else []
        _require_uniform([chance for _, chance in chances])
        numbers = [number for number, _ in chances] or native.legal_actions()
        return {name(native, number): number for number in numbers}

    @cached_property
    def _view(self) -> tuple[State, Sequence[Observation]]:
        return self._environment.encoding.view(self._native)

    @property
    def key(self) -> str:
        return canonical_key(self._view[0])

    @property
    def observations(self) -> Sequence[Observation]:
        return self._view[1]

    def after(self, action: Action) -> "_Lazy":
        native = self._native.clone()
        native.apply_action(self.legal[action])
        return _Lazy(self._environment, native)


def _require_uniform(chances: Sequence[float]) -> None:
    if chances and max(chances) - min(chances) > _ALIKE:
        raise ValueError("chance is not uniform here: searches must be given its probabilities")


class NativeNamespace(dict[str, object]):
    """Names of functions, with the key by which states are told apart: two ways may lead to one."""

    def __init__(self, functions: Mapping[str, object], rules: "NativeRules") -> None:
        """Hold functions by name."""
        super().__init__(functions)
        self.state_key = rules.state_key
        self.reseed = rules.reseed


class NativeRules:
    """The functions of a module, as far as a search needs them."""

    def __init__(self, environment: Environment, left: Callable[[], float]) -> None:
        """Search an environment.

        Args:
            environment: Whose positions they are.
            left: Raises where the decision's time is used up.
        """
        self._environment = environment
        self._left = left
        self._places: dict[tuple[Action, ...], _Place] = {}
        self._words: Sequence[int] = ()

    def namespace(self) -> "NativeNamespace":
        """The functions by their names in the contract."""
        return NativeNamespace(self._functions(), self)

    def state_key(self, state: Mapping[str, Any]) -> str:
        """Equal for histories that led to one state."""
        return self._place(state).key

    def reseed(self, words: Sequence[int]) -> None:
        """See `games.modules.reseed`: what the next history is drawn with."""
        self._words = words

    def _functions(self) -> dict[str, object]:
        environment = self._environment
        known = environment.encoding if isinstance(environment, OpenSpielEnvironment) else None
        history = known.history if known else None

        def drawn(turns: Sequence[Sequence[Any]], seat: int) -> list[Action]:
            assert history is not None  # noqa: S101
            with _DRAWING:
                reseed(self._words)
                return history(turns, seat)

        return {
            **({"resample_history": drawn} if history else {}),
            "initial_state": self._initial,
            "get_current_player": lambda state: self._place(state).player,
            "get_legal_actions": lambda state: [*self._place(state).legal],
            "apply_action": self._apply,
            "get_rewards": lambda state: self._place(state).rewards,
            "get_observations": lambda state: self._place(state).observations,
        }

    def _initial(self, num_players: int, **parameters: Json) -> State:
        del num_players, parameters  # the environment's own
        return {"h": []}

    def _root(self) -> _Place:
        environment = self._environment
        if isinstance(environment, OpenSpielEnvironment):
            return _Lazy(environment, environment.game.new_initial_state())
        first = environment.open(environment.num_players, environment.parameters)
        return _Plain(environment, first)

    def _place(self, state: Mapping[str, Any]) -> _Place:
        key = tuple(state["h"])
        place = self._places.get(key)
        if place is None:
            place = self._root()
            for action in key:
                place = place.after(action)
            self._keep(key, place)
        return place

    def _keep(self, key: tuple[Action, ...], place: _Place) -> None:
        if len(self._places) >= _KEPT:
            self._places.clear()
        self._places[key] = place

    def _apply(self, state: Mapping[str, Any], action: Action) -> State:
        self._left()
        history = [*state["h"], action]
        key = tuple(history)
        if key not in self._places:
            self._keep(key, self._place(state).after(action))
        return {"h": history}
