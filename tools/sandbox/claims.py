"""What a worker says of itself: claims of the module's process, read with distrust."""

import re
from typing import NoReturn, cast, get_args

from games.contract import FaultKind, IllegalActionError, Json, ModuleFault
from games.text import plain_text
from tools.guest.faults import (
    ILLEGAL_ACTION,
    INTERNAL,
    MESSAGE_CHARACTERS,
    MODULE_FILE,
    UNKNOWN_OPERATION,
)

_DUMPED = re.compile(rb'File "' + re.escape(MODULE_FILE).encode() + rb'", line (\d{1,9})\b')


class OperationError(RuntimeError):
    """A preloaded operation failed without the module's part in it: our fault, not the game's."""


def raise_fault(fault: Json, function: str, *, own_code: bool = False) -> NoReturn:
    """Raise what a worker's fault says, trusting none of its fields.

    Args:
        fault: The claim.
        function: What the host asked for.
        own_code: Whether a preloaded package's code took part, which may fail by itself; where
            only the module's did, such a claim is false and counts as a fault of the module.

    Raises:
        IllegalActionError, ModuleFault, OperationError: By the fault's kind.
    """
    fields = fault if isinstance(fault, dict) else {}
    kind, line = fields.get("kind"), fields.get("line")
    message = plain_text(str(fields.get("message", "")))[:MESSAGE_CHARACTERS]
    asked, named = function, fields.get("function")
    if isinstance(named, str) and named.isidentifier():
        function = named[:80]
    if kind == ILLEGAL_ACTION and (own_code or asked == "apply_action"):
        raise IllegalActionError(message)
    if kind in (UNKNOWN_OPERATION, INTERNAL) and own_code:
        raise OperationError(f"operation {function!r} failed in the sandbox: {message}")
    if kind not in get_args(FaultKind):
        kind, message = "killed", f"the worker reported a fault that this cannot end in: {message}"
    whole = line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else None
    raise ModuleFault(cast("FaultKind", kind), function, message, line=whole)


def dumped_line(dump: bytes) -> int | None:
    r"""The innermost line of the module in a traceback that the interpreter dumped.

    >>> dumped_line(b'Stack:\n  File "/x.py", line 9\n  File "<game>", line 3 in f\n')
    3
    """
    found = _DUMPED.search(dump)
    return int(found[1]) if found else None
