"""PPO inside a learned model: what is trained there plays the game itself, beside the paper."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.learning.settings import PpoSettings
from evals.cwm import ppo
from evals.cwm.ppo import PpoSize, run
from evals.results import EvalOptions, EvalResult

SMALL = PpoSettings(environments=10, horizon=10, units=8, explore=300, choice_deals=3)
TINY = PpoSize(150, 2, 3, 2, SMALL, ("leduc_poker",))
PUBLISHED = json.loads((Path(ppo.__file__).parent / "published_ppo.json").read_text())


@pytest.fixture(scope="module")
def played() -> EvalResult:
    pytest.importorskip("torch", reason="training is an extra: not verified without torch")
    return run(EvalOptions(seed=1, quick=True), TINY)


@pytest.mark.whole
def test_what_was_trained_in_the_model_knows_the_games_own_actions(played: EvalResult) -> None:
    scores = {score.name: score for score in played.scores}
    assert scores["decisions without a known action"].value == 0
    assert all(row["explored"]["not_restored"] == 0 for row in played.samples)  # type: ignore[call-overload,index]


@pytest.mark.whole
def test_the_best_of_the_seeds_plays_and_no_figure_of_them_is_left_out(played: EvalResult) -> None:
    for row in played.samples:
        seeds: Any = row["against random in the model"]
        assert [one["seed"] for one in seeds] == [1, 2]
        assert row["seed"] == max(seeds, key=lambda one: one["value"])["seed"]


@pytest.mark.whole
def test_each_table_says_by_seat_what_the_paper_says(played: EvalResult) -> None:
    met = {(row["protocol"], str(row["opponent"]).partition(":")[0]) for row in played.samples}
    assert met == {(one, other) for one in ("paper", "ours") for other in ("gt", "random")}
    assert all(row["matches"] == 6 for row in played.samples)
    first: Any = played.samples[0]
    # Table 22, Leduc poker against Random, PPO-CWM first.
    assert first["published"]["open deck"]["payoffs"][0] == [1.25, -1.25]
    assert [one["n"] for one in first["by seat"]] == [3, 3]


@pytest.mark.whole
def test_the_papers_protocol_learns_against_uniform_play(played: EvalResult) -> None:
    assert played.effective["protocols"] == {"paper": "uniform", "ours": "self"}
    assert played.effective["settings"]["units"] == 8  # type: ignore[call-overload,index]


def test_the_published_rows_are_what_a_table_can_say() -> None:
    for name, decks in PUBLISHED["games"].items():
        for rows in decks.values():
            for who in ("random", "gt"):
                assert all(sum(one) == pytest.approx(1) for one in rows[who].get("wins", ())), name
                zero = [sum(one) for one in rows[who].get("payoffs", ())]
                assert name == "bargaining" or not any(zero), name
