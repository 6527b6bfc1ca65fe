"""Results as tables for a terminal and for a notebook, and errors of wrong arguments."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.console import without_notes
from games.text import one_line

if TYPE_CHECKING:
    from games.values import Json
    from tools.playtest.intervals import Estimate, Unmeasured


class ArgumentError(ValueError):
    """An argument that cannot be used; the message says what would do."""


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_whole(value: object, least: int) -> bool:
    return type(value) is int and value >= least


_FITS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "a whole number of at least 0, or None": (
        "seed seats_or_usual",
        lambda value: value is None or _is_whole(value, 0),
    ),
    "a whole number of at least 0": (
        "ply seat steps tokens",
        lambda value: _is_whole(value, 0),
    ),
    "a whole number of at least 1": (
        "games deals seats simulations max_calls",
        lambda value: _is_whole(value, 1),
    ),
    "True or False": ("quick blunders closed_deck force", lambda value: type(value) is bool),
    "names with values of JSON, as a dictionary, or None": (
        "parameters settings",
        lambda value: (
            value is None
            or (
                isinstance(value, dict)
                and all(type(key) is str for key in value)
                and _is_json(value)
            )
        ),
    ),
    "a path, or None": ("out", lambda value: value is None or isinstance(value, str | Path)),
    "a path": ("file rules trajectories", lambda value: isinstance(value, str | Path)),
    "text": ("prompt words", lambda value: isinstance(value, str)),
    "text, or None": ("family", lambda value: value is None or isinstance(value, str)),
    "a function, or None": ("hears", lambda value: value is None or callable(value)),
    "a list of players, each a text such as 'greedy'": (
        "players",
        lambda value: (
            isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        ),
    ),
    "a list of players, one a seat, each a text such as 'greedy' or a function": (
        "choosers",
        lambda value: (
            isinstance(value, list | tuple)
            and bool(value)
            and all(isinstance(one, str) or callable(one) for one in value)
        ),
    ),
}


def require_kinds(**given: object) -> None:
    """Refuse arguments of a wrong kind before they reach what asks for the right one.

    Raises:
        ArgumentError: At the first; it says what is required of that name.

    >>> require_kinds(seed=3, games=0)
    Traceback (most recent call last):
    app.python.shown.ArgumentError: games is 0; required: a whole number of at least 1
    """
    for required, (names, fits) in _FITS.items():
        for name in given.keys() & {*names.split()}:
            if not fits(given[name]):
                told = one_line(repr(given[name]))[:100]
                raise ArgumentError(f"{_NAMED.get(name, name)} is {told}; required: {required}")


_NAMED = {"choosers": "players", "seats_or_usual": "players", "file": "out"}  # as callers know them


@contextmanager
def quietly() -> Iterator[None]:
    """Nothing is noted inside the block, and a wrong argument is no error of a command.

    Raises:
        ArgumentError: For an argument that the command would refuse.
    """
    with without_notes():
        try:
            yield
        except typer.BadParameter as error:
            raise ArgumentError(error.message) from None


@dataclass(frozen=True)
class ShownTable:
    """A table with its title and what is said below it.

    >>> print(ShownTable("Scores", ("who", "points"), [("Ann", "12"), ("Bo", "7")], ["a note"]))
    Scores
      who  points
      Ann  12
      Bo   7
    a note
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[str] = ()

    def __str__(self) -> str:
        rows = [*([self.headings] if any(self.headings) else []), *self.rows]
        wide = [max((len(row[n]) for row in rows), default=0) for n in range(len(self.headings))]
        lines = [
            "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([self.title, *lines, *self.below])

    def html(self) -> str:
        """The table for a notebook; all words are text and no markup."""
        head, *rows = (
            "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
            for tag, row in [("th", self.headings), *(("td", row) for row in self.rows)]
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        below = "".join(f"<p>{escape(line)}</p>" for line in self.below)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div><p><b>{escape(self.title)}</b></p>{table}{below}</div>"


def framed_drawing(title: str, drawn: str) -> str:
    """A drawing of the page for a notebook, in a frame: neither's style reaches the other."""
    style = (files("app.web") / "static" / "style.css").read_text(encoding="utf-8")
    page = (
        f'<!doctype html><meta charset="utf-8"><style>{style}</style>'
        f"<main><p>{escape(title)}</p>{drawn}</main>"
    )
    shape = "width: 100%; height: 32em; border: 0; resize: vertical"
    return (
        f'<iframe sandbox title="{escape(title)}" style="{shape}" srcdoc="{escape(page)}"></iframe>'
    )


class Displayed:
    """Whatever is shown as its table."""

    def shown(self) -> ShownTable:
        """The table."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self.shown())

    def _repr_html_(self) -> str:
        return self.shown().html()


def with_interval(value: "Estimate | Unmeasured | None", digits: int = 3) -> str:
    """A value with its interval, where there is one."""
    if value is None or hasattr(value, "reason"):
        return "not measured"
    return f"{value.value:.{digits}f} ({value.low:.{digits}f} to {value.high:.{digits}f})"


def settings_told(parameters: "Mapping[str, Json]") -> str:
    """Settings in one line.

    >>> settings_told({"size": 3, "wild": False})
    'size 3, wild no'
    """
    words = {True: "yes", False: "no"}
    return ", ".join(
        f"{name} {words[value] if isinstance(value, bool) else one_line(str(value))}"
        for name, value in parameters.items()
    )
