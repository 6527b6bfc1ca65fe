from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest

from agents.players.registry import PRELOAD, SeatedPlayer, make_player, parse_spec
from agents.players.specs import Seating
from games.values import Json
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

Seat = Callable[..., SeatedPlayer]


@pytest.fixture(scope="package")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as started:
        yield started


@pytest.fixture
def seat(sandbox: Sandbox) -> Iterator[Seat]:
    """Makes players that are closed after the test."""
    with ExitStack() as stack:

        def make(
            spec: str,
            source: str = "",
            *,
            at: int = 0,
            num_players: int = 2,
            parameters: Mapping[str, Json] | None = None,
            heuristics: Mapping[str, str] | None = None,
        ) -> SeatedPlayer:
            player = make_player(
                parse_spec(spec),
                Seating(
                    at,
                    GameSetup("game", source, num_players, parameters or {}, heuristics or {}),
                    sandbox,
                ),
            )
            stack.callback(player.close)
            return player

        yield make
