"""The list of slow tests, `tests/slow.yaml`, made anew from the times of a whole run of the suite.

    make whole && make slow

Run it on a machine with nothing else to do: `make whole` has to have left its times.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

import yaml

SLOW_S = 0.3
LIST = Path("tests/slow.yaml")
HEAD = """\
# Tests of 0.3 seconds or more, case by case, with what was set up: seconds, measured on
# two cores. `make slow` writes this page after `make whole`. They have the marker `slow`.
# Of a file's, `make test` runs the shortest, 0.6 seconds in all; `make whole` runs all.
"""


def slow_tests(times: Path) -> dict[str, float]:
    """The slow tests of a file that `pytest --junitxml` wrote, with their seconds."""
    found: dict[str, float] = {}
    for case in ElementTree.parse(times).iter("testcase"):
        room, seconds = case.get("classname", ""), float(case.get("time", 0))
        if room.startswith("tests.") and seconds >= SLOW_S:  # and no example of a docstring
            found[f"{room.replace('.', '/')}.py::{case.get('name', '')}"] = round(seconds, 1)
    return dict(sorted(found.items()))


def main() -> None:
    """Write the list."""
    rows = slow_tests(Path(sys.argv[1]))
    listed = yaml.safe_dump(rows, width=1_000, allow_unicode=True, sort_keys=False)
    LIST.write_text(HEAD + listed, encoding="utf-8")
    print(f"{len(rows)} slow tests take {sum(rows.values()):.0f} s")  # noqa: T201 - a script


if __name__ == "__main__":
    main()
