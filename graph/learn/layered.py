"""Layers of a learned source: the model, and what was learned on top of it."""

import ast
from dataclasses import dataclass

from agents.roles.coder import bound_names
from games.text import bound_by
from tools.sandbox.reading import foreign_tree

BELOW = "# Below this line stands what was learned on top of the model."
ARRAYS = "# Of that, observations as arrays of numbers."
VALUE = "value_function"


@dataclass(frozen=True)
class LayeredSource:
    """A source in its layers; one that is empty was not learned.

    Attributes:
        transition: The model itself; with a closed deck its draws too.
        inference: The function that draws what is hidden.
        value: The value function.
        tensors: The functions that turn observations into arrays and back.
    """

    transition: str
    inference: str = ""
    value: str = ""
    tensors: str = ""

    @classmethod
    def parsed(cls, text: str) -> "LayeredSource":
        r"""The layers of a text.

        >>> layers = LayeredSource("a = 1\n", inference="b = 2", tensors="c = 3")
        >>> LayeredSource.parsed(layers.text) == layers
        True
        >>> valued = LayeredSource("a = 1\n", value="def value_function(): pass")
        >>> LayeredSource.parsed(valued.text) == valued
        True
        """
        model, *parts = text.split(f"\n{BELOW}\n")
        inference = value = tensors = ""
        for part in parts:
            if part.startswith(f"{ARRAYS}\n"):
                tensors = part.removeprefix(f"{ARRAYS}\n").strip()
            elif VALUE in bound_names(part):
                value = part.strip()
            else:
                inference = part.strip()
        return cls(f"{model.rstrip()}\n" if parts else model, inference, value, tensors)

    @property
    def text(self) -> str:
        """The whole source: each layer below a line that says so."""
        text = self.transition
        below = (BELOW, self.inference), (BELOW, self.value), (f"{BELOW}\n{ARRAYS}", self.tensors)
        for line, layer in below:
            if layer:
                text = f"{text.rstrip()}\n\n\n{line}\n\n{layer.strip()}\n"
        return text


def defined_again(above: str, text: str) -> str:
    """Say why a text cannot stand below a source; empty where it can.

    An import of the same, and the variable of a loop, define nothing again.

    >>> defined_again("import math; f = 1", "import math; f = 2")
    'it defines f again, which the model defines'
    """
    theirs, ours = _bindings(above), _bindings(text)
    both = sorted(theirs.keys() & ours.keys())
    twice = [n for n in both if "" in theirs[n] | ours[n] or theirs[n] != ours[n]]
    return f"it defines {', '.join(twice)} again, which the model defines" if twice else ""


def _bindings(source: str) -> dict[str, set[str]]:
    """The names that a source binds at its top, each with what it imports; "loop" for a loop's."""
    try:
        body = foreign_tree(source).body
    except (SyntaxError, ValueError):
        return {}
    found: dict[str, set[str]] = {}
    for node in body:
        hows = dict.fromkeys(bound_by(node), "")
        if isinstance(node, ast.Import):
            hows = {
                a.asname or _top(a.name): a.name if a.asname else _top(a.name) for a in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            hows = {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.For):
            loops = (one.target for one in ast.walk(node) if isinstance(one, ast.For))
            names = (name for target in loops for name in ast.walk(target))
            hows |= {name.id: "loop" for name in names if isinstance(name, ast.Name)}
        for name, how in hows.items():
            found.setdefault(name, set()).add(how)
    return found


def _top(module: str) -> str:
    return module.partition(".")[0]
