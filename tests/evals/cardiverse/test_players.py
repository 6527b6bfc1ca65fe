"""The measured players of one short game, at the smallest size that means anything."""

from pathlib import Path

import pytest

from evals.cardiverse import players
from evals.cardiverse.players import CARDS, PlayersSize
from evals.results import EvalOptions


@pytest.mark.whole
def test_players_made_in_the_run_beat_random_play_at_a_game_of_lines() -> None:
    said: list[str] = []
    size = PlayersSize(plies=1_500, selecting=16, matches=20, games=("tic_tac_toe",))
    result = players.run(EvalOptions(seed=1, tell=said.append), size)
    (sample,) = result.samples
    assert sample["deals"] == 10
    low, points, high = (float(str(sample[name])) for name in ("low", "points", "high"))
    assert low <= points <= high <= 50
    assert points > 12  # a player that completes lines wins most matches against random play
    members = sample["members"]
    assert isinstance(members, list)
    assert all(str(name).startswith(("fitted_", "not_fitted_")) for name in members)
    assert {score.name for score in result.scores if score.at_least or score.at_most} == {
        "mean advantage over random play, points",
        "milliseconds a decision, mean of the slowest game",
    }


def test_the_games_are_the_twelve_families_and_half_of_them_are_of_cards() -> None:
    assert len(players.FULL.games) == 12
    assert set(players.FULL.games) >= CARDS
    assert players.FULL.matches >= 2_000


@pytest.mark.whole
def test_two_games_whose_heuristics_have_the_same_names_share_a_folder(tmp_path: Path) -> None:
    size = PlayersSize(plies=40, selecting=2, matches=2, games=("tic_tac_toe", "poker"))
    samples = players.run(EvalOptions(seed=1, folder=tmp_path), size).samples
    assert [sample["game"] for sample in samples if "problem" not in sample] == [*size.games]


@pytest.mark.whole
def test_a_player_without_heuristics_has_no_advantage_and_no_interval() -> None:
    size = PlayersSize(plies=1, selecting=4, matches=4, games=("poker",))
    (sample,) = players.run(EvalOptions(seed=3), size).samples
    assert sample["points"] == 0.0 or sample["deals"]
    assert sample["members"] or sample["low"] is None
