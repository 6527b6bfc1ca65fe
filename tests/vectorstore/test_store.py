"""The embedded store, in temporary folders."""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from tests.processes import PATIENCE_S
from tests.vectorstore.hashing import HashingEmbedder
from vectorstore.client import owner_lock
from vectorstore.documents import (
    LIBRARY_KINDS,
    Document,
    IndexReport,
    Kind,
    NotIndexedError,
    StoreError,
    StoreLockedError,
    StoreSettings,
)
from vectorstore.store import Store, open_store

ROOT = Path(__file__).parents[2]


def mechanic(id_: str, key: str, kind: Kind = "mechanics", **metadata: str) -> Document:
    return Document(kind, id_, f"title of {id_}", f"text of {id_}", key, metadata)


RULES = [
    mechanic("draw", "draw two cards from the deck", game="shedding"),
    mechanic("follow", "players must follow suit when they can", game="tricks"),
    mechanic("trump", "the highest trump card wins the trick", game="tricks"),
]


def opened(path: Path) -> Store:
    settings = StoreSettings(path=path, lock_wait_s=0)
    return open_store(settings, embedder=HashingEmbedder(), tell=pytest.fail)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path) as store:
        yield store


def test_the_nearest_document_comes_first_with_all_it_was_given(store: Store) -> None:
    store.index(RULES)
    hit = store.search("mechanics", "draw two cards from the deck", 2)[0]
    assert (hit.id, hit.title, hit.text) == ("draw", "title of draw", "text of draw")
    assert hit.metadata == {"game": "shedding"}
    assert hit.distance == 0.0


def test_hits_are_the_nearest_of_all_by_exact_cosine(store: Store) -> None:
    words = ["card", "trick", "draw", "suit", "trump", "deal", "score", "win", "lead", "pass"]
    generator = np.random.default_rng(5)
    keys = [" ".join(generator.choice(words, 6)) + f" {n}" for n in range(700)]
    store.index([mechanic(f"{n:03}", key) for n, key in enumerate(keys)])
    vectors = HashingEmbedder().embed([*keys, "draw card trump trump"])
    exact = np.round(1 - vectors[:-1].astype(float) @ vectors[-1].astype(float), 6)
    hits = store.search("mechanics", "draw card trump trump", 10)
    assert [hit.distance for hit in hits] == pytest.approx(np.sort(exact)[:10], abs=2e-6)
    assert [hit.distance for hit in hits] == pytest.approx(
        [exact[int(hit.id)] for hit in hits], abs=2e-6
    )


def test_equal_distances_come_by_id(store: Store) -> None:
    store.index([mechanic(id_, "the same words") for id_ in ("c", "a", "d", "b")])
    assert [hit.id for hit in store.search("mechanics", "same", 3)] == ["a", "b", "c"]


def test_a_filter_keeps_one_game(store: Store) -> None:
    store.index(RULES)
    hits = store.search("mechanics", "draw two cards", 5, {"game": "tricks"})
    assert {hit.id for hit in hits} == {"follow", "trump"}


