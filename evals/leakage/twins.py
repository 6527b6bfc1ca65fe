"""A match played twice by the same player: as it was, and with other hidden states behind it.

The second time the referee holds, at every decision of one seat, a state that this seat must not
be able to tell from the true one: its position, legal actions and the seat's observation come from
that state. All else is as the first time: seeds, chance, the other seats' moves. A player that
learns nothing but its log and legal actions decides the same both times.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from numpy.random import Generator

from agents.players.registry import make_player
from agents.players.specs import Seating
from games import library
from games.checks.sampling import UniformPlayer
from games.checks.zones import components, exchange_hidden, matches, read_path
from games.contract import Game
from games.engine import Decision, Match, Player, play_match
from games.information import SeatLog, Turn, information_key, own_turns
from games.modules import LocalModule, reseed
from games.streams import stream
from games.table import Position, Table
from games.values import Action, Json, State, as_object, canonical_key
from tools.playtest.jobs import GameSetup, PlayerSpec
from tools.sandbox import Sandbox, SandboxedModule, SandboxTable, Worker

Look: TypeAlias = Callable[[], State]
Seated: TypeAlias = Callable[[Look], Player]
"""Makes the player; it is handed a look at the referee's state, which only a planted one takes."""


@dataclass(frozen=True)
class DecisionRecord:
    """One decision that a player was asked for.

    Attributes:
        knows: Key of the seat's information state.
        legal: Its legal actions.
        action: What it chose.
        turns: Its observations and actions so far.
    """

    knows: str
    legal: tuple[Action, ...]
    action: Action
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Twins:
    """Counts over two plays of one match.

    Attributes:
        positions: Decisions with a choice that were made in both.
        changed: Of those, decisions that differ.
        told: Of those, where the seat was given another log or other legal actions.
        forced: Decisions without a choice; nothing can change there.
        alone: Decisions for which no other state was found.
        unjudged: Decisions with another state that were not made the second time.
        reasons: Why a play did not finish, where a fault or a forfeit ended it.
    """

    positions: int
    changed: int
    told: int
    forced: int
    alone: int
    unjudged: int
    reasons: tuple[str, ...]


