"""Analysis of recorded matches: values by solution or search, beliefs, edited positions.

Every seat is analysed in a worker that is sent its own log, as players are.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from agents.players.registry import parse_spec, suitable_search
from agents.players.search import SearchPlayer
from agents.players.specs import Seating
from agents.worker.analysing import AnalysisRequest, Hypotheses, Reached, SolvedLine
from games.checks.promises import components_of_kind
from games.checks.zones import apart, concrete_paths, matches, read_path, with_path
from games.contract import Game
from games.engine import PlayerFault
from games.information import SeatLog, entry_rows, tell_seats
from games.records import MatchRecord
from games.streams import stream
from games.table import Position, position_of
from games.text import one_line
from games.values import (
    CHANCE,
    Action,
    Json,
    ModuleFault,
    State,
    canonical_key,
    require_json,
    show,
)
from tools.guest.protocol import MessageError, decoded
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox, SandboxedModule, SandboxTable

Reply = TypeVar("Reply", bound=tuple[object, ...])
_DEADLINE_S = 60.0
_LONGEST = 200  # characters of a value in an error
_ROOTED = "\n\ndef initial_state(num_players, **parameters):\n    return {state!r}\n"


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
    """

    ply: int
    seat: int
    values: Mapping[Action, float | None]
    visits: Mapping[Action, int]
    by: str
    best: Action

    def loss(self, chosen: Action) -> float | None:
        """By how much an action is worth less than the best; None where that is not known."""
        least, most = self.values.get(chosen), self.values.get(self.best)
        return None if least is None or most is None else max(0.0, most - least)


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
            before = self.positions[number - 1].player if number else CHANCE
            if before != CHANCE:
                logs[before].act(self.actions[number - 1])
            tell_seats(logs, position.observations, position.events)
        return logs

    def paid(self, ply: int, seat: int) -> float:
        """The payments to a seat up to a position."""
        return sum(position.rewards[seat] for position in self.positions[: ply + 1])

    def decisions(self) -> list[int]:
        """The plies at which a seat had a choice."""
        return [n for n, at in enumerate(self.positions) if at.player >= 0 and len(at.legal) > 1]


def match_followed(
    sandbox: Sandbox, game: GameSetup, actions: Sequence[Action], record: MatchRecord | None = None
) -> FollowedMatch:
    """Play a match again, and hold it against its record.

    Raises:
        AnalysisError: If the game does not play so.
        ModuleFault: If it does not load.
    """
    with sandbox.loaded("referee", game.source) as worker:
        table = SandboxTable(worker)
        positions = [table.open(game.num_players, game.parameters)]
        for number, action in enumerate(actions):
            here = positions[-1]
            ply = None if record is None else record.match.plies[number]
            fits = action in here.legal and (ply is None or here.player == ply.player)
            if fits and ply is not None and here.player >= 0:
                fits = here.observations[here.player] == ply.observation
            if not fits:
                raise AnalysisError(
                    f"{one_line(game.name)[:_LONGEST]} does not play as it was recorded: ply "
                    f"{number + 1} was {one_line(action)[:80]!r}; required: a record of this game, "
                    "whose file has not changed since"
                )
            positions.append(table.advance(here, action))
    return FollowedMatch(game, tuple(actions), tuple(positions))


def solved_line(sandbox: Sandbox, match: FollowedMatch) -> SolvedLine:
    """The exact values of a match's positions, where its game is small enough.

    Raises:
        ModuleFault: If the module fails.
    """
    request = AnalysisRequest(*_start(match.game), actions=[*match.actions])
    try:
        line = _asked(sandbox, match.game, "solve_line", request, SolvedLine)
    except ModuleFault as fault:
        if fault.kind not in ("timed_out", "out_of_memory"):
            raise
        line = SolvedLine("none", f"it ended with: {fault}", [], [], 0.0)
    rows = [*line.values, *[dict[str, float]() for _ in match.positions]]
    return line._replace(values=rows[: len(match.positions)])


