"""Opening of a table: the game, its drawing, the place of its records, and who sits there."""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.options import accepted_parameters, game_called, given_parameters
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


_PLIES_OF_A_DECISION = 8_000  # simulated for one decision, so that it takes about a second
_FEWEST, _MOST = 20, 400  # simulations
_LONGEST_PROBE = 1000
_RANDOM = "random"


def line_up_of(
    game: "GameSetup",
    people: Sequence[int],
    named: Sequence[str],
    run: Path | None,
    sandbox: "Sandbox",
) -> list[str | None]:
    """A spec a seat, in full; None where a person sits.

    Args:
        game: The game.
        people: Seats of persons, 0-based.
        named: Specs that were asked for: none, one for all other seats, or one a seat.
        run: The folder of the run that made the game, whose players are known.
        sandbox: Where a search is tried.

    Raises:
        PlayerSpecError: If a spec is none, or their number fits no seats.
        ModuleFault: If the module does not load.
    """
    from agents.players.registry import PlayerRoster
    from agents.players.specs import PlayerSpecError

    free = [seat for seat in range(game.num_players) if seat not in people]
    if not named:
        named = [_usual(game, run, sandbox)] if free else []
    if len(named) not in (1, len(free)) or (named and not free):
        raise PlayerSpecError(
            f"{len(named)} opponents are named for {len(free)} other seats; required: one for all "
            "of them, or one a seat"
        )
    roster = PlayerRoster()
    full = [roster.effective(spec).name for spec in named]
    others = iter(full * len(free) if len(full) == 1 else full)
    return [next(others) if seat in free else None for seat in range(game.num_players)]


def _usual(game: "GameSetup", run: Path | None, sandbox: "Sandbox") -> str:
    """The opponent where nobody names one."""
    try:
        listed = json.loads(((run or Path()) / "players" / "players.json").read_text("utf-8"))
        players = listed["players"] if run else []
    except (OSError, ValueError, KeyError, TypeError):
        players = []
    if players and isinstance(players, list) and isinstance(players[-1], str):
        return players[-1]
    return "greedy" if game.heuristics else searching(game, sandbox)


def searching(game: "GameSetup", sandbox: "Sandbox") -> str:
    """The spec of a search that suits a game and takes about a second a move; else random.

    UCT where what a player sees determines the state, else ISMCTS. Its simulations are counted from
    the length of one random match and not from a clock: the same seed gives the same match.

    Raises:
        ModuleFault: If the module does not load or play.
    """
    from agents.players.registry import PlayerRoster
    from agents.players.specs import PlayerSpecError
    from graph.run.records import random_match

    probe = random_match(game, sandbox, seed=0, max_plies=_LONGEST_PROBE)
    simulations = min(max(_PLIES_OF_A_DECISION // max(len(probe.plies), 1), _FEWEST), _MOST)
    roster = PlayerRoster()
    for name in ("uct", "ismcts"):
        spec = f"{name}:simulations={simulations}"
        try:
            roster.seat(roster.effective(spec), seat=0, match=0, game=game, sandbox=sandbox).close()
        except PlayerSpecError:
            continue
        return spec
    return _RANDOM
