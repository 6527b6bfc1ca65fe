"""kill -9 at any point; the resumed run has the result of one that was never killed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(home: Path, folder: Path, *, kill_after: float | None = None) -> int:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.graph.run_one", str(home), str(folder)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    if kill_after is not None:
        time.sleep(kill_after)
        process.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=120)
    assert kill_after is not None or process.returncode == 0, errors
    return process.returncode


def made(folder: Path) -> dict[str, object]:
    written = json.loads((folder / "run.json").read_text())
    return {key: written[key] for key in ("end", "evaluation", "candidates", "settings")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object], bytes]:
    base = tmp_path_factory.mktemp("undisturbed")
    run(base / "store", base / "run")
    records = (base / "run" / "records" / "random.jsonl").read_bytes()
    return base, made(base / "run"), records


def test_a_run_killed_again_and_again_ends_as_if_it_never_was(
    undisturbed: tuple[Path, dict[str, object], bytes], tmp_path: Path
) -> None:
    base, expected, records = undisturbed
    folder = tmp_path / "run"
    kills = 0
    # Moments from before the first checkpoint to deep inside the matches.
    for moment in (0.5, 2.0, 2.4, 2.8, 3.2, 3.6):
        kills += run(base / "store", folder, kill_after=moment) == -signal.SIGKILL
    run(base / "store", folder)
    assert kills >= 3
    assert made(folder) == expected
    assert (folder / "records" / "random.jsonl").read_bytes() == records
