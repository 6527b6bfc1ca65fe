"""The entry of the command: what a shell may have left broken is mended or said in one sentence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S

ROOT = Path(__file__).parents[1]
RUN = "import sys, rulewright; sys.argv[0] = 'rulewright'; sys.exit(rulewright.main())"
INTERRUPTED = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, *others):
        if name in ("importlib.metadata", "app.cli", "games.library"):
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["rulewright", "games"]
import rulewright
sys.exit(rulewright.main())
"""


def entry(
    *arguments: str, shell: str = "", cwd: Path, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """The command, started by a shell that may close or redirect its streams."""
    command = [sys.executable, "-P", "-c", RUN, *arguments]
    return subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=PATIENCE_S,
        check=False,
    )


def one_sentence(done: "subprocess.CompletedProcess[str]", *words: str) -> bool:
    (line,) = done.stderr.splitlines()
    return line.startswith("error: ") and all(word in line for word in words)


@pytest.mark.parametrize("room", ["graph", "vectorstore"])
def test_a_room_that_another_package_has_is_named_with_the_way_out(
    tmp_path: Path, room: str
) -> None:
    (tmp_path / room).mkdir()
    (tmp_path / room / "__init__.py").write_text("raise RuntimeError('theirs')\n")
    done = entry("--version", cwd=tmp_path, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert (done.returncode, done.stdout) == (2, "")
    assert one_sentence(done, f"import name {room}", "uv tool install", "pipx install")


def test_a_room_into_which_another_package_wrote_is_named(tmp_path: Path) -> None:
    shutil.copy(ROOT / "rulewright.py", tmp_path)
    for room in ("agents", "app", "evals", "games", "graph", "tools", "vectorstore"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").touch()
    record = tmp_path / "rulewright-0.1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("app/__init__.py,sha256=x,0\ngraph/__init__.py,sha256=x,17\nRECORD,,\n")
    done = entry("--version", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert one_sentence(done, "import name graph,")


@pytest.mark.parametrize("shell", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(tmp_path: Path, shell: str) -> None:
    done = entry("--version", shell=shell, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    done = entry("--version", shell=">/dev/full", cwd=tmp_path)
    assert done.returncode == 2
    assert one_sentence(done, "No space left")
    done = entry("games", "--json", shell=">/dev/full", cwd=tmp_path)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_that_the_caller_has_ignored_stays_ignored(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", 'trap "" INT; "$@"', "bash", sys.executable, "-P", "-c", INTERRUPTED],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "connect_four" in done.stdout


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "xx_YY.bogus"},
        {"PYTHONIOENCODING": "latin-1:strict"},
    ],
)
def test_words_arrive_whole_whatever_the_locale(tmp_path: Path, locale: dict[str, str]) -> None:
    done = entry("players", "ü♥", shell="2>&1 | cat", cwd=tmp_path, **locale)
    assert "there is no player" in done.stdout
    assert "Traceback" not in done.stdout
    assert ("ü♥" in done.stdout) == ("PYTHONIOENCODING" not in locale)


def test_an_unknown_setting_is_an_error_of_every_command(tmp_path: Path) -> None:
    done = entry("players", cwd=tmp_path, RULEWRIGHT_FOO="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert one_sentence(done, "unknown setting RULEWRIGHT_FOO", "RULEWRIGHT_HOME")
