"""kill -9 at any point; the resumed run has the result of one that was never killed."""

import json
import signal
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.agents.model.endpoint import Answer, Endpoint, Request, serving
from tests.graph.answering import answer
from tests.graph.new.test_model_run import CALLS
from tests.graph.run_one import started

When: TypeAlias = Callable[[Path], bool]


def killed_at(home: Path, folder: Path, endpoint: Endpoint, *said: str, requests: int) -> bool:
    """Run until the endpoint has heard so many requests, then kill; whether there was a need."""
    process = started(home, folder, endpoint.url, *said)
    while len(endpoint.requests) < requests and process.is_alive():
        time.sleep(0.01)
    process.kill()
    process.join(60)
    return process.exitcode == -signal.SIGKILL


def run(home: Path, folder: Path, *more: str, kill_when: When | None = None) -> bool:
    """Run to the end, or kill as soon as `kill_when` holds; whether it was killed."""
    process = started(home, folder, *more)
    while kill_when is not None and process.is_alive():
        if kill_when(folder):
            process.kill()
            break
        time.sleep(0.002)
    process.join(120)
    killed = process.exitcode == -signal.SIGKILL
    assert killed or process.exitcode == 0
    return killed


def lines(name: str, count: int) -> When:
    """Once a file of the run, by its name or pattern, has so many lines."""

    def reached(folder: Path) -> bool:
        files = (folder / ".state").glob(name)
        return any(file.read_bytes().count(b"\n") >= count for file in files)

    return reached


# From before the first checkpoint to deep inside the matches; events and no clock, so that a fast
# machine is killed as often as a slow one.
MOMENTS: tuple[When, ...] = (
    lambda folder: True,
    lambda folder: (folder / ".state" / "checkpoints.sqlite").exists(),
    lambda folder: (folder / "checks.json").exists(),
    lines("journals/heuristics-*.jsonl", 2),
    lines("journals/random.jsonl", 10),
    lines("journals/random.jsonl", 40),
    lines("journals/step-*-versus.jsonl", 5),
)


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
    kills = [run(base / "store", folder, kill_when=moment) for moment in MOMENTS]
    run(base / "store", folder)
    assert kills == [True] * len(MOMENTS)
    assert made(folder) == expected
    assert (folder / "records" / "random.jsonl").read_bytes() == records


def slow_at(moments: Sequence[int]) -> Callable[[Request], Answer]:
    """Answers, slowly at these requests, so that a kill comes while the answer is awaited."""
    number = count(1)

    def slowly(request: Request) -> Answer:
        time.sleep(0.5 if next(number) in moments else 0)
        return answer(request)

    return slowly


SAID = "let the winner score double"
TOLD = ("game.py", "rulebook.md", "changes.md", "checks.json", "records/random.jsonl")


@pytest.mark.whole
def test_killed_at_its_calls_a_run_and_its_revision_lose_no_more_than_those(
    undisturbed: tuple[Path, dict[str, object], bytes], tmp_path: Path
) -> None:
    base, _, _ = undisturbed
    with serving(answer) as endpoint:
        run(base / "store", tmp_path / "straight", endpoint.url, SAID)
        straight = len(endpoint.requests)
    # While the game is made, while it is revised, while its code is edited; each kill asks again.
    moments = (2, 5, CALLS + 3, CALLS + 4)
    with serving(slow_at(moments)) as endpoint:
        home, folder = base / "store", tmp_path / "killed"
        kills = sum(killed_at(home, folder, endpoint, SAID, requests=at) for at in moments)
        run(home, folder, endpoint.url, SAID)
        assert (kills, len(endpoint.requests) - kills) == (len(moments), straight)
    assert straight > CALLS
    assert made(tmp_path / "straight") == made(tmp_path / "killed")
    revised = [tmp_path / name / "revisions" / "1" for name in ("straight", "killed")]
    assert made(revised[0]) == made(revised[1])
    for name in TOLD:
        assert (revised[0] / name).read_bytes() == (revised[1] / name).read_bytes()
    assert "[2 if card == max" in (revised[0] / "game.py").read_text()
