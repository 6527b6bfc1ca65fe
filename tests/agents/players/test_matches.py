"""Whole matches on library games, players and referee each in a worker of their own."""

from collections.abc import Mapping

import pytest

from agents.players.registry import SeatedPlayer
from games import library
from games.engine import Match, play_match
from games.values import Json
from tests.agents.players.conftest import Seat
from tools.sandbox import Sandbox, SandboxTable

KUHN: dict[str, Json] = {
    "ranks": 3,
    "suits": 1,
    "rounds": 1,
    "board": "0",
    "bets": "1",
    "max_raises": 1,
}


def matches(
    sandbox: Sandbox,
    game: str,
    players: list[SeatedPlayer],
    count: int,
    parameters: Mapping[str, Json] | None = None,
) -> list[Match]:
    with sandbox.worker("referee") as referee:
        referee.load(library.source(game))
        table = SandboxTable(referee)
        return [
            play_match(table, players, parameters=parameters or {}, seed=5, match=index)
            for index in range(count)
        ]


def test_ismcts_never_plays_a_dominated_action_at_kuhn_poker(sandbox: Sandbox, seat: Seat) -> None:
    # Kuhn (1950): calling with the Jack and folding the King are dominated.
    source = library.source("poker")
    players = [
        seat("random", at=0),
        seat("ismcts:simulations=100", source, at=1, parameters=KUHN),
    ]
    faced = [
        (str(ply.observation), ply.action)
        for match in matches(sandbox, "poker", players, 24, KUHN)
        for ply in match.plies
        if ply.player == 1 and "call" in ply.legal
    ]
    kings = {action for seen, action in faced if "'KS'" in seen}
    jacks = {action for seen, action in faced if "'JS'" in seen}
    assert (kings, jacks) == ({"call"}, {"fold"})


def test_uct_beats_random_play_at_connect_four(sandbox: Sandbox, seat: Seat) -> None:
    source = library.source("connect_four")
    players = [seat("random", at=0), seat("uct:simulations=100", source, at=1)]
    results = [match.returns for match in matches(sandbox, "connect_four", players, 10)]
    assert results.count((-1.0, 1.0)) >= 9


def test_the_same_match_is_played_with_fresh_workers(sandbox: Sandbox, seat: Seat) -> None:
    source = library.source("goofspiel")
    first, second = (
        matches(
            sandbox,
            "goofspiel",
            [seat("ismcts:simulations=20", source, at=n) for n in range(2)],
            1,
        )
        for _ in range(2)
    )
    assert first == second
    assert first[0].ending == "finished"


@pytest.mark.parametrize("belief", ["module", "replay"])
def test_either_sampler_serves_a_game_of_hidden_bids(
    sandbox: Sandbox, seat: Seat, belief: str
) -> None:
    spec = f"ismcts:simulations=20,determinizations=5,belief={belief}"
    players = [seat(spec, library.source("goofspiel"), at=0), seat("random", at=1)]
    (match,) = matches(sandbox, "goofspiel", players, 1)
    searched = [p.effort.row() for p in match.plies if p.player == 0 and len(p.legal) > 1]
    assert match.ending == "finished"
    assert searched
    assert all(effort["simulations_done"] == 20 for effort in searched)
    assert all(effort["belief_failures"] == 0 for effort in searched)
    assert all(effort["determinizations"] == 5 for effort in searched)
