"""Random matches inside a worker: fast, and no more than the module's claim."""

import random
from collections.abc import Sequence
from typing import cast

from games.contract import CHANCE, TERMINAL, Action, Game, Json, LocalModule, State


def self_play(module: LocalModule, payload: dict[str, Json]) -> Json:
    """Play random matches.

    Args:
        module: The loaded module.
        payload: `num_players`, `parameters`, `matches`, `max_plies`, `seed` (an int).

    Returns:
        `{"actions", "returns"}` a match; the returns are None where it did not end.
    """
    game = Game(module)
    players, longest = cast("int", payload["num_players"]), cast("int", payload["max_plies"])
    parameters = cast("dict[str, Json]", payload["parameters"])
    played: list[Json] = []
    for match in range(cast("int", payload["matches"])):
        generator = match_generator(cast("int", payload["seed"]), match)
        start = game.initial_state(players, parameters)
        played.append(_play(game, start, generator, players, longest))
    return played


def _play(
    game: Game, state: State, generator: random.Random, players: int, longest: int
) -> dict[str, Json]:
    actions: list[Json] = []
    totals = [0.0] * players
    while (player := game.current_player(state)) != TERMINAL:
        if len(actions) >= longest:
            return {"actions": actions, "returns": None}
        legal = game.legal_actions(state)
        weights = game.chance_probabilities(state, legal) if player == CHANCE else None
        action = drawn(generator, legal, weights)
        state = game.apply_action(state, action)
        actions.append(action)
        totals = [
            total + paid for total, paid in zip(totals, game.rewards(state, players), strict=True)
        ]
    return {"actions": actions, "returns": [*totals]}


def match_generator(seed: int, match: int) -> random.Random:
    """The numbers that one match's choices are drawn with; the referee draws with the same."""
    return random.Random(f"{seed},{match}")


def drawn(
    generator: random.Random, legal: Sequence[Action], weights: Sequence[float] | None
) -> Action:
    """One of `legal`, uniformly or by `weights`; one number of the generator is used."""
    return generator.choices(legal, weights)[0]
