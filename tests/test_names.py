"""Other distributions own some of our import names; here each must mean this repository."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("agents", "app", "evals", "games", "graph", "tools", "vectorstore")
FIND = """
import json, sys
from importlib.util import find_spec
print(json.dumps({name: getattr(find_spec(name), "origin", None) for name in sys.argv[1:]}))
"""


def test_every_room_s_name_resolves_to_this_repository_from_anywhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIND, *ROOMS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found == {name: str(ROOT / name / "__init__.py") for name in ROOMS}


def test_exactly_these_rooms_are_packaged_and_layered() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packaged = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert sorted(packaged) == sorted([*ROOMS, "rulewright.py"])
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert sorted(layers) == list(ROOMS)


def test_distributions_that_own_our_names_are_kept_out() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    constraints = settings["tool"]["uv"]["constraint-dependencies"]
    assert {"openai-agents<0", "evals<0"} <= set(constraints)
