"""Matches between a search with its honest belief and the same search that sees the true state.

The one that sees it decides in a worker of a sandbox of its own, which alone preloads
`evals.leakage.omniscient`; it plays library modules only, is named by no spec, and enters no
ranking.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np

from agents.players.registry import PRELOAD, make_player, parse_spec
from agents.players.specs import PlayerSpec, Seating
from agents.search.algorithms import SEARCHES
from agents.worker.protocol import Chosen
from evals.leakage.omniscient import OmniscientRequest
from evals.results import EvalError
from games import library
from games.contract import CHANCE, Action, Game, Json, LocalModule, State
from games.engine import Decision, Match, Player, play_match
from games.information import SeatLog
from games.table import Position, Table
from tools.guest.protocol import decoded
from tools.playtest.jobs import SandboxRecipe, keep_sandbox
from tools.playtest.results import win_share
from tools.sandbox import SandboxTable, Worker

REASON = "the value of information: what the same search gains by seeing what is hidden from it"
_STRIDE = 7919  # a prime: every deal is come to before one is played again
HONEST = SandboxRecipe(preload=PRELOAD)
OMNISCIENT = SandboxRecipe(preload=("evals.leakage.omniscient",))


@dataclass(frozen=True)
class DealSetup:
    """One game, and the search that plays it on both sides.

    Attributes:
        label: What a result calls it.
        game: A family or preset of the library.
        spec: The player, as `agents.players.registry.parse_spec` reads it.
        players: Seats; every other one belongs to one side.
        parameters: What differs from the game's defaults.
        quick: Deals that the quick variant plays, each twice.
        full: Deals otherwise.
        every_deal: Cards that a whole deal takes from the pack: all orders of so many are played
            in turn, instead of random ones. 0 leaves chance to the seed.
        max_plies: Plies after which a match is left unfinished.
        at_least: Wins that whoever sees all is sure to have, as a share; None where none are.
    """

    label: str
    game: str
    spec: str
    players: int = 2
    parameters: Mapping[str, Json] = field(default_factory=dict)
    quick: int = 4
    full: int = 40
    every_deal: int = 0
    max_plies: int = 600
    at_least: float | None = None


@dataclass
class OpenTable:
    """A table that keeps its position for who may see it, and may deal by a script.

    Attributes:
        inner: Where the match is played.
        script: The outcomes of chance, in order; None leaves them to the referee.
        position: The newest position.
    """

    inner: Table
    script: Iterator[Action] | None = None
    position: Position | None = None

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `games.table.Table.open`."""
        return self._kept(self.inner.open(num_players, parameters))

    def advance(self, position: Position, action: Action) -> Position:
        """See `games.table.Table.advance`."""
        return self._kept(self.inner.advance(position, action))

    def look(self) -> State:
        """The true state.

        Raises:
            LookupError: Before the match is opened.
        """
        if self.position is None:
            raise LookupError("the match is not opened yet; look after `open`")
        return self.position.state

    def _kept(self, position: Position) -> Position:
        if self.script is not None and position.player == CHANCE:
            outcome = next(self.script)
            if outcome not in position.legal:
                raise EvalError(f"{outcome!r} cannot be dealt; there are {position.legal}")
            position = replace(position, legal=(outcome,), probabilities=(1.0,))
        self.position = position
        return position


