"""Reference games: they keep the contract, and play by their rulings."""

import json
import random
from collections import Counter
from typing import Any

import pytest

from games.checks.run import CheckSettings, run_checks
from games.environments import ModuleEnvironment, own_games
from games.environments.registry import environment_named
from games.modules import LocalModule
from games.table import GameTable, Position
from tests.games.subjects import subject


def opened(name: str) -> ModuleEnvironment:
    environment = environment_named(f"own:{name}")
    assert isinstance(environment, ModuleEnvironment)
    return environment


def source(name: str) -> str:
    table = opened(name).table
    assert isinstance(table, GameTable)
    assert isinstance(table.game.module, LocalModule)
    return table.game.module.source


def after(name: str, *actions: str) -> Position:
    environment = opened(name)
    position = environment.open(2, {})
    for action in actions:
        position = environment.advance(position, action)
    return position


def outcomes(name: str, matches: int) -> tuple[dict[float, float], Counter[int]]:
    """Share of each return of player 0 in random play, and the largest win piles met."""
    module = LocalModule(source(name)).namespace
    draws, found, piles = random.Random(4), Counter[float](), Counter[int]()
    for _ in range(matches):
        state = module["initial_state"](2)
        while legal := module["get_legal_actions"](state):
            state = module["apply_action"](state, draws.choice(legal))
        found[module["get_rewards"](state)[0]] += 1
        won = zip(state.get("won", ()), state.get("won_burned", ()), strict=True)
        piles.update(len(shown) + len(burned) for shown, burned in won)
    return {value: count / matches for value, count in found.items()}, piles


@pytest.mark.parametrize("name", ["army5x5a", "hand_of_war", "quadranto", "uno"])
def test_the_game_keeps_the_contract(name: str) -> None:
    findings = run_checks(subject(source(name), 2), CheckSettings(matches=5, samples=16, seed=3))
    assert [finding for finding in findings if finding.outcome != "passed"] == []
    assert name in own_games()
    assert "- R1: " in opened(name).rules


def test_quadranto_of_random_players_is_drawn_as_often_as_in_another_program() -> None:
    """Written apart from this one by the same rulings: 61 % draws, player 0 wins 18 %, 1 21 %."""
    shares, _ = outcomes("quadranto", 1500)
    assert shares[0] == pytest.approx(0.61, abs=0.05)
    assert shares[1] == pytest.approx(0.18, abs=0.04)
    assert shares[-1] == pytest.approx(0.21, abs=0.04)


def test_hand_of_war_of_random_players_is_won_as_often_as_in_another_program() -> None:
    """Written apart from this one by the same rulings: 42 % wins of player 0, 17 % draws."""
    shares, piles = outcomes("hand_of_war", 1500)
    assert shares[1] == pytest.approx(0.42, abs=0.05)
    assert shares[0] == pytest.approx(0.17, abs=0.04)
    assert max(piles) <= 16


def test_quadranto_tells_the_quadrant_and_not_the_cell() -> None:
    position = after("quadranto", "player 0 starts at 0,0", "player 1 starts at 3,2")
    assert position.observations[0]["opponent_quadrant"] == "bottom right"
    assert position.observations[0]["cell"] == ["0,0"]
    assert set(position.legal) == {"Right", "Down", "Stay"}, "steps off the board are not legal"


def test_quadranto_is_won_by_whoever_moves_onto_the_other() -> None:
    start = ("player 0 starts at 1,1", "player 1 starts at 2,2")
    end = after("quadranto", *start, "Right", "Up")
    assert end.rewards == (-1, 1)
    drawn = after("quadranto", *start, *["Stay"] * 20)
    assert (drawn.player, drawn.rewards) == (-4, (0, 0))


def draw(*cards: str) -> list[str]:
    """The opening draws: three cards for player 0, three for player 1."""
    return [f"player {index // 3} draws {card}" for index, card in enumerate(cards)]


