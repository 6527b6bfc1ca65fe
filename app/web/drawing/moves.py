"""The legal moves in words: a button each, in groups; what is too long to list is typed."""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from app.table.boards import by_numbers, meant
from app.web.drawing.markup import short_line, tag
from app.web.drawing.pieces import with_signs
from app.web.drawing.spots import Spots

_FEW, _FILTERED = 12, 20
_MOST_GROUPS = 12
_MOST_BYTES = 80_000


def chosen_action(form: Mapping[str, str], legal: Sequence[str]) -> str | None:
    """The legal action that a posted form names; None where it names none.

    Args:
        form: What was posted: `action` is an action, `typed` words that mean exactly one.
        legal: The actions.

    >>> chosen_action({"action": "play 7C"}, ["play 7C"]), chosen_action({"action": "x"}, ["y"])
    ('play 7C', None)
    >>> chosen_action({"typed": "7c"}, ["play 7C", "play TH"])
    'play 7C'
    """
    if "action" in form:
        return form["action"] if form["action"] in legal else None
    found = meant(form.get("typed", "")[:200], legal)
    return found[0] if len(found) == 1 else None


def drawn_moves(legal: Sequence[str], spots: Spots) -> Markup:
    """Each legal action once as a button: first those that lie on no component."""
    if not legal:
        return Markup("")
    ordered, left = [], _MOST_BYTES
    for action in sorted(legal, key=by_numbers):
        button = _button(action, spots)
        left -= len(button.encode())
        if left < 0:
            break
        ordered.append((action, button))
    bare = [one for one in ordered if not spots.is_drawn(one[0])]
    laid = [one for one in ordered if spots.is_drawn(one[0])]
    children = []
    if len(ordered) > _FILTERED:
        children.append(
            tag(
                "p.finder",
                tag(
                    "label", "Find a move ", tag("input.filter", type="search", autocomplete="off")
                ),
                hidden=True,
            )
        )
    if bare:
        children.append(_groups(bare))
    if laid:
        heading = f"{_number(len(laid))} marked on the table, in words"
        children.append(
            tag("details.laid", tag("summary", heading), _groups(laid), open=len(laid) <= _FEW)
        )
    if len(ordered) < len(legal):
        children.append(_typing(len(ordered), len(legal)))
    return tag("section.moves", tag("h2", "Your moves"), *children, aria_label="Your moves")


def _button(action: str, spots: Spots) -> Markup:
    return tag(
        "button.move",
        with_signs(short_line(action)),
        type="submit",
        name="action",
        value=action,
        data_uses=" ".join(one.replace(" ", "") for one in spots.uses.get(action, ())) or None,
    )


def _groups(some: Sequence[tuple[str, Markup]]) -> Markup:
    """Buttons under the first words of their actions, where there are many."""
    kinds: dict[str, list[Markup]] = {}
    for action, button in some:
        kinds.setdefault(short_line(action.split(" ")[0], 40) if " " in action else "", []).append(
            button
        )
    if len(some) <= _FEW or not 1 < len(kinds) <= _MOST_GROUPS:
        return _listed(button for _, button in some)
    return tag(
        "div.groups",
        *(
            tag("div.group", tag("h3", kind or "one word"), _listed(buttons))
            for kind, buttons in kinds.items()
        ),
    )


def _listed(buttons: Iterable[Markup]) -> Markup:
    return tag("ul.moves-list", *(tag("li", button) for button in buttons))


def _typing(shown: int, many: int) -> Markup:
    """A field for the moves that are too many to list."""
    return tag(
        "p.typing",
        tag(
            "label",
            f"The first {shown} of {many} moves are listed. Type any move ",
            tag("input", type="text", name="typed", autocomplete="off", maxlength=200),
        ),
        " ",
        tag("button", "Play it", type="submit", name="by", value="typed"),
    )


def _number(count: int) -> str:
    return "1 move is" if count == 1 else f"{count} moves are"
