"""Rules over the states of an environment that is no module: what a search on the host calls.

A state stands as `{"h": [...]}`, the numbers of all plies that led to it: plain JSON, from which
the environment's own state is made again where it was forgotten.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from games.contract import Action, Json, Observation, State
from games.environments.openspiel.adapter import OpenSpielEnvironment

_KEPT = 50_000  # states that are held at once: some hundred bytes each
_ALIKE = 1e-9  # by which probabilities of uniform chance may differ


@dataclass
class _Node:
    """One of the environment's states, with what was asked of it."""

    native: Any
    numbers: dict[Action, int] | None = None
    seen: list[Observation] = field(default_factory=list)


class NativeRules:
    """The functions of a module, as far as a search needs them."""

    def __init__(self, environment: OpenSpielEnvironment, left: Callable[[], float]) -> None:
        """Search an environment.

        Args:
            environment: Whose states they are.
            left: Raises where the decision's time is used up.
        """
        self._environment = environment
        self._left = left
        self._nodes: dict[tuple[int, ...], _Node] = {}

    def namespace(self) -> dict[str, object]:
        """The functions by their names in the contract."""
        return {
            "initial_state": self._initial,
            "get_current_player": lambda state: self._node(state).native.current_player(),
            "get_legal_actions": lambda state: [*self._numbers(self._node(state))],
            "apply_action": self._apply,
            "get_rewards": lambda state: self._node(state).native.rewards(),
            "get_observations": self._observations,
        }

    def _initial(self, num_players: int, **parameters: Json) -> State:
        del num_players, parameters  # those of the environment, which its setup was made with
        return {"h": []}

    def _node(self, state: Mapping[str, Any]) -> _Node:
        key = tuple(state["h"])
        node = self._nodes.get(key)
        if node is None:
            native = self._environment.game.new_initial_state()
            for number in key:
                native.apply_action(number)
            node = self._keep(key, native)
        return node

    def _keep(self, key: tuple[int, ...], native: object) -> _Node:
        if len(self._nodes) >= _KEPT:
            self._nodes.clear()
        node = self._nodes[key] = _Node(native)
        return node

    def _numbers(self, node: _Node) -> dict[Action, int]:
        if node.numbers is None:
            native, name = node.native, self._environment.encoding.action
            chances = native.chance_outcomes() if native.is_chance_node() else []
            if chances and max(p for _, p in chances) - min(p for _, p in chances) > _ALIKE:
                raise ValueError("chance is not uniform here; give searches its probabilities")
            numbers = [pair[0] for pair in chances] or native.legal_actions()
            node.numbers = {name(native, number): number for number in numbers}
        return node.numbers

    def _apply(self, state: Mapping[str, Any], action: Action) -> State:
        self._left()
        node = self._node(state)
        number = self._numbers(node)[action]
        history = [*state["h"], number]
        key = tuple(history)
        if key not in self._nodes:
            native = node.native.clone()
            native.apply_action(number)
            self._keep(key, native)
        return {"h": history}

    def _observations(self, state: Mapping[str, Any]) -> list[Observation]:
        node = self._node(state)
        if not node.seen:
            node.seen = list(self._environment.encoding.view(node.native)[1])
        return node.seen