def test_indexing_again_changes_only_what_differs(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    with open_store(StoreSettings(path=tmp_path), embedder=embedder) as store:
        assert store.index(RULES) == IndexReport(added=3)
        written = snapshots(tmp_path)
        assert store.index(RULES) == IndexReport(kept=3)
        assert snapshots(tmp_path) == written
        mended = mechanic("draw", "draw three cards from the deck", game="rummy")
        assert store.index([mended]) == IndexReport(changed=1)
        assert sorted(embedder.asked) == sorted([*(rule.key for rule in RULES), mended.key])
        hit = store.search("mechanics", "draw three cards", 1)[0]
        assert (hit.id, hit.metadata) == ("draw", {"game": "rummy"})
        assert store.count("mechanics") == 3


def test_mirroring_removes_what_is_not_given_and_spares_other_kinds(store: Store) -> None:
    own = mechanic("run", "a game of mine", "own_games")
    store.index([*RULES, own])
    assert store.index(RULES[:1], LIBRARY_KINDS) == IndexReport(removed=2, kept=1)
    assert store.count("mechanics") == 1
    assert store.count("own_games") == 1


def test_the_snapshot_names_the_contents_and_not_their_history(tmp_path: Path) -> None:
    ids: list[str] = []
    for order in (RULES, RULES[::-1]):
        with opened(tmp_path / str(len(ids))) as store:
            for rule in order:
                store.index([rule])
            ids.append(store.snapshot_id())
            store.index([mechanic("other", "words")])
            assert store.snapshot_id() != ids[0]
            store.index(RULES, LIBRARY_KINDS)
            assert store.snapshot_id() == ids[0]
    assert ids[0] == ids[1]


def test_own_games_change_the_snapshot_only_where_they_are_named(store: Store) -> None:
    store.index(RULES)
    before = store.snapshot_id(), store.snapshot_id(["own_games"])
    store.index([mechanic("run", "a game of mine", "own_games")])
    assert store.snapshot_id() == before[0]
    assert store.snapshot_id(["own_games"]) != before[1]


def test_documents_outlive_the_store_that_wrote_them(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.index(RULES)
        snapshot = store.snapshot_id()
    with opened(tmp_path) as store:
        assert store.snapshot_id() == snapshot
        assert store.search("mechanics", "trump", 1)[0].id == "trump"


def test_another_embedder_has_collections_of_its_own(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.index(RULES)
    other = HashingEmbedder(32, "words-32")
    with open_store(StoreSettings(path=tmp_path), embedder=other) as store:
        assert store.count("mechanics") == 0
        store.index(RULES[:1])
    with opened(tmp_path) as store:
        assert store.count("mechanics") == 3


def test_an_empty_library_is_an_error_and_no_own_games_is_an_answer(store: Store) -> None:
    with pytest.raises(NotIndexedError, match="mechanics in .* is empty .*index the library"):
        store.search("mechanics", "anything", 1)
    assert store.search("own_games", "anything", 1) == []


@pytest.mark.parametrize(("query", "limit"), [("", 3), (" \n", 3), ("draw", 0)])
def test_a_search_for_nothing_is_refused(store: Store, query: str, limit: int) -> None:
    store.index(RULES)
    with pytest.raises(ValueError, match="needs words and a limit from 1"):
        store.search("mechanics", query, limit)


def test_one_id_twice_is_refused_before_anything_is_written(store: Store) -> None:
    with pytest.raises(StoreError, match="given twice.*draw"):
        store.index([*RULES, RULES[0]])
    assert store.count("mechanics") == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "sonnets"},
        {"text": " "},
        {"key": ""},
        {"metadata": {"rules": []}},
        {"metadata": {"digest": "x"}},
    ],
)
def test_a_document_that_could_not_be_kept_is_refused(fields: dict[str, object]) -> None:
    good: dict[str, object] = {"kind": "games", "id": "a", "title": "A", "text": "t", "key": "k"}
    with pytest.raises(ValueError, match=r"'sonnets'|'a'"):
        Document(**{**good, **fields})  # type: ignore[arg-type]


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed; open it again"):
        store.count("mechanics")


def snapshots(path: Path) -> set[str]:
    return {folder.name for folder in (path / "snapshots").iterdir()}


def test_a_reader_keeps_its_snapshot_while_others_write(tmp_path: Path) -> None:
    with opened(tmp_path) as first, opened(tmp_path) as second:
        second.index(RULES[:1])
        before = first.snapshot_id(), first.count("mechanics")
        second.index(RULES)
        assert (first.snapshot_id(), first.count("mechanics")) == before
        assert second.count("mechanics") == 3
        with opened(tmp_path) as third:
            assert third.count("mechanics") == 3


def contents(folder: Path) -> dict[str, object]:
    """Every file; of the database what it holds, because Chroma counts there who opens it."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.name == "chroma.sqlite3":
            with closing(sqlite3.connect(path)) as database:
                lines = [line for line in database.iterdump() if "acquire_write" not in line]
                found[path.name] = lines
        elif path.is_file() and not path.name.startswith("chroma.sqlite3"):
            found[path.name] = path.read_bytes()
    return found


def test_what_a_reader_holds_is_not_changed_on_disk(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.index([mechanic(f"{n}", f"word{n}") for n in range(1200)])
    (folder,) = (tmp_path / "snapshots").iterdir()
    before = contents(folder)
    with opened(tmp_path) as first, opened(tmp_path) as second:
        first.search("mechanics", "word7", 1)
        second.index([mechanic("new", "words")])
        first.search("mechanics", "word8", 1)
        assert contents(folder) == before


def test_snapshots_that_nobody_reads_are_removed_by_the_next_writer(tmp_path: Path) -> None:
    with opened(tmp_path) as reader:
        reader.count("mechanics")
        with opened(tmp_path) as writer:
            for rule in RULES:
                writer.index([rule])
        assert len(snapshots(tmp_path)) == 2  # the reader's and the newest
        assert reader.count("mechanics") == 0
    (tmp_path / "snapshots" / "99").mkdir()  # a draft that a killed writer left
    (tmp_path / "snapshots" / "99" / "in-use").touch()
    with opened(tmp_path) as writer:
        writer.index([mechanic("more", "words")])
    assert len(snapshots(tmp_path) - {"99"}) == len(snapshots(tmp_path)) == 1


def test_readers_need_no_lock_and_a_second_writer_is_told_who_holds_it(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.index(RULES)
    lock = owner_lock(tmp_path / "owner.lock", wait_s=0, tell=pytest.fail)
    settings = StoreSettings(path=tmp_path, lock_wait_s=0.2)
    with open_store(settings, embedder=HashingEmbedder(), tell=lambda _: None) as store:
        assert store.search("mechanics", "trump", 1)[0].id == "trump"
        with pytest.raises(StoreLockedError, match=f"process {os.getpid()} on"):
            store.index(RULES[:1])
        lock.close()
        assert store.index(RULES[:1]) == IndexReport(kept=1)


AT_ONCE = """
import sys
from pathlib import Path
from tests.vectorstore.hashing import HashingEmbedder
from tests.vectorstore.tiny_library import TinyLibrary
from vectorstore.documents import Document
from vectorstore.indexing import ensure_indexed
from vectorstore.documents import StoreSettings
from vectorstore.store import open_store

