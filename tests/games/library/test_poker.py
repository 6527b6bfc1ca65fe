import random
from collections import Counter
from collections.abc import Callable
from typing import cast

import pyspiel
import pytest

from games import library
from games.contract import Game
from games.modules import LocalModule
from games.table import GameTable, Position
from games.values import Action, Json, State
from tests.games.library.lockstep import Pairing, SpielState, play_in_lockstep

KUHN: dict[str, Json] = {
    "suits": 1,
    "rounds": 1,
    "board": "0",
    "bets": "1",
    "max_raises": 1,
}
TWISTED: dict[str, Json] = {
    "ranks": 6,
    "suits": 4,
    "hand_size": 2,
    "rounds": 3,
    "board": "0,2,1",
    "bets": "1,2",
    "max_raises": 3,
    "lowest_wins": True,
    "show_folded": True,
    "deals": 3,
}


def table() -> GameTable:
    return GameTable(Game(LocalModule(library.source("poker"))))


def play(num_players: int, parameters: dict[str, Json], *actions: Action) -> Position:
    board = table()
    position = board.open(num_players, parameters)
    for action in actions:
        assert action in position.legal, f"{action} is not in {position.legal}"
        position = board.advance(position, action)
    return position


def kuhn_action(action: Action, state: SpielState) -> int:
    if action.startswith("deal"):
        return "9TJQK"[-_kuhn_cards(state) :].index(action[5])
    return 1 if action in ("bet", "call") else 0


def _kuhn_cards(state: SpielState) -> int:
    return int(cast("pyspiel.State", state).num_players()) + 1


def leduc_action(action: Action, state: SpielState) -> int:
    if action.startswith("deal"):
        ranks = cast("pyspiel.State", state).num_players() + 1
        return 2 * "9TJQK"[-ranks:].index(action[5]) + "HS".index(action[6])
    return {"fold": 0, "call": 1, "check": 1, "bet": 2, "raise": 2}[action]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(
    ("name", "parameters", "their_action"),
    [("kuhn_poker", KUHN, kuhn_action), ("leduc_poker", {}, leduc_action)],
)
def test_every_ply_and_return_agrees_with_openspiel(
    name: str,
    parameters: dict[str, Json],
    their_action: Callable[[Action, SpielState], int],
    players: int,
) -> None:
    compared = play_in_lockstep(
        library.source("poker"),
        parameters=parameters,
        num_players=players,
        spiel=pyspiel.load_game(name, {"players": players}),
        pairing=Pairing(their_action),
        matches=300,
    )
    assert compared > 300 * players


def test_a_pair_with_the_board_beats_a_higher_card() -> None:
    # Pot: antes 1 + 1; player 1 holds the king, player 2 pairs the jack: wins player 1's ante.
    end = play(2, {}, "deal KH", "deal JS", "check", "check", "deal JH", "check", "check")
    assert end.rewards == (-1.0, 1.0)


def test_lowest_wins_turns_the_showdown_round() -> None:
    end = play(
        2,
        {"lowest_wins": True},
        *("deal KH", "deal JS", "check", "check", "deal QH", "check", "check"),
    )
    assert end.rewards == (-1.0, 1.0)


def test_equal_hands_share_the_pot() -> None:
    end = play(
        3,
        {"ranks": 4},
        *("deal KH", "deal KS", "deal JS", "bet", "call", "call"),
        *("deal QH", "check", "check", "check"),
    )
    # Antes 3 and bets 6 make a pot of 9: 4.5 each, less the 3 that each of them paid in.
    assert end.rewards == (1.5, 1.5, -3.0)


def test_everybody_folding_gives_the_pot_to_the_last_player_without_a_showdown() -> None:
    end = play(3, {"ranks": 4}, "deal KH", "deal QS", "deal JS", "bet", "fold", "fold")
    assert end.rewards == (2.0, -1.0, -1.0)
    hands = [cast("list[Json]", view["open_hands"]) for view in end.observations]
    assert hands == [[None, None, None]] * 3


def test_board_numbers_beyond_the_last_round_are_not_used() -> None:
    end = play(2, {"rounds": 1}, "deal KH", "deal QS", "check", "check")
    assert end.rewards == (1.0, -1.0)


def test_raises_stop_at_the_limit() -> None:
    position = play(2, {"max_raises": 2}, "deal KH", "deal QS", "bet", "raise")
    assert position.legal == ("fold", "call")


def test_the_first_seat_moves_on_with_each_deal() -> None:
    position = play(2, {"deals": 2}, "deal KH", "deal QS", "bet", "fold")
    assert position.rewards == (1.0, -1.0)
    position = table().advance(position, "deal KS")
    assert [view["hand"] for view in position.observations] == [[], ["KS"]]


