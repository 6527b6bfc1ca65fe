from collections.abc import Callable
from typing import Any, cast

import pyspiel
import pytest

from games import library
from games.contract import Game
from games.values import TERMINAL, Action, IllegalActionError, Json, ModuleFault, State
from tests.games.library.lockstep import Pairing, by_text, play_in_lockstep
from tests.games.library.table import after, load, mean_against_random, unpassed

FIXED: dict[str, Json] = {"cards": 3, "prize_order": "ascending"}


def _last_round(cards: int) -> Callable[[State], Action | None]:
    """OpenSpiel plays the last cards by itself; we play them one by one."""

    def forced(state: State) -> Action | None:
        if len(cast("list[Json]", state["results"])) < cards - 1 or state["player"] == TERMINAL:
            return None
        player = cast("int", state["player"])
        if player < 0:
            return "prize " + cast("list[str]", state["prizes_left"])[0]
        return "bid " + cast("list[list[str]]", state["hands"])[player][0]

    return forced


def _text(action: Action, player: int) -> str:
    kind, number = action.split()
    return f"Deal {number}" if kind == "prize" else f"[P{player}]Bid: {number}"


@pytest.mark.parametrize(
    ("players", "order", "returns", "their_returns"),
    [
        (2, "random", "win", "win_loss"),
        (2, "descending", "difference", "point_difference"),
        (3, "random", "points", "total_points"),
        (3, "ascending", "win", "win_loss"),
        (4, "random", "difference", "point_difference"),
    ],
)
def test_random_matches_agree_with_openspiel_in_lockstep(
    players: int, order: str, returns: str, their_returns: str
) -> None:
    cards = 13 if players == 2 else 5
    spiel = pyspiel.load_game_as_turn_based(
        "goofspiel",
        {
            "imp_info": True,
            "num_cards": cards,
            "players": players,
            "points_order": order,
            "returns_type": their_returns,
        },
    )
    play_in_lockstep(
        library.source("goofspiel"),
        parameters={"cards": cards, "prize_order": order, "returns": returns},
        num_players=players,
        spiel=spiel,
        pairing=Pairing(by_text(_text), only_ours=_last_round(cards)),
        matches=200,
    )


def _played(game: Game, players: int, rules: dict[str, Json], bids: list[list[int]]) -> State:
    moves = [f"bid {bid}" for round_bids in bids for bid in round_bids]
    return after(game, game.initial_state(players, {**FIXED, **rules}), moves)


@pytest.mark.parametrize(
    ("tie", "points"),
    [
        ("discard", [0, 0, 2]),
        ("carry", [0, 0, 3]),
        ("split", [0.5, 2, 3.5]),
        ("next_unique", [3, 0, 3]),
    ],
)
def test_a_tie_for_the_best_bid_is_settled_as_the_rule_says(tie: str, points: list[float]) -> None:
    # Prizes 1, 2, 3: the first two players tie for 1, the third wins 2, the last two tie for 3.
    game = load("goofspiel")
    rules: dict[str, Json] = {"tie": tie, "returns": "points"}
    state = _played(game, 3, rules, [[3, 3, 1], [2, 1, 3], [1, 2, 2]])
    assert game.rewards(state, 3) == points


def test_a_carried_prize_that_nobody_wins_is_lost() -> None:
    game = load("goofspiel")
    rules: dict[str, Json] = {"tie": "carry", "returns": "points"}
    state = _played(game, 2, rules, [[1, 2], [2, 1], [3, 3]])
    assert game.rewards(state, 2) == [2, 1]
    assert state["gone"] == ["3"]


@pytest.mark.parametrize("hidden", [True, False])
def test_a_laid_bid_is_seen_by_its_bidder_alone(hidden: bool) -> None:
    game = load("goofspiel")
    start = game.initial_state(3, {**FIXED, "hidden_bids": hidden})
    seen = [game.observations(after(game, start, [f"bid {n}"]), 3) for n in (1, 3)]
    assert seen[0][0] != seen[1][0]
    assert seen[0][1:] == seen[1][1:]
    assert game.events(start, "bid 3", 3)[1] == ["Player 1 lays a bid face down."]


