"""The house rules of docs/architecture.md and CONTRIBUTING.md, read from the source."""

import ast
import re
import runpy
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from graph.run.environment import variables

ROOT = Path(__file__).parents[1]
HOUSE = ("app", "evals", "graph", "agents", "tools", "vectorstore", "games")
MOST_FILES = 12
MOST_LINES = 300
MOST_LINES_OF_A_FUNCTION = 60
MOST_PARAMETERS = 8

# Rooms of more than twelve files, at most six, each with its reason.
LARGER_ROOMS = {
    "agents/players": "one file a kind of player",
    "agents/search": "ten algorithms and what they share: rules, leaves, rollouts, statistics",
    "app/commands": "one file a command",
    "graph/new": "one run's state, claims, records and requests, its texts, and its wiring",
    "graph/new/nodes": "one file a node",
    "tools/playtest": "matches alone and in batches, their order, journal, ratings and results",
}

# Functions of more lines or parameters, which are to become none.
LARGER_FUNCTIONS = {"tools/differing.py:differential_sources"}

# Functions and classes that every algorithm, game, node, role or evaluation owes by its contract.
OWED = {
    "run": "every evaluation",
    "main": "every entry point",
    "decide": "every search",
    "score": "every heuristic and scorer of samples",
    "check": "a command, and a node of the machine",
    "intake": "every machine",
    "refine": "every machine",
    "report": "every machine",
}


@cache
def product() -> dict[Path, ast.Module]:
    """Path below the root -> syntax tree, of every Python file of the product but attacks."""
    files = sorted(
        path
        for room in HOUSE
        for path in (ROOT / room).rglob("*.py")
        if not path.is_relative_to(ROOT / "evals/sandbox/forgeries")  # data, with cases.yaml
    )
    return {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def is_game_source(path: Path) -> bool:
    """Sources that are loaded by themselves: games, models, heuristics."""
    in_family = path.parts[:2] == ("games", "library") and len(path.parts) > 3
    in_family = in_family or path.parts[:2] == ("games", "skeleton")
    return in_family or path.parts[:3] == ("games", "environments", "modules")


def docstring_lines(tree: ast.AST) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) or not ast.get_docstring(node, clean=False):
            continue
        text = node.body[0]
        lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def code_lines(path: Path, tree: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a file, or of a function in it, that are no docstring, comment or blank."""
    said = docstring_lines(tree)
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    first, last = (
        (1, len(lines)) if isinstance(tree, ast.Module) else (tree.lineno, tree.end_lineno)
    )
    return sum(
        1
        for number, line in enumerate(lines, 1)
        if first <= number <= (last or 0)
        if number not in said and line.strip() and not line.strip().startswith("#")
    )


def public_definitions(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(
            node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef
        ) and not node.name.startswith("_"):
            yield node.name


def commands(tree: ast.Module) -> dict[str, str]:
    """Functions that a decorator makes a command of the command line, or a page."""
    return {
        node.name: "a command"
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(
            ast.unparse(made).split("(")[0].endswith((".command", "router.get", "router.post"))
            for made in node.decorator_list
        )
    }


def test_a_room_has_at_most_twelve_files() -> None:
    rooms = Counter(str(path.parent) for path in product())
    larger = {room for room, files in rooms.items() if files > MOST_FILES}
    assert larger == set(LARGER_ROOMS), "name a larger room with its reason, or cut it at a joint"
    assert len(LARGER_ROOMS) <= 6


def test_a_file_has_at_most_300_lines_of_code_unless_it_is_a_game() -> None:
    long = {
        str(path): lines
        for path, tree in product().items()
        if not is_game_source(path) and (lines := code_lines(path, tree)) > MOST_LINES
    }
    assert not long


def test_a_function_has_at_most_60_lines_of_code_and_8_parameters() -> None:
    large = {
        f"{path}:{node.name}"
        for path, tree in product().items()
        if not is_game_source(path)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if code_lines(path, node) > MOST_LINES_OF_A_FUNCTION or parameters(node) > MOST_PARAMETERS
    }
    assert large <= LARGER_FUNCTIONS


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The parameters of a function that its caller gives."""
    taken = function.args
    named = [one.arg for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)]
    return len(named) - (named[:1] in (["self"], ["cls"]))


def test_a_public_name_occurs_once() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in product().items():
        if not is_game_source(path):
            for name in public_definitions(tree):
                places[name].append(str(path))
    twice = {name: where for name, where in places.items() if len(where) > 1 and name not in OWED}
    assert not twice


def names_used(tree: ast.Module) -> Iterator[str]:
    """Names that a file mentions: as names, attributes, imports, and within short strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200
        ):  # reached by string: operations, nodes, annotations in quotes
            yield from re.findall(r"[A-Za-z_]\w*", node.value)


def test_a_public_name_has_a_caller_in_the_product() -> None:
    used = Counter(name for tree in product().values() for name in set(names_used(tree)))
    files = ("pyproject.toml", "langgraph.json", "rulewright.py")
    entries = "".join((ROOT / file).read_text(encoding="utf-8") for file in files)
    idle = {
        (name, str(path))
        for path, tree in product().items()
        if not is_game_source(path)
        for name in public_definitions(tree)
        if not used[name] and name not in OWED | commands(tree)
        if name not in entries
    }
    assert not idle


def test_a_module_docstring_begins_with_a_noun() -> None:
    riddles = {
        str(path): (ast.get_docstring(tree) or "").splitlines()[:1]
        for path, tree in product().items()
        if re.match(r"(What|Which|Whose|Who|Where|When|How)\b", ast.get_docstring(tree) or "")
    }
    assert not riddles


def test_a_docstring_says_what_comes_back_or_what_is_done() -> None:
    riddles: list[str] = []
    for path, tree in product().items():
        if is_game_source(path):
            continue  # a request to a model quotes it
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            told = re.match(r"(What|Whether|Which|How)\b", ast.get_docstring(node) or "")
            if told and not node.name.endswith("Reply"):  # a request holds a reply's schema
                riddles.append(f"{path}:{node.lineno} {node.name}")
    assert not riddles


def test_every_module_says_what_it_holds() -> None:
    silent = [
        str(path)
        for path, tree in product().items()
        if not ast.get_docstring(tree) and path.name != "__init__.py"
    ]
    assert not silent


def test_only_the_runner_imports_concurrent_futures() -> None:
    found = {
        str(path)
        for path, tree in product().items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any("concurrent" in a.name for a in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("concurrent"))
    }
    assert found == {"tools/playtest/runner.py"}


def test_at_most_ten_casts_stand_outside_the_worker_protocol() -> None:
    casts = {
        str(path): count
        for path, tree in product().items()
        if (
            count := sum(
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "cast"
                for node in ast.walk(tree)
            )
        )
    }
    outside = {
        p: n for p, n in casts.items() if not p.startswith(("tools/guest/", "agents/worker/"))
    }
    assert sum(outside.values()) <= 10, outside


def test_the_settings_page_lists_every_environment_variable_with_its_default() -> None:
    rows = re.findall(r"^\| `([A-Z0-9_]+)` \| ([^|]*) \|", _page("settings.md"), re.MULTILINE)
    written = {name: default.strip().strip("`").replace("none", "") for name, default in rows}
    assert written == {variable.name: variable.default for variable in variables()}


def test_the_measurements_page_is_made_from_its_result_files() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "measurements.py"))["page"]()
    assert _page("measurements.md") == made


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")
