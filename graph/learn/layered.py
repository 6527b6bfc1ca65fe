"""Layers of a learned source: the model, and what was learned on top of it."""

from dataclasses import dataclass

from agents.roles.coder import bound_names

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


_SHARED = ("random", "math", "copy", "itertools", "json", "re", "Counter", "defaultdict")


def defined_again(above: str, text: str) -> str:
    """Say why a text cannot stand below a source; empty where it can.

    >>> defined_again("import math; f = 1", "import math; f = 2")
    'it defines f again, which the model defines'
    """
    twice = sorted(bound_names(text) & (bound_names(above) - {*_SHARED}))
    return f"it defines {', '.join(twice)} again, which the model defines" if twice else ""
