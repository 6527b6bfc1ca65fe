"""Eval: what is it worth to see what is hidden?

The same search, with the same settings, plays against itself: one side with its honest belief, the
other one with the true state as its only determinization (`evals.leakage.omniscient`). Every deal
is played twice, the sides changing seats. The share of the win, and the gap of the returns, of the
side that sees all is what information is worth to that search in that game: it says how far better
beliefs could carry it, and nothing of how strong it is. It is thresholded only where it is certain.

The one that sees all decides in a worker of a sandbox of its own; it plays library modules only, is
named by no spec, and enters no ranking.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import permutations
from statistics import fmean
from typing import Any

from numpy.random import Generator
from pydantic import JsonValue

from agents.players.registry import PRELOAD, make_player, parse_spec
from agents.players.specs import Seating
from agents.search.algorithms import SEARCHES
from agents.worker.protocol import Chosen
from evals.leakage.omniscient import OmniscientRequest
from evals.leakage.twins import OpenTable
from evals.results import EvalError, EvalOptions, EvalResult, Row, Score, read_data
from games import library
from games.contract import Game
from games.engine import Decision, Effort, Match, Player, play_match
from games.information import SeatLog
from games.modules import LocalModule
from games.streams import PlyChance
from games.table import Position
from games.values import CHANCE, Action, Json
from tools.guest.protocol import decoded
from tools.playtest.intervals import (
    Estimate,
    NoSamplesError,
    Sampled,
    mean_interval,
    share_interval,
)
from tools.playtest.jobs import (
    GameSetup,
    PlayerSpec,
    SandboxRecipe,
    keep_sandbox,
    sandbox_of_process,
)
from tools.playtest.journal import journal_at
from tools.playtest.ratings import win_share
from tools.playtest.runner import Workers, play_all
from tools.sandbox import SandboxTable, Worker

REASON = "the value of information: what the same search gains by seeing what is hidden from it"
_STRIDE = 7919  # a prime: every deal is come to before one is played again
HONEST = SandboxRecipe(preload=PRELOAD)
OMNISCIENT = SandboxRecipe(preload=("evals.leakage.omniscient",))
_SLACK = 0.03


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
class ScriptedTable(OpenTable):
    """A table whose position may be looked at, and that may deal by a script.

    Attributes:
        script: The outcomes of chance, in order; None leaves them to the referee.
    """

    script: Iterator[Action] | None

    def showing(self, true: Position) -> Position:
        """See `OpenTable.showing`."""
        if self.script is None or true.player != CHANCE:
            return true
        outcome = next(self.script)
        if outcome not in true.legal:
            raise EvalError(f"{outcome!r} cannot be dealt; there are {true.legal}")
        return replace(true, legal=(outcome,), probabilities=(1.0,))


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

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`; a forced action is played without a search."""
        del log
        if len(legal) == 1:
            return Decision(legal[0])
        request = OmniscientRequest(
            algorithm=self.spec.player,
            search={**self.spec.of(SEARCHES[self.spec.player].settings)},
            seat=self.seat,
            num_players=self.num_players,
            words=generator.integers(0, 2**32, size=4).tolist(),
            state=self.table.look(),
            reason=REASON,
        )
        deadline = float(self.spec.settings["deadline"])
        reply = self.worker.request("choose_omniscient", request._asdict(), deadline)
        chosen = decoded(Chosen, reply)
        return Decision(chosen.action, Effort.of(chosen.effort))


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
    setup = deal.setup
    source = library.source(setup.game)
    game = GameSetup(setup.game, source, setup.players, setup.parameters)
    spec = parse_spec(setup.spec)
    table = ScriptedTable(SandboxTable(_worker("referee", setup.game, HONEST)), _script(deal))
    sighted = _worker("omniscient", setup.game, OMNISCIENT)
    players: list[Player] = []
    with ExitStack() as stack:
        for seat in range(setup.players):
            if seat % 2 == seeing:
                players.append(OmniscientPlayer(spec, seat, setup.players, sighted, table))
                continue
            player = make_player(spec, Seating(seat, game, keep_sandbox(HONEST)))
            stack.callback(player.close)
            players.append(player)
        return play_match(
            table,
            players,
            parameters=setup.parameters,
            seed=deal.seed,
            match=2 * deal.index + seeing,
            chance=PlyChance(deal.seed, deal.index),
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


SETUPS = tuple(DealSetup(**row) for row in read_data("data/information.yaml"))


def run(options: EvalOptions, setups: Sequence[DealSetup] = SETUPS) -> EvalResult:
    """Play every game from both sides.

    Raises:
        JournalError: If the folder belongs to another evaluation.
    """
    rows: list[Row] = []
    with (
        Workers(options.workers).opened() as workers,
        sandbox_of_process(HONEST),
        sandbox_of_process(OMNISCIENT) as sandbox,
    ):
        for setup in setups:
            rows.append(_row(setup, _dealt(setup, options, workers)))
            options.tell(_said(rows[-1]))
        return EvalResult(
            scores=tuple(_scores(setups, rows, quick=options.quick)),
            samples=tuple(rows),
            effective={
                "workers": options.workers,
                "omniscient": {
                    "reason": REASON,
                    "preloads": [*OMNISCIENT.preload],
                    "modules": "of the library alone",
                    "ranked": False,
                },
                "sandbox": sandbox.grade.model_dump(mode="json"),
            },
            unscored={
                str(row["game"]): "; ".join(row["reasons"]) or "no deal was played"
                for row in rows
                if row["wins"] is None
            },
        )


def _dealt(setup: DealSetup, options: EvalOptions, workers: Workers) -> list[Row]:
    """The row of every deal; a deal that the folder holds is not played again."""
    count = setup.quick if options.quick else setup.full
    words = setup.label.replace(",", "").split()
    path = None if options.folder is None else options.folder / f"{'-'.join(words)}.jsonl"
    deals = ((index, Deal(setup, index, options.seed)) for index in range(count))
    with journal_at(path, _identity(setup, options.seed)) as journal:
        played: dict[int, Any] = dict(play_all(deals, play_deal, journal=journal, workers=workers))
    return [played[index] for index in range(count)]


def _identity(setup: DealSetup, seed: int) -> dict[str, Json]:
    """The settings a journal belongs to; the number of deals is not among them."""
    fields = {name: value for name, value in asdict(setup).items() if name not in _AMOUNTS}
    source_id = sha256(library.source(setup.game).encode()).hexdigest()
    return {**fields, "source_id": source_id, "player": parse_spec(setup.spec).name, "seed": seed}


_AMOUNTS = ("quick", "full", "at_least")


def _row(setup: DealSetup, deals: Sequence[Row]) -> Row:
    whole = [deal for deal in deals if not deal["reasons"]]

    def estimated(name: str, interval: Callable[[Sequence[float], Sampled], Estimate]) -> JsonValue:
        values = [fmean(deal[name]) for deal in whole]
        try:
            return interval(values, "deals").model_dump(mode="json")
        except NoSamplesError:
            return None

    reasons = [reason for deal in deals for reason in deal["reasons"]]
    return {
        "game": setup.label,
        "module": setup.game,
        "parameters": dict(setup.parameters),
        "player": parse_spec(setup.spec).name,
        "seats": setup.players,
        "deals": len(deals),
        "whole_deals": len(whole),
        "wins": estimated("wins", share_interval),
        "gain": estimated("gain", mean_interval),
        "reasons": sorted(set(reasons)),
    }


def _scores(setups: Sequence[DealSetup], rows: Sequence[Row], *, quick: bool) -> Iterator[Score]:
    """Wins and gain of whoever sees all, a game at a time; quick thresholds leave room for chance.

    That is three points, or two standard errors of a share measured on so few deals.
    """
    for setup, row in zip(setups, rows, strict=True):
        if row["wins"] is None or row["gain"] is None:
            continue
        wins, gain = (Estimate.model_validate(row[name]) for name in ("wins", "gain"))
        bound = setup.at_least
        if bound is not None and quick:
            bound -= max(_SLACK, 2 * math.sqrt(bound * (1 - bound) / wins.n))
        lost = row["deals"] - wins.n
        name = f"{setup.label}: wins of who sees all"
        yield Score(name=name, value=wins.value, at_least=bound, scored=wins.n, unscored=lost)
        name = f"{setup.label}: its gain in returns"
        yield Score(name=name, value=gain.value, scored=gain.n, unscored=lost)


def _said(row: Row) -> str:
    if row["wins"] is None or row["gain"] is None:
        return f"{row['game']}: not to be estimated from {row['whole_deals']} deals"
    wins, gain = (Estimate.model_validate(row[name]) for name in ("wins", "gain"))
    return (
        f"{row['game']}: who sees all wins {wins.value:.3f} ({wins.low:.3f} to {wins.high:.3f}), "
        f"gains {gain.value:.3f} ({gain.low:.3f} to {gain.high:.3f}), over {wins.n} deals"
    )