def test_folded_cards_are_shown_only_where_the_rule_says_so() -> None:
    hidden = play(3, {}, "deal KH", "deal QS", "deal JS", "bet", "fold")
    shown = play(3, {"show_folded": True}, "deal KH", "deal QS", "deal JS", "bet", "fold")
    assert hidden.observations[0]["open_hands"] == [None, None, None]
    assert shown.observations[0]["open_hands"] == [None, ["QS"], None]
    assert "Player 2 shows QS." in shown.events[0]
    assert hidden.events[0] == ("Player 2 folds.",)


@pytest.mark.parametrize(
    ("players", "parameters", "named"),
    [
        (2, {"jokers": 1}, "jokers"),
        (1, {}, "num_players"),
        (9, {}, "num_players"),
        (2, {"ante": 11}, "ante"),
        (2, {"ante": True}, "ante"),
        (2, {"bets": "2,x"}, "bets"),
        (2, {"bets": ""}, "bets"),
        (2, {"bets": "0"}, "bets"),
        (2, {"board": "0,1,1,1,1"}, "board"),
        (2, {"board": "4"}, "board"),
        (2, {"lowest_wins": 1}, "lowest_wins"),
        (5, {"ranks": 3, "suits": 1}, "need"),
    ],
)
def test_bad_parameters_are_refused_by_name(
    players: int, parameters: dict[str, Json], named: str
) -> None:
    module = LocalModule(library.source("poker"))
    with pytest.raises(ValueError, match=named):
        cast("Callable[..., State]", module.namespace["initial_state"])(players, **parameters)


def test_an_illegal_action_raises_and_leaves_the_state_alone() -> None:
    apply = cast(
        "Callable[..., State]", LocalModule(library.source("poker")).namespace["apply_action"]
    )
    position = play(2, {}, "deal KH", "deal QS")
    before = repr(position.state)
    with pytest.raises(ValueError, match="fold"):
        apply(position.state, "fold")
    assert repr(position.state) == before


@pytest.mark.parametrize(
    ("players", "parameters"), [(2, KUHN), (2, {}), (4, {}), (3, TWISTED), (8, {})]
)
def test_a_resampled_state_shows_its_player_the_same(
    players: int, parameters: dict[str, Json]
) -> None:
    namespace = LocalModule(library.source("poker")).namespace
    resample = cast("Callable[..., State]", namespace["resample_state"])
    game, board = table().game, table()
    rng = random.Random(5)
    random.seed(5)
    for _ in range(15):
        position = board.open(players, parameters)
        while position.legal:
            position = board.advance(position, rng.choice(position.legal))
            for seat in range(players):
                seen = position.observations[seat]
                state = resample([[seen, None]], seat)
                assert game.observations(state, players)[seat] == seen
                assert game.current_player(state) == position.player
                if position.player == seat:
                    assert tuple(game.legal_actions(state)) == position.legal
                assert sorted(cards(state)) == sorted(cards(position.state))
                assert tuple(game.rewards(state, players)) == position.rewards


def cards(state: State) -> list[str]:
    hands = cast("list[list[str]]", state["hands"])
    rest = cast("list[str]", state["deck"]) + cast("list[str]", state["board"])
    return [*rest, *(card for hand in hands for card in hand)]


def test_resampling_deals_every_unseen_card_equally_often() -> None:
    # Kuhn: who holds the king knows that the other hand is a jack or a queen, half and half.
    position = play(2, KUHN, "deal KS", "deal QS")
    resample = cast(
        "Callable[..., State]", LocalModule(library.source("poker")).namespace["resample_state"]
    )
    random.seed(1)
    held = Counter(
        cast("list[list[str]]", resample([[position.observations[0], None]], 0)["hands"])[1][0]
        for _ in range(2000)
    )
    assert set(held) == {"JS", "QS"}
    assert abs(held["JS"] - 1000) < 112  # five standard deviations of a fair coin


@pytest.mark.parametrize(
    ("name", "players", "parameters"),
    [
        ("pot_odds", 2, KUHN),
        ("pot_odds", 2, {}),
        ("pot_odds", 3, {}),
        ("bold", 2, {}),
        ("bold", 3, {}),
    ],
)
def test_a_heuristic_wins_chips_from_random_players(
    name: str, players: int, parameters: dict[str, Json]
) -> None:
    score = cast(
        "Callable[..., float]",
        LocalModule(library.heuristic_sources("poker")[name]).namespace["score"],
    )
    board = table()
    rng = random.Random(11)
    won = []
    for match in range(600):
        position = board.open(players, parameters)
        total = 0.0
        while position.legal:
            legal = list(position.legal)
            action = rng.choice(legal)
            if position.player == match % players:
                seen = position.observations[position.player]
                rng.shuffle(legal)
                action = max(legal, key=lambda a: score(seen, a))
            position = board.advance(position, action)
            total += position.rewards[match % players]
        won.append(total)
    mean = sum(won) / len(won)
    error = (sum((x - mean) ** 2 for x in won) / len(won) / len(won)) ** 0.5
    assert mean > 2 * error
