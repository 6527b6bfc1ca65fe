"""Commands, options, exit codes and keys stay: a script that was written for them runs on.

`surface.yaml` was written down from commit fc2ae2e, before the command was made from the settings.
Names may join. None goes, and no default changes, without the list being changed on purpose.
"""

import contextlib
import io
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
import yaml

from app.cli import app, main
from app.commands.learn import LearnOptions
from app.commands.new import RunOptions
from evals.results import EvalInfo, EvalOptions, EvalResult, Score
from graph.learn.settings import LearnSettings
from graph.new.context import RunSettings
from tests.app.smaller import smaller

HERE = Path(__file__).parent
SURFACE: dict[str, Any] = yaml.safe_load((HERE / "surface.yaml").read_text(encoding="utf-8"))
COMMANDS, EXITS, CALLS = SURFACE["commands"], SURFACE["exits"], SURFACE["calls"]
ELSEWHERE: dict[str, list[str]] = SURFACE["elsewhere"]
"""Keys of what takes longer, by command; a test that runs it anyway looks at them."""

MODULES = {
    "ok.py": 'def main():\n    return {"a": [1]}\n',
    "failing.py": "def main():\n    return 1 / 0\n",
    "ended.py": "import ctypes\n\n\ndef main():\n    ctypes.CDLL(None).ptrace(0, 0, 0, 0)\n",
}
"""The files in the folder of the calls."""


