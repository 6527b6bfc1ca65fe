"""A training whose first matches another player plays."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.learning.settings import LearningError
from agents.observing.model import ObservationSettings
from agents.observing.population import SelfPlayTraining
from agents.observing.selfplay import PopulationPlayer, matches_of_play
from agents.players.registry import PlayerRoster
from games import library
from games.information import Did
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

CHECKS = "def score(observation, action):\n    return float(action == 'check')\n"
KUHN = GameSetup("kuhn_poker", library.source("kuhn_poker"), 2, {}, {"checks": CHECKS})


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def training(sandbox: Sandbox, folder: Path, teacher: str) -> SelfPlayTraining:
    settings = ObservationSettings(iterations=0, batch=256, learning_rate=0.005, teacher=teacher)
    return SelfPlayTraining(sandbox, KUHN, settings, 10_000, 7, folder, roster=PlayerRoster())


def test_a_taught_training_knows_all_that_random_play_shows(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    taught, untaught = (
        training(sandbox, tmp_path, teacher)._random_play()[0]
        for teacher in ("greedy:heuristic=checks", "random")
    )
    assert taught == untaught


def checks(sandbox: Sandbox, folder: Path, teacher: str) -> float:
    """The share of first actions of a trained policy that are the heuristic's."""
    player = PopulationPlayer(training(sandbox, folder, teacher).train({}), greedy=None)
    matches = matches_of_play(
        sandbox, KUHN, lambda _: (player,) * 2, range(200), seed=3, max_plies=9
    )
    firsts = [
        next(entry.action for entry in logs[0].entries if isinstance(entry, Did))
        for _, logs, _ in matches
    ]
    return firsts.count("check") / len(firsts)


def test_a_policy_follows_its_teacher(sandbox: Sandbox, tmp_path: Path) -> None:
    """The heuristic always checks; random play does so in half of the matches."""
    assert checks(sandbox, tmp_path / "taught", "greedy:heuristic=checks") > 0.95


def test_every_seat_of_a_teachers_match_is_learned_from(sandbox: Sandbox, tmp_path: Path) -> None:
    """Kuhn poker has two seats, and pays them differently."""
    row = training(sandbox, tmp_path, "greedy:heuristic=checks").train({}).about["course"][0]
    assert row["logs"] == 2 * row["matches"]


@pytest.mark.parametrize(
    ("teacher", "told"),
    [
        ("ismcts", "does not play many matches at once"),
        ("nobody", "teacher=nobody: .*nobody"),
        ("greedy:heuristic=shy", "teacher=greedy:heuristic=shy: no heuristic 'shy'"),
    ],
)
def test_who_cannot_teach_is_refused(
    sandbox: Sandbox, tmp_path: Path, teacher: str, told: str
) -> None:
    with pytest.raises(LearningError, match=told):
        training(sandbox, tmp_path, teacher).train({})
