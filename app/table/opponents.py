"""Opponents where a person names none: the run's strongest, a heuristic's, a search, or chance."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from games.engine import play_match

if TYPE_CHECKING:
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox

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
    from games.checks.sampling import UniformPlayer
    from tools.sandbox import SandboxTable

    with sandbox.worker("referee", game.source) as worker:
        worker.load(game.source)
        probe = play_match(
            SandboxTable(worker),
            [UniformPlayer()] * game.num_players,
            parameters=game.parameters,
            seed=0,
            max_plies=_LONGEST_PROBE,
        )
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