def test_hand_of_war_showdowns_burn_and_take_all() -> None:
    opening = draw("AC", "KC", "QC", "AD", "JD", "QD")
    position = after("hand_of_war", *opening, "play AC", "play AD")
    assert position.legal[0].startswith("player 0 burns")
    decided = after(
        "hand_of_war",
        *opening,
        *("play AC", "play AD", "player 0 burns AH", "player 1 burns AS", "play KC", "play JD"),
    )
    # Two aces, king and jack turned up, and two burned cards, which nobody is shown.
    assert decided.observations[0]["won"] == [["AC", "KC", "AD", "JD"], []]
    assert decided.observations[0]["won_burned"] == [2, 0]
    assert "AH" not in str(decided.observations)
    assert decided.observations[1]["piles"] == [4, 4]
    assert [action.split()[2] for action in decided.legal[:1]] == ["draws"]


def test_a_laid_card_is_told_to_its_player_alone() -> None:
    position = after("hand_of_war", *draw("AC", "KC", "QC", "AD", "JD", "QD"), "play AC")
    assert position.observations[0]["own_card"] == ["AC"]
    assert "AC" not in str(position.observations[1])


def test_infantry_moves_two_squares_and_the_general_is_taken() -> None:
    start = after("army5x5a")
    assert {"A2_to_C2", "PASS"} <= set(start.legal)
    assert "A1_to_A4" not in start.legal, "cavalry may not land on an own piece"
    # A1's cavalry jumps (2,1) to C2, then (2,1) to E3, where the general stands.
    end = after("army5x5a", "A1_to_C2", "PASS", "C2_to_E3")
    assert end.rewards == (1, -1)
    drawn = after("army5x5a", *["PASS"] * 100)
    assert (drawn.player, drawn.rewards) == (-4, (0, 0))


def test_player_one_moves_up_the_board() -> None:
    assert "E2_to_C2" in after("army5x5a", "PASS").legal


