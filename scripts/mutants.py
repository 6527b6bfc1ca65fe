"""Mutation sample: small faults planted in our own code, and how many of them the tests catch.

    python scripts/mutants.py --count 40 --seed 0 [--only engine] [--out FILE]

The rooms get equal shares. A mutant is one changed operator, comparison, constant or condition;
it is caught if the tests of its room fail. Run it in a checkout of its own: it edits files.
"""

import argparse
import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

# Room: the files that are mutated, then the tests that may catch it, nearest first.
ROOMS = {
    "engine": (["games/engine.py", "games/table.py"], ["tests/games", "tests/tools/playtest"]),
    "runner": (["tools/playtest"], ["tests/tools/playtest", "tests/app"]),
    "search": (["agents/search"], ["tests/agents/search", "tests/agents/players"]),
    "belief": (["agents/belief"], ["tests/agents/belief"]),
    "checks": (["games/checks", "tools/checking.py"], ["tests/games/checks", "tests/tools"]),
}
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in",
    ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*"}


@dataclass(frozen=True)
class Mutant:
    """One planted fault: where it is, and what stands there instead."""

    room: str
    path: str
    line: int
    column: int
    before: str
    after: str


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield (node to replace, its new source)."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        new = COMPARISONS[type(node.ops[0])]
        yield node, f"{ast.unparse(node.left)} {new} {ast.unparse(node.comparators[0])}"
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        new = ARITHMETIC[type(node.op)]
        yield node, f"({ast.unparse(node.left)} {new} {ast.unparse(node.right)})"
    elif isinstance(node, ast.BoolOp):
        new = " or " if isinstance(node.op, ast.And) else " and "
        yield node, "(" + new.join(f"({ast.unparse(value)})" for value in node.values) + ")"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield node, str(node.value + 1)


def mutants_of(room: str, path: Path) -> list[Mutant]:
    """Every mutant of one file; annotations and strings are left alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    source = path.read_text(encoding="utf-8")
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if part is not None
        for inner in ast.walk(part)
    } | {
        id(i) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for i in ast.walk(node)
    }
    return [
        Mutant(room, str(path), old.lineno, old.col_offset, segment, new)  # type: ignore[attr-defined]
        for node in ast.walk(tree)
        if id(node) not in skipped
        for old, new in _changes(node)
        if (segment := ast.get_source_segment(source, old)) and "\n" not in segment
    ]


def draw(count: int, seed: int) -> list[Mutant]:
    """The sample: equal shares of the rooms, each drawn without replacement."""
    generator = np.random.default_rng(seed)
    chosen = []
    for room, (places, _) in ROOMS.items():
        paths = [
            path
            for place in places
            for path in sorted(Path(place).rglob("*.py") if Path(place).is_dir() else [Path(place)])
        ]
        known = [mutant for path in paths for mutant in mutants_of(room, path)]
        chosen += [known[i] for i in generator.permutation(len(known))[: count // len(ROOMS)]]
    return chosen


def caught(mutant: Mutant, seconds: float | None) -> bool | None:
    """Whether the tests of the mutant's room fail with it, None where the time is up.

    The file is put back.
    """
    path = Path(mutant.path)
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    old = lines[mutant.line - 1].encode()
    end = mutant.column + len(mutant.before.encode())
    lines[mutant.line - 1] = (old[: mutant.column] + mutant.after.encode() + old[end:]).decode()
    path.write_text("".join(lines), encoding="utf-8")
    tests = ROOMS[mutant.room][1]
    near = [
        str(found) for test in tests for found in sorted(Path(test).rglob(f"test_{path.stem}*.py"))
    ]
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, "--timeout=150", str(path), *near, *tests],  # its own examples first
            capture_output=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return None
    else:
        return done.returncode != 0
    finally:
        path.write_text(source, encoding="utf-8")


def main() -> None:
    """Draw the sample, run the tests on each mutant, print one JSON line a mutant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=list(ROOMS))
    parser.add_argument("--seconds", type=float, help="stop the tests of a mutant after that long")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    options = parser.parse_args()
    sample = [m for m in draw(options.count, options.seed) if options.only in (None, m.room)]
    done = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else []
    for mutant in sample[len(done) :]:
        line = json.dumps({**asdict(mutant), "caught": caught(mutant, options.seconds)})
        with options.out.open("a", encoding="utf-8") as out:
            out.write(line + "\n")
    results = [json.loads(line) for line in options.out.read_text(encoding="utf-8").splitlines()]
    late = sum(result["caught"] is None for result in results)
    found = sum(result["caught"] is True for result in results)
    print(f"{found} of {len(results)} caught, {late} not decided in time")  # noqa: T201


if __name__ == "__main__":
    main()
