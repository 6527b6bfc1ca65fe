"""Opening of a table: the game, its rulebook, its own drawing, and the place of its records."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.parameters import accepted_parameters, game_called, given_parameters
from app.table.layout import Setting
from games.contract import Game, ModuleFault
from games.values import show

if TYPE_CHECKING:
    from games.contract import Observation
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox, Worker

_RENDER = "render"
_DRAWING_S = 2.0
_LONGEST_DRAWING = 8_000


@dataclass(frozen=True)
class LaidTable:
    """A game that is ready to be played.

    Attributes:
        setup: Its source, its seats and all its parameters.
        run: The folder of the run that made it, or None.
        module: The referee's copy.
        worker: The referee's worker.
    """

    setup: "GameSetup"
    run: Path | None
    module: Game
    worker: "Worker"

    @property
    def records(self) -> Path:
        """Where what was played is kept."""
        from graph.run.folder import runs_folder

        return self.run / "records" if self.run else runs_folder() / "played"

    def rulebook(self) -> str:
        """The rulebook, or what the module says of itself."""
        from tools.sources import find_rulebook

        setup = self.setup
        beside = Path(setup.name).parent / "rulebook.md"
        return find_rulebook(setup.name, setup.parameters, setup.num_players) or (
            f"There is no {beside}: only the module's source says the rules."
        )


def open_table(
    name: str, players: int, settings: Sequence[str], sandbox: "Sandbox", stack: ExitStack
) -> LaidTable:
    """Find and load a game: by its run, also by the run's name alone, its file, or the library.

    Args:
        name: Which game.
        players: Seats; 0 for the usual number.
        settings: Parameters, as NAME=VALUE.
        sandbox: Where it runs.
        stack: What ends the referee's worker.

    Raises:
        GameNotFoundError: If there is none of that name.
        ModuleFault: If it does not load.
        TournamentError: If it has no such parameter, or does not take so many players.
        typer.BadParameter: If it refuses a parameter.
    """
    from tools.checking import usual_players
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import SandboxedModule

    found = game_called(name)
    folder = Path(found.name).resolve().parent
    worker = stack.enter_context(sandbox.worker("referee", found.source))
    worker.load(found.source)
    module = Game(SandboxedModule(worker))
    seats = players or usual_players(module.info)
    given = given_parameters(settings)
    setup = GameSetup(found.name, found.source, seats, given, found.heuristics)
    setup = replace(setup, parameters=accepted_parameters(setup, sandbox))
    return LaidTable(setup, folder if (folder / "run.json").is_file() else None, module, worker)


def table_setting(table: LaidTable, *, is_unicode: bool) -> Setting:
    """What layouts need to know of a game."""
    zones = table.module.module.constant("ZONES") if table.module.defines("ZONES") else {}
    return Setting(
        table.setup.num_players,
        zones if isinstance(zones, dict) else {},
        table.setup.parameters,
        is_unicode,
    )


def renderer(
    table: LaidTable, sandbox: "Sandbox", stack: ExitStack
) -> "Callable[[int, Observation], str] | None":
    """The module's own drawing, where it has one: each seat's in a worker that knows nothing else.

    The referee's worker knows the whole state, and could draw it.
    """
    from tools.sandbox import SandboxedModule

    if not table.module.defines(_RENDER):
        return None
    workers: dict[int, SandboxedModule] = {}
    source = table.setup.source

    def drawn(seat: int, observation: "Observation") -> str:
        if seat not in workers:
            worker = stack.enter_context(sandbox.worker(f"drawing-{seat}", source))
            worker.load(source)
            workers[seat] = SandboxedModule(worker, deadline_s=_DRAWING_S)
        text = workers[seat].call(_RENDER, observation)
        if not isinstance(text, str) or not text.strip():
            raise ModuleFault("bad_value", _RENDER, f"returned {show(text)}; required: a str")
        return text[:_LONGEST_DRAWING]

    return drawn
