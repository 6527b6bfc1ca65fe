"""Analysis of recorded matches: values by search or solution, beliefs, edited positions.

Every seat is analysed in a worker that is sent its own log, as players are; the values of whole
positions are the designer's, who sees the table.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from agents.players.registry import PlayerRoster, parse_spec
from agents.players.search import SearchPlayer
from agents.players.specs import PlayerSpecError, Seating
from agents.worker.analysing import (
    Hypotheses,
    HypothesesRequest,
    Reached,
    ReachRequest,
    SolvedLine,
    SolveLineRequest,
)
from games.checks.promises import components_of_kind
from games.checks.zones import matches, read_path, with_path
from games.contract import Game
from games.engine import PlayerFault
from games.information import SeatLog, entry_rows, tell_seats
from games.records import MatchRecord
from games.streams import stream
from games.table import Position, position_of
from games.text import one_line
from games.values import (
    TERMINAL,
    Action,
    IllegalActionError,
    Json,
    ModuleFault,
    State,
    as_object,
    is_number,
    require_json,
    show,
)
from tools.guest.protocol import MessageError, decoded
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox, SandboxedModule, SandboxTable

CALLS = 60_000  # of apply_action: what solves tic-tac-toe several times over
HISTORIES = 20_000  # twice Leduc poker's
ITERATIONS = 1000
_DEADLINE_S = 60.0
_LONGEST = 200  # characters of a value in an error


_ROOTED = """

def initial_state(num_players, **parameters):
    return {state!r}
"""


class AnalysisError(ValueError):
    """A record that the game does not play so, or an edit that makes no position of it."""


class Valued(NamedTuple):
    """One decision.

    Attributes:
        ply: Counted from 0.
        seat: Who decided.
        values: By action, the mean return of the match; None for one that was not tried.
        visits: By action; empty where the position is solved.
        by: The solver, or the search.
        best: The action that is chosen by the values.
        chosen: What was played; None at the end of what is recorded.
    """

    ply: int
    seat: int
    values: Mapping[Action, float | None]
    visits: Mapping[Action, int]
    by: str
    best: Action
    chosen: Action | None

    @property
    def value(self) -> float | None:
        """The best action's value."""
        return self.values.get(self.best)

    @property
    def loss(self) -> float | None:
        """By how much the action that was played is worth less; None where that is not known."""
        chosen = None if self.chosen is None else self.values.get(self.chosen)
        best = self.value
        return None if chosen is None or best is None else max(0.0, best - chosen)


@dataclass(frozen=True)
class FollowedMatch:
    """A match that was played once more, for its positions.

    Attributes:
        game: With the parameters of the match.
        actions: What was played, chance's outcomes included.
        positions: One more.
    """

    game: GameSetup
    actions: tuple[Action, ...]
    positions: tuple[Position, ...]

    def logs(self, ply: int) -> list[SeatLog]:
        """Each seat's log at a position."""
        logs = [SeatLog(seat) for seat in range(self.game.num_players)]
        for number, position in enumerate(self.positions[: ply + 1]):
            before = self.positions[number - 1].player if number else TERMINAL
            if before >= 0:
                logs[before].act(self.actions[number - 1])
            tell_seats(logs, position.observations, position.events)
        return logs

    def paid(self, ply: int, seat: int) -> float:
        """What a seat was paid up to a position."""
        return sum(position.rewards[seat] for position in self.positions[: ply + 1])

    def decisions(self) -> list[int]:
        """The plies at which a seat had a choice."""
        return [n for n, at in enumerate(self.positions) if at.player >= 0 and len(at.legal) > 1]


