"""Runs of `learn` over a scripted endpoint: recorded matches, rules, a context."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.roles.modeller import ModelModeller
from games.environments.registry import environment_named
from games.trajectories import OpenTrajectory, TrajectoryHeader, header_line, match_line
from graph.learn.runs import LearnResult, run_learning
from graph.learn.settings import LearnRequest, LearnSettings, read_learning, write_learning
from graph.learn.state import LearnContext
from graph.run.folder import RunFolder, create_folder
from graph.run.opening import open_chat
from tests.agents.model.endpoint import Endpoint
from tests.agents.model.talking import settings_for
from tests.tools.predicting.material import matches_of
from tools.sandbox import Sandbox

Learn = Callable[..., LearnResult]
QUICK: dict[str, Any] = {"quick": True, "seed": 1, "max_calls": 4, "play_matches": 3}


def recorded(
    path: Path,
    name: str,
    count: int,
    *,
    seat: int | None = None,
    of: Sequence[OpenTrajectory] = (),
) -> Path:
    """A file of random matches, of an open deck or of one seat's view."""
    environment = environment_named(name)
    header = TrajectoryHeader(
        environment=name,
        num_players=environment.num_players,
        parameters=environment.parameters,
        deck="open" if seat is None else "closed",
        seat=seat,
        policy="random",
        seed=0,
        matches=count,
    )
    matches = [replace(m, match=n) for n, m in enumerate(of or matches_of(name, count))]
    seen = matches if seat is None else [match.seen_by(seat) for match in matches]
    path.write_text(header_line(header) + "".join(match_line(match) for match in seen))
    return path


def learning(
    folder: RunFolder, endpoint: Endpoint, sandbox: Sandbox, **changes: object
) -> LearnContext:
    """The context of a process that works for this folder with the endpoint's model."""
    settings = settings_for(endpoint, **{"retries": 0, "deadline_s": 10, **changes})
    chat = open_chat(settings, folder.exchanges)
    return LearnContext(
        modeller=ModelModeller(chat.of_role("modeller")),
        sandbox=sandbox,
        folder=folder,
        request=read_learning(folder),
        identity="scripted",
        budget=chat.budget,
        versions={"rulewright": "test"},
    )


def told_of(done: LearnResult) -> dict[str, Any]:
    """The object that a run leaves, as `--json` shows it."""
    told: dict[str, Any] = json.loads((done.folder.path / "learn.json").read_text())
    return told


@pytest.fixture(scope="session")
def tic_tac_toe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("m") / "m.jsonl", "openspiel:tic_tac_toe", 30)


@pytest.fixture
def begun(tmp_path: Path, tic_tac_toe: Path) -> Callable[..., RunFolder]:
    """A folder that holds what a run is asked."""

    def begin(name: str = "run", matches: Path = tic_tac_toe, **changes: object) -> RunFolder:
        folder = create_folder(tmp_path / name, title="", runs=tmp_path)
        settings = LearnSettings.model_validate({**QUICK, **changes})
        rules = "Three in a row wins. Players alternate."
        write_learning(
            LearnRequest(rules=rules, trajectories=str(matches), settings=settings), folder
        )
        return folder

    return begin


@pytest.fixture
def learn(begun: Callable[..., RunFolder], sandbox: Sandbox) -> Learn:
    """Run to the end against an endpoint."""

    def run(
        endpoint: Endpoint,
        tell: Callable[[dict[str, Any]], None] = lambda _: None,
        **changes: Any,  # noqa: ANN401
    ) -> LearnResult:
        folder = begun(**changes)
        context = learning(folder, endpoint, sandbox)
        return run_learning(folder, context, tell=tell)

    return run
