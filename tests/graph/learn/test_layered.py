"""A source in layers: its text is read back, whatever of it was learned."""

from itertools import product

import pytest

from graph.learn.layered import ARRAYS, BELOW, LayeredSource, defined_again
from tests.graph.learn.test_hidden import DRAWING, MODEL
from tests.tools.predicting.material import ARRAYS as TURNING

VALUE = "def value_function(state, player_id):\n    return 0.0"


@pytest.mark.parametrize("learned", [*product([False, True], repeat=3)])
def test_every_layer_is_read_back_from_the_text(learned: tuple[bool, bool, bool]) -> None:
    further = zip(learned, (DRAWING, VALUE, TURNING), strict=True)
    layers = LayeredSource(MODEL, *(text.strip() if there else "" for there, text in further))
    found = LayeredSource.parsed(layers.text)
    assert found.text == layers.text
    assert (found.inference, found.value, found.tensors) == (
        layers.inference,
        layers.value,
        layers.tensors,
    )
    assert found.transition.rstrip() == MODEL.rstrip()


def test_a_line_stands_above_each_layer_and_a_source_without_any_is_its_own_text() -> None:
    assert LayeredSource(MODEL).text == MODEL
    text = LayeredSource("a = 1\n", inference="b = 2\n", tensors="c = 3").text
    assert text == f"a = 1\n\n\n{BELOW}\n\nb = 2\n\n\n{BELOW}\n{ARRAYS}\n\nc = 3\n"


@pytest.mark.parametrize(
    ("model", "addition", "again"),
    [
        (
            "from typing import Any\nimport functools",
            "import functools\nfrom typing import Any",
            "",
        ),
        ("B = [n + f for n in '12' for f in 'ab']", "C = {f: n for f in 'xy' for n in [1]}", ""),
        ("for f in 'ab':\n    pass", "for f in 'xy':\n    pass", ""),
        ("import collections", "import collections.abc", ""),
        ("from math import floor", "from operator import floordiv as floor", "floor"),
        ("import random", "def random(): pass", "random"),
        ("for f in 'ab':\n    last = f", "for g in 'ab':\n    last = g", "last"),
        ("def apply_action(state, action): pass", "apply_action = None", "apply_action"),
        ("import math", "import math\nmath = 3", "math"),
        ("A = 1", "B = [A := 2 for _ in 'x']", "A"),
    ],
)
def test_imports_of_the_same_and_variables_of_loops_define_nothing_again(
    model: str, addition: str, again: str
) -> None:
    """Python reference 6.2.4: a comprehension has a scope of its own; a walrus in it has not."""
    assert defined_again(model, addition).startswith(f"it defines {again} " if again else "")
    assert bool(defined_again(model, addition)) == bool(again)