def test_quadranto_samples_the_cells_that_even_moves_lead_to() -> None:
    """Against the exact posterior: every history of even moves that looks the same is counted."""
    module = LocalModule(source("quadranto")).namespace
    ways: dict[str, Counter[str]] = {}

    def follow(state: dict[str, Any], log: list[list[Any]], share: float) -> None:
        if state["moves"] == 2 and state["player"] == 0:
            seen = module["get_observations"](state)[0]
            key = json.dumps([*log, [seen, None]])
            ways.setdefault(key, Counter())[state["cells"][1][0]] += share  # type: ignore[assignment]
            return
        legal = module["get_legal_actions"](state)
        for action in legal:
            more = log
            if state["player"] == 0:
                more = [*log, [module["get_observations"](state)[0], action]]
            follow(module["apply_action"](state, action), more, share / len(legal))

    follow(module["initial_state"](2), [], 1.0)
    random.seed(5)
    for key in sorted(ways)[:: len(ways) // 6]:
        exact, draws = ways[key], Counter[str]()
        for _ in range(400):
            state = module["resample_state"](json.loads(key), 0)
            draws[state["cells"][1][0]] += 1
        for cell in exact.keys() | draws.keys():
            assert draws[cell] / 400 == pytest.approx(exact[cell] / exact.total(), abs=0.09)


def uno(one: str, other: str, *later: str) -> Position:
    """Uno after both hands were dealt, and what is given besides."""
    return after("uno", *[f"deal {card}" for card in f"{one} {other}".split()], *later)


PLAIN, OTHERS = "1R 2R 3R 4R 5R 6R 7R", "1G 2G 3G 4G 5G 6G 7G"


def test_uno_is_played_by_colour_rank_or_a_wild_card_whose_colour_is_named() -> None:
    hand = "5B 9G 9Y W F 5R SB"
    position = uno(hand, OTHERS, "deal 5G")
    fitting = {"play 5B", "play 9G", "play 5R", "play WR", "play WG", "play WB", "play WY"}
    assert (position.player, set(position.legal)) == (0, fitting), "no F, as others fit"
    after_wild = uno(hand, "1G 2G 3G 4G 5G 6R W", "deal 5G", "play WR")
    assert set(after_wild.legal) == {"play 6R", *(f"play W{color}" for color in "RGBY")}
    assert set(uno("1R 2R 3R 4R 5R 6R F", OTHERS, "deal 9B").legal) == {
        f"play F{color}" for color in "RGBY"
    }, "a draw four only where nothing else fits"


def test_uno_turns_up_no_draw_four_and_lets_the_first_card_work() -> None:
    assert "deal F" not in uno(PLAIN, OTHERS).legal
    assert "deal W" in uno(PLAIN, OTHERS).legal
    colored = uno(PLAIN, OTHERS, "deal W", "color R")
    assert (colored.player, len(colored.legal)) == (0, 7)
    assert uno(PLAIN, OTHERS, "deal SG").player == 1
    assert uno(PLAIN, OTHERS, "deal VG").player == 1
    two = uno(PLAIN, OTHERS, "deal DG", "deal 8G", "deal 9G")
    assert (two.player, two.observations[0]["hand_sizes"]) == (0, [9, 7])


def test_uno_cards_skip_pass_and_make_the_other_draw() -> None:
    hand = "SR DR VR 4R 5R 6R 7R"
    assert uno(hand, OTHERS, "deal 9R", "play SR").player == 0
    assert uno(hand, OTHERS, "deal 9R", "play VR").player == 1, "with two a reverse only passes"
    two = uno(hand, OTHERS, "deal 9R", "play DR", "deal 1B", "deal 2B")
    assert (two.player, two.observations[1]["hand_sizes"]) == (0, [6, 9])
    four = uno("1R 2R 3R 4R 5R 6R F", OTHERS, "deal 9B", "play FY", *["deal 8Y"] * 2, "deal W")
    assert four.player == -1, "the fourth card is not drawn yet"


def test_uno_plays_a_drawn_card_of_the_colour_at_once_and_keeps_one_of_the_rank() -> None:
    drawing = (PLAIN, OTHERS, "deal 9B", "draw")
    played = uno(*drawing, "deal 8B")
    assert (played.player, played.observations[0]["hand_sizes"]) == (1, [7, 7])
    assert played.observations[1]["played"] == ["9B", "8B"]
    kept = uno(*drawing, "deal 9Y")
    assert (kept.player, kept.observations[0]["hand_sizes"]) == (1, [8, 7])
    assert "9Y" not in str(kept.observations[1])
    assert uno(*drawing, "deal SB").player == 0, "a drawn skip works"
    wild = uno(*drawing, "deal F", "color G")
    assert (wild.player, wild.observations[1]["hand_sizes"]) == (1, [7, 7]), "nobody draws four"
    assert len(wild.legal) == 7


def test_uno_shuffles_the_whole_pile_back_when_the_deck_is_empty() -> None:
    module = LocalModule(source("uno")).namespace
    state = {
        **module["initial_state"](2),
        **{"deck": [], "hands": [["1R"], ["2R"]], "played": ["3G", "9B"], "draws": []},
        **{"color": "B", "rank": "9", "player": 0},
    }
    drawing = module["apply_action"](state, "draw")
    assert module["get_legal_actions"](drawing) == ["deal 3G", "deal 9B"]
    kept = module["apply_action"](drawing, "deal 3G")
    assert (kept["hands"], kept["played"], kept["player"]) == ([["1R", "3G"], ["2R"]], [], 1)
    none = module["apply_action"]({**state, "played": []}, "draw")
    assert (none["player"], none["hands"]) == (1, state["hands"]), "no card is left anywhere"


def test_uno_is_won_with_the_last_card() -> None:
    module = LocalModule(source("uno")).namespace
    state = {**module["initial_state"](2), "hands": [["1R", "5R"], ["DB"]], "draws": []}
    state |= {"color": "B", "rank": "9", "player": 1, "turn": 1}
    end = module["apply_action"](state, "play DB")
    assert module["get_current_player"](end) == -4
    assert module["get_rewards"](end) == [-1, 1]
    assert len(end["hands"][0]) == 2, "nothing is drawn after the end"