def followed(sandbox: Sandbox, game: GameSetup, record: MatchRecord) -> FollowedMatch:
    """Play a recorded match again.

    Raises:
        AnalysisError: If the game does not play so.
        ModuleFault: If it does not load.
    """
    with sandbox.loaded("referee", game.source) as worker:
        table = SandboxTable(worker)
        positions = [table.open(game.num_players, game.parameters)]
        for number, ply in enumerate(record.match.plies, 1):
            here = positions[-1]
            fits = here.player == ply.player and ply.action in here.legal
            if not fits or (here.player >= 0 and here.observations[here.player] != ply.observation):
                raise AnalysisError(
                    f"{one_line(game.name)[:_LONGEST]} does not play as it was recorded: ply "
                    f"{number} was {one_line(ply.action)[:80]!r}; required: a record of this game, "
                    "whose file has not changed since"
                )
            positions.append(table.advance(here, ply.action))
    return FollowedMatch(game, record.actions, tuple(positions))


def solved(sandbox: Sandbox, match: FollowedMatch) -> SolvedLine:
    """The exact values of a match's positions, where its game is small enough.

    Raises:
        ModuleFault: If the module fails.
    """
    game = match.game
    request = SolveLineRequest(
        *(game.num_players, dict(game.parameters), [*match.actions], CALLS, HISTORIES, ITERATIONS)
    )
    try:
        return decoded(SolvedLine, _asked(sandbox, game, "solve_line", request._asdict()))
    except ModuleFault as fault:
        if fault.kind not in ("timed_out", "out_of_memory"):
            raise
        none = [None] * len(match.positions)
        return SolvedLine("none", f"solving it ended with: {fault}", [*none], 0.0)


def believed(sandbox: Sandbox, game: GameSetup, log: SeatLog, *, is_turn: bool) -> Hypotheses:
    """What a seat cannot see and may think, from its log alone.

    Raises:
        ModuleFault: If the module fails.
    """
    request = HypothesesRequest(
        *(game.num_players, dict(game.parameters), log.seat),
        entries=entry_rows(log.entries),
        is_turn=is_turn,
    )
    return decoded(Hypotheses, _asked(sandbox, game, "hypotheses", request._asdict()))


def _asked(sandbox: Sandbox, game: GameSetup, op: str, payload: Mapping[str, Json]) -> Json:
    with sandbox.worker("analysis", preloaded=True) as worker:
        worker.load(game.source)
        try:
            return worker.request(op, payload, _DEADLINE_S)
        except (IllegalActionError, MessageError) as error:
            raise ModuleFault("raised", op, str(error)) from error


def search_spec(game: GameSetup, sandbox: Sandbox, simulations: int) -> str:
    """The search that suits a game: UCT where what a seat sees is all there is, else ISMCTS.

    Raises:
        PlayerSpecError: If neither can play it.
    """
    specs = [f"{name}:simulations={simulations}" for name in ("uct", "ismcts")]
    able = (spec for spec in specs if PlayerRoster().can_play(spec, game, sandbox))
    if (found := next(able, None)) is None:
        raise PlayerSpecError(f"no search can play {game.name}; required: a game for searches")
    return parse_spec(found).name


def valued(
    sandbox: Sandbox,
    match: FollowedMatch,
    line: SolvedLine,
    plies: Sequence[int],
    *,
    simulations: int,
    seed: int,
) -> Iterator[Valued]:
    """The values of some decisions of a match: the solution's, else a search's by the seat's log.

    Args:
        sandbox: Where the searches run.
        match: The match.
        line: Its solution, as far as there is one.
        plies: The decisions.
        simulations: Of a search.
        seed: Seeds the searches, each by its seat and ply.

    Raises:
        ModuleFault: If the module fails in a search.
        AnalysisError: If a search does not end.
    """
    players: dict[int, SearchPlayer] = {}
    spec = ""
    logs = [SeatLog(seat) for seat in range(match.game.num_players)]
    try:
        for ply in plies:
            here, row = match.positions[ply], line.rows[ply]
            seat = here.player
            chosen = match.actions[ply] if ply < len(match.actions) else None
            if row and row["values"]:
                values = {name: _number(value) for name, value in as_object(row["values"]).items()}
                best = max(values, key=lambda name: values[name] or 0.0)
                yield Valued(ply, seat, values, {}, line.by, best, chosen)
                continue
            spec = spec or search_spec(match.game, sandbox, simulations)
            if seat not in players:
                at = Seating(seat, match.game, sandbox)
                players[seat] = SearchPlayer(parse_spec(spec), at)
            # One log a seat that only grows: its worker is sent what is new.
            logs[seat].entries[:] = match.logs(ply)[seat].entries
            generator = stream(seed, "analysis", seat=seat, ply=ply)
            decision = players[seat].choose(logs[seat], here.legal, generator)
            paid = match.paid(ply, seat)
            rows = players[seat].searched_root()
            yield Valued(
                ply,
                seat,
                {name: None if mean is None else paid + mean for name, _, mean in rows},
                {name: visits for name, visits, _ in rows},
                spec,
                decision.action,
                chosen,
            )
    except PlayerFault as fault:
        raise AnalysisError(str(fault)) from fault
    finally:
        for player in players.values():
            player.close()


