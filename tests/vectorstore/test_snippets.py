"""Functions cut out of a module."""

import pytest

from vectorstore.errors import StoreError
from vectorstore.snippets import annotated, functions, rule_ids

SOURCE = '''"""A game."""

import functools

GAME = {}


@functools.cache
def deck(suits):
    """All cards,
    sorted.

    Rules: R2.
    """
    return [r + s for r in "23" for s in suits]


def score(state):
    def inner():
        return 0
    return inner()
'''


def test_each_function_at_the_top_comes_whole_with_its_rules() -> None:
    deck, score = functions(SOURCE)
    assert (deck.name, deck.summary, deck.rules) == ("deck", "All cards, sorted.", ("R2",))
    assert deck.source.splitlines()[0] == "@functools.cache"
    assert deck.source.splitlines()[-1] == '    return [r + s for r in "23" for s in suits]'
    assert (score.name, score.summary, score.rules) == ("score", "", ())
    assert score.source.splitlines()[-1] == "    return inner()"


def test_the_rules_line_may_run_on() -> None:
    assert rule_ids("X.\n\nRules: R1, R22,\n    R3.\n") == ("R1", "R22", "R3")


def test_a_short_docstring_may_end_with_its_rules() -> None:
    source = 'def f(x):\n    """Deals cards. Rules: R3, R9."""\n'
    function = next(functions(source))
    assert (function.summary, function.rules) == ("Deals cards.", ("R3", "R9"))


@pytest.mark.parametrize("line", ["Rules: R1-R4.", "Rules: all.", "Rules: 3"])
def test_a_rules_line_that_lists_no_ids_is_an_error(line: str) -> None:
    with pytest.raises(StoreError, match="must read like 'Rules: R1, R14.'"):
        rule_ids(f"X.\n\n{line}")


def test_rule_sentences_stand_above_the_source() -> None:
    deck = next(functions(SOURCE))
    assert annotated(deck, {"R2": "The deck is small."}).splitlines()[:2] == [
        "# R2: The deck is small.",
        "@functools.cache",
    ]


def test_a_rule_that_the_rulebook_lacks_is_named() -> None:
    with pytest.raises(StoreError, match=r"deck\(\) names the rules \['R2'\]"):
        annotated(next(functions(SOURCE)), {"R1": "x"})


def test_a_source_that_does_not_parse_is_named_by_line() -> None:
    with pytest.raises(StoreError, match="line 2 does not parse"):
        list(functions("x = 1\ndef f(:\n"))
