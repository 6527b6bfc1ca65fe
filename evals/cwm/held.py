"""Models that the repository holds, what recorded modellers came to, and how quick they are."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from agents.model.settings import ModelSettings
from agents.players.registry import PlayerRoster
from evals.bench.timings import interleaved
from evals.cwm.synthesis import CLOSED, MODEL, LearningTask, learned, recording_of, tasks
from evals.results import NothingScoredError, Row
from games import library
from games.information import SeatLog
from games.streams import stream
from games.values import Json, canonical_key
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox
from tools.sources import environment_game


@dataclass(frozen=True)
class HeldModel:
    """One model.

    Attributes:
        label: Where it comes from.
        text: The module.
        file: Where it was written for a player to read.
    """

    label: str
    text: str
    file: Path


def games_with_models() -> list[str]:
    """Games of which there is a model, by their names in the paper's tables."""
    return sorted(_recorded())


def games_with_tasks() -> list[str]:
    """Games of which a model can be learned where one is asked live."""
    return sorted({task.game for task in tasks().values()})


def referee_of(game: str) -> GameSetup:
    """The environment of a game."""
    return environment_game(_task_of(game).environment)


def _task_of(game: str, settings: Mapping[str, Json] | None = None) -> LearningTask:
    return next(task for task in tasks(settings or {}).values() if task.game == game)


def live_models(
    game: str, folder: Path, settings: Mapping[str, Json], model: ModelSettings
) -> Sequence[HeldModel]:
    """Models of a game, learned now from a model that is asked; those that are there already stay.

    Args:
        game: Its name.
        folder: Where they are written, as whole modules.
        settings: What is set of its task.
        model: Who is asked.

    Raises:
        NothingScoredError: If no synthesis came to a model.
    """
    told = sha256(canonical_key([str(model.model), dict(settings)]).encode()).hexdigest()[:12]
    found = []
    for end, task in _task_of(game, settings).each():
        file = folder / told / f"{game}_{task.seed}.py"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory() as base:
                run = learned(task, Path(base), model).result.folder
                if (run.path / "model.py").exists():
                    shutil.copyfile(run.path / "model.py", file)
        if file.exists():
            text = file.read_text(encoding="utf-8")
            found.append(HeldModel(f"{game}{end}, of {model.model}", text, file))
    if not found:
        raise NothingScoredError(f"{game}: no synthesis came to a model")
    return found


def held_models(game: str, folder: Path, *, tensors: bool = False) -> Sequence[HeldModel]:
    """The models of a game, written as whole modules into a folder.

    Args:
        game: Its name.
        folder: Where they are written.
        tensors: Whether those alone are given that turn observations into arrays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name in _recorded(tensors=tensors).get(game, ()):
        text, file = _learned_source(name), folder / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        found.append(HeldModel(f"{name}, answered by hand", text, file))
    return found


@cache
def _learned_source(name: str) -> str:
    """The module of a recorded synthesis; its replay gives the same in every call."""
    model = ModelSettings(model=MODEL, replay=recording_of(name))
    with tempfile.TemporaryDirectory() as base:
        run = learned(tasks()[name], Path(base), model).result.folder
        return (run.path / "model.py").read_text(encoding="utf-8")


def _recorded(*, tensors: bool = False) -> dict[str, list[str]]:
    """Recorded tasks by game, those with tensors or the others; a closed deck is its own game."""
    found: dict[str, list[str]] = {}
    for name, task in tasks().items():
        if recording_of(name).exists() and bool(task.base) == tensors:
            found.setdefault(task.game, []).append(name)
    return found


def by_seat_told(row: Row, nothing: str) -> str:
    """The figures by seat of a table's row, in words, with the paper's of each deck beside them."""
    decks = row["published"]
    figure = "payoffs" if any("payoffs" in rows for rows in decks.values()) else "wins"
    shown = {} if row.get("not comparable") else decks
    theirs = "; ".join(f"paper, {deck}: {rows[figure]}" for deck, rows in shown.items())
    return f"{figure} by seat {[one[figure] for one in row['by seat']]} ({theirs or nothing})"


def published_name(game: str) -> str:
    """The game's name in the paper's tables."""
    return game.removesuffix(CLOSED)


_SEATS = 2
TIMED = {"tic_tac_toe": "uct", "leduc_poker": "ismcts"}
"""Games of which the library has a module too, with the search that plays them."""


def search_rates(game: str, setup: GameSetup, model: str, seconds: float, sandbox: Sandbox) -> Row:
    """Simulations a second in the model, and in the library's module of the same game.

    Args:
        game: One of `TIMED`.
        setup: It.
        model: A model's source.
        seconds: That a decision takes; the best of three counts, taken in turn.
        sandbox: Where both run.
    """
    ways = {"model": (model, setup.parameters), "library": (library.source(game), {})}
    found = interleaved(
        {name: partial(_rate, TIMED[game], *way, seconds, sandbox) for name, way in ways.items()}, 3
    )
    model_rate, other = max(found["model"]), max(found["library"])
    return {
        "game": game,
        "simulations a second": {"model": round(model_rate), "library": round(other)},
        "ratio": round(model_rate / other, 3),
    }


def _rate(
    search: str, source: str, parameters: Mapping[str, Any], seconds: float, sandbox: Sandbox
) -> float:
    """Simulations a second of a match's first decision, with one rollout a leaf."""
    spec = f"{search}:budget=time,seconds={seconds}"
    roster, setup = PlayerRoster(), GameSetup("timed", source, _SEATS, parameters)
    config = roster.effective(spec)
    with (
        closing(roster.seat(config, seat=0, match=0, game=setup, sandbox=sandbox)) as player,
        setup.refereed(sandbox) as table,
    ):
        position, log = table.open(_SEATS, parameters), SeatLog(0)
        log.see(position.observations[0], position.events[0])
        while position.player != 0:
            position = table.advance(position, position.legal[0])
            log.see(position.observations[0], position.events[0])
        done = player.choose(log, sorted(position.legal), stream(0, "timing")).effort
    return (done.simulations_done or 0) / float(str(done.more["seconds"]))
