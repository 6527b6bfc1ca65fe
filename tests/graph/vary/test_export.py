"""The graph of `vary` that a server offers."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from graph.learn.settings import LearnSettings
from graph.new.context import RunSettings
from graph.run.folder import RunFolder, RunFolderError
from graph.vary.export import VaryInput, served_variation
from graph.vary.report import read_varied
from graph.vary.settings import VaryRequest, VarySettings, write_variation
from tests.graph.vary.varied import library_game

graph = served_variation()


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.mark.parametrize("settings", [RunSettings, LearnSettings, VarySettings, VaryInput])
def test_every_seed_that_a_run_draws_may_be_asked_of_another(settings: type[BaseModel]) -> None:
    largest = 2**64 - 1  # seeds are of 64 bits, as docs/settings.md says
    assert settings.model_validate({"seed": largest}).model_dump()["seed"] == largest


def test_a_client_names_a_game_and_gets_the_table_of_its_variants(runs: Path) -> None:
    served = graph.builder.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    asked = {"game": "leduc_poker", "n": 1, "quick": True, "seed": 3}
    end = served.invoke(asked, thread)
    report = read_varied(RunFolder(Path(end["folder"])))
    assert Path(end["folder"]).parent == runs
    assert report.variants[0].difference in end["summary"]
    assert end.keys() == {"folder", "summary"}


@pytest.mark.parametrize("game", ["../elsewhere", "/etc", "nosuch", "", "."])
def test_a_client_has_no_game_varied_that_is_not_the_librarys_or_a_runs(
    game: str, runs: Path
) -> None:
    runs.mkdir()
    (runs.parent / "elsewhere").mkdir()
    with pytest.raises(RunFolderError, match="is no run under"):
        graph.invoke({"game": game})
    assert not any(runs.iterdir())


def test_a_client_works_in_no_folder_that_is_not_a_run_of_vary(runs: Path) -> None:
    served = graph.builder.compile(checkpointer=InMemorySaver(), interrupt_before=["base"])
    thread: Any = {"configurable": {"thread_id": "one"}}
    served.invoke({"game": "tic_tac_toe", "n": 1, "seed": 3}, thread)
    outside = RunFolder(runs.parent / "outside")
    outside.make()
    request = VaryRequest(base=library_game("tic_tac_toe"), settings=VarySettings(n=1))
    write_variation(request, outside)
    with pytest.raises(RunFolderError, match="is no run of `vary`"):
        served.invoke(Command(goto="base", update={"folder": str(outside.path)}), thread)
