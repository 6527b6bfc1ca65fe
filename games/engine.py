"""The referee: plays a match among players who only ever see their own observations."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Generator as PythonGenerator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from math import fsum
from typing import Literal, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from numpy.random import Generator

from games.information import SeatLog, tell_seats
from games.streams import Chance, PlyChance, Uniforms, ply_of, stream
from games.table import Position, Table
from games.values import CHANCE, TERMINAL, Action, Json, ModuleFault, Observation, State, show

Ending: TypeAlias = Literal["finished", "unfinished", "forfeit", "fault"]


_Reported = TypeVar("_Reported", int, float, str)
EffortFigure: TypeAlias = Literal[
    "simulations_done",
    "belief_consistency",
    "surprises",
    "failed_searches",
    "model_calls",
    "tokens_in",
    "tokens_out",
    "estimated_calls",
    "dollars",
]
EffortWord: TypeAlias = Literal["algorithm", "belief", "fallback"]


@dataclass(frozen=True)
class Effort:
    """The effort of a decision; a field is None where the player reports no such thing.

    Attributes:
        algorithm: How it was decided.
        belief: Where hidden states came from.
        fallback: How the action was come by, where it was not decided.
        simulations_done: Of a search.
        belief_consistency: Share of the states tried that reproduced what the seat saw.
        surprises: 1 where a learned model did not explain what the seat saw, else 0.
        failed_searches: 1 where the search in a learned model failed, else 0.
        model_calls: Requests to a language model.
        tokens_in: Tokens that it read.
        tokens_out: Tokens that it wrote.
        estimated_calls: Requests whose tokens are estimated.
        dollars: Their cost by the configured prices.
        more: What this kind of player alone reports, its settings included.
    """

    algorithm: str | None = None
    belief: str | None = None
    fallback: str | None = None
    simulations_done: int | None = None
    belief_consistency: float | None = None
    surprises: int | None = None
    failed_searches: int | None = None
    model_calls: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    estimated_calls: int | None = None
    dollars: float | None = None
    more: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Mapping[str, Json]) -> Self:
        """The effort that `row` wrote, or that a worker claims.

        Raises:
            ValueError: If a figure is no number, or a word no text.
        """
        rest = dict(row)

        def taken(name: str, *kinds: type[_Reported]) -> _Reported | None:
            value = rest.pop(name, None)
            if value is None or (isinstance(value, kinds) and not isinstance(value, bool)):
                return value
            raise ValueError(f"{name} is {show(value)}; required: {kinds[0].__name__}")

        return cls(
            algorithm=taken("algorithm", str),
            belief=taken("belief", str),
            fallback=taken("fallback", str),
            simulations_done=taken("simulations_done", int),
            belief_consistency=taken("belief_consistency", float, int),
            surprises=taken("surprises", int),
            failed_searches=taken("failed_searches", int),
            model_calls=taken("model_calls", int),
            tokens_in=taken("tokens_in", int),
            tokens_out=taken("tokens_out", int),
            estimated_calls=taken("estimated_calls", int),
            dollars=taken("dollars", float, int),
            more=rest,
        )

    def row(self) -> dict[str, Json]:
        """All that is reported, by name, as files hold it."""
        named = {name: value for name, value in vars(self).items() if value is not None}
        return {**named.pop("more"), **named}


@dataclass(frozen=True)
class Decision:
    """The choice of a player, and its effort."""

    action: Action
    effort: Effort = field(default_factory=Effort)


class Player(Protocol):
    """A player at a seat. It sees its own log and the legal actions, nothing else."""

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """Choose one of `legal`.

        Args:
            log: The seat's information state so far.
            legal: Legal actions, at least one, in alphabetical order: the module's tells nothing.
            generator: The stream of this seat at this ply; the only source of randomness.
        """


class RandomPlayer:
    """Plays a legal action drawn uniformly, the same alone as in `games.lockstep`."""

    reads: Literal["nothing"] = "nothing"
    effort = Effort("random")

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `Player.choose`; the log is not looked at.

        Raises:
            ValueError: If `games.streams.stream` did not make the generator.
        """
        del log
        drawn = Uniforms.beside(generator).at(ply_of(generator))
        return Decision(legal[int(drawn * len(legal))], self.effort)

    def close(self) -> None:
        """Nothing to release."""


Learned: TypeAlias = tuple[str, Effort]


@runtime_checkable
class Learner(Protocol):
    """A player that takes lessons from match to match; `recall` before one, `learn` after it."""

    def recall(self, lessons: Sequence[str]) -> None:
        """Take in what its entrant learned in earlier deals, oldest first."""

    def learn(self, returns: Sequence[float] | None) -> Learned:
        """The lesson of the match, "" for none, and the effort beyond its decisions.

        Args:
            returns: By seat; None where the match did not finish.
        """


