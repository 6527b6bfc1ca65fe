"""The raw functions of one module, as search calls them: unchecked, without a copy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from games.contract import Action, ModuleFault, Observation, State


@dataclass(frozen=True, slots=True)
class Rules:
    """A module's functions, bound once so that the hot loops look nothing up.

    Nothing here is held against the contract: the module's checks did that before. The values
    are the module's own, possibly shared between states, so they are never changed.

    Attributes:
        num_players: Seats at the table.
        current_player: 0..n-1, -1 at a chance node, -4 at the end.
        legal_actions: Legal actions, or the outcomes of a chance node; empty at the end.
        apply_action: The next state.
        rewards: `[num_players]`: what entering the state paid.
        observations: `[num_players]`: what each seat may see.
        events: `[num_players]` lists of sentences: what each seat perceives of an action. A
            module without `get_events` tells nobody anything.
        chance_probabilities: Aligned with the outcomes; None where all chance is uniform.
        value: Leaf estimate for one seat; None where the module defines none.
    """

    num_players: int
    current_player: Callable[[State], int]
    legal_actions: Callable[[State], list[Action]]
    apply_action: Callable[[State, Action], State]
    rewards: Callable[[State], list[float]]
    observations: Callable[[State], list[Observation]]
    events: Callable[[State, Action], list[list[str]]]
    chance_probabilities: Callable[[State], list[float]] | None = None
    value: Callable[[State, int], float] | None = None


def bind(namespace: Mapping[str, object], num_players: int) -> Rules:
    """Bind the functions of a loaded module.

    Raises:
        ModuleFault: With kind "missing" if the module lacks a function that search needs.
    """

    def silent(_state: State, _action: Action) -> list[list[str]]:
        return [[] for _ in range(num_players)]

    return Rules(
        num_players=num_players,
        current_player=cast("Callable[[State], int]", _required(namespace, "get_current_player")),
        legal_actions=cast(
            "Callable[[State], list[Action]]", _required(namespace, "get_legal_actions")
        ),
        apply_action=cast("Callable[[State, Action], State]", _required(namespace, "apply_action")),
        rewards=cast("Callable[[State], list[float]]", _required(namespace, "get_rewards")),
        observations=cast(
            "Callable[[State], list[Observation]]", _required(namespace, "get_observations")
        ),
        events=cast(
            "Callable[[State, Action], list[list[str]]]", namespace.get("get_events", silent)
        ),
        chance_probabilities=cast(
            "Callable[[State], list[float]] | None", namespace.get("get_chance_probabilities")
        ),
        value=cast("Callable[[State, int], float] | None", namespace.get("value_function")),
    )


def _required(namespace: Mapping[str, object], name: str) -> object:
    function = namespace.get(name)
    if not callable(function):
        raise ModuleFault("missing", name, f"search needs the module to define {name}()")
    return function