def parameters(command: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - click's own classes
    """Parameter of a command, by its names as they are typed -> what it takes."""
    return {
        " ".join([*one.opts, *one.secondary_opts])
        if one.opts[0].startswith("-")
        else (one.metavar or one.name).upper(): {
            "default": str(one.default()) if callable(one.default) else plain(one.default),
            "required": one.required,
            "repeated": bool(one.multiple or one.nargs == -1),
            "flag": bool(getattr(one, "is_flag", False)),
            "least": one.min,
            "most": one.max,
        }
        for one in command.params
        if "--help" not in one.opts
    }


def plain(value: Any) -> Any:  # noqa: ANN401
    """A default as YAML holds it."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@cache
def all_commands() -> dict[str, dict[str, dict[str, Any]]]:
    """Words of a command -> its parameters."""
    found: dict[str, dict[str, dict[str, Any]]] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:  # noqa: ANN401
        below = getattr(command, "commands", None)
        if below is None or words == ():
            found[" ".join(words) or "rulewright"] = parameters(command)
        for name, inner in (below or {}).items():
            walk(inner, (*words, name))

    walk(typer.main.get_command(app), ())
    return found


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_a_command_keeps_its_options_and_their_defaults(words: str) -> None:
    now = all_commands()[words]
    listed = COMMANDS[words]
    assert {name: now.get(name) for name in listed} == listed


def test_revise_takes_what_new_takes_but_for_what_a_finished_game_has() -> None:
    new, revise = (set(all_commands()[words]) for words in ("new", "revise"))
    assert new - revise == {"PROMPT", "--family", "--out", "--players", "--set"}
    assert "--quick" in revise


@pytest.mark.parametrize(
    ("words", "group", "model"),
    [("new", RunOptions, RunSettings), ("learn", LearnOptions, LearnSettings)],
)
def test_options_of_a_model_have_its_names_bounds_and_defaults(
    words: str, group: type[RunOptions | LearnOptions], model: type[RunSettings | LearnSettings]
) -> None:
    usual = {field.name: field.default for field in fields(group) if field.default is not None}
    assert {name: model.model_fields[name].default for name in usual} == usual
    asked = {one.name: (one.min, one.max) for one in command_named(words).params}
    assert {name: asked[name] for name in usual} == {name: bounds(model, name) for name in usual}


def bounds(model: type[RunSettings | LearnSettings], name: str) -> tuple[int | None, int | None]:
    """The least and the most that a setting may be."""
    limits = {
        side: getattr(one, side)
        for one in model.model_fields[name].metadata
        for side in ("ge", "le")
        if hasattr(one, side)
    }
    return limits.get("ge"), limits.get("le")


def command_named(words: str) -> Any:  # noqa: ANN401 - click's own class
    return getattr(typer.main.get_command(app), "commands")[words]  # noqa: B009 - typer's own


class Told(NamedTuple):
    """What one call of the list came to."""

    code: int
    out: str
    errors: str


@cache
def told(folder: Path) -> list[Told]:
    """What each call of the list came to, in a folder of their own."""
    for name, source in MODULES.items():
        (folder / name).write_text(source)
    (folder / "runs").mkdir()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setenv("RULEWRIGHT_RUNS", str(folder / "runs"))
        patch.setattr(RunSettings, "model_validate", smaller(RunSettings.model_validate))
        patch.delenv("E2B_API_KEY", raising=False)  # a machine of the service costs
        patch.setattr("sys.stdin", io.StringIO())  # nobody is there
        return [called(shlex.split(one["call"])) for one in CALLS]


def called(arguments: list[str]) -> Told:
    """What one call came to."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = main(arguments)
    return Told(code, out.getvalue(), errors.getvalue())


def lost(keys: list[str], value: object) -> list[str]:
    """The listed keys that a value lacks."""
    return sorted(set(keys) - set(paths(value)))


def paths(value: object, at: str = "") -> Iterator[str]:
    """Every key of a value, as the list writes it.

    >>> list(paths({"a": [{"b": 1}], "figures": {"x": {"n": 1}}}))
    ['a', 'a[]', 'a[].b', 'figures', 'figures.*', 'figures.*.n']
    """
    if at:
        yield at
    if isinstance(value, list):
        for one in value:
            yield from paths(one, f"{at}[]")
        if not value:
            yield f"{at}[]"
    if isinstance(value, dict):
        for name, one in value.items():
            named = "*" if at.endswith("figures") else name
            yield from paths(one, f"{at}.{named}" if at else named)


@pytest.fixture(scope="module")
def calls_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("calls")


@pytest.mark.parametrize("number", range(len(CALLS)), ids=lambda number: CALLS[number]["call"])
def test_a_call_keeps_its_exit_code_and_its_keys(number: int, calls_folder: Path) -> None:
    listed, now = CALLS[number], told(calls_folder)[number]
    assert now.code == listed["exit"], now.errors
    if "keys" in listed:
        assert lost(listed["keys"], json.loads(now.out)) == []


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_every_exit_code_of_a_command_is_seen_in_a_call_or_named_test(words: str) -> None:
    for code, where in EXITS[words].items():
        if where == "calls":
            asked = "" if words == "rulewright" else f"{words} "
            assert any(one["exit"] == code and one["call"].startswith(asked) for one in CALLS), code
        elif "::" in where:
            file, _, name = where.partition("::")
            assert f"def {name}(" in (HERE.parents[1] / file).read_text(encoding="utf-8"), where


@pytest.mark.parametrize("code", [1, 3, 4])
def test_the_table_of_exit_codes_names_the_commands_that_have_each(code: int) -> None:
    table = (HERE.parents[1] / "docs" / "settings.md").read_text(encoding="utf-8").splitlines()
    (row,) = (line for line in table if line.startswith(f"| {code} | "))
    named = re.findall(r"`([^`]+)`", row.split(" | ")[-1])
    assert set(named) == {words for words, codes in EXITS.items() if code in codes}


def run(_options: EvalOptions) -> EvalResult:
    """A tiny evaluation."""
    return EvalResult(scores=(Score("hits", 1.0, 1),), samples=(), effective={})


def test_the_result_of_an_evaluation_keeps_its_keys() -> None:
    tiny = EvalInfo(name="tiny", question="Does it keep its keys?", module=__name__)
    result = tiny.run(EvalOptions()).model_dump(mode="json")
    assert lost(ELSEWHERE["eval run"], result) == []
