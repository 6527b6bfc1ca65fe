"""The games of `gallery/`, made again: four by recorded models, two by variation and balance.

    python -m scripts.gallery [NAME ...]

Each game is made by the product's own commands in an empty folder, played on, and printed. What a
designer wants to see of it is then copied to `gallery/NAME/`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from graph.new.opening import make_context
from graph.new.requests import Request, write_request
from graph.new.runs import open_run
from graph.run.folder import create_folder
from scripts.recordings import FOLDER, MODEL, TOOL_ROUNDS, label_of, runs, settings_of

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "gallery"
KEPT = ("design.json", "game.py", "report.html", "rulebook.md", "players")
_MATCHES = 600
_SEED = "1"


def _rulewright(*words: str, cwd: Path) -> str:
    """Run the command, and give what it printed."""
    command = [sys.executable, "-m", "app.cli", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"rulewright {' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout


def replayed(name: str, folder: Path) -> str:
    """Make a recorded game, play it on, and say how it was made."""
    prompt = replay(name, folder)
    _rulewright("playtest", str(folder), "--matches", str(_MATCHES), cwd=folder.parent)
    return (
        f"{prompt}\n\nMade with a model whose replies were {label_of(name)}. "
        f"`tests/recordings/{name}.json` holds them."
    )


def replay(name: str, folder: Path) -> str:
    """Make a recorded game from its first words alone, and give these.

    Args:
        name: Of `tests/recordings/runs.yaml`.
        folder: The folder of the run, which is made.
    """
    recording = FOLDER / f"{name}.json"
    os.environ |= {
        "RULEWRIGHT_MODEL": MODEL,
        "RULEWRIGHT_TOOL_ROUNDS": str(TOOL_ROUNDS),
        "RULEWRIGHT_REPLAY": str(recording),
    }
    # No reply of the model quotes the play-test here, so that no clock need cut it.
    settings = settings_of(name).model_copy(update={"playtest_s": None})
    context = make_context(settings, keeps_own_games=False)
    with context.retrieval.store, context.sandbox:
        home = create_folder(folder, title=name, runs=folder.parent)
        prompt: str = runs()[name]["prompt"]
        write_request(Request(prompt=prompt, settings=settings), home)
        with open_run(home, context) as run:
            end = run.to_end().state.end
    if end != "made":
        raise SystemExit(f"{name} ended as {end}")
    for variable in ("RULEWRIGHT_MODEL", "RULEWRIGHT_TOOL_ROUNDS", "RULEWRIGHT_REPLAY"):
        del os.environ[variable]
    return prompt


def varied(folder: Path) -> str:
    """Vary connect four, and make the second variant as a run of its own."""
    asked = ("vary", "connect_four", "--n", "3", "--keep", "the win: four in a row")
    made = json.loads(
        _rulewright(*asked, "--seed", _SEED, "--out", "varied", "--json", cwd=folder.parent)
    )
    chosen = min(made["variants"], key=lambda one: abs(_first(one) - 0.5))
    words = chosen["command"].removeprefix("rulewright ").split()
    _rulewright(*words, "--quick", "--seed", _SEED, "--out", str(folder), cwd=folder.parent)
    return (
        f"rulewright {' '.join(asked[:4])} --keep '{asked[5]}' --seed {_SEED}\n\n"
        f"The variant whose first seat wins nearest to half of the matches was made by\n"
        f"`{chosen['command']}`. {chosen['difference']}"
    )


def _first(variant: dict[str, dict[str, dict[str, dict[str, float]]]]) -> float:
    """The first seat's share of the wins."""
    return variant["figures"]["fairness"]["share"]["value"]


def balanced(folder: Path) -> str:
    """Make a dice race, and balance it."""
    prompt = "a push-your-luck dice game for two to 20 points"
    target = "first seat 50±6 %, 10 to 20 turns"
    _rulewright("new", prompt, "--quick", "--seed", _SEED, "--out", str(folder), cwd=folder.parent)
    asked = ("--target", target, "--budget", "5000", "--seed", _SEED)
    told = _rulewright("balance", str(folder), *asked, "--apply", cwd=folder.parent)
    newest = max((folder / "revisions").iterdir(), key=lambda path: int(path.name))
    for path in newest.iterdir():  # the balanced game takes the place of the first one
        if path.name in KEPT:
            place = folder / path.name
            shutil.rmtree(place, ignore_errors=True) if path.is_dir() else None
            shutil.copytree(path, place) if path.is_dir() else shutil.copy(path, place)
    shown = "\n".join(line for line in told.splitlines() if "folder" not in line)
    return f'{prompt}\n\nThen `rulewright balance RUN --target "{target}" --apply` said:\n\n{shown}'


GAMES: dict[str, Callable[[Path], str]] = {
    "tides": lambda folder: replayed("tides", folder),
    "smugglers": lambda folder: replayed("smugglers", folder),
    "orchard": lambda folder: replayed("orchard", folder),
    "lanterns": lambda folder: replayed("lanterns", folder),
    "wide_four": varied,
    "fair_pig": balanced,
}


def make(name: str) -> None:
    """Make a game of the gallery, and put it in its place."""
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / name
        told = GAMES[name](folder)
        place = GALLERY / name
        place.mkdir(parents=True, exist_ok=True)
        for old in place.iterdir():
            if old.name != "picture.png":  # `make screenshots` takes it
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        for kept in KEPT:
            if (folder / kept).is_dir():
                shutil.copytree(folder / kept, place / kept)
            elif (folder / kept).exists():
                shutil.copy(folder / kept, place / kept)
        (place / "prompt.md").write_text(told.replace(base, "").rstrip() + "\n", "utf-8")
        _rulewright("export", str(place), "--pdf", "--out", str(place), cwd=Path(base))


def main() -> None:
    """Make those that are named, or all."""
    for name in sys.argv[1:] or GAMES:
        make(name)
        sys.stdout.write(f"{name} is in {GALLERY / name}\n")


if __name__ == "__main__":
    main()
