"""Text that tested code wrote, made harmless to show."""

import re

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_CONTROLS = re.compile(
    r"[^\n\t\x20-\x7e\xa0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\U0010ffff]"
)


def plain_text(text: str) -> str:
    r"""A text without terminal escapes, control and direction characters.

    >>> plain_text("\x1b[31mred\x1b[0m\x07 \u202eevil\n")
    'red evil\n'
    """
    return _CONTROLS.sub("", _ESCAPES.sub("", text))
