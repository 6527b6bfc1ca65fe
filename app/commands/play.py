"""`play`: a person at one seat, in the terminal."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import typer

from app.console import ask, leave, note, say
from app.interrupt import STOPPED
from app.view import choices, view

if TYPE_CHECKING:
    from agents.players import SeatedPlayer
    from games.contract import Action, Json
    from games.engine import Ply
    from games.information import SeatLog


def play_game(game: str, *, seat: int, opponent: str, players: int, seed: int) -> None:
    """Play one match to its end; see `app.cli.play`."""
    from agents.players import make_player, parse_spec
    from agents.players.human import HumanPlayer
    from games.contract import Game
    from games.engine import play_match
    from graph.sandboxes import describe_grade, open_sandbox
    from tools.checking import usual_players
    from tools.sandbox import SandboxedModule, SandboxTable
    from tools.sources import find_game

    found = find_game(game)
    spec = parse_spec(opponent)
    with ExitStack() as stack:
        sandbox = stack.enter_context(open_sandbox())
        note(describe_grade(sandbox.grade))
        worker = stack.enter_context(sandbox.worker("referee", found.source))
        worker.load(found.source)
        info = Game(SandboxedModule(worker)).info
        count = _seats(info, players or usual_players(info), seat)
        say(f"{info['name']}: {info['summary']}")
        say(f"You are player {seat + 1} of {count}; the others are {spec}. Ctrl-C leaves.")
        say(f"Where a table below counts the players, it counts from 0: you are {seat} there.")
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
        try:
            match = play_match(
                SandboxTable(worker), seats, parameters={}, seed=seed, on_ply=screen.show_ply
            )
        except KeyboardInterrupt:
            note("\nyou left; the match is not finished")
            leave(STOPPED)
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
        self._before: dict[str, Json] = {}

    def show_ply(self, ply: "Ply") -> None:
        for event in ply.events[self._seat]:
            say(f"  {event}")

    def ask(self, log: "SeatLog", legal: "Sequence[Action]") -> "Action":
        observation = log.latest()
        say()
        for line in [*view(observation, self._before), *choices(legal)]:
            say(line)
        self._before = observation
        while True:
            typed = ask("Your action (number or words): ")
            if typed is None:
                note("the input has ended; the match is left unfinished")
                leave(1)
            if typed in legal:
                return typed
            if typed.isdecimal() and 1 <= int(typed[:9]) <= len(legal):
                return legal[int(typed[:9]) - 1]
            note(f"{typed[:80]!r} is not one of them; type a number from 1 to {len(legal)}")


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