def _number(value: Json) -> float | None:
    return float(value) if is_number(value) else None


def edited(
    sandbox: Sandbox, match: FollowedMatch, ply: int, changes: Mapping[str, Json]
) -> tuple[FollowedMatch, Reached]:
    """A position with some of its state changed, and whether a play of the game leads there.

    Where one is found the match becomes that play; else the match begins with the position, whose
    whole state the seats then know.

    Args:
        sandbox: Where the module runs.
        match: The match.
        ply: Of the position.
        changes: Values by state path, each in a zone or an open place that the module declares.

    Raises:
        AnalysisError: If a path or a value is none, components come or go, or the module does not
            take the state.
    """
    game = match.game
    with sandbox.loaded("referee", game.source) as worker:
        module = Game(SandboxedModule(worker))
        state = _changed(module, match.positions[ply].state, changes)
        nobody: list[list[str]] = [[] for _ in range(game.num_players)]
        try:
            position = position_of(
                lambda name: module.module.call(name, state), state, nobody, worker.names
            )
        except ModuleFault as fault:
            raise AnalysisError(f"the game does not take the edited position: {fault}") from fault
    request = ReachRequest(game.num_players, dict(game.parameters), state, CALLS)
    way = decoded(Reached, _asked(sandbox, game, "reach", request._asdict()))
    if way.answer == "yes":
        with sandbox.loaded("referee", game.source) as worker:
            table = SandboxTable(worker)
            positions = [table.open(game.num_players, game.parameters)]
            for action in way.actions:
                positions.append(table.advance(positions[-1], action))
        return FollowedMatch(game, tuple(way.actions), tuple(positions)), way
    rooted = replace(game, source=game.source + _ROOTED.format(state=state))
    return FollowedMatch(rooted, (), (position,)), way


def _changed(module: Game, state: State, changes: Mapping[str, Json]) -> State:
    """The state with some values changed, none of which brings or takes a component.

    Raises:
        AnalysisError: If one is at no declared place, or does.
    """
    declared = module.module.constant("ZONES") if module.defines("ZONES") else {}
    zones = as_object(declared)
    places = [*zones, *map(str, _listed(module.info.get("open")))]
    before = state
    for path, value in changes.items():
        steps = path.split(".")
        heads = [".".join(steps[: n + 1]) for n in range(len(steps))]
        if places and not any(matches(pattern, head) for pattern in places for head in heads):
            raise AnalysisError(
                f"{path[:_LONGEST]!r} is no zone of this game; required: a place in one of "
                f"{', '.join(places)[:_LONGEST]}"
            )
        try:
            read_path(state, path)
            require_json(value, "the edit")
            state = with_path(state, path, value)
        except (KeyError, ModuleFault) as error:
            raise AnalysisError(f"{path[:_LONGEST]!r} is no place of this position") from error
    for kind in map(str, _listed(module.info.get("conserved"))):
        old, new = (components_of_kind(one, zones, kind) for one in (before, state))
        if old != new:
            raise AnalysisError(
                f"the edit does not conserve the {kind}s: missing {show([*(old - new)])}, extra "
                f"{show([*(new - old)])}; required: every {kind} once more where it is taken away"
            )
    return state


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
