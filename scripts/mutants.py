"""Mutation sample: small faults planted in our own code, and how many of them the tests catch.

    python scripts/mutants.py --count 40 --seed 0 [--only ROOM] [--unchanged-since REV] [--out FILE]

The rooms get equal shares. A mutant is one change of a rule bug's kind (`evals.planting`); it is
caught if the tests of its room fail. Run it in a checkout of its own: it edits files.

With `--unchanged-since` the sample is of files whose code, docstrings aside, is that of the commit.
Two commits are compared on the same mutants by two runs of this one script, each in a checkout of
the one commit with `--unchanged-since` the other.
"""

import argparse
import ast
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from evals.planting import change, changes_of

# Room: the files that are mutated, then the tests that may catch it, nearest first. A file that two
# rooms name is the first one's.
ROOMS = {
    "engine": (["games/engine.py", "games/table.py"], ["tests/games", "tests/tools/playtest"]),
    "runner": (["tools/playtest"], ["tests/tools/playtest", "tests/app"]),
    "search": (["agents/search"], ["tests/agents/search", "tests/agents/players"]),
    "belief": (["agents/belief"], ["tests/agents/belief"]),
    "checks": (["games/checks", "tools/checking.py"], ["tests/games/checks", "tests/tools"]),
    "app": (["app", "rulewright.py"], ["tests/app", "tests/test_entry.py"]),
    "claims": (
        [
            "graph/run/pool.py",
            "graph/new/claims.py",
            "graph/new/trial.py",
            "agents/roles/validator.py",
        ],
        ["tests/graph/new", "tests/agents/roles"],
    ),
    "sandbox": (["tools/sandbox", "tools/guest"], ["tests/tools/sandbox", "tests/tools/guest"]),
    "learn": (
        ["graph/learn", "agents/learning", "tools/predicting"],
        ["tests/graph/learn", "tests/agents/learning", "tests/tools/predicting"],
    ),
    "composer": (["agents/composer"], ["tests/agents/composer"]),
    "graph": (["graph"], ["tests/graph"]),
    "players": (
        ["agents/players", "agents/worker", "agents/solving", "agents/strategy"],
        [
            "tests/agents/players",
            "tests/agents/worker",
            "tests/agents/solving",
            "tests/agents/strategy",
        ],
    ),
    "roles": (["agents/roles", "agents/model"], ["tests/agents/roles", "tests/agents/model"]),
    "games": (["games"], ["tests/games"]),
    "tools": (["tools"], ["tests/tools"]),
    "evals": (["evals"], ["tests/evals"]),
    "store": (["vectorstore"], ["tests/vectorstore", "tests/tools/test_retrieval.py"]),
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One fault to plant: a file, the number of the node in it, and of the change there."""

    room: str
    path: str
    number: int
    option: int


def nodes_of(source: str) -> tuple[ast.Module, list[ast.AST]]:
    """The tree of a file, and its nodes in the order of `ast.walk`, without the docstrings."""
    tree = ast.parse(source)
    nodes = [*ast.walk(tree)]
    owners = [node for node in nodes if isinstance(node, _DOCUMENTED) and ast.get_docstring(node)]
    docstrings = {id(part) for node in owners for part in ast.walk(node.body[0])}
    return tree, [node for node in nodes if id(node) not in docstrings]


def mutants_of(room: str, path: Path) -> list[Mutant]:
    """Every mutant of one file."""
    _, nodes = nodes_of(path.read_text(encoding="utf-8"))
    return [
        Mutant(room, str(path), number, option)
        for number, node in enumerate(nodes)
        for option in range(len(changes_of(node, "")))
    ]


def same_code(path: Path, revision: str) -> bool:
    """True where a file has the same code in the commit; docstrings and comments may differ."""
    command = ["git", "show", f"{revision}:{path.as_posix()}"]
    then = subprocess.run(command, capture_output=True, text=True, check=False)
    if then.returncode:
        return False
    return without_docstrings(then.stdout) == without_docstrings(path.read_text(encoding="utf-8"))


def without_docstrings(source: str) -> str:
    """The code of a file, as a text that shows nothing but its syntax."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node):
            node.body = node.body[1:]
    return ast.dump(tree)


def draw(count: int, seed: int, unchanged_since: str | None) -> list[Mutant]:
    """The sample: equal shares of the rooms that have any, each drawn without replacement."""
    if unchanged_since is not None:  # which git has to know: else every file would seem changed
        subprocess.run(["git", "cat-file", "-e", f"{unchanged_since}^{{commit}}"], check=True)
    generator = np.random.default_rng(seed)
    pools: list[list[Mutant]] = []
    taken: set[Path] = set()
    for room, (places, _) in ROOMS.items():
        found = {
            path
            for place in map(Path, places)
            for path in (place.rglob("*.py") if place.is_dir() else [place])
            if path.exists()
        }
        paths = sorted(found - taken)
        taken |= found
        if unchanged_since is not None:
            paths = [path for path in paths if same_code(path, unchanged_since)]
        known = [mutant for path in paths for mutant in mutants_of(room, path)]
        pools.append([known[place] for place in generator.permutation(len(known))])
    # One of each room in turn, until there are enough: a room that has no more is passed over.
    turns = [mutant for turn in zip_longest(*pools) for mutant in turn if mutant is not None]
    return sorted(turns[:count], key=lambda mutant: [*ROOMS].index(mutant.room))


def caught(mutant: Mutant, seconds: float | None) -> dict[str, str | bool | None]:
    """What the fault is, and whether the tests of its room fail with it; None if the time is up.

    The file is put back.
    """
    path = Path(mutant.path)
    source = path.read_text(encoding="utf-8")
    tree, nodes = nodes_of(source)
    about = change(nodes[mutant.number], "", mutant.option)
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
    parser.add_argument("--unchanged-since", metavar="REV", help="of files with the code of REV")
    parser.add_argument("--list", action="store_true", help="print the sample, and plant nothing")
    parser.add_argument("--seconds", type=float, help="stop the tests of a mutant after that long")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    options = parser.parse_args()
    drawn = draw(options.count, options.seed, options.unchanged_since)
    sample = [mutant for mutant in drawn if options.only in (None, mutant.room)]
    if options.list:
        print(*(json.dumps(asdict(mutant)) for mutant in sample), sep="\n")  # noqa: T201 - a script
        return
    done = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else []
    for mutant in sample[len(done) :]:
        line = json.dumps({**asdict(mutant), **caught(mutant, options.seconds)})
        with options.out.open("a", encoding="utf-8") as out:
            out.write(line + "\n")
    results = [json.loads(line) for line in options.out.read_text(encoding="utf-8").splitlines()]
    late = sum(result["caught"] is None for result in results)
    found = sum(result["caught"] is True for result in results)
    print(f"{found} of {len(results)} caught, {late} not decided in time")  # noqa: T201 - a script


if __name__ == "__main__":
    main()