@dataclass(frozen=True)
class OmniscientPlayer:
    """Decides by the search of a spec in the true state.

    Attributes:
        spec: The algorithm and its settings; its belief is not used.
        seat: Its seat.
        num_players: Seats at the table.
        worker: Of the omniscient sandbox, with the module loaded.
        table: Where it looks.
    """

    spec: PlayerSpec
    seat: int
    num_players: int
    worker: Worker
    table: OpenTable

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; a forced action is played without a search."""
        del log
        if len(legal) == 1:
            return Decision(legal[0])
        request = OmniscientRequest(
            algorithm=self.spec.name,
            search={**self.spec.of(SEARCHES[self.spec.name].settings)},
            seat=self.seat,
            num_players=self.num_players,
            words=generator.integers(0, 2**32, size=4).tolist(),
            state=self.table.look(),
            reason=REASON,
        )
        deadline = float(self.spec.settings["deadline"])
        reply = self.worker.request("choose_omniscient", request._asdict(), deadline)
        return Decision(*decoded(Chosen, reply))


@dataclass(frozen=True)
class Deal:
    """One deal to play twice, the sides changing seats."""

    setup: DealSetup
    index: int
    seed: int


def play_deal(deal: Deal) -> dict[str, Json]:
    """Play a deal from both sides.

    Returns:
        `{"wins", "gain", "reasons"}`: for each seating the share of the win of the side that sees
        all, and its mean return less the other side's; both empty where a match did not finish,
        whose reason is given.
    """
    wins: list[Json] = []
    gains: list[Json] = []
    reasons: list[Json] = []
    for seeing in range(2):
        match = _played(deal, seeing)
        if match.returns is None:
            reasons.append(f"{match.ending}: {match.reason}"[:200])
            continue
        sees = [seat % 2 == seeing for seat in range(deal.setup.players)]
        wins.append(sum(win_share(match.returns, s) for s, all_ in enumerate(sees) if all_))
        gains.append(_mean(match.returns, sees) - _mean(match.returns, [not s for s in sees]))
    if reasons:  # half a deal would favour a seat
        wins, gains = [], []
    return {"wins": wins, "gain": gains, "reasons": reasons}


def _played(deal: Deal, seeing: int) -> Match:
    setup, source = deal.setup, library.source(deal.setup.game)
    spec = parse_spec(setup.spec)
    table = OpenTable(SandboxTable(_worker("referee", setup.game, HONEST)), _script(deal))
    sighted = _worker("omniscient", setup.game, OMNISCIENT)
    players: list[Player] = []
    with ExitStack() as stack:
        for seat in range(setup.players):
            if seat % 2 == seeing:
                players.append(OmniscientPlayer(spec, seat, setup.players, sighted, table))
                continue
            sandbox = keep_sandbox(HONEST)
            at = Seating(seat, setup.players, setup.parameters, source, sandbox, {})
            player = make_player(spec, at)
            stack.callback(player.close)
            players.append(player)
        return play_match(
            table,
            players,
            parameters=setup.parameters,
            seed=deal.seed,
            match=2 * deal.index + seeing,
            deal=deal.index,
            max_plies=setup.max_plies,
        )


_WORKERS: dict[tuple[str, str], Worker] = {}


def _worker(role: str, game: str, recipe: SandboxRecipe) -> Worker:
    """This process's worker of a library module in a role; neither role remembers anything."""
    worker = _WORKERS.get((role, game))
    if worker is None or not worker.alive:
        source = library.source(game)
        preloaded = recipe is OMNISCIENT
        worker = keep_sandbox(recipe).worker(role, source, preloaded=preloaded)
        worker.load(source)
        _WORKERS[role, game] = worker
    return worker


def every_deal(setup: DealSetup) -> list[tuple[Action, ...]]:
    """All deals of a pack: every order of as many of its cards as a deal takes."""
    game = Game(LocalModule(library.source(setup.game)))
    start = game.initial_state(setup.players, setup.parameters)
    return [*permutations(game.legal_actions(start), setup.every_deal)]


def _script(deal: Deal) -> Iterator[Action] | None:
    if not deal.setup.every_deal:
        return None
    deals = every_deal(deal.setup)
    return iter(deals[deal.index * _STRIDE % len(deals)])  # few of them are spread over all


def _mean(returns: Sequence[float], of: Sequence[bool]) -> float:
    return sum(value for value, is_of in zip(returns, of, strict=True) if is_of) / sum(of)
