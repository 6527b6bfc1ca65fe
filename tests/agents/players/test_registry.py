"""The players in a tournament of processes."""

from pathlib import Path

import pytest

from agents.players.registry import PlayerRoster
from agents.players.specs import PlayerSpecError
from games import library
from tools.playtest.jobs import GameSetup
from tools.playtest.runner import Workers
from tools.playtest.schedule import TournamentSettings
from tools.playtest.tournament import play_tournament

SETTINGS = TournamentSettings(deals=2, seed=5)


def setup(name: str, seats: int = 2) -> GameSetup:
    return GameSetup(name, library.source(name), seats, heuristics=library.heuristic_sources(name))


def test_searching_players_in_two_processes_give_the_bytes_of_one(tmp_path: Path) -> None:
    specs = ["random", "greedy", "uct:simulations=8"]
    one, two = (
        play_tournament(
            setup("tic_tac_toe"),
            specs,
            SETTINGS,
            PlayerRoster(),
            journal=tmp_path / f"{jobs}.jsonl",
            workers=Workers(jobs),
        )
        for jobs in (1, 2)
    )
    assert one.as_json() == two.as_json()
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    uct = one.standings[2]
    assert uct.effective.settings["simulations"] == 8
    assert uct.used.figures["simulations_done"].most == 8
    assert set(uct.used.words["algorithm"]) == {"uct"}


@pytest.mark.parametrize("spec", ["uct:time_ms=100", "clairvoyant", "greedy:heuristic"])
def test_what_a_player_does_not_know_is_refused(spec: str) -> None:
    with pytest.raises(PlayerSpecError, match="known|value"):
        play_tournament(setup("tic_tac_toe"), ["random", spec], SETTINGS, PlayerRoster())


def test_a_player_that_cannot_play_the_game_ends_a_tournament_of_processes_with_its_reason() -> (
    None
):
    with pytest.raises(PlayerSpecError, match="use ismcts"):
        play_tournament(
            setup("poker"), ["random", "uct"], SETTINGS, PlayerRoster(), workers=Workers(2)
        )
