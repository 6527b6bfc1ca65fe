"""A real store with a hashing embedder and a real sandbox, shared by the machine's tests."""

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from agents.players.registry import PRELOAD
from agents.protocols import RoleSet
from graph.new.context import CheckKey, PoolKey, RunContext, RunSettings
from graph.new.records import RecordPool
from graph.run.folder import RunFolder, create_folder
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL
from tests.vectorstore.hashing import HashingEmbedder
from tools.checking import CheckRun
from tools.playtest import tournament
from tools.playtest.batches import BatchJob, Played, play_batch
from tools.playtest.jobs import MatchEntry, MatchJob, SandboxRecipe
from tools.replaying import Replayed, require_replays
from tools.retrieval import Retrieval
from tools.sandbox import Sandbox
from vectorstore.documents import StoreSettings
from vectorstore.indexing import ensure_indexed
from vectorstore.store import Store, open_store

MakeContext = Callable[..., RunContext]
Entries: TypeAlias = dict[bytes, Played | Replayed]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("store")
    with open_store(StoreSettings(path=path), embedder=HashingEmbedder()) as opened:
        ensure_indexed(opened)
        yield opened


@pytest.fixture(scope="session")
def snapshot(store: Store) -> str:
    """Of the library, which no test changes; own games are no part of it."""
    return store.snapshot_id()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as opened:
        yield opened


@pytest.fixture(scope="session")
def passed() -> dict[CheckKey, CheckRun]:
    """Checks that passed in one test: the same source, settings and sandbox pass in another."""
    return {}


@pytest.fixture(scope="session")
def played() -> dict[PoolKey, RecordPool]:
    """The same of what a validator's records are chosen from."""
    return {}


@pytest.fixture(scope="session")
def entries() -> Entries:
    """Of matches that were played, by their jobs."""
    return {}


@pytest.fixture(autouse=True)
def _each_match_once(entries: Entries, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same job gives the same entry, as tests of the runner show: runs of one game share it.

    The same matches are taken through fresh workers once.
    """

    def play(batch: BatchJob) -> Played:
        if batch.first.until is not None or getattr(batch.first.roster, "models", None):
            return play_batch(batch)
        first = replace(batch.first, sandbox=SandboxRecipe())
        key = pickle.dumps(replace(batch, first=first))
        found = entries.get(key)
        if not isinstance(found, list):
            found = entries[key] = play_batch(batch)
        return found

    def replayed(
        matches: Sequence[tuple[Callable[[], MatchJob], MatchEntry]], most: int
    ) -> Replayed:
        jobs = [(make(), one) for make, one in matches]
        if any(getattr(job.roster, "models", None) for job, _ in jobs):
            return require_replays(matches, most)
        bare = [(replace(job, sandbox=SandboxRecipe(), until=None), one) for job, one in jobs]
        key = pickle.dumps((most, bare))
        kept = entries.get(key)
        if not isinstance(kept, Replayed):
            kept = entries[key] = require_replays(matches, most)
        return kept

    monkeypatch.setattr(tournament, "play_batch", play)
    monkeypatch.setattr(tournament, "require_replays", replayed)


@pytest.fixture
def make_context(
    store: Store,
    snapshot: str,
    sandbox: Sandbox,
    passed: dict[CheckKey, CheckRun],
    played: dict[PoolKey, RecordPool],
    tmp_path: Path,
) -> MakeContext:
    def make(roles: RoleSet | None = None, settings: RunSettings = SMALL) -> RunContext:
        return RunContext(
            roles=roles or role_set(ScriptedRoles()),
            retrieval=Retrieval(store),
            sandbox=sandbox,
            runs=tmp_path / "runs",
            settings=settings,
            store_snapshot=snapshot,
            embedding=store.embedder.identity,
            clock=time.monotonic,
            passed=passed,
            played=played,
            keeps_own_games=False,  # into the store that all share: see test_own_games.py
        )

    return make


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_folder(tmp_path / "run", title="", runs=tmp_path)
