"""Commands, options and defaults stay: a script that was written for them runs on.

`surface.yaml` was written down from commit fc2ae2e, before the command was made from the settings.
Names may join. None goes, and no default changes, without the list being changed on purpose.
"""

from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from app.cli import app
from app.commands.learn import LearnOptions
from app.commands.new import RunOptions
from graph.learn.settings import LearnSettings
from graph.new.context import RunSettings

SURFACE: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "surface.yaml").read_text(encoding="utf-8")
)["commands"]


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


@pytest.mark.parametrize("words", sorted(SURFACE))
def test_a_command_keeps_its_options_and_their_defaults(words: str) -> None:
    now = all_commands()[words]
    listed = SURFACE[words]
    assert {name: now.get(name) for name in listed} == listed


@pytest.mark.parametrize(
    ("group", "model"), [(RunOptions, RunSettings), (LearnOptions, LearnSettings)]
)
def test_options_of_a_model_have_its_names_and_defaults(
    group: type[RunOptions | LearnOptions], model: type[RunSettings | LearnSettings]
) -> None:
    usual = {field.name: field.default for field in fields(group) if field.default is not None}
    assert {name: model.model_fields[name].default for name in usual} == usual
