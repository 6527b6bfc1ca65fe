"""Environment variables of the product: one list, with types, defaults and meanings."""

import json
import os
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from agents.model.settings import ModelSettings, variable_of


class Variable(NamedTuple):
    """One environment variable.

    Attributes:
        name: As it is set.
        kind: Its values: text, integer, number, yes or no, path, or the known words.
        default: The value where it is not set; empty where there is none.
        meaning: With the unit.
    """

    name: str
    kind: str
    default: str
    meaning: str


_OTHERS = tuple(
    Variable(**row) for row in json.loads((Path(__file__).parent / "variables.json").read_text())
)
_DEFAULTS = {variable.name: variable.default for variable in _OTHERS}
_KINDS: dict[Any, str] = {bool: "yes or no", int: "integer", float: "number", str: "text"}


def value_of(name: str) -> str | None:
    """The value of a variable that is not the model's; its default where not set or empty."""
    return os.environ.get(name) or _DEFAULTS[name] or None


def variables() -> tuple[Variable, ...]:
    """Every environment variable that the product reads, the model's first."""
    return (
        *(
            Variable(
                variable_of(name),
                _kind(field.annotation),
                _default(field.default),
                field.description or "",
            )
            for name, field in ModelSettings.model_fields.items()
        ),
        *_OTHERS,
    )


def _default(value: object) -> str:
    if value is False:
        return "no"
    return "" if value in (None, {}) else str(value)


def _kind(annotation: Any) -> str:  # noqa: ANN401 - what pydantic keeps of a field
    if get_origin(annotation) is dict:
        return "text"
    known = [one for one in get_args(annotation) if one is not NoneType]
    if get_origin(annotation) is Literal:
        return " | ".join(known)
    return _kind(known[0]) if known else _KINDS.get(annotation, "path")
