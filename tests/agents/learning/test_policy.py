"""Policy files, and the player that plays by one."""

import json
import os
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from agents.encoding.paths import fitted_encoder
from agents.encoding.protocol import Array
from agents.learning.policy import Codec, Policy, initial_weights, read_policy, shapes
from agents.learning.settings import LearningError
from agents.players.ppo import PolicyPlayer
from agents.players.registry import PlayerRoster, parse_spec
from agents.players.specs import PlayerSpecError
from games.engine import Decision
from games.information import SeatLog, SeatTurn
from games.streams import stream
from tests.agents.learning.conftest import Trained, setup
from tools.playtest.series import SeriesSettings, play_series, series_summary
from tools.sandbox import Sandbox

STEPS = {"tic_tac_toe": 10_000, "leduc_poker": 8_000}


@pytest.fixture
def file(trained: Trained, tmp_path: Path) -> Path:
    path = tmp_path / "leduc.policy"
    path.write_bytes(trained("leduc_poker", STEPS["leduc_poker"]).saved())
    return path


def player(sandbox: Sandbox, path: Path, game: str = "leduc_poker", more: str = "") -> PolicyPlayer:
    roster = PlayerRoster()
    config = roster.effective(f"ppo:policy={path}{more}")
    made = roster.seat(config, seat=0, match=0, game=setup(game), sandbox=sandbox)
    assert isinstance(made, PolicyPlayer)
    return made


@pytest.mark.parametrize("name", STEPS)
def test_a_trained_network_beats_random_play(
    trained: Trained, tmp_path: Path, sandbox: Sandbox, name: str
) -> None:
    path = tmp_path / "policy"
    path.write_bytes(trained(name, STEPS[name]).saved())
    roster = PlayerRoster()
    specs = [f"ppo:policy={path}", "random"]
    with Sandbox(preload=roster.preload) as own:
        series = play_series(
            setup(name), specs, roster, SeriesSettings(matches=160, seed=3), sandbox=own
        )
    ours: Any = series_summary(series)["entrants"]
    assert ours[0]["mean_return"]["low"] > 0, ours  # of itself, uniform play gets 0
    assert ours[0]["forfeits"] == 0
    figures, decisions = ours[0]["used"]["figures"], ours[0]["used"]["decisions"]
    assert figures["unknown_actions"]["total"] == 0
    assert figures["unknown_values"]["total"] < decisions / 10, (
        "views in play are those of training"
    )


def test_a_file_gives_the_policy_that_was_saved(file: Path) -> None:
    policy = read_policy(str(file))
    assert policy.saved() == file.read_bytes()
    assert policy.about["game"] == "leduc_poker"
    assert policy.about["steps"] >= STEPS["leduc_poker"]


def rewritten(file: Path, **changes: object) -> None:
    arrays = load(file.read_bytes())
    meta = json.loads(arrays["rulewright"].tobytes()) | changes
    arrays["rulewright"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    file.write_bytes(save(arrays))


def test_a_damaged_file_is_refused_in_a_sentence(file: Path) -> None:
    whole = file.read_bytes()
    deep = save({**load(whole), "rulewright": np.frombuffer(b"[" * 100_000, np.uint8)})
    for broken in (b"", whole[:-40], whole[:200], b"\x80\x04pickle", whole[8:], b"{}" * 400, deep):
        file.write_bytes(broken)
        with pytest.raises(PlayerSpecError, match="is no policy file, or is damaged; train again"):
            parse_spec(f"ppo:policy={file}")


def test_what_never_ends_is_no_policy_file(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    with pytest.raises(PlayerSpecError, match="is no policy file"):
        parse_spec(f"ppo:policy={pipe}")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": 2}, "has the form 2; this version reads 1"),
        ({"actions": ["call"]}, "no policy file, or is damaged"),
        ({"actions": "call"}, "no policy file, or is damaged"),
        ({"encoder": {"paths": [[1]], "spelled": []}}, "no policy file, or is damaged"),
        ({"encoder": None}, "no policy file, or is damaged"),
        ({"settings": {}}, "no policy file, or is damaged"),
        ({"tensors": 3}, "no policy file, or is damaged"),
        ({"tensors": {"source": "", "width": -9}}, "no policy file, or is damaged"),
        ({"tensors": {"source": "", "width": 10**9}}, "no policy file, or is damaged"),
        ({"recurrent": False}, "no policy file, or is damaged"),
    ],
)
def test_a_file_of_another_form_is_refused(
    file: Path, changes: dict[str, object], complaint: str
) -> None:
    rewritten(file, **changes)
    with pytest.raises(LearningError, match=complaint):
        read_policy(str(file))


