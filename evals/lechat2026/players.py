"""Players of ours as shooters: their searches and beliefs over the library's game.

A shooter sees a `View`, our players read the log of a seat. So the game is played along: the own
fleet is placed, the other seat has a stand-in fleet of one cell for every hit that is known, and
what the seat is told of every shot is logged as the referee would have. The stand-in never reaches
a player; what may lie hidden comes from its belief alone.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from random import Random
from typing import Any

import numpy as np

from agents.belief.belief import Belief, BeliefMemory, DecisionPoint
from agents.players.registry import parse_spec
from agents.search.algorithms import SEARCHES
from agents.search.settings import SearchView
from evals.lechat2026.board import (
    BITS,
    CELLS,
    LENGTHS,
    PLACES,
    SIDE,
    Contestant,
    View,
    cells_of,
    random_fleet,
)
from games import library
from games.information import Did, SeatLog
from games.modules import Rules, bind, first_state, load_namespace
from games.values import Action, Json, State

GAME = "battleship"
_SEATS = 2
_FILES = "abcdefghij"


@dataclass(frozen=True)
class _Library:
    """The library's game, loaded once a process."""

    rules: Rules
    namespace: dict[str, object]
    initial: State


@cache
def game() -> _Library:
    """The library's game with its default parameters."""
    namespace = load_namespace(library.source(GAME))
    return _Library(bind(namespace, _SEATS), namespace, first_state(namespace, _SEATS))


def played_module() -> dict[str, Json]:
    """The module that is played: its name and its source's SHA-256."""
    return {"game": GAME, "source_id": sha256(library.source(GAME).encode()).hexdigest()}


def cell_name(cell: int) -> str:
    """The library's name of a cell.

    >>> cell_name(0), cell_name(99)
    ('a1', 'j10')
    """
    return f"{_FILES[cell % SIDE]}{cell // SIDE + 1}"


def ship_name(ship: int) -> str:
    """The library's name of a placement.

    >>> ship_name(0b111)
    'a1-c1'
    """
    cells = cells_of(ship)
    return f"{cell_name(cells[0])}-{cell_name(cells[-1])}"


def ships_of(fleet: int) -> list[int]:
    """One way to lay the five ships over the cells of a fleet, longest first.

    Raises:
        ValueError: If there is none.
    """

    def laid(left: int, index: int) -> list[int] | None:
        if index == len(LENGTHS):
            return [] if not left else None
        for ship in PLACES[LENGTHS[index]]:
            if ship & left == ship and (rest := laid(left & ~ship, index + 1)) is not None:
                return [ship, *rest]
        return None

    found = laid(fleet, 0)
    if found is None:
        raise ValueError(f"cells {cells_of(fleet)} are no fleet; required: ships of {LENGTHS}")
    return found


