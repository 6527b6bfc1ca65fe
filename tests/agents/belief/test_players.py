"""Whole matches in real workers, with every belief that a spec can name."""

from collections.abc import Iterator
from typing import get_args

import numpy as np
import pytest

from agents.belief.belief import BeliefName
from agents.players.registry import PlayerRoster, make_player, parse_spec
from agents.players.specs import Seating
from games import library
from games.engine import Match, play_match
from games.information import Seen
from games.values import Json
from tests.agents.belief.logs import logs_of
from tests.agents.belief.posteriors import library_game, random_match
from tests.agents.belief.test_belief import ELSEWHERE
from tests.agents.small_games import KUHN, game
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox, SandboxTable

SEA: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}
HANDS: dict[str, Json] = {"hand_size": 3, "deck": "tiny"}
FIGURES = {"belief_consistency", "belief_diversity", "belief_calls", "belief_errors"}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PlayerRoster().preload) as started:
        yield started


def played(sandbox: Sandbox, name: str, specs: list[str], parameters: dict[str, Json]) -> Match:
    source = library.source(name)
    referee = sandbox.worker("referee")
    referee.load(source)
    players = [
        make_player(
            parse_spec(spec),
            Seating(seat, GameSetup(name, source, len(specs), parameters), sandbox),
        )
        for seat, spec in enumerate(specs)
    ]
    try:
        return play_match(SandboxTable(referee), players, parameters=parameters, seed=1)
    finally:
        for player in players:
            player.close()
        referee.kill()


@pytest.mark.parametrize("belief", get_args(BeliefName))
@pytest.mark.parametrize(
    ("name", "parameters", "seats"), [("battleship", SEA, 2), ("trick_taking", HANDS, 3)]
)
def test_any_belief_plays_hidden_positions_and_hidden_hands(
    sandbox: Sandbox, name: str, parameters: dict[str, Json], seats: int, belief: str
) -> None:
    spec = f"ismcts:simulations=12,determinizations=4,belief={belief}"
    match = played(sandbox, name, [spec, *["random"] * (seats - 1)], parameters)
    assert match.ending == "finished", match.reason
    decisions = [ply.effort.row() for ply in match.plies if ply.player == 0 and len(ply.legal) > 1]
    assert decisions
    assert all(effort.keys() >= FIGURES for effort in decisions)
    if belief in ("particle", "constraint", "heatmap"):
        named = [effort["belief"] == belief for effort in decisions]
        assert sum(named) >= len(named) - 1
        assert all(0.0 < float(str(effort["belief_consistency"])) <= 1.0 for effort in decisions)


@pytest.mark.parametrize("belief", ["particle", "constraint", "heatmap"])
def test_a_player_resumed_late_decides_as_the_one_that_saw_every_decision(
    sandbox: Sandbox, belief: str
) -> None:
    sea: dict[str, Json] = {"rows": 7, "columns": 7, "ships": "4,3,2"}
    rules, _, start = library_game("battleship", sea)
    decisions = random_match(rules, start, 0, seed=2)[:8]
    there, late = (
        make_player(
            parse_spec(f"ismcts:simulations=30,belief={belief}"),
            Seating(0, GameSetup("game", library.source("battleship"), 2, sea), sandbox),
        )
        for _ in "ab"
    )
    try:
        for log, legal in decisions:
            decision = there.choose(log, legal, np.random.default_rng(len(legal)))
        resumed = late.choose(log, legal, np.random.default_rng(len(legal)))
    finally:
        there.close()
        late.close()
    assert resumed == decision


def test_the_protocol_decides_what_is_played_where_nothing_explains_what_was_seen(
    sandbox: Sandbox,
) -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K", "b"])[1]
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    chosen = {}
    for protocol in ("ours", "paper"):
        player = make_player(
            parse_spec(f"ismcts:simulations=10,protocol={protocol}"),
            Seating(1, GameSetup("game", KUHN + ELSEWHERE, 2), sandbox),
        )
        try:
            decision = player.choose(log, ["p", "b"], np.random.default_rng(0))
        finally:
            player.close()
        chosen[protocol] = (decision.action, decision.effort.row()["fallback"])
    assert chosen["ours"][0] in ("p", "b")
    assert chosen["ours"][1] == "random_legal"
    assert chosen["paper"] == ("deal J", "random_in_model")
