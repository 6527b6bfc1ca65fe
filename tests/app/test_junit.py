"""JUnit files, held against the schema of Jenkins' xUnit plugin (junit-10.xsd) as readers take it.

The schema wants `name`, `tests`, `failures` and `errors` of a suite, and `name` of a case. A
failure or an error has `message`, `type` and a text. Readers count cases by their children.
"""

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.junit import JunitCase, cases_of_evaluation, write_junit
from evals.results import EvalResult, Score
from tests.app.conftest import Command

ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
    "testcase": {"name", "time", "classname", "group"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error"},
    "failure": set[str](),
    "error": set[str](),
}
REQUIRED = {"testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}}


def counted(file: Path) -> tuple[int, int, int]:
    """Cases, failures and errors, by what the suite says; once that is what its cases say."""
    root = ElementTree.parse(file).getroot()
    assert root.tag == "testsuites"
    for one in root.iter():
        assert one.attrib.keys() <= ATTRIBUTES[one.tag]
        assert one.attrib.keys() >= REQUIRED.get(one.tag, set())
        assert {child.tag for child in one} <= CHILDREN[one.tag]
    (suite,) = root
    said = tuple(int(suite.attrib[name]) for name in ("tests", "failures", "errors"))
    found = tuple(len(suite.findall(path)) for path in ("*", "*/failure", "*/error"))
    assert said == found
    return (said[0], said[1], said[2])


def test_a_check_that_passes_has_no_failure_and_a_broken_module_has(
    command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "check.xml"
    done = command("check", "tic_tac_toe", "--junit", file, "--json")
    assert (done.code, counted(file)) == (0, (len(done.json["findings"]), 0, 0))
    (tmp_path / "broken.py").write_text("GAME = {}\n")
    done = command("check", tmp_path / "broken.py", "--junit", file, "--json")
    outcomes = [found["outcome"] for found in done.json["findings"]]
    told = (outcomes.count("failed"), outcomes.count("could_not_judge"))
    assert (done.code, counted(file)[1:]) == (1, told)
    assert sum(told) > 0


def test_a_score_below_its_threshold_fails_and_one_that_is_missing_is_an_error(
    tmp_path: Path,
) -> None:
    scores = (Score("good", 1.0, 3, at_least=0.9), Score("low", 0.1, 3, at_least=0.9))
    result = EvalResult(scores=scores, samples=(), effective={}, unscored={"lost": "no answer"})
    write_junit(tmp_path / "eval.xml", "tiny", cases_of_evaluation(result))
    assert counted(tmp_path / "eval.xml") == (3, 1, 1)
    text = (tmp_path / "eval.xml").read_text("utf-8")
    assert "low: 0.100 over 3, required at least 0.9" in text


def test_words_of_a_module_cannot_break_the_file(tmp_path: Path) -> None:
    words = "</failure><!-- \x00\x1b[31m \ud800 ]]> & é 🂡"
    cases = [JunitCase(words, "failure", words), JunitCase("ok", "passed")]
    write_junit(tmp_path / "a.xml", words, cases)
    assert counted(tmp_path / "a.xml") == (2, 1, 0)


def test_an_evaluation_takes_junit_and_a_folder_that_is_none_is_refused(
    command: Command, tmp_path: Path
) -> None:
    for words in (("eval", "run", "smoke"), ("check", "tic_tac_toe")):
        done = command(*words, "--junit", tmp_path / "none" / "a.xml")
        assert (done.code, "is no folder" in done.err) == (2, True)


@pytest.mark.parametrize("kind", ["folder", "pipe", "long"])
def test_what_is_no_plain_file_is_not_written(kind: str, command: Command, tmp_path: Path) -> None:
    """A pipe waits for its reader for ever (POSIX, open); a folder is replaced by no file."""
    file = tmp_path / ("x" * 300 if kind == "long" else kind)
    if kind != "long":
        (os.mkfifo if kind == "pipe" else os.mkdir)(file)
    record = ("record", "library:tic_tac_toe", "--matches", "1", "--force", "--out")
    for words in (("check", "tic_tac_toe", "--junit"), record):
        done = command(*words, file)
        assert (done.code, "Invalid value" in done.err) == (2, True)