class Seat:
    """One seat's log of the library's game, written from what a shooter sees.

    Attributes:
        log: The log, up to the seat's turn.
        legal: The seat's legal actions.
    """

    def __init__(self, seat: int, own: int) -> None:
        self.seat = seat
        self.log = SeatLog(seat)
        self.taken = 0
        self.legal: list[Action] = []
        here = game()
        self.rules, self.state = here.rules, here.initial
        self.log.see(self.rules.observations(self.state)[seat], [])
        others = iter(ships_of(random_fleet(Random(0))))
        fleet = iter(ships_of(own))
        for place in range(len(LENGTHS) * _SEATS):
            ship = next(fleet if place // len(LENGTHS) == seat else others)
            self._ply(f"ship {ship_name(ship)}")

    def read(self, view: View) -> None:
        """Log what happened since the last call, so that it is this seat's turn.

        Raises:
            ValueError: If the view is not of this seat's turn.
        """
        hits = [f"{name}-{name}" for name in map(cell_name, cells_of(view.hits))]
        fleets: Any = self.state["fleets"]
        placed: list[Json] = [
            [*hits] if seat != self.seat else fleets[seat] for seat in range(_SEATS)
        ]
        self.state = {**self.state, "fleets": placed}
        last = self.log.entries[-1] if self.log.entries else None
        if isinstance(last, Did):
            self._ply(last.action)
        for cell in cells_of(view.taken & ~self.taken):
            self._ply(f"fire {cell_name(cell)}")
        self.taken = view.taken
        if self.rules.current_player(self.state) != self.seat:
            raise ValueError(f"it is not the turn of seat {self.seat}; required: alternate shots")
        self.legal = self.rules.legal_actions(self.state)

    def _ply(self, action: Action) -> None:
        told = self.rules.events(self.state, action)[self.seat]
        self.state = self.rules.apply_action(self.state, action)
        seen = self.rules.observations(self.state)[self.seat]
        if self.rules.current_player(self.state) >= 0:
            seen = {**seen, "ships_placed": [len(LENGTHS)] * _SEATS}
        self.log.see(seen, told)


class SpecShooter:
    """A player by its spec, in this process.

    Attributes:
        used: Decisions, module calls of the search, hidden states drawn, attempts at them, and how
            many another sampler than the named one gave.
        seat: The seat that it plays; None before its first shot.
    """

    def __init__(self, spec: str, rng: Random) -> None:
        chosen = parse_spec(spec)
        self._settings: Mapping[str, Any] = chosen.settings
        self._search = SEARCHES[chosen.player]
        self._search_settings = chosen.part(self._search.settings)
        self._generator = np.random.default_rng(rng.getrandbits(64))
        self._rng = rng
        self._memory = BeliefMemory()
        self.seat: Seat | None = None
        self._lone = False
        self.used: dict[str, int] = dict.fromkeys(
            ("decisions", "calls", "samples", "attempts", "fallbacks"), 0
        )

    def shoot(self, view: View) -> int:
        """See `Shooter`."""
        if self.seat is None:
            self._lone = not view.own
            self.seat = Seat(view.seat, view.own or random_fleet(self._rng))
        seat = self.seat
        seat.read(self._unhurt(view, seat) if self._lone else view)
        here, name = game(), self._settings["belief"]
        situation = DecisionPoint(
            here.rules, here.namespace, here.initial, seat.log, tuple(seat.legal)
        )
        pool = self._settings["determinizations"]
        belief = Belief(situation, name, pool, self._generator, memory=self._memory)
        seen = SearchView(here.rules, seat.seat, belief.sample, clock=time.monotonic)
        found = self._search.decide(seen, self._search_settings, self._generator)
        self._count(belief, name, found.calls)
        seat.log.act(found.best)
        return _cell(found.best)

    def _unhurt(self, view: View, seat: Seat) -> View:
        """The view of a seat whose opponent misses as long as there is water to hit."""
        shots = view.fired.bit_count() + seat.seat
        fleets: Any = seat.state["fleets"]
        own = {cell for ship in fleets[seat.seat] for cell in _between(ship)}
        order = sorted(range(CELLS), key=lambda cell: (cell in own, cell))
        taken = sum(BITS[cell] for cell in order[:shots])
        return View(0, taken, view.hits, view.misses, view.seat)

    def _count(self, belief: Belief, name: str, calls: int) -> None:
        given, named = belief.counts, {"module": "resample_state"}.get(name, name)
        self.used["decisions"] += 1
        self.used["calls"] += calls
        self.used["samples"] += sum(given.values())
        self.used["attempts"] += sum(given.values()) + belief.failures
        self.used["fallbacks"] += sum(n for who, n in given.items() if who != named)


def _cell(action: Action) -> int:
    name = action.split()[1]
    return _FILES.index(name[0]) + SIDE * (int(name[1:]) - 1)


def _between(ship: str) -> list[int]:
    first, last = (_cell(f"fire {end}") for end in ship.split("-"))
    step = 1 if last - first < SIDE else SIDE
    return list(range(first, last + 1, step))


def spec_contestant(name: str, spec: str, *, looks: bool = False, slow: bool = False) -> Contestant:
    """One of our players under a name."""
    effective = {"spec": parse_spec(spec).name}
    return Contestant(name, partial(SpecShooter, spec), effective, looks=looks, slow=slow)
