"""The list of slow tests names tests that are there, and its script reads what pytest writes."""

import ast
from functools import cache
from pathlib import Path

import yaml

from scripts.slow import HEAD, LIST, SLOW_S, slow_tests

TIMES = """<testsuites><testsuite>
<testcase classname="tests.app.test_new" name="test_one[2]" time="4.0" />
<testcase classname="tests.app.test_new" name="test_one[3]" time="7.4" />
<testcase classname="tests.app.test_new" name="test_two" time="4.9" />
<testcase classname="app.console" name="app.console.kept_in" time="9.0" />
</testsuite></testsuites>
"""


@cache
def functions_of(path: str) -> set[str]:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_slow_test_of_the_list_is_there() -> None:
    listed = yaml.safe_load(LIST.read_text(encoding="utf-8")) or {}
    assert LIST.read_text(encoding="utf-8").startswith(HEAD)
    for test, seconds in listed.items():
        path, _, name = test.partition("[")[0].partition("::")
        assert name in functions_of(path), f"{test} is not there: run make slow"
        assert seconds >= SLOW_S, test


def test_every_slow_case_is_listed(tmp_path: Path) -> None:
    times = tmp_path / "times.xml"
    times.write_text(TIMES)
    assert slow_tests(times) == {
        "tests/app/test_new.py::test_one[2]": 4.0,
        "tests/app/test_new.py::test_one[3]": 7.4,
        "tests/app/test_new.py::test_two": 4.9,
    }