def test_turned_up_bids_are_told_unless_they_stay_hidden() -> None:
    game = load("goofspiel")
    for hidden, told in ((False, 3), (True, 2)):
        start = game.initial_state(2, {**FIXED, "hidden_bids": hidden})
        events = game.events(after(game, start, ["bid 2"]), "bid 1", 2)
        assert len(events[0]) == told
        assert events[0][-1] == "Player 1 wins prize 1."


def test_a_card_can_be_bid_only_once() -> None:
    game = load("goofspiel")
    state = _played(game, 2, {}, [[2, 1]])
    assert game.legal_actions(state) == ["bid 1", "bid 3"]
    with pytest.raises(IllegalActionError, match="not legal"):
        game.apply_action(state, "bid 2")


def test_sampled_bids_explain_the_announced_winners() -> None:
    game = load("goofspiel")
    rules: dict[str, Json] = {"hidden_bids": True, "cards": 4}
    # The other player beat a 3 and lost to a 2: it bid 4 and then 1.
    state = _played(game, 2, rules, [[3, 4], [2, 1]])
    seen = game.observations(state, 2)[0]
    for _ in range(20):
        drawn = cast("dict[str, Any]", game.module.call("resample_state", [[seen, None]], 0))
        assert drawn["played"][1] == ["4", "1"]
        assert sorted(drawn["hands"][1]) == ["2", "3"]


def test_sampled_bids_take_every_value_the_results_allow() -> None:
    game = load("goofspiel")
    state = _played(game, 2, {"hidden_bids": True, "cards": 5}, [[3, 4]])
    seen = game.observations(state, 2)[0]
    drawn = [
        cast("dict[str, Any]", game.module.call("resample_state", [[seen, None]], 0))
        for _ in range(200)
    ]
    counts = {bid: sum(d["played"][1] == [bid] for d in drawn) for bid in ("4", "5")}
    assert sum(counts.values()) == 200
    assert min(counts.values()) > 60


@pytest.mark.parametrize(
    ("players", "parameters", "said"),
    [
        (2, {"cards": 1}, "cards"),
        (2, {"tie": "fight"}, "carry"),
        (2, {"bids": 2}, "known: cards"),
        (6, {}, "num_players"),
    ],
)
def test_impossible_settings_are_refused(
    players: int, parameters: dict[str, Json], said: str
) -> None:
    with pytest.raises(ModuleFault, match=said):
        load("goofspiel").initial_state(players, parameters)


@pytest.mark.parametrize(
    ("players", "parameters"),
    [
        (2, {}),
        (2, {"hidden_bids": True}),
        (5, {"hidden_bids": True, "tie": "split", "returns": "difference"}),
        (4, {"hidden_bids": True, "tie": "next_unique", "prize_order": "descending"}),
        (3, {"hidden_bids": True, "tie": "carry", "returns": "points"}),
    ],
)
def test_variants_pass_every_check(players: int, parameters: dict[str, Json]) -> None:
    assert unpassed("goofspiel", players, parameters) == []


@pytest.mark.parametrize("name", ["match_the_prize", "just_above"])
def test_heuristics_beat_random_play(name: str) -> None:
    mine, theirs = mean_against_random("goofspiel", name)
    assert mine - theirs > 0.5


def test_equal_sums_of_split_prizes_share_the_win() -> None:
    """16/3 reached by other sums of thirds is 16/3; seats 2 and 4 of five have it."""
    namespace: dict[str, Any] = {}
    exec(library.source("goofspiel"), namespace)
    points = [1.0, 2.0, 5.333333333333334, 3.0, 5.333333333333333]
    assert namespace["_returns"](points, "win") == [-1 / 3, -1 / 3, 0.5, -1 / 3, 0.5]
