"""Other distributions own some of our import names; here each must mean this repository."""

import json
import site
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

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
    assert sorted(packaged) == sorted([*ROOMS, "rulewright.py", "gallery"])
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert sorted(layers) == list(ROOMS)


def test_distributions_that_own_our_names_are_kept_out() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    constraints = settings["tool"]["uv"]["constraint-dependencies"]
    assert {"openai-agents<0", "evals<0"} <= set(constraints)


ASKED = """
import rulewright

game = rulewright.load("tic_tac_toe")
reveal_type(rulewright.play(game, ["random", "random"]).returns)
rulewright.load(3)
"""


@pytest.mark.whole
@pytest.mark.timeout(900)
def test_a_type_checker_sees_the_types_of_an_installed_wheel(tmp_path: Path) -> None:
    """PEP 561: a package is typed where a file `py.typed` lies in it."""
    build = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/*/site-packages")
    zipfile.ZipFile(tmp_path / made.stdout.split()[-1]).extractall(packages)
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
    assert all((packages / room / "py.typed").is_file() for room in ROOMS)
    assert len([*packages.glob("gallery/*/game.py")]) == 6
    (tmp_path / "use.py").write_text(ASKED)
    checker = ("mypy", "--strict", "--cache-dir", tmp_path / "cache", "--python-executable")
    done = subprocess.run(
        [sys.executable, "-m", *checker, tmp_path / "venv" / "bin" / "python", "use.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    *_, shown, wrong, _ = done.stdout.splitlines()
    assert 'Revealed type is "tuple[float, ...] | None"' in shown, done.stdout
    assert 'Argument 1 to "load_game" has incompatible type "int"' in wrong
