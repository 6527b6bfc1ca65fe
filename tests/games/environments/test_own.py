"""Reference games: they keep the contract, and play by their rulings."""

import json
import random
from collections import Counter
from typing import Any

import pytest

from games.checks.run import CheckSettings, run_checks
from games.contract import LocalModule
from games.environments.of_module import ModuleEnvironment, own_games
from games.environments.registry import environment_named
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


@pytest.mark.parametrize("name", ["army5x5a", "hand_of_war", "quadranto"])
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
