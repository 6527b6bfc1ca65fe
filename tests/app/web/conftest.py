"""A server for the tests of a module, over the runs of the command's tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.run.sandboxes import open_sandbox
from tests.app.web.browser import Browser, serving
from tools.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox() as opened:
        yield opened


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    return tmp_path


@pytest.fixture
def browser(sandbox: Sandbox, runs: Path) -> Iterator[Browser]:
    assert os.environ["RULEWRIGHT_RUNS"] == str(runs)
    with serving(sandbox, runs) as one:
        yield one


@pytest.fixture
def game_run(runs: Path) -> Path:
    """A finished run, as far as a table needs it."""
    from games import library

    folder = runs / "my-game"
    (folder / ".state" / "journals").mkdir(parents=True)
    (folder / "game.py").write_text(library.source("tic_tac_toe"))
    (folder / "run.json").write_text('{"end":"made"}')
    (folder / "rulebook.md").write_text("# Mine\n\n- R1: Play.\n")
    (folder / "report.html").write_text("<!DOCTYPE html><style>p{}</style><svg></svg>")
    return folder
