"""Accepted games join the own games: untrusted text that is seen only when asked for."""

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.composer import composer_roles
from graph.new.context import RunContext
from graph.new.results import RunResult
from graph.run.folder import RunFolder, create_folder
from tests.graph.conftest import Entries
from tests.graph.running import start_run
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import UNPLAYED
from tests.vectorstore.hashing import HashingEmbedder
from tools.retrieval import Retrieval
from tools.sandbox import Sandbox
from vectorstore.documents import StoreSettings
from vectorstore.indexing import ensure_indexed
from vectorstore.store import Store, open_store

PROMPT = "goofspiel for two players with five cards"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("indexed") / "store"
    with open_store(StoreSettings(path=path), embedder=HashingEmbedder()) as opened:
        ensure_indexed(opened)
    return path


@pytest.fixture
def store(indexed: Path, tmp_path: Path) -> Iterator[Store]:
    path = shutil.copytree(indexed, tmp_path / "store")
    with open_store(StoreSettings(path=path), embedder=HashingEmbedder()) as opened:
        yield opened


@pytest.fixture
def context(store: Store, sandbox: Sandbox, tmp_path: Path) -> RunContext:
    return RunContext(
        roles=composer_roles(),
        retrieval=Retrieval(store),
        sandbox=sandbox,
        runs=tmp_path / "runs",
        settings=UNPLAYED,
        store_snapshot=store.snapshot_id(),
        embedding=store.embedder.identity,
        clock=time.monotonic,
    )


def make(context: RunContext, name: str, prompt: str = PROMPT) -> RunResult:
    folder = create_folder(context.runs / name, title="", runs=context.runs)
    return start_run(prompt, folder, context)


def written(folder: RunFolder) -> dict[str, object]:
    value = json.loads((folder.path / "run.json").read_text())
    assert isinstance(value, dict)
    return value


@pytest.mark.whole
def test_an_accepted_game_is_found_again_only_where_own_games_are_asked_for(
    store: Store, context: RunContext
) -> None:
    before = store.snapshot_id()
    result = make(context, "first")
    kept = written(result.folder)["own_game"]
    assert isinstance(kept, dict)
    assert store.count("own_games") == 1
    assert store.snapshot_id() == before
    assert not any(piece.id.startswith("own/") for piece in context.retrieval.examples(PROMPT, 50))
    seen = Retrieval(store, own_games=True).examples(PROMPT, 50)
    assert [piece.id for piece in seen if piece.id.startswith("own/")] == [f"own/{kept['id']}"]


def test_what_a_run_with_own_games_can_see_is_another_snapshot(
    store: Store, context: RunContext
) -> None:
    narrow, wide = Retrieval(store), Retrieval(store, own_games=True)
    library, everything = narrow.snapshot_id(), wide.snapshot_id()
    make(context, "first")
    assert narrow.snapshot_id() == library
    assert wide.snapshot_id() != everything


def test_the_same_seed_gives_the_same_game_after_an_own_game_was_added(
    store: Store, context: RunContext, entries: Entries
) -> None:
    first = make(context, "first")
    entries.clear()  # its matches are really played again
    again = make(replace(context, store_snapshot=store.snapshot_id()), "again")
    for name in ("game.py", "rulebook.md", "design.json", "checks.json", "records/random.jsonl"):
        assert (first.folder.path / name).read_bytes() == (again.folder.path / name).read_bytes()
    assert written(first.folder) == written(again.folder)


def test_the_same_game_is_kept_once(store: Store, context: RunContext) -> None:
    make(context, "first")
    make(context, "again")
    assert store.count("own_games") == 1


def test_a_game_that_was_not_accepted_is_not_kept(store: Store, context: RunContext) -> None:
    broken = [("def get_rewards(state: State)", "def get_rewards(state: State, missing: int)")]
    roles = role_set(ScriptedRoles(faults=broken, mends=False))
    result = make(replace(context, roles=roles), "first")
    assert result.state.end == "gave_up"
    assert store.count("own_games") == 0


def test_a_run_may_keep_its_game_to_itself(store: Store, context: RunContext) -> None:
    result = make(replace(context, keeps_own_games=False), "first")
    assert result.state.end == "made"
    assert store.count("own_games") == 0
    assert written(result.folder)["own_game"] is None


def test_a_store_that_takes_nothing_loses_no_report(store: Store, context: RunContext) -> None:
    # Scripted roles look nothing up, so that the end of the run is the first to need the store.
    closed = replace(context, roles=role_set(ScriptedRoles()))
    store.close()
    result = make(closed, "first", "noughts")
    assert result.state.end == "made"
    assert (result.folder.path / "report.html").exists()
    run = written(result.folder)
    assert isinstance(run["own_game"], dict)
    assert "is closed" in run["own_game"]["problem"]
    assert "not added to the own games" in str(run["notes"])
    assert "not added to the own games" in result.state.messages[-1].text
