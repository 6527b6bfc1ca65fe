"""Partial edits of a source: search/replace pairs, applied all or not at all."""

from collections.abc import Sequence

_SHOWN = 160


class EditError(ValueError):
    """An edit cannot be applied; the message names it and quotes its search text."""


def apply_edits(source: str, edits: Sequence[tuple[str, str]]) -> str:
    """The source with all edits applied.

    Args:
        source: The text to edit.
        edits: Pairs (search, replacement); each search text occurs exactly once in `source`,
            exact to the last space, and becomes its replacement.

    Every search text is looked up in `source` as it is given, never in the outcome of another
    edit, so the order of the edits does not matter.

    Raises:
        EditError: If there is no edit, a search text is empty or does not occur exactly once, or
            two edits overlap; then nothing is applied.
    """
    if not edits:
        raise EditError("there is no edit to apply; required: at least one")
    spans = sorted(
        (_locate(source, search, number), number, search, replacement)
        for number, (search, replacement) in enumerate(edits, start=1)
    )
    pieces, reached, before = [], 0, 0
    for start, number, search, replacement in spans:
        if start < reached:
            raise EditError(
                f"edits {before} and {number} overlap at {_quote(search)}; make them one edit"
            )
        pieces += [source[reached:start], replacement]
        reached, before = start + len(search), number
    return "".join([*pieces, source[reached:]])


def _locate(source: str, search: str, number: int) -> int:
    if not search:
        raise EditError(f"edit {number} has an empty search text; quote the lines to replace")
    first = source.find(search)
    if first < 0:
        raise EditError(
            f"edit {number}: the search text does not occur in the source: {_quote(search)}; "
            "copy it exactly, with its indentation"
        )
    count = sum(source.startswith(search, at) for at in range(first, len(source)))
    if count > 1:
        raise EditError(
            f"edit {number}: the search text occurs {count} times, not once: {_quote(search)}; "
            "quote more lines around it"
        )
    return first


def _quote(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
