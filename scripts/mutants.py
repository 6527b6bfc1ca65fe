"""Mutation sample: small faults planted in our own code, and how many of them the tests catch.

    python scripts/mutants.py --count 40 --seed 0 [--only engine] [--out FILE]

The rooms get equal shares. A mutant is one change of a rule bug's kind (`evals.planting`); it is
caught if the tests of its room fail. Run it in a checkout of its own: it edits files.
"""

import argparse
import ast
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from evals.planting import change, changes_of

# Room: the files that are mutated, then the tests that may catch it, nearest first.
ROOMS = {
    "engine": (["games/engine.py", "games/table.py"], ["tests/games", "tests/tools/playtest"]),
    "runner": (["tools/playtest"], ["tests/tools/playtest", "tests/app"]),
    "search": (["agents/search"], ["tests/agents/search", "tests/agents/players"]),
    "belief": (["agents/belief"], ["tests/agents/belief"]),
    "checks": (["games/checks", "tools/checking.py"], ["tests/games/checks", "tests/tools"]),
}


@dataclass(frozen=True)
class Mutant:
    """One fault to plant: a file, the number of the node in it, and of the change there."""

    room: str
    path: str
    number: int
    option: int


def mutants_of(room: str, path: Path) -> list[Mutant]:
    """Every mutant of one file."""
    nodes = enumerate(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return [
        Mutant(room, str(path), number, option)
        for number, node in nodes
        for option in range(len(changes_of(node, "")))
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


def caught(mutant: Mutant, seconds: float | None) -> dict[str, str | bool | None]:
    """What the fault is, and whether the tests of its room fail with it; None if the time is up.

    The file is put back.
    """
    path = Path(mutant.path)
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    about = change([*ast.walk(tree)][mutant.number], "", mutant.option)
    path.write_text(ast.unparse(tree), encoding="utf-8")
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
        return {"about": about, "caught": None}
    else:
        return {"about": about, "caught": done.returncode != 0}
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
        line = json.dumps({**asdict(mutant), **caught(mutant, options.seconds)})
        with options.out.open("a", encoding="utf-8") as out:
            out.write(line + "\n")
    results = [json.loads(line) for line in options.out.read_text(encoding="utf-8").splitlines()]
    late = sum(result["caught"] is None for result in results)
    found = sum(result["caught"] is True for result in results)
    print(f"{found} of {len(results)} caught, {late} not decided in time")  # noqa: T201


if __name__ == "__main__":
    main()
