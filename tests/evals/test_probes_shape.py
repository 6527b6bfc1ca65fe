"""The probes as a collection: what each file must hold so that its verdict means something."""

import ast
import copy
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Literal

import pytest

import evals.probes.attacks
from evals.probes.catalogue import Probe, probes
from evals.probes.running import BrokenProbeError, run_probe, with_bait
from evals.probes.sweeping import SweepResult
from evals.sandbox import reached
from games.contract import Json
from tools.sandbox import Sandbox

FOLDER = Path(evals.probes.attacks.__file__).parent
NAMES = [probe.name for probe in probes()]


def functions(source: str) -> dict[str, str]:
    nodes = ast.parse(source).body
    return {node.name: ast.unparse(node) for node in nodes if isinstance(node, ast.FunctionDef)}


def test_there_are_at_least_55_attacks_over_every_group() -> None:
    groups = Counter(probe.group for probe in probes())
    assert len(probes()) >= 55
    assert len(groups) >= 12
    assert min(groups.values()) >= 3


def test_every_file_is_in_the_catalogue_once() -> None:
    on_disk = {path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"}
    assert sorted(NAMES) == sorted(on_disk)


def test_every_attack_names_the_property_it_goes_against() -> None:
    properties = [probe.holds for probe in probes()]
    assert all(text.endswith(".") and 15 <= len(text) <= 100 for text in properties)
    assert len(set(properties)) == len(properties)


@pytest.mark.parametrize("probe", probes(), ids=NAMES)
def test_an_attack_stands_alone_and_has_ways_to_try(probe: Probe) -> None:
    tree = ast.parse(probe.source)
    imported = {
        ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"import enum", "from types import ModuleType", "from typing import Any"}
    assert "main" in functions(probe.source)
    listed = next(text for text in map(ast.unparse, tree.body) if text.startswith("WAYS = ("))
    ways = set(re.findall(r"\b_\w+", listed))
    assert ways
    assert ways <= functions(probe.source).keys()


@pytest.mark.parametrize("name", ["held", "known", "libc", "kernel", "main"])
def test_what_attacks_share_is_the_same_in_all_of_them(name: str) -> None:
    texts = [functions(probe.source).get(name) for probe in probes() if probe.name != "reply_flood"]
    assert len(set(texts) - {None}) == 1


def test_bait_is_written_into_a_probe_as_a_literal() -> None:
    bait: dict[str, Json] = {"secret": "/tmp/it's\nhere", "port": 3}
    baited = with_bait(probes()[1].source, bait)
    [line] = [text for text in map(ast.unparse, ast.parse(baited).body) if text.startswith("BAIT:")]
    assert ast.literal_eval(line.partition(" = ")[2]) == bait


def test_a_probe_without_a_place_for_bait_is_refused() -> None:
    with pytest.raises(BrokenProbeError, match="BAIT"):
        with_bait("def main():\n    return {}\n", {})


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"breached": False, "how": "", "tried": 0}, "tried nothing"),
        ({"breached": False, "how": "a: NameError: no such name", "tried": 1}, "failed by itself"),
        ({"breached": False, "how": "a: TypeError: 1 argument", "tried": 1}, "failed by itself"),
        ({"breached": False}, "answered"),
    ],
)
def test_a_probe_that_tried_nothing_or_failed_by_itself_is_no_containment(
    answer: dict[str, Json], why: str
) -> None:
    probe = copy.copy(probes()[0])
    source = (
        "from typing import Any\n\nBAIT: dict[str, Any] = {}\n"
        f"def main(first, last):\n    return {answer!r}\n"
    )
    object.__setattr__(probe, "stage", "none")
    object.__setattr__(probe, "source", source)
    with Sandbox() as sandbox, pytest.raises(BrokenProbeError, match=why):
        run_probe(probe, sandbox)


def test_most_attacks_are_known_to_breach_where_nothing_holds_them() -> None:
    seen = Counter(probe.seen for probe in probes())
    assert seen["unconfined"] + seen["unlimited"] >= 50


@pytest.mark.parametrize(
    ("reachable", "unexpected", "special", "passed"),
    [
        (51, (), "denied", [True, True]),
        (52, (), "killed", [False, True]),
        (36, (17,), "denied", [False, True]),
        (36, (), "reachable", [True, False]),
    ],
)
def test_a_sweep_holds_to_its_bounds_only_where_nothing_was_unexpected(
    reachable: int,
    unexpected: tuple[int, ...],
    special: Literal["reachable", "denied", "killed"],
    passed: list[bool],
) -> None:
    swept = SweepResult(
        reachable=tuple(range(reachable)),
        denied=(400,),
        killed=(401,),
        skipped=(),
        unexpected=unexpected,
        special={"x32 getpid": special},
    )
    assert [score.passed for score in reached(swept)] == passed


def test_importing_a_trick_does_nothing() -> None:
    code = (
        "import builtins, importlib, json, sys\n"
        "before = (json.dumps, builtins.all, builtins.any, sys.getprofile(), sys.gettrace())\n"
        "from evals.probes.forgery import tricks\n"
        "for trick in tricks():\n"
        "    importlib.import_module('evals.probes.forging.' + trick.name)\n"
        "after = (json.dumps, builtins.all, builtins.any, sys.getprofile(), sys.gettrace())\n"
        "assert after == before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
