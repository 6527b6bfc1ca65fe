"""Claims: words of a worker about its own work, until a referee's worker has gone through it.

A module shares its process with whatever counts wins or plays matches there, so a total that was
made inside is the module's word. It is brought back as `Claimed`, which is no number, no list and
no truth value; `confirmed_self_play` follows the claim step by step in a worker of its own and
returns what came out there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Generic, NoReturn, TypeVar

from games.table import Position, Table
from games.values import CHANCE, TERMINAL, Action, Json, ModuleFault, are_texts
from tools.guest.operations import drawn, match_generator
from tools.guest.protocol import SelfPlayRequest
from tools.sandbox import Sandbox, SandboxTable, Worker

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Claimed(Generic[T]):
    """A worker's word, on which no result may rest; only `unconfirmed` reads it."""

    _word: T

    def __bool__(self) -> NoReturn:
        """Refused: a claim is neither true nor false."""
        raise TypeError("a claim decides nothing; confirm it first")

    def __repr__(self) -> str:
        """Only that it is a claim."""
        return "Claimed(not confirmed)"


def unconfirmed(claimed: Claimed[T]) -> T:
    """What was claimed, for going through it or for showing it as a claim; never as a result."""
    return claimed._word


@dataclass(frozen=True)
class MatchTrace:
    """One match of self-play.

    Attributes:
        actions: Every decision and chance outcome.
        returns: Summed rewards a seat; None where it did not end within the plies.
    """

    actions: tuple[Action, ...]
    returns: tuple[float, ...] | None


@dataclass(frozen=True)
class MatchesClaim:
    """Random matches, with all it takes to play them again.

    Attributes:
        num_players: Seats.
        parameters: Passed to `initial_state`.
        seed: Draws every choice.
        max_plies: Plies after which a match is left.
        matches: The matches, in order.
    """

    num_players: int
    parameters: Mapping[str, Json]
    seed: int
    max_plies: int
    matches: tuple[MatchTrace, ...]


def claimed_self_play(
    worker: Worker,
    *,
    matches: int,
    num_players: int,
    parameters: Mapping[str, Json],
    seed: int,
    max_plies: int = 2000,
    deadline_s: float = 30.0,
) -> Claimed[MatchesClaim]:
    """Random matches played inside one worker, without a message a ply.

    Raises:
        ModuleFault: If the module fails, or the reply has not the form of `matches` matches.
    """
    request = SelfPlayRequest(num_players, dict(parameters), matches, max_plies, seed)
    reply = worker.request("self_play", request._asdict(), deadline_s)
    rows = reply if isinstance(reply, list) else []
    if len(rows) != matches:
        raise _false(f"claims {len(rows)} matches; {matches} were asked for")
    traces = tuple(_trace(number, row) for number, row in enumerate(rows))
    return Claimed(MatchesClaim(num_players, dict(parameters), seed, max_plies, traces))


def confirmed_self_play(
    sandbox: Sandbox, source: str, claimed: Claimed[MatchesClaim]
) -> MatchesClaim:
    """Go through claimed matches step by step in a referee's worker.

    Every choice is drawn again with the same seed, so that matches cannot be picked either.

    Returns:
        The matches as the referee has them.

    Raises:
        ModuleFault: Naming the first step at which the claim is false, or the referee's own fault.
    """
    word = unconfirmed(claimed)
    with sandbox.loaded("referee", source) as worker:
        table = SandboxTable(worker)
        matches = tuple(
            _followed(table, word, number, trace) for number, trace in enumerate(word.matches)
        )
    return MatchesClaim(word.num_players, word.parameters, word.seed, word.max_plies, matches)


def _followed(table: Table, word: MatchesClaim, number: int, trace: MatchTrace) -> MatchTrace:
    generator = match_generator(word.seed, number)
    position = table.open(word.num_players, word.parameters)
    totals = [0.0] * word.num_players
    for ply, action in enumerate(trace.actions):
        _require(f"match {number}, ply {ply}", action, _next(position, generator))
        position = table.advance(position, action)
        totals = [total + paid for total, paid in zip(totals, position.rewards, strict=True)]
    ended, plies = position.player == TERMINAL, len(trace.actions)
    if plies > word.max_plies or (plies < word.max_plies and not ended):
        raise _false(f"claims that match {number} was left after {plies} plies; it was not")
    returns = tuple(totals) if ended else None
    _require(f"match {number}, its returns", trace.returns, returns)
    return MatchTrace(trace.actions, returns)


def _next(position: Position, generator: Random) -> Action | None:
    if position.player == TERMINAL:
        return None
    weights = position.probabilities if position.player == CHANCE else None
    return drawn(generator, position.legal, weights)


def _require(place: str, claim: object, found: object) -> None:
    if claim != found:
        raise _false(f"claims {claim!r:.120} at {place}; the referee has {found!r:.120}")


def _trace(number: int, row: Json) -> MatchTrace:
    fields = row if isinstance(row, dict) else {}
    actions, returns = fields.get("actions"), fields.get("returns")
    paid = [one for one in returns if isinstance(one, float)] if isinstance(returns, list) else []
    counted = returns is None or (isinstance(returns, list) and len(paid) == len(returns))
    if not are_texts(actions) or not counted:
        raise _false(f"claims a match {number} that is no list of actions with returns")
    return MatchTrace(tuple(actions), None if returns is None else tuple(paid))


def _false(what: str) -> ModuleFault:
    return ModuleFault("bad_value", "self_play", f"the worker {what}")
