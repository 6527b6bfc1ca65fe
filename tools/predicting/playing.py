"""Random-play tests (Code World Models §4.4): matches inside a model end, without an error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from games.checks.findings import Finding
from games.engine import sample_index
from games.streams import stream
from games.table import Position, Table
from games.trajectories import OpenTrajectory, trajectory_of
from games.values import CHANCE, TERMINAL, Json, ModuleFault
from tools.predicting.failing import called, failing
from tools.sandbox import Sandbox, SandboxTable

KIND = "play"
_LONGEST = 1000  # plies (Code World Models App. H.5)


@dataclass(frozen=True)
class Played:
    """Random matches inside a model.

    Attributes:
        matches: Those that ended.
        asked: Matches that were begun.
        failures: What ended the others; one at most.
    """

    matches: tuple[OpenTrajectory, ...]
    asked: int
    failures: tuple[Finding, ...]


def random_play(
    sandbox: Sandbox,
    module: str,
    *,
    num_players: int,
    parameters: Mapping[str, Json],
    matches: int,
    seed: int,
) -> Played:
    """Play at random in a model until a match fails.

    Args:
        sandbox: Where it runs.
        module: The whole module; see `tools.learned`.
        num_players: Seats.
        parameters: Given to it.
        matches: Matches to play.
        seed: Draws every choice.
    """
    kept: list[OpenTrajectory] = []
    with sandbox.worker("play", module) as worker:
        place = "before the first position"
        positions: list[Position] = []
        actions: list[str] = []
        try:
            worker.load(module)
            table = SandboxTable(worker)
            for number in range(matches):
                positions, actions = [table.open(num_players, parameters)], []
                while positions[-1].player != TERMINAL:
                    place = f"random match {number}, ply {len(actions)}"
                    _step(table, positions, actions, (seed, number))
                kept.append(trajectory_of(number, positions, actions))
        except ModuleFault as fault:
            return Played(tuple(kept), matches, (_told(fault, positions, actions, place),))
    return Played(tuple(kept), matches, ())


def _step(
    table: Table, positions: list[Position], actions: list[str], drawn: tuple[int, int]
) -> None:
    if len(actions) >= _LONGEST:
        said = f"the match did not end within {_LONGEST} plies of random play"
        raise ModuleFault("bad_value", "get_current_player", said)
    here, (seed, number) = positions[-1], drawn
    generator = stream(seed, "random play in a model", match=number, ply=len(actions))
    chances = here.probabilities if here.player == CHANCE else _even(here.legal)
    actions.append(here.legal[sample_index(chances, float(generator.random()))])
    positions.append(table.advance(here, actions[-1]))


def _even(legal: Sequence[str]) -> tuple[float, ...]:
    return (1.0 / len(legal),) * len(legal)


def _told(
    fault: ModuleFault, positions: Sequence[Position], actions: Sequence[str], place: str
) -> Finding:
    """The fault, with the state it was met in and the action that led on."""
    if not positions:
        return failing(KIND, fault.function, "the first position", "no error", fault, place)
    played = len(actions) == len(positions)
    arguments: list[Json] = [positions[-1].state, *(actions[-1:] if played else [])]
    call = called("apply_action" if played else fault.function, arguments)
    wanted = "no error there, nor in what is asked of the state it leads to"
    return failing(KIND, fault.function, call, wanted, fault, place)
