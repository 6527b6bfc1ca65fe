"""From a spec to a player at a seat."""

from collections.abc import Mapping
from typing import Protocol

from agents.players.greedy import GreedyPlayer
from agents.players.search import SearchPlayer
from agents.players.solved import SolvedPlayer
from agents.players.specs import PlayerSpec, PlayerSpecError
from agents.players.uniform import RandomPlayer
from agents.search.algorithms import USES
from games.contract import Json
from games.engine import Player
from tools.sandbox import Sandbox


class SeatedPlayer(Player, Protocol):
    """A player that may hold workers until it is closed."""

    def close(self) -> None:
        """Release what it holds; safe to call twice."""
        ...


def make_player(
    spec: PlayerSpec,
    *,
    seat: int,
    num_players: int,
    parameters: Mapping[str, Json],
    source: str,
    sandbox: Sandbox,
    heuristics: Mapping[str, str],
) -> SeatedPlayer:
    """Make the player that a spec describes.

    Args:
        spec: From `parse_spec`.
        seat: Its seat, 0-based.
        num_players: Seats at the table.
        parameters: The game's effective parameters.
        source: The game module's source, for players that search.
        sandbox: Where the module and the heuristics run; it must preload `PRELOAD`.
        heuristics: The game's heuristics, source by name.

    Raises:
        PlayerSpecError: If the player cannot play this game, saying why and what can.
        ModuleFault: If the module or a heuristic does not load.
        SandboxUnavailableError: If no worker can be had.
    """
    if spec.name == "random":
        return RandomPlayer()
    if spec.name == "greedy":
        return GreedyPlayer(
            str(spec.settings["heuristic"]), seat=seat, sandbox=sandbox, heuristics=heuristics
        )
    if spec.name in USES:
        return SearchPlayer(
            spec,
            seat=seat,
            num_players=num_players,
            parameters=parameters,
            source=source,
            sandbox=sandbox,
            heuristics=heuristics,
        )
    if spec.name == "cfr":
        return SolvedPlayer(
            spec,
            seat=seat,
            num_players=num_players,
            parameters=parameters,
            source=source,
            sandbox=sandbox,
        )
    raise PlayerSpecError(f"no player is made from {spec.name!r}; use parse_spec to read specs")
