"""The probes as a collection: what each must hold so that its verdict means something."""

import ast
import builtins
import symtable
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from evals.sandbox.probes import (
    BrokenProbeError,
    Probe,
    UnknownProbeError,
    find_probe,
    probes,
    run_probe,
    stand_alone,
    with_bait,
)
from games.values import Json
from tools.sandbox import Sandbox

NAMES = [probe.name for probe in probes()]


def test_there_are_at_least_55_attacks_over_every_group() -> None:
    groups = Counter(probe.group for probe in probes())
    assert len(probes()) >= 55
    assert len(groups) >= 12
    assert min(groups.values()) >= 3


def test_every_attack_has_a_name_of_its_own() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_every_attack_names_the_property_it_goes_against() -> None:
    properties = [probe.holds for probe in probes()]
    assert all(text.endswith(".") and 15 <= len(text) <= 100 for text in properties)
    assert len(set(properties)) == len(properties)


@pytest.mark.parametrize("probe", probes(), ids=NAMES)
def test_an_attack_stands_alone_and_has_ways_to_try(probe: Probe) -> None:
    tree = ast.parse(probe.source)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {ast.unparse(node).split()[1] for node in imports} <= {
        "collections.abc",
        "enum",
        "types",
        "typing",
    }
    made: dict[str, Any] = {"__name__": "probe"}
    exec(compile(tree, probe.name, "exec"), made)  # it defines, and does nothing else
    asked = _global_names(symtable.symtable(probe.source, probe.name, "exec"))
    assert asked <= made.keys() | vars(builtins).keys()
    assert made["main"].__self__.ways()


def _global_names(table: symtable.SymbolTable) -> set[str]:
    """Global names that a module's functions and classes read, however deep inside."""
    found = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return found.union(*map(_global_names, table.get_children()))


def test_a_name_that_no_attack_has_is_answered_with_the_nearest_ones() -> None:
    assert find_probe("fork").name == "fork"
    with pytest.raises(UnknownProbeError, match="'tcp_conect'; the nearest are tcp_connect, "):
        find_probe("tcp_conect")


def test_a_definition_comes_with_what_it_needs_and_nothing_else() -> None:
    shared = "import enum\nimport json\n\nLIMIT = 3\n\n\ndef cut(text):\n    return text[:LIMIT]\n"
    module = (
        "from evals.shared import cut\n\nEMPTY = enum.auto\n\n\n"
        "def told(text):\n    return cut(text)\n\n\ndef other():\n    return json\n"
    )
    alone = stand_alone(["told"], shared, module)
    made: dict[str, Any] = {}
    exec(alone, made)
    assert made.keys() - {"__builtins__"} == {"LIMIT", "cut", "told"}
    assert made["told"]("four") == "fou"


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
    source = (
        "from typing import Any\n\nBAIT: dict[str, Any] = {}\n"
        f"def main(first, last):\n    return {answer!r}\n"
    )
    probe = replace(probes()[0], stage="none", source=source)
    with Sandbox() as sandbox, pytest.raises(BrokenProbeError, match=why):
        run_probe(probe, sandbox)


def test_most_attacks_are_known_to_breach_where_nothing_holds_them() -> None:
    seen = Counter(probe.seen for probe in probes())
    assert seen["unconfined"] + seen["unlimited"] >= 50
