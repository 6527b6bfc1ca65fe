"""JUnit files: what was checked, case by case, as CI systems read it."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from xml.etree import ElementTree

if TYPE_CHECKING:
    from evals.results import EvalResult
    from games.checks import Finding

_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SHORT = 200  # of a case's message; its text is whole


class JunitCase(NamedTuple):
    """One case: an error is one of which nothing could be said."""

    name: str
    outcome: Literal["passed", "failure", "error"]
    text: str = ""


def cases_of_check(findings: "Iterable[Finding]") -> list[JunitCase]:
    """A case a finding; one that could not be judged is an error."""
    kinds: dict[str, Literal["passed", "failure"]] = {"passed": "passed", "failed": "failure"}
    return [
        JunitCase(
            f"{found.check} ({found.rule})" if found.rule else found.check,
            kinds.get(found.outcome, "error"),
            found.evidence,
        )
        for found in findings
    ]


def cases_of_evaluation(result: "EvalResult") -> list[JunitCase]:
    """A case a score, which fails below its threshold; a number that is missing is an error."""
    told = result.as_text().splitlines()
    scores = [
        JunitCase(one.name, "passed" if one.passed else "failure", line)
        for one, line in zip(result.scores, told, strict=False)
    ]
    return [*scores, *(JunitCase(name, "error", why) for name, why in result.unscored.items())]


def write_junit(file: Path, suite: str, cases: Iterable[JunitCase]) -> None:
    """Write a suite of cases; the same cases give the same bytes, for no time is told."""
    found = list(cases)
    counts = {
        "tests": len(found),
        "failures": sum(one.outcome == "failure" for one in found),
        "errors": sum(one.outcome == "error" for one in found),
    }
    told = {name: str(count) for name, count in counts.items()}
    root = ElementTree.Element("testsuites", told)
    parent = ElementTree.SubElement(root, "testsuite", {"name": _plain(suite), **told})
    for one in found:
        about = {"classname": _plain(suite), "name": _plain(one.name)}
        case = ElementTree.SubElement(parent, "testcase", about)
        if one.outcome != "passed":
            message = {"message": _plain(one.text)[:_SHORT], "type": one.outcome}
            ElementTree.SubElement(case, one.outcome, message).text = _plain(one.text)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)


def _plain(text: str) -> str:
    """A text without the characters that XML cannot hold; it may quote a module's own words."""
    return _NO_XML.sub("\ufffd", text)
