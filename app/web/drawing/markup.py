"""HTML that is escaped where it is made, and values that are cut to what a page can hold."""

from typing import Any

from markupsafe import Markup, escape

from games.text import one_line

_DEEPEST, _MOST_ITEMS, _LONGEST, _MOST_VALUES = 8, 1_000, 300, 6_000


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element: children and attributes are escaped unless they are markup already.

    Args:
        name: Its name, with its classes behind dots.
        children: What stands in it; None and False stand for nothing.
        attributes: Underscores become hyphens; True gives an empty value, None and False none.

    >>> print(tag("td.cell", "<b>", tag("input"), data_c="a&1", hidden=True, title=None))
    <td class="cell" data-c="a&amp;1" hidden="">&lt;b&gt;<input/></td>
    """
    name, *classes = name.split(".")
    given = {"class": " ".join(classes) or None, **attributes}
    # Plain texts, of which each part was escaped: `Markup.format` takes ten times as long.
    set_to = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{"" if value is True else escape(value)}"'
        for key, value in given.items()
        if value is not None and value is not False
    )
    if name == "input":
        return Markup(f"<input{set_to}/>")
    inner = "".join(
        [
            child if type(child) is Markup else escape(child)
            for child in children
            if child is not None and child is not False
        ]
    )
    return Markup(f"<{name}{set_to}>{inner}</{name}>")


def joined(children: "list[Markup]") -> Markup:
    """Elements one behind the other."""
    return Markup("").join(children)


def short_line(value: object, most: int = 120) -> str:
    r"""Somebody else's text on one line, cut where it is long.

    >>> short_line("a\n<b>"), short_line("x" * 9, 4)
    ('a ‹b>', 'xxxx…')
    """
    text = one_line(str(value)[: 4 * most + 99])
    return text if len(text) <= most else f"{text[:most]}…"


def drawable(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A value without what is too deep, too long or too many to draw.

    >>> drawable({"a": [[[[[[[[["deep"]]]]]]]]]})
    {'a': [[[[[[['…']]]]]]]}
    """
    left = _MOST_VALUES

    def cut(one: Any, depth: int) -> Any:  # noqa: ANN401 - any JSON
        nonlocal left
        left -= 1
        if isinstance(one, str):
            return one if len(one) <= _LONGEST else f"{one[:_LONGEST]}…"
        if not isinstance(one, list | tuple | dict):
            return one if not isinstance(one, int) or abs(one) < 10**18 else f"{one:.6e}"
        if depth >= _DEEPEST or left <= 0:
            return "…"
        if isinstance(one, dict):
            some = list(one.items())[:_MOST_ITEMS]
            return {cut(str(key), depth): cut(item, depth + 1) for key, item in some if left > 0}
        kept = []
        for item in one[:_MOST_ITEMS]:
            if left <= 0:
                break
            kept.append(cut(item, depth + 1))
        return kept

    return cut(value, 0)