with open_store(StoreSettings(path=Path(sys.argv[1])), embedder=HashingEmbedder()) as store:
    report = ensure_indexed(store, TinyLibrary())
    store.index([Document("own_games", sys.argv[2], "t", "x", "a game")])
    print(report["added"], store.count("games"))
"""


def test_four_processes_at_once_build_one_library_and_lose_nothing(tmp_path: Path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", AT_ONCE, str(tmp_path), f"run-{number}"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for number in range(4)
    ]
    said = sorted(process.communicate(timeout=PATIENCE_S)[0].split() for process in running)
    assert said == [["0", "3"]] * 3 + [["10", "3"]]  # one of them built it
    with opened(tmp_path) as store:
        assert store.count("own_games") == 4


def test_threads_may_search_and_index_at_once(store: Store) -> None:
    store.index(RULES)

    def work(n: int) -> str:
        if n % 4 == 0:
            store.index([mechanic(f"own {n}", f"word{n}", "own_games")])
        return store.search("mechanics", "highest trump", 1)[0].id

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(12))) == {"trump"}
    assert store.count("own_games") == 3


def test_threads_that_open_a_store_at_once_all_find_what_is_in_it(tmp_path: Path) -> None:
    """Chroma keeps its clients in a map without a lock (chroma-core/chroma#7778)."""
    with opened(tmp_path) as built:
        built.index(RULES)

    together = Barrier(6, timeout=PATIENCE_S)

    def work(_: int) -> str:
        together.wait()
        with opened(tmp_path) as store:
            return store.search("mechanics", "highest trump", 1)[0].id

    with ThreadPoolExecutor(6) as pool:
        assert [*pool.map(work, range(48))] == ["trump"] * 48


def test_a_function_that_a_strangers_collection_names_is_not_called(tmp_path: Path) -> None:
    """A collection may name an endpoint and the variable that holds a key for it."""
    with opened(tmp_path) as store:
        store.index(RULES)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        config = {"api_key_env_var": "HOME", "api_base": address, "model_name": "m"}
        named = {"type": "known", "name": "openai", "config": config}
        files = [*tmp_path.rglob("chroma.sqlite3")]
        for file in files:
            with closing(sqlite3.connect(file)) as database, database:
                rows = database.execute("SELECT id, config_json_str FROM collections").fetchall()
                assert rows
                for id_, text in rows:
                    changed = json.dumps({**json.loads(text), "embedding_function": named})
                    change = "UPDATE collections SET config_json_str = ? WHERE id = ?"
                    database.execute(change, (changed, id_))
        assert files
        with opened(tmp_path) as store, suppress(StoreError):
            assert store.search("mechanics", "draw two cards", 1)[0].id == "draw"
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_damaged_database_is_named_with_what_to_do(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (database,) = tmp_path.rglob("chroma.sqlite3")
    database.write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreError, match="could not be opened.*a damaged store may be deleted"):
        opened(tmp_path)
    shutil.rmtree(tmp_path / "snapshots")
    opened(tmp_path).close()  # the failed start kept no lock


def test_a_damaged_index_is_an_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.index([mechanic(f"{n}", f"word{n}") for n in range(1200)])
    damaged = list(tmp_path.rglob("index_metadata.pickle"))
    assert damaged
    for file in damaged:
        file.write_bytes(b"junk")
    with opened(tmp_path) as store, pytest.raises(StoreError, match="could not be searched"):
        store.search("mechanics", "word7", 1)


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="could not be opened.*may be written"):
        opened(tmp_path / "file" / "store")


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from tests.vectorstore.hashing import HashingEmbedder
from vectorstore.documents import Document
from vectorstore.documents import StoreError
from vectorstore.documents import StoreSettings
from vectorstore.store import open_store

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_store(StoreSettings(path=Path(sys.argv[1])), embedder=HashingEmbedder()) as store:
    store.count("games")
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    try:
        store.index([Document("games", str(n), "t", "x" * 3000, f"k{n}") for n in range(500)])
    except StoreError as error:
        print(error)
"""


def test_a_disk_without_room_is_an_error_that_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert "see that the disk has room" in done.stdout
