"""Tests made from recorded matches: what a learned source must predict, one file a kind of test.

A failing test is told as its author sees it: call, expected, actual, their difference, last output.
"""

import difflib
import json
import re
from collections.abc import Sequence

from games.checks import Finding
from games.values import IllegalActionError, Json, ModuleFault
from tools.sandbox import Sandbox

_LONGEST_VALUE = 2_000
_LONGEST_DIFF = 3_000
_LAST_LINES = 10
_PLACE = re.compile(r"match (\d+), position (\d+)")


def called(function: str, arguments: Sequence[Json]) -> str:
    """A call as Python writes it, cut where it is long.

    >>> called("get_rewards", [{"turn": None}])
    "get_rewards({'turn': None})"
    """
    return cut(f"{function}({', '.join(map(repr, arguments))})", 2 * _LONGEST_VALUE)


def failing(
    check: str,
    function: str,
    call: str,
    expected: Json,
    actual: Json | ModuleFault | IllegalActionError,
    place: str,
) -> Finding:
    """The finding of a test that does not hold.

    Args:
        check: Kind of test, such as "transition".
        function: The function at fault.
        call: What was asked, as text.
        expected: What the record holds, or a sentence.
        actual: What came back; a fault where it failed.
        place: Where in the recorded matches.

    >>> failing("transition", "get_player_name", "", "0", 0, "").evidence.splitlines()[-2:]
    ["expected: '0'", 'actual: 0']
    """
    line, wanted, diff = None, _shown(expected), ""
    if isinstance(actual, ModuleFault | IllegalActionError):
        line = getattr(actual, "line", None)
        said = f"failed: {actual}"
    else:
        said, diff = _shown(actual), _difference(expected, actual)
        if said == wanted:  # a text and what is none
            said, wanted = (cut(repr(value), _LONGEST_VALUE) for value in (actual, expected))
    parts = [f"{place}", f"call: {call}", f"expected: {wanted}", f"actual: {said}"]
    text = "\n".join([*parts, *(["difference:", diff] if diff else [])])
    return Finding(check=check, outcome="failed", evidence=text, function=function, line=line)


def with_output(sandbox: Sandbox, source: str, found: Finding, call: Sequence[Json]) -> Finding:
    """A finding with the last lines that its call prints, made once more in a fresh worker."""
    function, arguments = found.function or "", list(call)
    with sandbox.worker("failing", source) as worker:
        try:
            worker.load(source)
            worker.call(function, arguments, seed=[0])
        except (ModuleFault, IllegalActionError):
            pass
        printed = worker.output
    if not printed.strip():
        return found
    last = "\n".join(printed.rstrip().splitlines()[-_LAST_LINES:])
    return found.model_copy(
        update={"evidence": f"{found.evidence}\nlast output:\n{cut(last, _LONGEST_VALUE)}"}
    )


def place_of(found: Finding) -> tuple[int, int] | None:
    """Match and position of a failing test's place, where it names one.

    >>> place_of(failing("transition", "get_rewards", "", 1, 2, "match 5, position 137"))
    (5, 137)
    """
    named = _PLACE.match(found.evidence)
    return (int(named[1]), int(named[2])) if named else None


def cut(text: str, length: int) -> str:
    """A text of bounded length that says what was left out.

    >>> cut("abcdef", 3)
    'abc (3 characters more)'
    """
    return (
        text if len(text) <= length else f"{text[:length]} ({len(text) - length} characters more)"
    )


def _shown(value: Json) -> str:
    return cut(value if isinstance(value, str) else repr(value), _LONGEST_VALUE)


def _difference(expected: Json, actual: Json) -> str:
    """The difference of both values' JSON, by lines; empty between short or plain values."""
    if not isinstance(expected, dict | list) or not isinstance(actual, dict | list):
        return ""
    wanted, came = (
        json.dumps(v, indent=1, sort_keys=True).splitlines() for v in (expected, actual)
    )
    lines = list(difflib.unified_diff(wanted, came, n=1, lineterm=""))
    return cut("\n".join(lines[2:]), _LONGEST_DIFF)
