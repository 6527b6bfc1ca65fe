"""Hints of a module on how its fields are drawn: the constant `PRESENTATION`, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from games.checks import Finding
from games.modules import Module
from games.text import did_you_mean, is_plain_line, one_line
from games.values import Json, ModuleFault

FieldKind: TypeAlias = Literal[
    "board", "hand", "pile", "track", "cards", "dice", "tiles", "tokens", "words"
]
COLOURS = ("black", "blue", "green", "orange", "pink", "red", "white", "yellow")
_KEYS = ("fields", "colours")
_FIELD_KEYS = ("as", "label", "shape", "length")
_SHAPES = ("square", "hex")
_LONGEST_LABEL, _LONGEST_TRACK, _MOST = 60, 200, 100


class PresentationError(ValueError):
    """A hint that is not known or has a wrong value."""


@dataclass(frozen=True)
class FieldLook:
    """The look of one field of the observation.

    Attributes:
        kind: What it is; None leaves that to the general drawing.
        label: Its name for people.
        is_hex: Whether a board's rows are hexagons, each half a cell further to the right.
        length: Spaces of a track; 0 where the hint does not say.
    """

    kind: FieldKind | None = None
    label: str = ""
    is_hex: bool = False
    length: int = 0


@dataclass(frozen=True)
class Presentation:
    """Checked hints.

    Attributes:
        fields: By the field of the observation.
        colours: The colour of marks and pieces, by their text.
    """

    fields: Mapping[str, FieldLook] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)

    def look(self, key: str) -> FieldLook:
        """The hints on a field of the observation."""
        return self.fields.get(key, FieldLook())


def given_presentation(module: Module) -> Json:
    """The hints of a module, unchecked; None where it has none."""
    try:
        return module.constant("PRESENTATION")
    except ModuleFault as fault:  # a text is no dict either, as the check says
        return None if fault.kind == "missing" else str(fault)


def check_presentation(module: Module) -> list[Finding]:
    """The finding on a module's hints for a drawing; none where it has no hints."""
    if (hints := given_presentation(module)) is None:
        return []
    try:
        checked_presentation(hints)
    except PresentationError as wrong:
        return [Finding(check="presentation", outcome="failed", evidence=str(wrong))]
    return [Finding(check="presentation", outcome="passed")]


def checked_presentation(value: object) -> Presentation:
    """The hints of a module.

    Args:
        value: Its `PRESENTATION`; None where it has none.

    Raises:
        PresentationError: If a hint is unknown or its value is not allowed.

    >>> checked_presentation({"fields": {"pos": {"as": "track"}}}).fields["pos"].kind
    'track'
    >>> checked_presentation({"colors": {"x": "red"}})
    Traceback (most recent call last):
    ...
    tools.presentation.PresentationError: PRESENTATION has the unknown key 'colors' \
(did you mean 'colours'?); required: fields, colours
    """
    if value is None:
        return Presentation()
    given = _dict_of(value, "PRESENTATION", _KEYS)
    fields = _dict_of(given.get("fields", {}), "PRESENTATION['fields']")
    colours = _dict_of(given.get("colours", {}), "PRESENTATION['colours']")
    for mark, colour in colours.items():
        _one_of(colour, COLOURS, f"the colour of {one_line(mark)[:20]!r}")
    return Presentation({name: _look(name, look) for name, look in fields.items()}, colours)


def _look(name: str, value: object) -> FieldLook:
    where = f"PRESENTATION['fields'][{one_line(name)[:40]!r}]"
    look = _dict_of(value, where, _FIELD_KEYS)
    kind, shape = look.get("as"), look.get("shape", "square")
    if kind is not None:
        _one_of(kind, get_args(FieldKind), f"'as' of {where}")
    _one_of(shape, _SHAPES, f"'shape' of {where}")
    label, length = look.get("label", ""), look.get("length", 0)
    if not isinstance(label, str) or len(label) > _LONGEST_LABEL or not is_plain_line(label):
        told = f"'label' of {where} is no line of at most {_LONGEST_LABEL} characters"
        raise PresentationError(f"{told}: shorten it")
    if type(length) is not int or not 0 <= length <= _LONGEST_TRACK:
        told = f"'length' of {where} is {one_line(repr(length))[:40]}"
        raise PresentationError(f"{told}; required: a whole number up to {_LONGEST_TRACK}")
    return FieldLook(cast(FieldKind | None, kind), label, shape == "hex", length)


def _dict_of(value: object, where: str, known: tuple[str, ...] = ()) -> dict[str, Any]:
    """A dict with text keys, of which all are known where some are named."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise PresentationError(f"{where} is no dict with names as keys: write it as one")
    if len(value) > _MOST:
        raise PresentationError(f"{where} has {len(value)} entries; at most {_MOST} are allowed")
    for key in value:
        if known and key not in known:
            told = f"{where} has the unknown key {one_line(key)[:40]!r}{did_you_mean(key, known)}"
            raise PresentationError(f"{told}; required: {', '.join(known)}")
    return dict(value)


def _one_of(value: object, known: tuple[str, ...], what: str) -> None:
    if not isinstance(value, str) or value not in known:
        given = one_line(repr(value)[:200])[:40]
        told = f"{what} is {given}{did_you_mean(value, known) if isinstance(value, str) else ''}"
        raise PresentationError(f"{told}; required: {', '.join(known)}")
