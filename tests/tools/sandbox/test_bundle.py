import ast
from pathlib import Path

import pytest

import tools
from tools.sandbox import SandboxUnavailableError
from tools.sandbox.bundle import sources

ROOT = Path(tools.__file__).parent.parent


def test_every_file_is_there_as_it_is_on_disk() -> None:
    files = sources(["tools.guest.runner"])
    assert "tools/guest/runner.py" in files
    assert all((ROOT / path).read_bytes() == content for path, content in files.items())


def test_whatever_our_files_import_from_our_packages_comes_along() -> None:
    files = sources(["agents.worker.session"])
    for path, content in files.items():
        for node in ast.walk(ast.parse(content)):
            if isinstance(node, ast.ImportFrom) and node.module:
                top = node.module.partition(".")[0]
                if top in ("agents", "games", "tools"):
                    place = node.module.replace(".", "/")
                    assert {f"{place}.py", f"{place}/__init__.py"} & files.keys(), (path, place)


def test_the_table_of_a_module_comes_along() -> None:
    assert {"tools/guest/kit.py", "tools/guest/kit.json"} <= sources(["tools.guest.kit"]).keys()


def test_packages_above_a_module_come_along() -> None:
    assert {"tools/__init__.py", "tools/guest/__init__.py"} <= sources(
        ["tools.guest.framing"]
    ).keys()


def test_nothing_of_the_host_side_comes_along() -> None:
    paths = sources(["tools.guest.runner", "agents.worker.session"]).keys()
    assert not [path for path in paths if path.startswith(("tools/sandbox", "app", "evals"))]
    assert not [path for path in paths if not path.endswith((".py", ".json"))]


def test_relative_imports_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "sledge"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("from . import first\n")
    (package / "first.py").write_text("from .deep.second import x\n")
    (package / "deep" / "__init__.py").write_text("")
    (package / "deep" / "second.py").write_text("from ..third import x\nimport json\n")
    (package / "third.py").write_text("x = 1\n")
    (package / "unused.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert sorted(sources(["sledge"])) == [
        "sledge/__init__.py",
        "sledge/deep/__init__.py",
        "sledge/deep/second.py",
        "sledge/first.py",
        "sledge/third.py",
    ]


@pytest.mark.parametrize("name", ["no_such_package", "games.no_such_module", "math"])
def test_a_module_without_source_is_named(name: str) -> None:
    with pytest.raises(SandboxUnavailableError, match=f"cannot preload '{name}'"):
        sources([name])
