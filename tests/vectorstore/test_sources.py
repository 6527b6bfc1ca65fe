"""Modules made plain, and cut at their definitions."""

import pytest

from vectorstore.documents import StoreError
from vectorstore.sources import BREAK, closure, definitions, faults, fitted, plain, readable

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
TYPED = '''"""A game."""

from typing import Any, NamedTuple

State = dict[str, Any]


class Tables(NamedTuple):
    """What depends on the board."""

    names: tuple[str, ...]
    size: int


def get_legal_actions(
    state: State,  # "->" in a comment
) -> list[str]:
    found: list[str] = list(_tables(state["é"]).names)  # noqa: X1
    return found


def _tables(size: int = 3, *more: int, **rest: object) -> Tables:
    return Tables(("a",) * size, size)


def resample_state(history: list[Any], player_id: int) -> State:
    return {"é": _drawn()}


def _drawn() -> int:
    import random

    return random.randrange(3)
'''


def test_each_function_at_the_top_comes_whole_with_its_rules() -> None:
    code = definitions(SOURCE)
    assert list(code) == ["functools", "GAME", "deck", "score"]
    deck, score = code["deck"], code["score"]
    assert (deck.summary, deck.rules) == ("All cards, sorted.", ("R2",))
    assert deck.source.splitlines()[0] == "@functools.cache"
    assert deck.source.splitlines()[-1] == '    return [r + s for r in "23" for s in suits]'
    assert (score.summary, score.rules) == ("", ())
    assert score.source.splitlines()[-1] == "    return inner()"
    assert deck.uses == ("functools",)


def test_a_short_docstring_may_end_with_its_rules() -> None:
    found = definitions('def f(x):\n    """Deals cards. Rules: R3, R9."""\n')["f"]
    assert (found.summary, found.rules) == ("Deals cards.", ("R3", "R9"))


def test_a_plain_source_has_no_annotations_and_no_class_and_does_the_same() -> None:
    text = plain(TYPED)
    assert "def _tables(size = 3, *more, **rest):" in text
    assert 'Tables = namedtuple("Tables", ["names", "size"])' in text
    assert "noqa" not in text
    space: dict[str, object] = {}
    exec(compile(text, "game", "exec"), space)
    legal = space["get_legal_actions"]
    assert callable(legal)
    assert legal({"é": 2}) == ["a", "a"]


def test_a_readable_module_holds_what_the_contract_asks_for_and_no_more() -> None:
    text = readable(TYPED)
    assert text.split(BREAK)[:2] == ['"""A game."""', "from collections import namedtuple"]
    assert "resample_state" not in text
    assert "_drawn" not in text
    assert faults(text) == []
    assert faults(plain(TYPED)) == ["imports typing", "imports random"]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import numpy.random", "imports numpy.random"),
        ("from random import choice", "imports random"),
        ("class Card:\n    pass", "defines the class Card"),
        ("def f():\n    global deck\n    deck = 1", "changes the global deck"),
        ("def f():\n    print(1)", "uses print"),
    ],
)
def test_what_the_contract_forbids_is_named(source: str, fault: str) -> None:
    assert faults(source) == [fault]


def test_constants_that_are_defined_together_stand_once() -> None:
    text = readable("A, B = 1, 2\n\n\ndef get_rewards(state):\n    return [A, B]\n")
    assert text.count("A, B = 1, 2") == 1


def test_names_are_reached_nearest_first_and_not_through_others() -> None:
    code = definitions("def a():\n    b(); c()\ndef b():\n    d()\ndef c(): 0\ndef d(): 0\n")
    assert closure(code, ("a", "x")) == ["a", "b", "c", "d"]
    assert closure(code, ("a",), but=("b",)) == ["a", "c"]


NAMED = {
    name: f"def {name}(x):\n    return x + {'1' * size}"
    for name, size in (("one", 4), ("two", 40), ("six", 4))
}
HEAD = "# R1: Go.\ndef head(x):\n    return one(x)"
PARTS = [HEAD, *NAMED.values()]


def test_a_text_is_cut_at_definitions_and_says_what_it_leaves_out() -> None:
    for limit in range(30, 260):
        text = fitted(BREAK.join(PARTS), limit)
        assert len(text) <= limit
        if text:
            first, *shown = text.split(BREAK)
            said = shown.pop() if shown and shown[-1].startswith("# Left out") else ""
            assert first == HEAD
            assert [part for part in shown if part not in PARTS] == []
            assert all((name in said) != (part in shown) for name, part in NAMED.items())
            assert fitted(text, limit) == text  # what was left out stays named
    assert text == BREAK.join(PARTS)


def test_what_is_nearest_to_the_query_fills_the_room_first() -> None:
    text = fitted(BREAK.join(PARTS), 160, nearest={"two": 0.1})
    assert NAMED["two"] in text
    assert text.endswith("# Left out, for want of room: one, six.")


def test_a_source_that_does_not_parse_names_the_line() -> None:
    with pytest.raises(StoreError, match="line 2 does not parse"):
        plain("x = 1\ndef")
