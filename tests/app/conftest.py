"""The command in this process, with a home of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.players.registry import PlayerRoster
from app.cli import main
from graph.new.context import RunSettings
from tests.app.smaller import smaller
from tools.playtest.jobs import SandboxRecipe, sandbox_of_process

Command = Callable[..., "Outcome"]

SEEDED = (
    *("analyse", "balance", "check", "compare", "learn", "match", "new", "record"),
    *("tournament", "train", "vary"),
)
"""Commands that draw a seed where none is given."""


def seeded(arguments: Sequence[object]) -> list[str]:
    """The same words of a command, with seed 0 where it would draw one: a test is to repeat."""
    words = [str(argument) for argument in arguments]
    return [*words, "--seed", "0"] if words[0] in SEEDED and "--seed" not in words else words


class Outcome:
    """What one call of the command left."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:  # noqa: ANN401
        return json.loads(self.out)


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, built_home: Path) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(built_home, home, dirs_exist_ok=True)
    os.environ["RULEWRIGHT_HOME"] = str(home)
    os.environ["RULEWRIGHT_RUNS"] = str(tmp_path_factory.mktemp("runs"))
    yield
    del os.environ["RULEWRIGHT_HOME"], os.environ["RULEWRIGHT_RUNS"]


@pytest.fixture(scope="session", autouse=True)
def _shared_sandbox() -> Iterator[None]:
    """The sandbox of `match` and `tournament`, which a process starts once and not once a call."""
    with sandbox_of_process(SandboxRecipe(preload=PlayerRoster().preload)):
        yield


@pytest.fixture(autouse=True)
def _few_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunSettings, "model_validate", smaller(RunSettings.model_validate))


@pytest.fixture
def command(drawn: Command) -> Command:
    return lambda *arguments: drawn(*seeded(arguments))


@pytest.fixture
def drawn(capfd: pytest.CaptureFixture[str]) -> Command:
    """The command as it is typed: where no seed is given, one is drawn."""

    def call(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


Started = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def started() -> Iterator[Started]:
    """Start the command in a process of its own; the process is ended with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str | Path, **environment: str) -> "subprocess.Popen[str]":
        module = "tests.app.smaller" if arguments[0] == "new" else "app.cli"
        command = [sys.executable, "-m", module, *seeded(arguments)]
        process = subprocess.Popen(
            command,
            text=True,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def wait_for(process: "subprocess.Popen[str]", words: str) -> None:
    """Read what the command tells until it says some words."""
    assert process.stderr is not None
    heard = []
    for line in process.stderr:
        heard.append(line)
        if words in line:
            return
    raise AssertionError(f"it never said {words!r}: {''.join(heard)}")
