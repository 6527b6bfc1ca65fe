"""Play inside a model: random matches that must end, and exploration where they hardly come.

Random-play tests are those of Code World Models §4.4. Go-Explore (Ecoffet et al. 2021, first phase)
sorts positions into cells by phase, by the types of action that are legal and by how deep they lie,
of which a cell keeps the deepest; play goes on at random from a cell that was seldom chosen and
whose phase and types were seldom seen. A state is a value, so that going back costs nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from numpy.random import Generator

from games.checks import Finding
from games.engine import sample_index
from games.streams import stream
from games.table import Position, Table
from games.trajectories import OpenTrajectory, phase_of, trajectory_of
from games.values import CHANCE, TERMINAL, Action, IllegalActionError, Json, ModuleFault, type_of
from tools.predicting import called, failing
from tools.sandbox import Sandbox, SandboxTable

KIND = "play"
_LONGEST = 1000  # plies (Code World Models App. H.5)
_DEEP = 10  # plies between cells of the same phase and types
_FAR = 12  # plies of an expedition

_Offer: TypeAlias = tuple[str, frozenset[str]]


@dataclass(frozen=True)
class Played:
    """Random matches inside a model.

    Attributes:
        matches: Those that ended.
        failures: What ended the others; one at most.
    """

    matches: tuple[OpenTrajectory, ...]
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
        module: The whole module; see `tools.sources`.
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
            return Played(tuple(kept), (_told(fault, positions, actions, place),))
    return Played(tuple(kept), ())


def replayed(
    sandbox: Sandbox,
    module: str,
    histories: Sequence[Sequence[str]],
    *,
    num_players: int,
    parameters: Mapping[str, Json],
) -> list[OpenTrajectory]:
    """Matches of a model, from its first state on; one in which it fails is left out.

    Raises:
        ModuleFault: If it does not load.
    """
    found: list[OpenTrajectory] = []
    with sandbox.loaded("replay", module) as worker:
        table = SandboxTable(worker)
        for number, actions in enumerate(histories):
            with suppress(ModuleFault, IllegalActionError):
                positions = [table.open(num_players, parameters)]
                for action in actions:
                    positions.append(table.advance(positions[-1], action))
                found.append(trajectory_of(number, positions, actions))
    return found


def _step(
    table: Table, positions: list[Position], actions: list[str], drawn: tuple[int, int]
) -> None:
    if len(actions) >= _LONGEST:
        said = f"the match did not end within {_LONGEST} plies of random play"
        raise ModuleFault("bad_value", "get_current_player", said)
    here, (seed, number) = positions[-1], drawn
    generator = stream(seed, "random play in a model", match=number, ply=len(actions))
    chances = here.probabilities or [1.0 / len(here.legal)] * len(here.legal)
    actions.append(here.legal[sample_index(chances, float(generator.random()))])
    positions.append(table.advance(here, actions[-1]))


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


@dataclass(eq=False)
class _Place:
    """A position, and how play came to it."""

    position: Position
    depth: int
    before: "_Place | None" = None
    action: Action = ""
    chosen: int = 0

    def actions(self) -> tuple[Action, ...]:
        """The actions that led here from the first position."""
        return tuple(one.action for one in self.line()[1:])

    def line(self) -> "list[_Place]":
        """From the first position to this one."""
        found: list[_Place] = []
        here: _Place | None = self
        while here is not None:
            found.append(here)
            here = here.before
        return found[::-1]


@dataclass
class Explorer:
    """Explores a model, with recorded matches as what is known.

    Attributes:
        table: The model.
        num_players: Seats.
        parameters: Given to the model.
        known: Recorded matches; what was played in them is not looked for.
        seed: Draws every choice.
        broken: Actions at the end of which the model failed; empty as long as it did not.
    """

    table: Table
    num_players: int
    parameters: Mapping[str, Json]
    known: Sequence[OpenTrajectory]
    seed: int
    broken: tuple[Action, ...] = ()
    _cells: dict[tuple[_Offer, int], _Place] = field(default_factory=dict)
    _seen: Counter[_Offer] = field(default_factory=Counter)
    _played: set[tuple[str, str]] = field(default_factory=set)
    _new: dict[tuple[str, str], _Place] = field(default_factory=dict)

    def matches(self, steps: int) -> list[OpenTrajectory]:
        """Beginnings of matches, each to the first time that some new action is played there.

        What was found last comes first, as it is the hardest to find.

        Args:
            steps: Plies to play in the model; one message each. A model that fails
                ends the exploration.

        Raises:
            ModuleFault: If the model has no first position.
        """
        for match in self.known:
            self._learn(match)
        generator = stream(self.seed, "exploration")
        first = _Place(self.table.open(self.num_players, self.parameters), 0)
        self._cells[(("", frozenset()), 0)] = first
        while steps > 0 and not self.broken:
            steps -= sum(1 for _ in self._expedition(self._chosen(generator), generator))
        found = [(place.line(), place.actions()) for place in reversed(self._new.values())]
        return [trajectory_of(0, [at.position for at in line], done) for line, done in found]

    def _learn(self, match: OpenTrajectory) -> None:
        """Take in what a recorded match met: cells, and actions that are no longer new."""
        place: _Place | None = None
        for depth, here in enumerate(match.positions):
            action = match.actions[depth - 1] if depth else ""
            met = Position(
                here.state, here.player, here.legal, (), here.rewards, here.observations, ()
            )
            place = _Place(met, depth, place, action)
            self._note(place)
            if depth < len(match.actions):
                kind = type_of(match.actions[depth])
                self._played.add((phase_of(here.state, here.player), kind))

    def _note(self, place: _Place) -> None:
        here = place.position
        if here.player in (CHANCE, TERMINAL):
            return
        offer = phase_of(here.state, here.player), frozenset(map(type_of, here.legal))
        self._seen[offer] += 1
        cell = offer, place.depth // _DEEP
        if cell not in self._cells or self._cells[cell].depth < place.depth:
            self._cells[cell] = place

    def _chosen(self, generator: Generator) -> _Place:
        """A cell, the likelier the more seldom it was chosen and its like was seen."""
        cells = [*self._cells.items()]
        weights = [
            1 / ((1 + place.chosen) * (1 + self._seen[offer])) for (offer, _), place in cells
        ]
        whole = sum(weights)
        index = sample_index([one / whole for one in weights], float(generator.random()))
        (offer, _), place = cells[index]
        place.chosen += 1
        self._seen[offer] += 1
        return place

    def _expedition(self, place: _Place, generator: Generator) -> Iterator[_Place]:
        """The places of some plies of random play from a cell."""
        self.table.open(self.num_players, self.parameters)  # a match's memory is counted anew
        yield place
        by_type = generator.random() < 1 / 2
        for _ in range(_FAR):
            here = place.position
            if here.player == TERMINAL or place.depth >= _LONGEST:
                return
            action = self._drawn(here, generator, by_type=by_type)
            kind = phase_of(here.state, here.player), type_of(action)
            try:
                after = self.table.advance(here, action)
            except ModuleFault:
                self.broken = (*place.actions(), action)
                return
            place = _Place(after, place.depth + 1, place, action)
            if kind not in self._played:
                self._new.setdefault(kind, place)
            self._note(place)
            yield place

    def _drawn(self, here: Position, generator: Generator, *, by_type: bool) -> Action:
        """An action by chance: any, or first its type; chance draws as the model says."""
        draw = float(generator.random())
        if here.player == CHANCE:
            return here.legal[sample_index(here.probabilities, draw)]
        legal = here.legal
        if by_type:
            types = sorted({type_of(action) for action in legal})
            kind = types[int(generator.integers(len(types)))]
            legal = tuple(action for action in legal if type_of(action) == kind)
        return legal[int(draw * len(legal))]
