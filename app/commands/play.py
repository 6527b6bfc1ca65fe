"""`play`: a person at one seat, in the terminal."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import typer

from app.console import leave, note, say

if TYPE_CHECKING:
    from agents.players import SeatedPlayer
    from games.contract import Action, Json
    from games.engine import Ply
    from games.information import SeatLog

_COLUMNS = 76


def play_game(game: str, *, seat: int, opponent: str, players: int, seed: int) -> None:
    """Play one match to its end; see `app.cli.play`."""
    from agents.players import make_player, parse_spec
    from agents.players.human import HumanPlayer
    from games.contract import Game
    from games.engine import play_match
    from graph.resources import open_sandbox
    from tools.checking import usual_players
    from tools.sandbox import SandboxedModule, SandboxTable
    from tools.sources import find_game

    found = find_game(game)
    spec = parse_spec(opponent)
    with ExitStack() as stack:
        sandbox = stack.enter_context(open_sandbox())
        worker = stack.enter_context(sandbox.worker("referee"))
        worker.load(found.source)
        info = Game(SandboxedModule(worker)).info
        count = _seats(info, players or usual_players(info), seat)
        say(f"{info['name']}: {info['summary']}")
        say(f"You are player {seat + 1} of {count}; the others are {spec}. Ctrl-C leaves.")
        screen = _Screen(seat)
        seats: list[SeatedPlayer] = []
        for other in range(count):
            if other == seat:
                seats.append(HumanPlayer(screen.ask))
                continue
            seats.append(
                make_player(
                    spec,
                    seat=other,
                    num_players=count,
                    parameters={},
                    source=found.source,
                    sandbox=sandbox,
                    heuristics=found.heuristics,
                )
            )
            stack.callback(seats[-1].close)
        match = play_match(
            SandboxTable(worker), seats, parameters={}, seed=seed, on_ply=screen.show_ply
        )
    _end(match, seat)


def _seats(info: "dict[str, Json]", count: int, seat: int) -> int:
    fewest, most = info["min_players"], info["max_players"]
    if not (isinstance(fewest, int) and isinstance(most, int) and fewest <= count <= most):
        raise typer.BadParameter(f"the game takes {fewest} to {most} players, not {count}")
    if seat >= count:
        raise typer.BadParameter(f"--seat is {seat + 1}; the seats are 1 to {count}")
    return count


class _Screen:
    """What the person sees: only what their seat may see."""

    def __init__(self, seat: int) -> None:
        self._seat = seat

    def show_ply(self, ply: "Ply") -> None:
        for event in ply.events[self._seat]:
            say(f"  {event}")

    def ask(self, log: "SeatLog", legal: "Sequence[Action]") -> "Action":
        say("")
        for line in _pretty(log.latest()):
            say(line)
        for number, action in enumerate(legal, start=1):
            say(f"  {number:>3}. {action}")
        while True:
            typed = str(typer.prompt("Your action (number or words)")).strip()
            if typed in legal:
                return typed
            if typed.isdecimal() and 1 <= int(typed) <= len(legal):
                return legal[int(typed) - 1]
            note(f"{typed!r} is not one of them; type a number from 1 to {len(legal)}")


def _pretty(observation: "dict[str, Any]") -> list[str]:
    """One line a field; boards (lists of equally long lists) as rows."""
    lines = []
    for key, value in observation.items():
        if _is_board(value):
            lines.append(f"{key}:")
            lines += ["    " + " ".join(str(cell or ".") for cell in row) for row in value]
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{key}: {text if len(text) <= _COLUMNS * 4 else text[: _COLUMNS * 4] + '…'}")
    return lines


def _is_board(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(row, list) and len(row) == len(value[0]) > 1 for row in value)
        and all(isinstance(cell, str | int | None) for row in value for cell in row)
    )


def _end(match: Any, seat: int) -> None:  # noqa: ANN401 - games.engine.Match, imported lazily
    if match.returns is None:
        note(f"the match did not finish: {match.reason}")
        leave(1)
    say("\nThe match is over. Returns, higher is better:")
    for player, value in enumerate(match.returns):
        say(f"  player {player + 1}{' (you)' if player == seat else ''}: {value:g}")
    best = max(match.returns)
    winners = [player for player, value in enumerate(match.returns) if value == best]
    if seat in winners:
        say("You win." if len(winners) == 1 else "You share the first place.")
    else:
        say("You do not win this time.")
