"""Networks that are told the arrays of a module's own functions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.encoding.tensors import TensorEncoder, TensorSource
from agents.learning.matches import Matches
from agents.learning.settings import LearningError, PpoSettings
from agents.players.registry import PlayerRoster
from games.values import ModuleFault
from tests.agents.learning.conftest import QUICK, arrayed, setup
from tests.tools.predicting.material import ARRAYS, changed
from tools.playtest.series import SeriesSettings, play_series, series_summary
from tools.sandbox import Sandbox

SEEN: dict[str, Any] = {"betting": ["Pass"], "card": "Q", "current_player": "1", "my_player_id": 1}


def test_an_array_is_what_the_function_gives_and_is_asked_for_once(sandbox: Sandbox) -> None:
    arrays = TensorEncoder(sandbox, TensorSource(ARRAYS, 10))
    assert arrays.of(SEEN) is None
    arrays.ask([SEEN, SEEN, {"card": "Q"}])
    array = arrays.of(SEEN)
    assert array is not None
    # J Q K, the seat, then Pass and Bet of three moves
    assert array.tolist() == [0, 1, 0, 1, 1, 0, 0, 0, 0, 0]
    assert arrays.of({"card": "Q"}) is None  # the function fails on it
    arrays.close()
    arrays.ask([SEEN])  # known: nobody is asked


def test_one_that_ends_its_worker_is_named_and_others_are_told_still(sandbox: Sandbox) -> None:
    ends = changed(
        ARRAYS,
        (
            "    row = [",
            "    if observation['card'] == 'K':\n        __import__('os')._exit(3)\n    row = [",
        ),
    )
    arrays = TensorEncoder(sandbox, TensorSource(ends, 10))
    with pytest.raises(ModuleFault, match="the worker"):
        arrays.ask([SEEN | {"card": "K"}])
    arrays.ask([SEEN])
    assert arrays.of(SEEN) is not None
    arrays.close()
    broken = TensorEncoder(sandbox, TensorSource("import numpyy", 10))
    for _ in range(2):
        with pytest.raises(ModuleFault, match="numpyy"):
            broken.ask([SEEN])


def policy_of(sandbox: Sandbox, **changes: Any) -> Any:  # noqa: ANN401
    pytest.importorskip("torch", reason="training is an extra: not verified without torch")
    from agents.learning.ppo import train

    settings = PpoSettings.model_validate(QUICK.model_dump() | {"explore": 200} | changes)
    with Matches(sandbox, arrayed(), settings, 1) as matches:
        return train(matches, 2000, 1, {})


@pytest.mark.whole
def test_a_network_told_by_the_modules_functions_beats_random_play_in_the_game_itself(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    policy = policy_of(sandbox)
    explored = policy.about["explored"]
    assert (explored["encoder"], explored["not_restored"], explored["tried"]) == ("model", 0, 12)
    assert policy.codec.width == 10 + policy.codec.encoder.width == explored["width"]
    assert "source" not in str(policy.about.keys())
    path = tmp_path / "policy"
    path.write_bytes(policy.saved())
    roster = PlayerRoster()
    specs = [f"ppo:policy={path},elsewhere=yes", "random"]
    with Sandbox(preload=roster.preload) as own:
        series = play_series(
            arrayed(), specs, roster, SeriesSettings(matches=100, seed=3), sandbox=own
        )
    ours: Any = series_summary(series)["entrants"]
    assert ours[0]["mean_return"]["low"] > 0, ours
    assert ours[0]["used"]["figures"]["unknown_values"]["total"] == 0


def test_the_general_encoder_is_taken_where_it_is_wanted_or_there_is_no_other(
    sandbox: Sandbox,
) -> None:
    assert policy_of(sandbox, encoder="general").codec.tensors is None
    settings = QUICK.model_copy(update={"encoder": "model"})
    from agents.learning.ppo import train

    with (
        Matches(sandbox, setup("kuhn_poker"), settings, 1) as matches,
        pytest.raises(LearningError, match="has no observation_to_tensor and tensor_to_obs"),
    ):
        train(matches, 100, 1, {})
    broken = replace(arrayed(), source=arrayed().source.replace("row += [", "row += 1 / 0 * ["))
    with (
        Matches(sandbox, broken, settings, 1) as matches,
        pytest.raises(LearningError, match="makes no array(.|\n)*ZeroDivisionError"),
    ):
        train(matches, 100, 1, {})


def test_what_the_functions_fail_on_is_counted_in_training(sandbox: Sandbox) -> None:
    pytest.importorskip("torch", reason="training is an extra: not verified without torch")
    from agents.learning.ppo import train

    kingless = arrayed().source.replace(
        "for c in 'JQK'] + [", "for c in 'JQK'[:'JQ'.index(observation['card'])+9]] + ["
    )
    settings = QUICK.model_copy(update={"explore": 200})
    with Matches(sandbox, replace(arrayed(), source=kingless), settings, 1) as matches:
        about = train(matches, 1000, 1, {}).about
    assert (about["explored"]["not_restored"], about["explored"]["tried"]) == (4, 12)
    assert about["course"][0]["unknown_values"] > 0
