"""`make demo` hands the person's words on as they are, whatever is in them."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The Makefile with a ready environment whose command only notes what it was asked."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.lock", "requirements-embeddings.lock", "requirements-uv.lock",
                 "requirements-learn.lock",
                 "pyproject.toml"):  # fmt: skip
        (tmp_path / name).touch()
    command = tmp_path / ".venv" / "bin" / "rulewright"
    command.parent.mkdir(parents=True)
    command.write_text(
        "#!/bin/sh\necho $# > count\n"
        'printf "%s\\n" "$1" "$2" "$3" > options\nprintf %s "$4" > prompt\n'
    )
    command.chmod(0o755)
    (tmp_path / ".venv" / ".ready").touch()
    return tmp_path


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make on this machine")
@pytest.mark.parametrize(
    "prompt",
    [
        'a "bidding" game, the dealer\'s choice',
        "$(touch harm) `touch harm` $HOME $$ ${PATH} $(shell touch harm)",
        "10% chance # not a comment; touch harm && true | false > harm",
        "two\nlines \\ and a backslash \\n",
        "三个人玩的 jeu de plis – où?",
        "--help",
        "",
    ],
    ids=["quotes", "expansions", "signs", "lines", "languages", "an option", "nothing"],
)
def test_every_character_arrives(copy: Path, prompt: str) -> None:
    subprocess.run(["make", "demo", f"PROMPT={prompt}"], cwd=copy, check=True, capture_output=True)
    assert (copy / "prompt").read_text() == prompt
    assert (copy / "options").read_text() == "new\n--quick\n--\n"
    assert (copy / "count").read_text() == "4\n"
    assert not (copy / "harm").exists()