class PlayerFault(Exception):  # noqa: N818 - the player is at fault, not the program
    """A player could not give a legal action; its seat forfeits."""


@dataclass(frozen=True)
class Ply:
    """One decision or chance event, as the record keeps it.

    Attributes:
        player: Seat that acted, or `CHANCE`.
        observation: What that seat saw when it acted; None at a chance event.
        legal: What it could have done.
        action: What it did, or the outcome.
        rewards: What the ply paid each seat.
        events: What each seat perceived of the ply, one list a seat.
        effort: What the decision used, as the player reports it.
        state: The state the ply was played in (open deck).
    """

    player: int
    observation: Observation | None
    legal: tuple[Action, ...]
    action: Action
    rewards: tuple[float, ...]
    events: tuple[tuple[str, ...], ...]
    effort: Effort
    state: State


@dataclass(frozen=True)
class Match:
    """One match as it was played.

    Attributes:
        ending: "finished" at a terminal state; "unfinished" at the ply limit; "forfeit" where a
            player failed; "fault" where the module did.
        returns: Summed rewards a seat; None unless the match finished.
        plies: All decisions and chance events in order.
        final_state: The last state reached.
        final_observations: One a seat.
        logs: Each seat's information state at the end.
        culprit: Seat that forfeited, or None.
        reason: Why the match did not finish; empty where it did.
        fault_line: Line of the module's source at fault, where one is known.
    """

    ending: Ending
    returns: tuple[float, ...] | None = None
    plies: tuple[Ply, ...] = ()
    final_state: State | None = None
    final_observations: tuple[Observation, ...] = ()
    logs: tuple[SeatLog, ...] = ()
    culprit: int | None = None
    reason: str = ""
    fault_line: int | None = None


def play_match(
    table: Table,
    players: Sequence[Player],
    *,
    parameters: Mapping[str, Json],
    seed: int,
    match: int = 0,
    chance: Chance | None = None,
    max_plies: int = 2000,
    on_ply: Callable[[Ply], None] = lambda _: None,
) -> Match:
    """Play one match to its end, its ply limit, a forfeit or the module's fault.

    Args:
        table: The game, in this process or in a referee's worker.
        players: One a seat; their number is the number of players.
        parameters: The game's parameters; unknown ones are the module's to refuse.
        seed: The run's seed.
        match: Index of the match, which keys the players' streams and, without `chance`, chance.
        chance: Of a deal, so that players who change seats meet the same cards. None takes the
            deal of the match's own index.
        max_plies: Plies after which the match is left unfinished.
        on_ply: Told of every ply as it is played (for journals and displays).
    """
    setup = MatchSetup(players, seed, match, chance or PlyChance(seed, match), max_plies, on_ply)
    return play_at(table, setup, parameters)


def play_at(table: Table, setup: "MatchSetup", parameters: Mapping[str, Json]) -> Match:
    """Play one match at a table; see `play_match`."""

    def advance(asked: Sequence[Asked]) -> list[Position | ModuleFault]:
        """The one position that is asked for, or its fault."""
        ((_, position, action),) = asked
        try:
            if position is None:
                return [table.open(len(setup.players), parameters)]
            return [table.advance(position, action)]
        except ModuleFault as fault:
            return [fault]

    return play_side_by_side([setup], advance)[0]


Asked: TypeAlias = tuple[int, Position | None, Action]
"""Place of a match, its position and the action there; no position where it begins."""


@dataclass(frozen=True)
class MatchSetup:
    """A match to play; see `play_match`."""

    players: Sequence[Player]
    seed: int
    match: int
    chance: Chance
    max_plies: int
    on_ply: Callable[[Ply], None] = lambda _: None


def play_side_by_side(
    setups: Sequence[MatchSetup],
    advance: Callable[[Sequence[Asked]], Sequence[Position | ModuleFault]],
) -> list[Match]:
    """Play matches side by side, a ply of each in a round; see `play_match`.

    Args:
        setups: The matches.
        advance: The next position of each match that is asked for, or the module's fault.

    Returns:
        One match a setup, in order.
    """
    referees = [_Referee(setup) for setup in setups]
    turns = [referee.turns() for referee in referees]
    matches: dict[int, Match] = {}
    given: dict[int, Position | ModuleFault | None] = dict.fromkeys(range(len(setups)))
    while given:
        asked: list[Asked] = []
        for place, answer in given.items():
            referee = referees[place]
            try:
                if isinstance(answer, ModuleFault):
                    raise answer
                asked.append((place, *turns[place].send(answer)))
            except StopIteration:
                matches[place] = referee.ended()
            except ModuleFault as fault:
                matches[place] = referee.stopped("fault", reason=str(fault), line=fault.line)
            except _ForfeitError as forfeit:
                matches[place] = referee.stopped(
                    "forfeit", culprit=forfeit.seat, reason=str(forfeit)
                )
        answers = advance(asked) if asked else []
        given = {place: answer for (place, _, _), answer in zip(asked, answers, strict=True)}
    return [matches[place] for place in range(len(setups))]


