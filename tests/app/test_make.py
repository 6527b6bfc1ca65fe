"""`make demo` hands the person's words on as they are, whatever is in them."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The Makefile with a ready environment whose Python only notes what it was asked."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.lock", "requirements-embeddings.lock", "requirements-uv.lock",
                 "requirements-learn.lock",
                 "pyproject.toml"):  # fmt: skip
        (tmp_path / name).touch()
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf %s "$PROMPT" > prompt\nprintf "%s\\n" "$@" > arguments\n')
    python.chmod(0o755)
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
    assert (copy / "arguments").read_text() == "scripts/demo.py\n"
    assert not (copy / "harm").exists()