def believed(sandbox: Sandbox, game: GameSetup, log: SeatLog, *, is_turn: bool) -> Hypotheses:
    """A seat's hypotheses on what it cannot see, from its log alone.

    Raises:
        ModuleFault: If the module fails.
    """
    rows = entry_rows(log.entries)
    request = AnalysisRequest(*_start(game), seat=log.seat, entries=rows, is_turn=is_turn)
    return _asked(sandbox, game, "hypotheses", request, Hypotheses)


def _start(game: GameSetup) -> tuple[int, dict[str, Json]]:
    return game.num_players, dict(game.parameters)


def _asked(
    sandbox: Sandbox, game: GameSetup, op: str, request: AnalysisRequest, kind: Callable[..., Reply]
) -> Reply:
    with sandbox.worker("analysis", preloaded=True) as worker:
        worker.load(game.source)
        reply = worker.request(op, request._asdict(), _DEADLINE_S)
    try:
        return decoded(kind, reply)
    except MessageError as error:
        raise AnalysisError(f"the worker beside the game answered {reply!r:.80}") from error


@dataclass
class Valuer:
    """Values decisions of one match: by its solution, else by a search from the seat's log.

    Attributes:
        sandbox: Where the searches run.
        match: The match.
        line: Its solution, as far as there is one.
        simulations: Of a search.
        seed: Seeds the searches, each by its seat and ply.
        heard: Hears how many decisions of how many are valued; may raise.
    """

    sandbox: Sandbox
    match: FollowedMatch
    line: SolvedLine
    simulations: int
    seed: int
    heard: Callable[[int, int], None] = lambda _done, _of: None

    def valued(self, plies: Sequence[int]) -> Iterator[Valued]:
        """The values of some decisions.

        Raises:
            ModuleFault: If the module fails in a search.
            AnalysisError: If a search does not end.
        """
        players: dict[int, SearchPlayer] = {}
        try:
            for done, ply in enumerate(plies):
                self.heard(done, len(plies))
                seat, row = self.match.positions[ply].player, self.line.values[ply]
                if row:
                    yield Valued(ply, seat, row, {}, self.line.by, max(row, key=row.__getitem__))
                    continue
                if seat not in players:
                    game = self.match.game
                    spec = suitable_search(game, self.sandbox, self.simulations)
                    at = Seating(seat, game, self.sandbox)
                    players[seat] = SearchPlayer(parse_spec(spec or "ismcts"), at)  # says why not
                yield self._searched(players[seat], ply)
        except PlayerFault as fault:
            raise AnalysisError(str(fault)) from fault
        finally:
            for player in players.values():
                player.close()

    def _searched(self, player: SearchPlayer, ply: int) -> Valued:
        seat, legal = player.seat, self.match.positions[ply].legal
        generator = stream(self.seed, "analysis", seat=seat, ply=ply)
        decision = player.choose(self.match.logs(ply)[seat], legal, generator)
        root, paid = player.searched_root(), self.match.paid(ply, seat)
        means = [None if mean is None else paid + mean for mean in root.means]
        values = dict(zip(root.actions, means, strict=False))
        visits = dict(zip(root.actions, root.visits, strict=False))
        return Valued(ply, seat, values, visits, player.spec.name, decision.action)


