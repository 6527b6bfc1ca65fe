"""Checkpoints of somebody else: two tables, and nothing that reading them would run."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from graph.run.checkpoints import BrokenCheckpointsError, open_checkpoints

CONFIG: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
ALIEN = {
    "a view in the place of a table": (
        "DROP TABLE checkpoints",
        "CREATE VIEW checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,"
        f" type, checkpoint, metadata) AS SELECT i, i, i, i, i, i, i FROM ({ENDLESS})",
    ),
    "a view beside them": (f"CREATE VIEW more AS {ENDLESS}",),
    "a trigger": (
        f"CREATE TRIGGER t AFTER INSERT ON writes BEGIN SELECT count(*) FROM ({ENDLESS}); END",
    ),
    "another table": ("CREATE TABLE more (a)",),
    "an index": ("CREATE INDEX i ON writes (abs(idx))",),
    "a column that is computed": (
        "ALTER TABLE checkpoints ADD COLUMN c AS (hex(zeroblob(100000000)))",
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / ".state" / "checkpoints.sqlite"
    file.parent.mkdir()
    with open_checkpoints(file, None) as saver:
        saver.put(CONFIG, empty_checkpoint(), {"step": 1}, {})
    return file


def test_checkpoints_are_read_as_they_were_written(path: Path) -> None:
    with open_checkpoints(path, None) as saver:
        found = saver.get_tuple(CONFIG)
    assert found is not None
    assert found.metadata["step"] == 1


@pytest.mark.parametrize("name", ALIEN)
def test_what_else_a_file_holds_is_refused_before_it_can_run(path: Path, name: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in ALIEN[name]:
            connection.execute(statement)
        connection.commit()
    with (
        pytest.raises(BrokenCheckpointsError, match="not of ours.*--discard-checkpoints"),
        open_checkpoints(path, None),
    ):
        pass


def test_a_definition_that_is_no_text_is_told(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"PRIMARY KEY", b"PRIMARY \xa0EY"))
    with (
        pytest.raises(BrokenCheckpointsError, match="--discard-checkpoints"),
        open_checkpoints(path, None),
    ):
        pass


def test_a_file_as_large_as_no_run_leaves_one_is_refused(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(2**31)
    with pytest.raises(BrokenCheckpointsError, match="GiB"), open_checkpoints(path, None):
        pass
