"""The player of a file: untrusted code, whose mistakes are its own."""

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from agents.players.registry import PlayerRoster, parse_spec
from agents.players.specs import PlayerSpecError
from games.engine import PlayerFault
from games.information import Did, SeatLog, Seen
from tests.agents.players.conftest import Seat
from tools.playtest.jobs import GameSetup
from tools.playtest.series import SeriesSettings, play_series
from tools.sandbox import Sandbox
from tools.sources import GameNotFoundError

HEAD = "def decide(observation, legal, history):\n    "
LOG = SeatLog(0, [Did("a"), Seen({"wanted": "c"}, ("Go on.",))])
LEGAL = ["a", "b", "c"]


def written(folder: Path, body: str) -> str:
    (folder / "mine.py").write_text(HEAD + body, encoding="utf-8")
    return str(folder / "mine.py")


@pytest.mark.parametrize(
    ("body", "action"),
    [
        ("return observation['wanted']", "c"),
        ("return legal[1]", "b"),
        ("return history[0]['action']", "a"),
    ],
)
def test_it_sees_its_observation_its_actions_and_its_history(
    seat: Seat, tmp_path: Path, body: str, action: str
) -> None:
    player = seat(written(tmp_path, body))
    assert player.choose(LOG, LEGAL, np.random.default_rng(0)).action == action


def test_it_may_draw_and_the_same_stream_draws_the_same(seat: Seat, tmp_path: Path) -> None:
    file = written(tmp_path, "import random; return ''.join(random.choices(legal, k=40))")
    drawn = [
        [player.choose(LOG, LEGAL, generator).action for _ in range(2)]
        for player, generator in (
            (seat(file), np.random.default_rng(number)) for number in (1, 1, 2)
        )
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0][0] != drawn[0][1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return 1", "decide answered 1; required: one of the legal actions"),
        ("return {1, 2}", "a set"),
        ("return legal[9]", "line 2.*IndexError"),
        ("return (", "line 2"),
        ("pass\ndel decide", "must define decide"),
        ("raise SystemExit", "SystemExit"),
    ],
)
def test_what_it_does_wrong_is_its_own_fault(
    seat: Seat, tmp_path: Path, body: str, reason: str
) -> None:
    player = seat(written(tmp_path, body))
    with pytest.raises(PlayerFault, match=rf"(?s)mine\.py.*{reason}"):
        player.choose(LOG, LEGAL, np.random.default_rng(0))


def test_it_is_named_by_its_path_and_a_hash_of_what_it_says(tmp_path: Path) -> None:
    file = written(tmp_path, "return legal[0]")
    digest = sha256(Path(file).read_bytes()).hexdigest()[:16]
    assert parse_spec(file).name == f"file:path={file},sha256={digest}"
    assert parse_spec(parse_spec(file).name) == parse_spec(file)


def test_a_file_that_changed_since_is_refused(tmp_path: Path) -> None:
    before = parse_spec(written(tmp_path, "return legal[0]")).name
    written(tmp_path, "return legal[1]")
    with pytest.raises(PlayerSpecError, match="has changed"):
        parse_spec(before)


@pytest.mark.parametrize("name", ["missing.py", ".", "folder.py"])
def test_what_is_no_file_is_refused_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.py").mkdir()
    with pytest.raises((GameNotFoundError, PlayerSpecError), match="must be a file|no player"):
        parse_spec(str(tmp_path / name))


ONE_TURN_EACH = """
def initial_state(num_players): return {"said": ""}
def get_current_player(state): return len(state["said"]) if len(state["said"]) < 2 else -4
def get_legal_actions(state): return ["a", "b"] if len(state["said"]) < 2 else []
def apply_action(state, action): return {"said": state["said"] + action}
def get_rewards(state): return [1.0, -1.0] if len(state["said"]) == 2 else [0.0, 0.0]
def get_observations(state): return [state, state]
def get_events(state, action): return [[action], [action]]
"""
ENDS_ITSELF = """import os, sys
    frame = sys._getframe()
    while "stream" not in frame.f_locals:
        frame = frame.f_back
    stream = frame.f_locals["stream"]
    write = type(stream).write
    stream.write = lambda body: (write(stream, body), os._exit(0))
    return "a"
"""


def test_one_that_ends_after_its_last_answer_forfeits(tmp_path: Path) -> None:
    """Else it could void each match that it has lost."""
    game = GameSetup("one turn each", ONE_TURN_EACH, 2)
    dies = written(tmp_path, ENDS_ITSELF)
    with Sandbox() as sandbox:
        series = play_series(
            game,
            [dies, "random"],
            PlayerRoster(),
            SeriesSettings(matches=4, seed=1),
            sandbox=sandbox,
        )
    assert {entry.ending for entry in series.entries.values()} == {"forfeit"}
    for index, entry in series.entries.items():
        assert entry.culprit == series.plan.schedule.seated(index, 1).index(0)
        assert "after its last answer: ping: killed" in entry.reason