def edited_match(
    sandbox: Sandbox, match: FollowedMatch, ply: int, changes: Mapping[str, Json]
) -> tuple[FollowedMatch, Reached]:
    """A position with some of its state changed, and whether a play of the game leads there.

    Where one is found the match becomes that play: the recorded one with other components, or the
    shortest. Else the match begins with the position, whose whole state the seats then know.

    Args:
        sandbox: Where the module runs.
        match: The match.
        ply: Of the position.
        changes: Values by state path, each in a zone or an open place that the module declares.

    Raises:
        AnalysisError: If a path or a value is none, components come or go, or the module does not
            take the state.
    """
    game, before = match.game, match.positions[ply].state
    with sandbox.loaded("referee", game.source) as worker:
        module = Game(SandboxedModule(worker))
        declared = module.module.constant("ZONES") if module.defines("ZONES") else {}
        zones = declared if isinstance(declared, dict) else {}
        state, raw = _changed(module, zones, before, changes), module.module
        nobody: list[list[str]] = [[] for _ in range(game.num_players)]
        try:
            position = position_of(lambda name: raw.call(name, state), state, nobody, worker.names)
        except ModuleFault as fault:
            raise AnalysisError(f"the game does not take the edited position: {fault}") from fault
    actions = _exchanged(before, state, zones, match.actions[:ply])
    try:
        found = match_followed(sandbox, game, actions)
        if _by_zones(found.positions[-1].state, zones) == _by_zones(state, zones):
            return found, Reached("yes", actions)
    except AnalysisError:
        pass
    way = _asked(sandbox, game, "reach_state", AnalysisRequest(*_start(game), state=state), Reached)
    if way.answer == "yes":
        return match_followed(sandbox, game, way.actions), way
    rooted = replace(game, source=game.source + _ROOTED.format(state=state))
    return FollowedMatch(rooted, (), (position,)), way


def _exchanged(
    before: State, state: State, zones: Mapping[str, Json], actions: Sequence[Action]
) -> list[Action]:
    """The actions, with the components that the edit exchanges exchanged in their words."""
    lost, gained = (sorted(side.elements()) for side in apart(before, state, zones))
    words = {a.strip('"'): b.strip('"') for (*_, a), (*_, b) in zip(lost, gained, strict=False)}
    if not words:
        return [*actions]
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, words))})(?!\w)")
    return [pattern.sub(lambda found: words[found[1]], action) for action in actions]


def _by_zones(state: State, zones: Mapping[str, Json]) -> str:
    """A key of a state in which the order in unordered zones does not count."""
    for pattern, declared in zones.items():
        for path in concrete_paths(state, pattern):
            value = read_path(state, path)
            is_ordered = not isinstance(declared, dict) or declared.get("ordered")
            if isinstance(value, list) and not is_ordered:
                state = with_path(state, path, sorted(value, key=canonical_key))
    return canonical_key(state)


def _changed(
    module: Game, zones: Mapping[str, Json], before: State, changes: Mapping[str, Json]
) -> State:
    """The state with some values changed, none of which brings or takes a component.

    Raises:
        AnalysisError: If one is at no declared place, or does.
    """
    opened, conserved = (module.info.get(name) for name in ("open", "conserved"))
    places, state = [*zones, *map(str, opened if isinstance(opened, list) else [])], before
    for path, value in changes.items():
        steps = path.split(".")
        heads = [".".join(steps[: n + 1]) for n in range(len(steps))]
        if places and not any(matches(pattern, head) for pattern in places for head in heads):
            raise AnalysisError(
                f"{path[:_LONGEST]!r} is no zone of this game; required: a place in one of "
                f"{', '.join(places)[:_LONGEST]}"
            )
        try:
            require_json(value, "the edit")
        except ModuleFault as fault:
            raise AnalysisError(f"no value for {path[:_LONGEST]!r}: {fault}") from fault
        try:
            read_path(state, path)
            state = with_path(state, path, value)
        except (KeyError, ModuleFault) as error:
            raise AnalysisError(f"{path[:_LONGEST]!r} is no place of this position") from error
    for kind in map(str, conserved if isinstance(conserved, list) else []):
        old, new = (components_of_kind(one, zones, kind) for one in (before, state))
        if old != new:
            raise AnalysisError(
                f"the edit does not conserve the {kind}s: missing {show([*(old - new)])}, extra "
                f"{show([*(new - old)])}; required: every {kind} once more where it is taken away"
            )
    return state
