"""The players as a tournament enters them."""

from dataclasses import dataclass
from typing import cast

from agents.players.making import make_player
from agents.players.search import PRELOAD as SEARCHING
from agents.players.solved import PRELOAD as SOLVING
from agents.players.specs import PlayerSpec, Setting, parse_spec
from games.engine import Player
from tools.playtest import Effective, GameSetup
from tools.sandbox import Sandbox


@dataclass(frozen=True)
class PlayerRoster:
    """Every kind of player that a spec can name: `tools.playtest.Roster`."""

    @property
    def preload(self) -> tuple[str, ...]:
        """See `Roster.preload`."""
        return (*SEARCHING, *SOLVING)

    def effective(self, spec: str) -> Effective:
        """See `Roster.effective`.

        Raises:
            PlayerSpecError: Listing what is known, if a name, a key or a value is not.

        >>> PlayerRoster().effective("greedy").settings
        {'heuristic': 'ensemble'}
        """
        read = parse_spec(spec)
        return Effective(player=read.name, settings=dict(read.settings))

    def seat(
        self, player: Effective, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
    ) -> Player:
        """See `Roster.seat`.

        Raises:
            PlayerSpecError: If the player cannot play this game.
            ModuleFault: If the module or a heuristic does not load.
        """
        del match  # a player is a stranger to the matches before
        return make_player(
            PlayerSpec(player.player, cast("dict[str, Setting]", player.settings)),
            seat=seat,
            num_players=game.num_players,
            parameters=game.parameters,
            source=game.source,
            sandbox=sandbox,
            heuristics=game.heuristics,
        )