class _ForfeitError(Exception):
    def __init__(self, seat: int, reason: str) -> None:
        super().__init__(reason)
        self.seat = seat


_Turns: TypeAlias = PythonGenerator[tuple[Position | None, Action], Position | None, None]


@dataclass
class _Referee:
    setup: MatchSetup
    plies: list[Ply] = field(default_factory=list)
    position: Position | None = None

    def __post_init__(self) -> None:
        self.logs = [SeatLog(seat) for seat in range(len(self.setup.players))]

    def turns(self) -> _Turns:
        """The positions and actions of the match; each is answered with the next position."""
        position = self._told((yield None, ""))
        while position.player != TERMINAL and len(self.plies) < self.setup.max_plies:
            decision = self._decide(position)
            after = yield position, decision.action
            position = self._played(position, decision, after)

    def _told(self, position: Position | None) -> Position:
        assert position is not None, "a position answers every ply"  # for mypy
        self.position = position
        tell_seats(self.logs, position.observations, position.events)
        return position

    def _played(self, position: Position, decision: Decision, found: Position | None) -> Position:
        assert found is not None, "a position answers every ply"  # for mypy
        if position.player >= 0:
            self.logs[position.player].act(decision.action)
        ply = Ply(
            player=position.player,
            observation=position.observations[position.player] if position.player >= 0 else None,
            legal=position.legal,
            action=decision.action,
            rewards=found.rewards,
            events=found.events,
            effort=decision.effort,
            state=position.state,
        )
        self.plies.append(ply)
        after = self._told(found)
        self.setup.on_ply(ply)
        return after

    def _decide(self, position: Position) -> Decision:
        ply = len(self.plies)
        if position.player == CHANCE:
            index = sample_index(position.probabilities, self.setup.chance.at(ply))
            return Decision(position.legal[index])
        seat = position.player
        generator = stream(self.setup.seed, "player", match=self.setup.match, seat=seat, ply=ply)
        try:
            decision = self.setup.players[seat].choose(
                self.logs[seat], sorted(position.legal), generator
            )
        except PlayerFault as fault:
            raise _ForfeitError(seat, str(fault)) from fault
        if decision.action not in position.legal:
            said = show(decision.action)
            raise _ForfeitError(seat, f"seat {seat} chose {said}, which is not a legal action")
        return decision

    def ended(self) -> Match:
        if self.position is None or self.position.player != TERMINAL:
            return self.stopped("unfinished", reason=f"no end after {len(self.plies)} plies")
        totals = tuple(
            fsum(ply.rewards[seat] for ply in self.plies) for seat in range(len(self.logs))
        )
        return self.stopped("finished", returns=totals)

    def stopped(
        self,
        ending: Ending,
        *,
        returns: tuple[float, ...] | None = None,
        reason: str = "",
        culprit: int | None = None,
        line: int | None = None,
    ) -> Match:
        return Match(
            ending=ending,
            returns=returns,
            plies=tuple(self.plies),
            final_state=self.position.state if self.position else None,
            final_observations=self.position.observations if self.position else (),
            logs=tuple(self.logs),
            culprit=culprit,
            reason=reason,
            fault_line=line,
        )


def uniform_index(count: int, uniform: float) -> int:
    """The index that a uniform number selects from `count` equal chances, as `sample_index` does.

    >>> [uniform_index(3, u) for u in (0.0, 0.33, 0.34, 0.999)]
    [0, 0, 1, 2]
    """
    return min(bisect_right(_steps(count), uniform), count - 1)


@lru_cache(128)
def _steps(count: int) -> tuple[float, ...]:
    return tuple(accumulate([1.0 / count] * count))


def sample_index(probabilities: Sequence[float], uniform: float) -> int:
    """The index that a uniform number in [0, 1) selects from a distribution.

    >>> [sample_index([0.25, 0.75], u) for u in (0.0, 0.24, 0.25, 0.999)]
    [0, 0, 1, 1]
    """
    reached = 0.0
    for index, probability in enumerate(probabilities):
        reached += probability
        if uniform < reached:
            return index
    return len(probabilities) - 1  # rounding left the last sliver of [0, 1) uncovered
