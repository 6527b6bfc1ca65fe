"""The list of environment variables, against the sources that read them."""

import re
from pathlib import Path

import pytest

from agents.model.settings import ModelSettings
from graph.run.environment import value_of, variables

ROOT = Path(__file__).parents[3]
ROOMS = ("agents", "app", "evals", "games", "graph", "tools", "vectorstore")
OURS = re.compile(r"\b(?:RULEWRIGHT|OPENAI|E2B)_[A-Z0-9_]+\b")


def test_every_variable_that_a_source_names_is_in_the_list_once() -> None:
    names = [variable.name for variable in variables()]
    assert len(names) == len(set(names))
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]
    named = {name for file in files for name in OURS.findall(file.read_text(encoding="utf-8"))}
    assert named - set(names) == set()


def test_every_variable_has_a_kind_and_a_meaning() -> None:
    assert all(variable.kind and variable.meaning for variable in variables())
    by_name = {variable.name: variable for variable in variables()}
    assert by_name["RULEWRIGHT_RETRIES"][1:3] == ("integer", str(ModelSettings().retries))
    assert by_name["RULEWRIGHT_REPLY_METHOD"].kind == "json_schema | function_calling | plain"
    assert by_name["RULEWRIGHT_RECORD"].kind == "path"
    assert by_name["RULEWRIGHT_OFFLINE"].kind == "yes or no"


def test_a_variable_that_is_not_listed_cannot_be_read() -> None:
    with pytest.raises(KeyError):
        value_of("RULEWRIGHT_UNLISTED")
