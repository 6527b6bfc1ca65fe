"""The list of slow tests, `tests/slow.yaml`, made anew from the times of a whole run of the suite.

    make slow

Run it on a machine with nothing else to do: `make suite` has to have left its times.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

SLOW_S = 5.0
LIST = Path("tests/slow.yaml")
HEAD = """\
# Tests of five seconds or more, with what was set up for them, on a quiet machine of two cores.
# `make slow` writes this page after `make test`. They have the marker `slow`, so that
# `pytest -m "not slow"` leaves them out. Of a test with several cases the longest counts.
"""


def slow_tests(times: Path) -> dict[str, float]:
    """The slow tests of a file that `pytest --junitxml` wrote, with their seconds."""
    found: dict[str, float] = {}
    for case in ElementTree.parse(times).iter("testcase"):
        room, name = case.get("classname", ""), case.get("name", "").partition("[")[0]
        test = f"{room.replace('.', '/')}.py::{name}"
        if test.startswith("tests/"):  # and no example of a docstring
            found[test] = max(found.get(test, 0.0), float(case.get("time", 0)))
    return {test: seconds for test, seconds in sorted(found.items()) if seconds >= SLOW_S}


def main() -> None:
    """Write the list."""
    rows = slow_tests(Path(sys.argv[1]))
    lines = [f"{test}: {seconds:.0f}\n" for test, seconds in rows.items()]
    LIST.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(f"{len(rows)} slow tests take {sum(rows.values()):.0f} s")  # noqa: T201 - a script


if __name__ == "__main__":
    main()
