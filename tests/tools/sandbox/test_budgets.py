"""What a module makes the host keep is bounded, with a sentence."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from games.table import Position
from games.values import Json, ModuleFault
from tools.guest.framing import weight_of
from tools.playtest.journal import Journal
from tools.playtest.runner import RunStoppedError, Workers, play_all
from tools.sandbox import Limits, Sandbox, SandboxTable

_GROWS = """
def initial_state(num_players): return {"ply": 0}
def get_current_player(state): return 0
def get_legal_actions(state): return ["go"]
def apply_action(state, action): return {"ply": state["ply"] + 1}
def get_rewards(state): return [0]
def get_observations(state): return [{"held": ["x"] * 500 * state["ply"]}]
def get_events(state, action): return [[]]
"""


@pytest.fixture(scope="module")
def narrow() -> Iterator[Sandbox]:
    with Sandbox(limits=Limits(table_bytes=2**20)) as sandbox:
        yield sandbox


def test_a_match_that_outgrows_the_table_is_a_fault_and_the_next_one_begins_anew(
    narrow: Sandbox,
) -> None:
    with narrow.worker("referee", _GROWS) as worker:
        worker.load(_GROWS)
        table = SandboxTable(worker)
        for _ in range(2):
            position = table.open(1, {})
            for _ in range(5):  # 500 strings more a ply, at least 8 bytes each and at most 100
                position = table.advance(position, "go")
            with pytest.raises(ModuleFault, match=r"one match take 1 MiB .* at most 1"):
                _go_on(table, position)


def _go_on(table: SandboxTable, position: Position) -> None:
    for _ in range(60):
        position = table.advance(position, "go")


@pytest.mark.parametrize(
    ("body", "least"),
    [(b"[[],[],[]]", 4 * 56), (b'{"a":{"b":1}}', 2 * 56), (b'"' + b"x" * 999 + b'"', 999)],
)
def test_a_value_weighs_no_less_than_it_does(body: bytes, least: int) -> None:
    assert weight_of(body) >= least


def _long(size: int) -> Json:
    return {"text": "x" * size}


def test_a_run_stops_before_its_journal_outgrows_its_room(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    jobs = [(index, 12 * 2**20) for index in range(9)]
    with (
        Journal(path, {"work": 1}) as journal,
        pytest.raises(RunStoppedError, match="5 matches leave 60 MiB to keep.*play fewer"),
    ):
        list(play_all(jobs, _long, journal=journal, workers=Workers()))
    assert path.stat().st_size < 64 * 2**20
    with Journal(path, {"work": 1}) as journal:
        assert sorted(journal.entries) == [0, 1, 2, 3]
