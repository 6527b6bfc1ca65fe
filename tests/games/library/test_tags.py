"""Tags of the library: a bad entry is named, and words find tags."""

import pytest

from games.library import TagsError, likeness, read_shown, read_vocabulary, tags_in


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a", "is no mapping"),
        ("a: [", "is not YAML"),
        ("bidding: {means: x}", "'bidding' has wrong keys"),
        ("bidding: {means: x, words: [x], weight: 1}", "'bidding' has wrong keys"),
        ("bidding: {means: x, words: ['(']}", "'bidding' has bad words"),
        ("bidding: {means: x, words: [x], near: [auction]}", "near the unknown tags .'auction'."),
    ],
)
def test_a_bad_vocabulary_is_named(text: str, problem: str) -> None:
    with pytest.raises(TagsError, match=f"games/library/tags.yaml.*{problem}"):
        read_vocabulary(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("juggling: [R1]", "'juggling' is no tag; known: "),
        ("bidding: []", "'bidding' lists nothing"),
        ("bidding: R1", "'bidding' lists nothing"),
        ("bidding: [1]", "'bidding' lists nothing"),
    ],
)
def test_a_bad_entry_of_a_family_is_named(text: str, problem: str) -> None:
    with pytest.raises(TagsError, match=f"games/library/poker/tags.yaml: {problem}"):
        read_shown("poker", text)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("Players never see their own cards.", "hidden from its owner"),
        ("Both secretly choose a card.", "simultaneous choice"),
        ("Pick one card and pass the rest to the left.", "draft"),
        ("Say a rank; others may challenge the claim.", "bluffing claims"),
        ("Sow the seeds of a pit.", "sowing"),
        ("All players win or lose together.", "cooperative"),
    ],
)
def test_words_find_their_tag(text: str, tag: str) -> None:
    assert tag in tags_in(text)


def test_a_tag_that_no_family_has_is_helped_by_those_near_to_it() -> None:
    assert likeness("hidden from its owner", frozenset({"hidden hand"})) == 0.5
    assert likeness("hidden hand", frozenset({"hidden hand"})) == 1
    assert likeness("hidden hand", frozenset({"trump"})) == 0
