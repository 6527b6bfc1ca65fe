"""The command in this process, with a home of its own."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli import main

Command = Callable[..., "Outcome"]


class Outcome:
    """What one call of the command left."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:  # noqa: ANN401
        return json.loads(self.out)


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    os.environ["RULEWRIGHT_HOME"] = str(tmp_path_factory.mktemp("home"))
    os.environ["RULEWRIGHT_RUNS"] = str(tmp_path_factory.mktemp("runs"))
    yield
    del os.environ["RULEWRIGHT_HOME"], os.environ["RULEWRIGHT_RUNS"]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: str | Path) -> Outcome:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
