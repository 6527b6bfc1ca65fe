"""The places of a drawing that legal actions name: a card, a cell, a column."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from app.web.drawing.markup import short_line, tag
from app.web.drawing.pieces import with_signs

_CELL = re.compile(
    r"(?:(?<![a-z])|(?<=\dx))[a-z]\d{1,2}(?!\d)|\d+ *, *\d+|(?<![a-z\d])\d+(?![a-z\d])"
)
_WORD = re.compile(r"[^\s,:;()]+")


@dataclass(frozen=True)
class Area:
    """Named places of one part of the drawing.

    Attributes:
        key: The part.
        names: The names of its places.
        is_board: Whether they are cells, which are named in any case and without blanks.
    """

    key: str
    names: frozenset[str]
    is_board: bool = False


@dataclass
class Spots:
    """The legal actions on their places.

    An action lies on a place where it names that place alone, and no other action names it alone.

    Attributes:
        areas: The named places, those first that are to have the moves.
        legal: The actions.
        uses: The places that each action names.
    """

    areas: Sequence[Area]
    legal: Sequence[str]
    uses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _on: dict[tuple[str, str], str] = field(default_factory=dict)
    _named: set[tuple[str, str]] = field(default_factory=set)
    _drawn: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        alone: dict[tuple[str, str], list[str]] = {}
        for action in self.legal:
            area, names = next(
                ((area, names) for area in self.areas if (names := named_by(action, area))),
                (None, ()),
            )
            if area is None:
                continue
            self.uses[action] = names
            self._named.update((area.key, name) for name in names)
            if len(set(names)) == 1:
                alone.setdefault((area.key, names[0]), []).append(action)
        self._on = {spot: some[0] for spot, some in alone.items() if len(some) == 1}

    def placed(self, area: str, name: str, inner: Markup, label: str) -> Markup:
        """A component, as a button where one action lies on it.

        Args:
            area: The part that it is drawn in.
            name: Its name in actions.
            inner: Its picture.
            label: Its name for people.
        """
        action = self._on.get((area, name))
        if action is not None and action not in self._drawn:
            self._drawn.add(action)
            return tag(
                "button.spot.legal",
                tag("span.inner", inner, aria_hidden="true") if inner else inner,
                type="submit",
                name="action",
                value=action,
                data_c=name,
                aria_label=f"{with_signs(short_line(action))}{_beside(label, action)}",
                title=with_signs(short_line(action)),
            )
        if (area, name) in self._named:
            return tag("span.spot.named", inner, data_c=name)
        return tag("span.spot", inner)

    def is_drawn(self, action: str) -> bool:
        """True where the action has been laid on a component."""
        return action in self._drawn


def _beside(label: str, action: str) -> str:
    return f": {label}" if label and label not in action else ""


def named_by(action: str, area: Area) -> tuple[str, ...]:
    """The names of an area's places in an action, in its order.

    >>> named_by("g3-h4", Area("board", frozenset({"g3", "h4"}), is_board=True))
    ('g3', 'h4')
    >>> named_by("g3xh4", Area("board", frozenset({"g3", "h4"}), is_board=True))
    ('g3', 'h4')
    >>> named_by("play 8H S", Area("hand", frozenset({"8H", "2C"})))
    ('8H',)
    >>> named_by("play oil 2", Area("hand", frozenset({"oil 2", "boost"})))
    ('oil 2',)
    """
    if not area.is_board:
        words = _WORD.findall(action)
        spaced = [name for name in area.names if " " in name and f" {name} " in f" {action} "]
        return (*sorted(spaced, key=action.find), *(word for word in words if word in area.names))
    found = (name.replace(" ", "") for name in _CELL.findall(action[:200].lower()))
    return tuple(name for name in found if name in area.names)


def area_of(
    key: str, names: Iterable[str] | Mapping[str, object], *, is_board: bool = False
) -> Area:
    """An area of these names."""
    return Area(key, frozenset(names), is_board)
