import pytest

from agents.composer.loader import lexicons
from agents.composer.mentions import parse_brief
from agents.composer.patterns import Text, are_met, compile_pattern, needs

BRIEFS = (
    "a trick-taking game for three players where taking hearts costs points",
    "rummy with ten cards; you may knock at 5 deadwood",
    "Connect four on a board of seven by eight, and a line of five loses.",
)


def word(item: str) -> frozenset[str]:
    return frozenset() if item == "~" else frozenset({item})


@pytest.mark.parametrize(
    ("items", "wanted"),
    [
        ("a b", [{"a"}, {"b"}]),
        ("a ? b", [{"b"}]),
        ("( a | b )", [{"a", "b"}]),
        ("( a | ~ )", []),
        ("( a | b ) ? c", [{"c"}]),
        ("( a | ( b | c ) ) d", [{"a", "b", "c"}, {"d"}]),
        ("a | b", [{"a", "b"}]),
    ],
)
def test_a_phrase_needs_what_none_of_its_readings_can_do_without(
    items: str, wanted: list[set[str]]
) -> None:
    assert needs(items.split(), word) == wanted


def test_parentheses_that_do_not_match_is_refused() -> None:
    with pytest.raises(ValueError, match="do not match"):
        needs(["a", ")"], word)


def test_words_are_looked_for_whole() -> None:
    assert are_met([frozenset({"art"})], "art deal ")
    assert not are_met([frozenset({"heart"})], "art deal ")


def test_no_phrase_that_stands_in_a_brief_is_passed_over() -> None:
    patterns = [name.pattern for lexicon in lexicons() for name in lexicon.names]
    patterns += [phrase.pattern for lexicon in lexicons() for phrase in lexicon.phrases]
    texts: list[Text] = [parse_brief(brief).text for brief in BRIEFS]
    for pattern in patterns[::9]:  # each costs the compilation that is to be spared
        for text in texts:
            stands = compile_pattern(pattern).search(text.line) is not None
            assert bool(text.find(pattern)) == stands, pattern