@dataclass
class OpenTable:
    """A table that keeps what it shows, for who may see it; what it shows may be another position.

    Attributes:
        inner: Where the match is really played.
        true: The true position.
        shown: The position that the referee holds.
    """

    inner: Table
    true: Position | None = field(default=None, init=False)
    shown: Position | None = field(default=None, init=False)

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `games.table.Table.open`."""
        return self._kept(self.inner.open(num_players, parameters))

    def advance(self, position: Position, action: Action) -> Position:
        """See `games.table.Table.advance`; it is the true match that goes on."""
        return self._kept(self.inner.advance(self.true or position, action))

    def look(self) -> State:
        """The state that the referee holds: the channel that no player may have.

        Raises:
            LookupError: Before the match is opened.
        """
        if self.shown is None:
            raise LookupError("the match is not opened yet; look after `open`")
        return self.shown.state

    def _kept(self, true: Position) -> Position:
        self.true, self.shown = true, self.showing(true)
        return self.shown

    def showing(self, true: Position) -> Position:
        """The position that the seat is shown in place of the true one."""
        return true


@dataclass
class Stage(OpenTable):
    """A table that may show a seat's decisions over other states.

    Attributes:
        game: The module under test, for what a seat sees of another state.
        seat: The seat whose decisions are staged.
        others: One a decision of the seat, in order; None leaves the true state.
    """

    game: Game
    seat: int
    others: Iterator[State | None]

    def showing(self, true: Position) -> Position:
        """See `OpenTable.showing`."""
        other = next(self.others, None) if true.player == self.seat else None
        if other is None:
            return true
        seats = len(true.observations)
        seen = self.game.observations(other, seats)[self.seat]
        return replace(
            true,
            state=other,
            legal=tuple(self.game.legal_actions(other)),
            observations=tuple(
                seen if seat == self.seat else observation
                for seat, observation in enumerate(true.observations)
            ),
        )


@dataclass
class Recorder:
    """Asks a player and writes down what it was given and chose; plays a script where it has one.

    Attributes:
        player: Who decides.
        script: What is played instead of what was chosen; None plays what was chosen.
        asked: What was written down.
    """

    player: Player
    script: Sequence[Action] | None = None
    asked: list[DecisionRecord] = field(default_factory=list)

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        decision = self.player.choose(log, legal, generator)
        number = len(self.asked)
        self.asked.append(
            DecisionRecord(
                information_key(log), tuple(legal), decision.action, tuple(own_turns(log))
            )
        )
        return decision if self.script is None else Decision(self.script[number])


@dataclass
class Script:
    """Plays the moves it is given, in order."""

    moves: Iterator[Action]

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        del log, legal, generator
        return Decision(next(self.moves))


def _compared(
    once: Sequence[DecisionRecord],
    again: Sequence[DecisionRecord],
    drawn: Sequence[State | None],
    plays: Sequence[Match],
) -> Twins:
    judged = [
        (before, after)
        for before, after, other in zip(once, again, drawn, strict=False)
        if other is not None
    ]
    staged = sum(other is not None for other in drawn)
    forced = sum(len(asked.legal) == 1 for asked in once[: len(drawn)])
    return Twins(
        positions=len(judged),
        changed=sum(before.action != after.action for before, after in judged),
        told=sum((b.knows, b.legal) != (a.knows, a.legal) for b, a in judged),
        forced=forced,
        alone=len(drawn) - staged - forced,
        unjudged=staged - len(judged),
        reasons=tuple(play.reason for play in plays if play.ending in ("forfeit", "fault")),
    )


_DRAWS = 6


@dataclass(frozen=True)
class OtherStates:
    """Draws other states by a library module's own sampler, or by what it declares hidden.

    The sampler keeps to all that the seat knows. The exchange follows `ZONES` and `visible` alone,
    so that an observation that shows too much is no part of what it keeps to; it may forget what
    the seat has inferred, which no player is given.

    Attributes:
        reference: The module as the rules say it is, in this process; not the one under test.
        seat: The seat.
        generator: The only source of randomness.
    """

    reference: Game
    seat: int
    generator: Generator

    def draw(self, asked: DecisionRecord, true: State) -> State | None:
        """A state with other hidden contents, by either way in turn; None where none was found."""
        ways = [self._sampled(asked), self._exchanged(true)]
        if self.generator.random() < 0.5:  # noqa: PLR2004 - a fair coin
            ways.reverse()
        before = self._hidden(true)
        return next((state for way in ways for state in way if self._hidden(state) != before), None)

    def _sampled(self, asked: DecisionRecord) -> Iterator[State]:
        turns: list[Json] = [[*turn] for turn in asked.turns]
        for _ in range(_DRAWS):
            reseed([int(self.generator.integers(2**32))])
            yield as_object(self.reference.module.call("resample_state", turns, self.seat))

    def _exchanged(self, true: State) -> Iterator[State]:
        zones, seen = self._zones(), self.reference.visible(true, self.seat)
        for _ in range(_DRAWS):
            yield exchange_hidden(true, zones, seen, self.generator)

    def _hidden(self, state: State) -> str:
        """A key of all that is hidden from the seat; order counts in ordered zones only."""
        contents: dict[str, Json] = {}
        for path, visibility in self.reference.visible(state, self.seat).items():
            if visibility == "contents":
                continue
            zone = read_path(state, path)
            ordered = any(z.get("ordered") for p, z in self._zones().items() if matches(p, path))
            as_it_is = ordered or not isinstance(zone, list)
            contents[path] = zone if as_it_is else [*sorted(components(zone))]
        return canonical_key(contents)

    def _zones(self) -> Mapping[str, Mapping[str, Json]]:
        zones = as_object(self.reference.module.constant("ZONES"))
        return {pattern: as_object(declared) for pattern, declared in zones.items()}


Pair: TypeAlias = tuple[Seated, Seated]
Pairs: TypeAlias = Callable[[int, ExitStack], Pair]
"""Makes two players of one kind for a seat; the stack closes them."""


@dataclass(frozen=True)
class TwinSetup:
    """One game as it is played.

    Attributes:
        name: A family or preset of the library.
        players: Seats at the table.
        parameters: What differs from the game's defaults.
        max_plies: Plies after which a match is left.
    """

    name: str
    players: int
    parameters: Mapping[str, Json] = field(default_factory=dict)
    max_plies: int = 250


@dataclass(frozen=True)
class TwinMatches:
    """Plays matches of one game twice; the module under test runs in a referee's worker.

    Other states are drawn by the library's own module in this process, whatever the source under
    test is. The rivals play at random.

    Attributes:
        setup: The game.
        source: The module under test: the library's own, or that with something planted.
        sandbox: Where it and the players run.
        seed: Of the run.
        worker: The referee's, in which the source is loaded.
        heuristics: What greedy players use.
    """

    setup: TwinSetup
    source: str
    sandbox: Sandbox
    seed: int
    worker: Worker
    heuristics: Mapping[str, str]

    def of(self, spec: PlayerSpec) -> Pairs:
        """Pairs of the player that a spec describes, each with workers of its own."""

        def seated(seat: int, stack: ExitStack) -> Seated:
            told = self.setup.players, self.setup.parameters, self.heuristics
            game = GameSetup("", self.source, *told)
            player = make_player(spec, Seating(seat, game, self.sandbox))
            stack.callback(player.close)
            return lambda _look: player

        return lambda seat, stack: (seated(seat, stack), seated(seat, stack))

    def compared(self, pairs: Pairs, positions: int, matches: int) -> list[Twins]:
        """Play matches twice, with the seats in turn, until enough decisions are compared.

        Args:
            pairs: Makes the players.
            positions: Decisions to compare.
            matches: Matches to play at the most.

        Raises:
            PlayerSpecError: If the player refuses the game.
        """
        twins: list[Twins] = []
        made: dict[int, Pair] = {}
        reference = Game(LocalModule(library.source(self.setup.name)))
        with ExitStack() as stack:
            for match in range(matches):
                seat = match % self.setup.players
                if seat not in made:
                    made[seat] = pairs(seat, stack)
                generator = stream(self.seed, "other states", match=match, seat=seat)
                others = OtherStates(reference, seat, generator)
                twins.append(self._twice(match, made[seat], others))
                if sum(one.positions for one in twins) >= positions:
                    break
        return twins

    def _twice(self, match: int, pair: Pair, others: OtherStates) -> Twins:
        """Play a match, and play it again over other hidden states, by the twin of the player."""
        table, game = SandboxTable(self.worker), Game(SandboxedModule(self.worker))
        seat, rivals = others.seat, [UniformPlayer()] * self.setup.players
        stage = Stage(table, game, seat, iter(()))
        once = Recorder(pair[0](stage.look))
        played = self._play(match, stage, once, rivals, self.setup.max_plies)
        states = [ply.state for ply in played.plies if ply.player == seat]
        drawn = [
            others.draw(asked, state) if len(asked.legal) > 1 else None
            for asked, state in zip(once.asked, states, strict=False)
        ]
        stage = Stage(table, game, seat, iter(drawn))
        again = Recorder(pair[1](stage.look), [asked.action for asked in once.asked])
        scripts = [
            Script(iter([ply.action for ply in played.plies if ply.player == rival]))
            for rival in range(len(rivals))
        ]
        replayed = self._play(match, stage, again, scripts, len(played.plies))
        return _compared(once.asked, again.asked, drawn, (played, replayed))

    def _play(
        self, match: int, stage: Stage, player: Player, rivals: Sequence[Player], max_plies: int
    ) -> Match:
        return play_match(
            stage,
            [player if seat == stage.seat else rival for seat, rival in enumerate(rivals)],
            parameters=self.setup.parameters,
            seed=self.seed,
            match=match,
            max_plies=max_plies,
        )


@contextmanager
def twin_matches(
    setup: TwinSetup,
    source: str,
    sandbox: Sandbox,
    seed: int,
    heuristics: Mapping[str, str] | None = None,
) -> Iterator[TwinMatches]:
    """Matches of a game, with the module under test loaded; leaving it ends the referee's worker.

    Raises:
        ModuleFault: If the source does not load.
        SandboxUnavailableError: If the sandbox cannot start.
    """
    given = heuristics or library.heuristic_sources(setup.name)
    with sandbox.loaded("referee", source) as worker:
        yield TwinMatches(setup, source, sandbox, seed, worker, given)
