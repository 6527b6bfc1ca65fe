"""A process of its own that makes variants, and is killed where a node begins."""

import os
import signal
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from agents.players.registry import PRELOAD, PlayerRoster
from games import library
from graph.run.events import Begins, Event, MatchPlayed
from graph.run.folder import RunFolder
from graph.vary.bases import BaseGame, base_of
from graph.vary.runs import run_varying
from graph.vary.settings import VaryRequest, VarySettings, read_variation, write_variation
from graph.vary.walking import SettingsWalk
from tools.sandbox import Sandbox
from tools.sources import GameSource

TINY: dict[str, object] = {
    **{"seed": 7, "quick": True, "n": 2, "candidates": 3, "base_seeds": 10, "trial_matches": 12},
    **{"good_matches": 6, "final_random": 20, "final_good": 10},
}

_STARTER = get_context("forkserver")
_STARTER.set_forkserver_preload([__name__, "agents.players.search"])


def library_game(name: str) -> BaseGame:
    """A game of the library, as a base."""
    return base_of(GameSource(name, library.source(name), library.heuristic_sources(name)))


def asked(folder: Path, base: BaseGame, **changes: object) -> RunFolder:
    """A folder that holds what a run is asked."""
    run = RunFolder(folder)
    run.make()
    settings = VarySettings.model_validate({**TINY, **changes})
    write_variation(VaryRequest(base=base, settings=settings), run)
    return run


def context_in(folder: RunFolder, sandbox: Sandbox) -> SettingsWalk:
    """The context of a process that works for this folder."""
    return SettingsWalk(folder, read_variation(folder), sandbox, PlayerRoster())


def started(folder: Path, kill_at: str = "") -> BaseProcess:
    """A process that goes on with the run; it is killed where a node begins, or midway of it."""
    process = _STARTER.Process(target=_go_on, args=(folder, kill_at))
    process.start()
    return process


def _go_on(path: Path, kill_at: str) -> None:
    def tell(event: Event) -> None:
        begun = isinstance(event, Begins) and event.node == kill_at
        midway = isinstance(event, MatchPlayed) and f"{event.node} midway" == kill_at
        if begun or midway:
            os.kill(os.getpid(), signal.SIGKILL)

    folder = RunFolder(path)
    with Sandbox(preload=PRELOAD) as sandbox:
        run_varying(folder, context_in(folder, sandbox), tell=tell)


def written(folder: Path) -> dict[str, bytes]:
    """All that a person opens, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".state" not in path.parts and path.name != "trace.jsonl"
    }
