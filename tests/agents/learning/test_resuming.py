"""A training that is killed, and the best of several seeds."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agents.learning.choosing import TrainingOrder, best_of_seeds
from agents.learning.matches import Matches
from agents.learning.policy import Policy
from agents.learning.ppo import train
from agents.learning.settings import LearningError, PpoSettings
from agents.players.registry import PlayerRoster
from tests.agents.learning.conftest import QUICK, arrayed, setup
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

# Found, and not imported: every process of the suite collects this file, and one needs torch.
pytestmark = pytest.mark.skipif(
    find_spec("torch") is None, reason="training is an extra: not verified without torch"
)

SMALL = QUICK.model_copy(update={"environments": 10, "horizon": 20, "units": 8, "explore": 100})
STEPS = 800  # 4 updates


class Killed(BaseException):
    """The process ends here."""


def killed_after(updates: int) -> Callable[[dict[str, Any]], None]:
    told: list[object] = []

    def tell(row: dict[str, Any]) -> None:
        told.append(row)
        if len(told) == updates:
            raise Killed

    return tell


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        (setup("tic_tac_toe"), {}),
        (setup("leduc_poker"), {}),  # chance, memory
        (setup("kuhn_poker"), {"opponents": "uniform", "max_plies": 4}),
        (arrayed(), {}),
    ],
    ids=["board", "memory", "cut", "arrays"],
)
def test_a_training_killed_at_any_update_goes_on_to_the_same_bytes(
    sandbox: Sandbox, tmp_path: Path, game: GameSetup, changes: dict[str, Any]
) -> None:
    settings = SMALL.model_copy(update=changes)

    def trained(kept: Path | None, tell: Callable[[dict[str, Any]], None]) -> Policy:
        with Matches(sandbox, game, settings, 3) as matches:
            return train(matches, STEPS, 3, {}, kept=kept, on_update=tell)

    whole = trained(None, lambda _: None).saved()
    kept, updates = tmp_path / "kept", 0
    for stop in (1, 2):
        with pytest.raises(Killed):
            trained(kept, killed_after(stop))
        updates += stop
    seen: list[dict[str, Any]] = []
    assert trained(kept, seen.append).saved() == whole
    assert len(seen) == STEPS // 200 - updates  # what was learned is not learned again
    assert trained(kept, killed_after(1)).saved() == whole  # of a finished one nothing is


def test_another_training_is_not_gone_on_with_unless_it_is_to_begin_anew(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"

    def trained(
        *, seed: int = 1, steps: int = 400, anew: bool = False, **changes: object
    ) -> list[dict[str, Any]]:
        seen: list[dict[str, Any]] = []
        settings = PpoSettings.model_validate(SMALL.model_dump() | changes)
        with Matches(sandbox, setup("kuhn_poker"), settings, seed) as matches:
            train(matches, steps, seed, {}, kept=kept, anew=anew, on_update=seen.append)
        return seen

    assert len(trained()) == 2
    for other, named in (
        ({"seed": 2}, "another seed .there: seed 1"),
        ({"steps": 600}, "another steps"),
        ({"gamma": 0.5}, "another settings"),
    ):
        with pytest.raises(LearningError, match=named):
            trained(**other)
    held = kept.read_bytes()
    for damaged in (b"", held[:-9], held[:70], b"{}" * 99):
        kept.write_bytes(damaged)
        with pytest.raises(LearningError, match="is damaged .*; say --force to begin anew"):
            trained()
    assert len(trained(anew=True)) == 2
    assert trained(anew=True) == []  # its own is gone on with


def test_the_best_of_several_seeds_is_chosen_by_play_and_all_figures_are_told(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    settings = SMALL.model_copy(update={"choice_deals": 12})

    def best(folder: str, seeds: int) -> Policy:
        return best_of_seeds(
            sandbox,
            setup("kuhn_poker"),
            PlayerRoster(),
            TrainingOrder(settings, 400, 5, seeds),
            folder=tmp_path / folder,
        )

    found = best("two", 2)
    rows = found.about["seeds"]
    assert [row["seed"] for row in rows] == [5, 6]
    top = max(rows, key=lambda row: row["value"])
    assert found.about["seed"] == top["seed"]
    assert all(row["n"] == 12 and row["low"] <= row["value"] <= row["high"] for row in rows)
    # What they earn may be equal; their weights are not, on whatever kernels they were trained.
    assert len({(tmp_path / "two" / f"{seed}.policy").read_bytes() for seed in (5, 6)}) == 2
    alone = best("one", 1)
    assert "seeds" not in alone.about  # one seed is chosen by nothing
    assert best("two", 2).saved() == found.saved()
