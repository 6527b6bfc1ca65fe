"""The library as documents, and keeping a store up to date with it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from games.corpus import corpus_game
from tests.vectorstore.hashing import HashingEmbedder
from tests.vectorstore.tiny_library import DICE, TRICKS, TinyLibrary
from vectorstore.documents import IndexReport, StoreError, StoreSettings, Vectors
from vectorstore.indexing import (
    corpus_documents,
    ensure_indexed,
    library_documents,
    own_game_document,
)
from vectorstore.sources import BREAK
from vectorstore.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(StoreSettings(path=tmp_path), embedder=HashingEmbedder()) as store:
        yield store


def test_every_name_is_a_game_and_only_families_have_snippets_and_mechanics() -> None:
    documents = library_documents(TinyLibrary().games())
    assert [(document.kind, document.id) for document in documents] == [
        ("games", "dice_race"),
        ("snippets", "dice_race/apply_action"),
        ("mechanics", "dice_race/target"),
        ("mechanics", "dice_race/bust"),
        ("mechanics", "dice_race/R1"),
        ("mechanics", "dice_race/R2"),
        ("games", "tricks"),
        ("snippets", "tricks/get_legal_actions"),
        ("mechanics", "tricks/R1"),
        ("games", "whist"),
    ]


def test_a_function_is_found_by_its_rules_and_returned_with_them() -> None:
    document = next(d for d in library_documents([DICE]) if d.id.endswith("apply_action"))
    assert document.text.startswith(
        "# R1: A player rolls one die.\n# R2: A rolled one loses the turn's points.\ndef apply_act"
    )
    assert document.key.startswith("apply action: Roll or hold. A player rolls one die. A rolled")
    assert document.metadata == {
        "game": "dice_race",
        "function": "apply_action",
        "rules": ["R1", "R2"],
    }


def test_a_function_comes_with_what_it_calls_and_shows_the_tags_of_its_rules() -> None:
    shown = {"dice": ["R1", "_face"], "race": ["R9"]}
    with pytest.raises(StoreError, match=r"dice_race: race names \['R9'\]"):
        library_documents([replace(DICE, shown=shown)])
    source = DICE.source.replace("return state", "return {'face': _face(action)}")
    game = replace(DICE, source=source, shown={"dice": ["R1", "_face"]})
    found = {d.id: d for d in library_documents([game])}
    roll, face = found["dice_race/apply_action"], found["dice_race/_face"]
    assert roll.text.split(BREAK)[1] == "def _face(action):\n    return int(action)"
    assert roll.metadata["tags"] == face.metadata["tags"] == ["dice"]
    assert face.metadata["serves"] == ["apply_action"]
    assert face.text.startswith("# R1: A player rolls one die.\ndef _face")
    assert found["dice_race/mechanic dice"].text == "A player rolls one die."


def test_a_function_that_breaks_the_contract_of_the_prompt_is_not_indexed() -> None:
    source = "import random\n\n\n" + DICE.source.replace("int(action)", "random.random()")
    source = source.replace("return state", "return {'face': _face(action)}")
    ids = {d.id for d in library_documents([replace(DICE, source=source)])}
    assert "dice_race/apply_action" not in ids
    assert "dice_race/R1" in ids


def test_a_conditional_rule_says_which_setting_brings_it_in() -> None:
    document = next(d for d in library_documents([DICE]) if d.id == "dice_race/R2")
    assert document.title == "R2 of dice race, Turn (with bust true)"
    assert document.metadata["when"] == '{"bust": true}'


def test_a_parameter_is_found_by_its_meaning() -> None:
    document = next(d for d in library_documents([DICE]) if d.id == "dice_race/target")
    assert document.key == "target: Points needed to win."
    assert 'default 20, allowed {"range": [5, 50]}' in document.text


def test_a_whole_game_holds_rulebook_and_source() -> None:
    text = library_documents([DICE])[0].text
    assert text.startswith("# Dice race\n")
    assert "```python\ndef apply_action" in text


def test_a_rule_that_the_rulebook_lacks_names_game_and_function() -> None:
    broken = replace(TRICKS, template="# Tricks\n\n## Turn\n\n- R7: Play.\n")
    with pytest.raises(StoreError, match=r"tricks: get_legal_actions names \['R1'\]"):
        library_documents([broken])


def test_the_first_run_builds_and_the_next_reads_nothing(store: Store) -> None:
    library = TinyLibrary()
    report = ensure_indexed(store, library)
    assert report == IndexReport(added=10)
    assert ensure_indexed(store, library) == IndexReport()
    assert library.read == 1


def test_the_corpus_lies_apart_from_what_the_roles_retrieve(store: Store) -> None:
    ensure_indexed(store, TinyLibrary())
    snapshot, rules = store.snapshot_id(), store.search("mechanics", "roll a die", 9)
    game = corpus_game("pig")
    report = ensure_indexed(store, TinyLibrary(edition="2", told={"pig": game}))
    # the game, and its mechanics but "the game ends"
    assert report == IndexReport(added=len(game.mechanics), kept=10)
    assert store.count("corpus") == len(game.mechanics)
    assert store.snapshot_id() == snapshot
    assert store.search("mechanics", "roll a die", 9) == rules
    ensure_indexed(store, TinyLibrary(edition="3"))
    assert store.count("corpus") == 0


def test_a_mechanic_of_the_corpus_is_found_by_its_kind_depth_and_players() -> None:
    whole, *parts = corpus_documents({"pig": corpus_game("pig")})
    assert (whole.id, whole.title, whole.metadata["what"]) == ("pig", "Pig", "game")
    assert whole.text == corpus_game("pig").rulebook
    reach = parts[0]
    assert (reach.id, reach.title) == ("pig/M2", "reach 100 points, in Pig")
    assert reach.metadata == {
        "game": "pig",
        "material": "dice",
        "min_players": 2,
        "max_players": 8,
        "what": "mechanic",
        "mechanic": "reach 100 points",
        "kind": "goal",
        "depth": 1,
    }
    assert reach.text.startswith("The game ends as soon as a player holds with a score of 100")


def test_a_new_edition_changes_only_what_differs(store: Store) -> None:
    ensure_indexed(store, TinyLibrary())
    dice = replace(DICE, source=DICE.source.replace("return state", "return dict(state)"))
    report = ensure_indexed(store, TinyLibrary(held=(dice, TRICKS), edition="2"))
    # changed: the whole game and apply_action; removed: the preset; kept: the other seven
    assert report == IndexReport(changed=2, removed=1, kept=7)


def test_an_interrupted_run_is_completed_by_the_next(tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    class StopsOnce(HashingEmbedder):
        batches = 0

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.batches += 1
            if self.batches == 2:
                raise StoppedError
            return super().embed(texts)

    embedder = StopsOnce()
    with open_store(StoreSettings(path=tmp_path), embedder=embedder) as store:
        with pytest.raises(StoppedError):
            ensure_indexed(store, TinyLibrary())
        assert store.count("games") == 0  # nobody reads half a library
        assert ensure_indexed(store, TinyLibrary()) == IndexReport(added=10)
    assert len(set(embedder.asked)) == len(embedder.asked) > 0  # nothing is worked out twice


def test_a_store_built_in_two_steps_has_the_snapshot_of_one_built_at_once(tmp_path: Path) -> None:
    snapshots = set()
    for name, editions in (("once", ["2"]), ("twice", ["1", "2"])):
        with open_store(StoreSettings(path=tmp_path / name), embedder=HashingEmbedder()) as store:
            for edition in editions:
                held = (DICE,) if edition == "1" else (DICE, TRICKS)
                ensure_indexed(store, TinyLibrary(held=held, edition=edition))
            snapshots.add(store.snapshot_id())
    assert len(snapshots) == 1


def test_indexing_the_library_keeps_own_games(store: Store) -> None:
    own = own_game_document(
        "run-1", title="My game", summary="Race.", rulebook="# My game\n", source="GAME = {}\n"
    )
    store.index([own])
    ensure_indexed(store, TinyLibrary())
    assert store.search("own_games", "my game", 3)[0].metadata == {"run": "run-1"}