def test_a_network_without_units_is_refused_before_an_array_of_its_width_is_made(
    file: Path,
) -> None:
    # [width, 0] has no byte in the file, whatever its width.
    meta = json.loads(load(file.read_bytes())["rulewright"].tobytes())
    meta |= {
        "actions": ["call"],
        "settings": {**meta["settings"], "units": 0},
        "recurrent": False,
        "tensors": {"source": "", "width": 10**6},
        "encoder": {"paths": [], "spelled": []},
    }
    outputs = {"first": (10**6 + 1, 0), "last": (0, 0), "actor": (0, 1), "critic": (0, 1)}
    arrays = {
        name: array
        for layer, (inputs, units) in outputs.items()
        for name, array in (
            (layer, np.zeros((inputs, units), np.float32)),
            (f"{layer}.bias", np.zeros(units, np.float32)),
        )
    }
    arrays["rulewright"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    file.write_bytes(save(arrays))
    with pytest.raises(LearningError, match="damaged"):
        read_policy(str(file))


def test_what_a_file_says_of_itself_is_weighed_before_it_is_read(file: Path) -> None:
    arrays = load(file.read_bytes())
    long = b"[" + b"[]," * 3_000_000 + b"[]]"  # 9 MB, and twenty times as much once it is read
    file.write_bytes(save({**arrays, "rulewright": np.frombuffer(long, np.uint8)}))
    begun = tracemalloc_peak(lambda: pytest.raises(LearningError, read_policy, str(file)))
    assert begun < 100 * 2**20


def tracemalloc_peak(call: Callable[[], object]) -> int:
    """The most memory that a call held at once, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_weights_that_are_no_numbers_are_refused(file: Path) -> None:
    arrays = load(file.read_bytes())
    arrays["actor"] = arrays["actor"] * np.float32("nan")
    file.write_bytes(save(arrays))
    with pytest.raises(LearningError, match="damaged"):
        read_policy(str(file))


def test_a_player_without_a_file_or_with_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlayerSpecError, match="required: policy=FILE"):
        parse_spec("ppo")
    with pytest.raises(PlayerSpecError, match="there is no policy file"):
        parse_spec(f"ppo:policy={tmp_path / 'none'}")


def test_another_game_is_refused_and_played_only_where_that_is_asked_for(
    file: Path, sandbox: Sandbox
) -> None:
    with pytest.raises(PlayerSpecError, match="was trained on leduc_poker, and this is kuhn_poker"):
        player(sandbox, file, "kuhn_poker")
    assert player(sandbox, file, "kuhn_poker", ",elsewhere=yes").policy.digest


def test_a_file_that_changed_since_the_spec_was_read_is_refused(
    file: Path, trained: Trained, sandbox: Sandbox
) -> None:
    spec = parse_spec(f"ppo:policy={file}").name
    assert parse_spec(spec) == parse_spec(f"ppo:policy={file}")
    file.write_bytes(trained("tic_tac_toe", STEPS["tic_tac_toe"]).saved())
    with pytest.raises(PlayerSpecError, match="has changed: its hash is"):
        parse_spec(spec)


def log_of(observation: dict[str, object]) -> SeatLog:
    log = SeatLog(0)
    log.see(observation, [])  # type: ignore[arg-type]
    return log


def test_what_it_does_not_know_is_counted_and_known_actions_come_first(
    file: Path, sandbox: Sandbox
) -> None:
    made = player(sandbox, file)
    assert isinstance(made.policy, Policy)
    known = made.policy.codec.actions[0]
    log = log_of({"strange": 1, "things": [2, 3]})
    for number in range(20):
        decision = made.choose(log, ["never seen", known], stream(number, "player"))
        assert (decision.action, decision.effort.row()["unknown_actions"]) == (known, 1)
        # one strange, two things; and Leduc always tells of the deal, here of nothing
        assert decision.effort.row()["unknown_values"] == 4
        assert "fallback" not in decision.effort.row()
    lost = made.choose(log, ["never", "seen"], stream(0, "player"))
    assert lost.action in ("never", "seen")
    assert lost.effort.row()["fallback"] == "uniform"


def test_at_temperature_zero_it_always_plays_the_same(file: Path, sandbox: Sandbox) -> None:
    made = player(sandbox, file, more=",temperature=0")
    actions = list(made.policy.codec.actions)
    log = log_of({})

    def decided(number: int) -> Decision:
        return made.choose(log, actions, stream(number, "player"))

    assert len({decided(number).action for number in range(20)}) == 1
    warm = player(sandbox, file, more=",temperature=1000")
    assert len({warm.choose(log, actions, stream(n, "player")).action for n in range(60)}) > 1


@pytest.mark.parametrize("recurrent", [False, True])
def test_logits_are_the_same_to_the_last_bit_alone_and_beside_others(*, recurrent: bool) -> None:
    """Products of whole batches round otherwise, and a decision would rest on who is beside it."""
    codec = Codec(fitted_encoder([{"a": 1, "b": 1.5}]), ("x", "y", "z"), recurrent)
    generator = np.random.default_rng(0)
    for units in (5, 61, 128):
        sizes = shapes(97, 3, units, recurrent=recurrent)
        policy = Policy(codec, initial_weights(sizes, generator), {})
        drawn = generator.standard_normal((70, 97)).astype(np.float32)
        turns = [SeatTurn(None, (), {"row": row}, None, 0) for row in range(70)]
        asked = [turns[: 1 + end % 7] for end in range(70)] + [[turn] for turn in turns]
        together, _ = policy.logits(0, asked, Drawn(drawn))
        alone = [policy.logits(0, [one], Drawn(drawn))[0][0] for one in asked]
        assert together.tobytes() == np.stack(alone).tobytes()


class Drawn:
    """Gives the row of an array that an observation names."""

    def __init__(self, rows: Array) -> None:
        self.rows, self.width = rows, rows.shape[1]

    def prepare(self, turns: Sequence[SeatTurn]) -> None:
        pass

    def encoded(self, seat: int, turn: SeatTurn) -> tuple[Array, int]:
        del seat
        row = turn.observation["row"]
        assert isinstance(row, int)
        return self.rows[row], 0

    def close(self) -> None:
        pass
