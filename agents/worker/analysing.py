"""Analysis beside a module: exact values along a match, what a seat may take for true, ways there.

A value is always the mean return of the whole match, what was paid before included.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isnan
from typing import Literal, NamedTuple, TypeAlias

from agents.belief.belief import (
    EXACT_LIMIT,
    REPLAY_BUDGET,
    Belief,
    DecisionPoint,
    NoDeterminizationError,
)
from agents.belief.exact import (
    HiddenInformationError,
    TooManyStatesError,
    Weighted,
    posterior,
    require_perfect_information,
)
from agents.belief.follow import BeliefCallsError, CallCount, Follower, LogPlace, counted_rules
from agents.belief.zones import Zones, zones_of
from agents.search.alphabeta import AlphaBeta, UnsuitableGameError
from agents.solving.enumeration import (
    MARGIN,
    TooManyHistoriesError,
    enumerate_game,
    estimated_histories,
)
from agents.solving.form import Behaviour, Floats, SequenceForm, action_values, cfr_plus, nash_conv
from agents.worker.blame import attributed
from games.checks.zones import components, concrete_paths, read_path
from games.information import Did, SeatLog, read_entries
from games.modules import Rules, first_state
from games.streams import stream
from games.values import CHANCE, TERMINAL, Action, Json, Observation, State, canonical_key
from tools.guest.operations import Operation
from tools.guest.protocol import decoded

_SEATS = 2  # of the games whose solution is told: the theorems are about two
_DRAWN = 200  # samples
_SHOWN, _HELD = 5, 12  # contents that are told of a zone, and components
Row: TypeAlias = dict[str, Json] | None
"""Of one position: `returns` by seat, and `values` by action of the seat to move; None unsolved."""


class SolveLineRequest(NamedTuple):
    """Solve the positions of a match, by alpha-beta or CFR+; answered with `SolvedLine`.

    Attributes:
        num_players: Seats at the table.
        parameters: Of the game.
        actions: Of the match, chance's included.
        calls: Of apply_action that alpha-beta may make.
        histories: That the game may have for CFR+.
        iterations: Of CFR+.
    """

    num_players: int
    parameters: dict[str, Json]
    actions: list[Action]
    calls: int
    histories: int
    iterations: int


class SolvedLine(NamedTuple):
    """The solution of a match's positions.

    Attributes:
        by: How they were solved.
        why: Why some or all were not; "" where all were.
        rows: One a position, the last after all actions.
        nash_conv: The distance of CFR+'s solution from an equilibrium; 0 for alpha-beta.
    """

    by: Literal["alphabeta", "cfr+", "none"]
    why: str
    rows: list[Row]
    nash_conv: float


class HypothesesRequest(NamedTuple):
    """Say what a seat cannot see and may think, from its log alone; answered with `Hypotheses`.

    Attributes:
        num_players: Seats at the table.
        parameters: Of the game.
        seat: The seat.
        entries: Of its log.
        is_turn: Whether it is to move.
    """

    num_players: int
    parameters: dict[str, Json]
    seat: int
    entries: list[dict[str, Json]]
    is_turn: bool


class Hypotheses(NamedTuple):
    """A seat's belief, the others' play taken as uniform.

    Attributes:
        by: Exact enumeration, or samples as a player draws them; "no_turn" where there are too many
            states to enumerate and the seat has not decided yet, "none" where no state was found.
        states: Distinct states that it holds.
        at: "now", or "own turn" where it is what the seat knew at its newest decision.
        zones: Places that differ among them: `zone`, `contents` with their shares, the likeliest
            first, how many `others` there are, and `holds`, the share of each component.
    """

    by: Literal["exact", "samples", "no_turn", "none"]
    states: int
    at: Literal["now", "own turn"]
    zones: list[dict[str, Json]]


class ReachRequest(NamedTuple):
    """Look for a play that leads to a state; answered with `Reached`."""

    num_players: int
    parameters: dict[str, Json]
    state: dict[str, Json]
    calls: int


class Reached(NamedTuple):
    """The shortest play to a state, where there is one; "unknown" where the calls did not do."""

    answer: Literal["yes", "no", "unknown"]
    actions: list[Action]


def solve_line(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `SolveLineRequest`."""
    asked = decoded(SolveLineRequest, payload)

    def solved(rules: Rules) -> SolvedLine:
        initial = first_state(namespace, asked.num_players, asked.parameters)
        unsolved: list[Row] = [None] * (len(asked.actions) + 1)
        if asked.num_players != _SEATS:
            why = f"it has {asked.num_players} seats; games for two are solved"
            return SolvedLine("none", why, unsolved, 0.0)
        try:
            require_perfect_information(rules, initial, stream(0, "solving"))
        except HiddenInformationError:
            return _equilibrium(rules, initial, asked, unsolved)
        found = _minimax(rules, initial, asked)
        return found if found.by != "none" else _equilibrium(rules, initial, asked, unsolved)

    return attributed(namespace, asked.num_players, solved, solved)._asdict()


def _minimax(rules: Rules, initial: State, asked: SolveLineRequest) -> SolvedLine:
    """The positions from the last one back, as far as the calls do."""
    states, paid = [initial], [[0.0, 0.0]]
    for action in asked.actions:
        states.append(rules.apply_action(states[-1], action))
        paid.append([a + b for a, b in zip(paid[-1], rules.rewards(states[-1]), strict=True)])
    search, rows, why = AlphaBeta(rules, asked.calls), list[Row](), ""
    for state, before in zip(reversed(states), reversed(paid), strict=True):
        try:
            rows.append(_minimax_row(search, state, before))
        except (UnsuitableGameError, RecursionError) as error:
            why = str(error) or "its lines of play are too long"
            break
    is_solved = not why or any(row and row["values"] for row in rows)
    by: Literal["alphabeta", "none"] = "alphabeta" if is_solved else "none"
    missing: list[Row] = [None] * (len(states) - len(rows))
    return SolvedLine(by, why, [*missing, *reversed(rows)], 0.0)


def _minimax_row(search: AlphaBeta, state: State, paid: Sequence[float]) -> Row:
    rules, player = search.rules, search.rules.current_player(state)
    if player == TERMINAL:
        return {"returns": [*paid], "values": {}}
    values: dict[str, Json] = {}
    worth: list[float] = []
    for action in rules.legal_actions(state):
        after = rules.apply_action(state, action)
        gained = rules.rewards(after)[0] + search.value(after, None, -inf, inf)
        worth.append(gained if player == 0 else -gained)
        values[action] = paid[player] + worth[-1]
    best = max(worth) if player == 0 else -max(worth)
    return {"returns": [paid[0] + best, paid[1] - best], "values": values}


def _equilibrium(
    rules: Rules, initial: State, asked: SolveLineRequest, unsolved: list[Row]
) -> SolvedLine:
    enough = MARGIN * asked.histories
    about = estimated_histories(rules, initial, stream(0, "solving"), enough=enough)
    if about > enough:
        why = f"random plays put it above {about:.0e} histories"
        return SolvedLine("none", why, unsolved, 0.0)
    try:
        game = enumerate_game(rules, initial, limit=asked.histories)
    except TooManyHistoriesError as error:
        return SolvedLine("none", str(error), unsolved, 0.0)
    if not game.constant_sum:
        return SolvedLine("none", "its payments are of no constant sum", unsolved, 0.0)
    behaviours = cfr_plus(game, asked.iterations)
    walk = _Walk(game, behaviours, [action_values(game, s, behaviours)[0] for s in range(_SEATS)])
    walk.follow(asked.actions)
    return SolvedLine("cfr+", "", walk.rows, nash_conv(game, behaviours).total)


class _Place(NamedTuple):
    """A history of a game that is enumerated: its state, and what seats know and were paid."""

    state: State
    logs: tuple[int, ...]
    seen: Sequence[Observation]
    paid: tuple[float, ...]


@dataclass
class _Walk:
    """Expected returns along a match, by the behaviours of all seats."""

    game: SequenceForm
    behaviours: Sequence[Behaviour]
    values: Sequence[Floats]
    rows: list[Row] = field(default_factory=list)

    def follow(self, line: Sequence[Action]) -> None:
        """Make the rows of a match."""
        game = self.game
        seen = game.rules.observations(game.initial)
        logs = tuple(game.index.saw(seat, None, seen[seat], []) for seat in range(_SEATS))
        self.rows = [None] * (len(line) + 1)
        self._worth(_Place(game.initial, logs, seen, (0.0,) * _SEATS), line)

    def _worth(self, place: _Place, line: Sequence[Action] | None) -> Sequence[float]:
        """The mean returns from a place; `line` is what the match goes on with, None off it."""
        rules = self.game.rules
        player, legal = rules.current_player(place.state), rules.legal_actions(place.state)
        chances, values = self._chances(place, player, legal)
        worth: Sequence[float] = place.paid
        if legal:
            worth = [0.0] * _SEATS
        for action, chance in zip(legal, chances, strict=True):
            rest = line[1:] if line and line[0] == action else None
            if chance > 0 or rest is not None:
                after = self._worth(self._after(place, player, action), rest)
                worth = [a + chance * b for a, b in zip(worth, after, strict=True)]
        if line is not None:
            self.rows[len(self.rows) - 1 - len(line)] = {"returns": [*worth], "values": values}
        return worth

    def _chances(
        self, place: _Place, player: int, legal: Sequence[Action]
    ) -> tuple[Sequence[float], Json]:
        """The probability of each action, and its value to the seat that knows what it knows."""
        if player < 0:
            told = self.game.rules.chance_probabilities
            even = [1 / len(legal) for _ in legal]
            return told(place.state) if told and legal else even, {}
        form, number = self.game.seats[player], self.game.places[place.logs[player]]
        first, own = int(form.firsts[number]), form.states[number].actions
        at = [first + own.index(action) for action in legal]
        worth = [float(self.values[player][one]) for one in at]
        values: dict[str, Json] = dict(zip(legal, worth, strict=True))
        return [float(self.behaviours[player][one]) for one in at], (
            {} if any(map(isnan, worth)) else values
        )

    def _after(self, place: _Place, player: int, action: Action) -> _Place:
        rules, index, logs = self.game.rules, self.game.index, list(place.logs)
        if player != CHANCE:
            logs[player] = index.acted(logs[player], action)
        events = rules.events(place.state, action)
        state = rules.apply_action(place.state, action)
        seen = rules.observations(state)
        paid = tuple(a + b for a, b in zip(place.paid, rules.rewards(state), strict=True))
        return _Place(state, tuple(map(index.saw, logs, place.seen, seen, events)), seen, paid)


class _ReadFollower(Follower):
    """Follows a log to where all of it is read, whoever is to move there."""

    def is_present(self, place: LogPlace) -> bool:
        """See `Follower.is_present`."""
        return place.read == len(self.entries)


def hypotheses(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `HypothesesRequest`."""
    asked = decoded(HypothesesRequest, payload)

    def found(rules: Rules) -> Hypotheses:
        initial = first_state(namespace, asked.num_players, asked.parameters)
        log = SeatLog(asked.seat, read_entries(asked.entries))
        zones = zones_of(namespace)
        counted = counted_rules(rules, CallCount(limit=REPLAY_BUDGET))
        try:
            kind = Follower if asked.is_turn else _ReadFollower
            follower = kind(counted, log.seat, log.entries)
            exact = posterior(follower, initial, limit=EXACT_LIMIT)
            return Hypotheses("exact" if exact else "none", len(exact), "now", _told(exact, zones))
        except (TooManyStatesError, BeliefCallsError):
            pass
        turns = [n for n, one in enumerate(log.entries) if isinstance(one, Did)]
        end = len(log.entries) if asked.is_turn else max(turns, default=0)
        if not end:
            return Hypotheses("no_turn", 0, "now", [])
        here = DecisionPoint(rules, namespace, initial, SeatLog(log.seat, log.entries[:end]), ())
        belief = Belief(here, "auto", 0, stream(0, "analysis", seat=log.seat))
        try:
            drawn = [(belief.sample(), 1 / _DRAWN) for _ in range(_DRAWN)]
        except NoDeterminizationError:
            drawn = []
        states = len({rules.key(state) for state, _ in drawn})
        by: Literal["samples", "none"] = "samples" if drawn else "none"
        at: Literal["now", "own turn"] = "now" if asked.is_turn else "own turn"
        return Hypotheses(by, states, at, _told(drawn, zones))

    return attributed(namespace, asked.num_players, found, found)._asdict()


def _told(weighted: Weighted, zones: Zones | None) -> list[dict[str, Json]]:
    """The places in which the states differ, as the zones divide them, or by their first names."""
    patterns = [*zones.patterns] if zones else []
    shares: dict[str, dict[str, float]] = {}
    holds: dict[str, dict[str, float]] = {}
    known: dict[str, Json] = {}
    for state, share in weighted:
        for path in concrete_paths(state, *patterns) if patterns else state:
            value = read_path(state, path)
            if zones and isinstance(value, list) and not zones.declaration(path).get("ordered"):
                value = sorted(value, key=_key)
            known[_key(value)] = value
            _count(shares, path, _key(value), share)
            for one in {*components(value)}:
                _count(holds, path, one, share)
    return [
        {
            "zone": path,
            "contents": [[known[key], share] for key, share in _likeliest(of)[:_SHOWN]],
            "others": max(0, len(of) - _SHOWN),
            "holds": [[one, share] for one, share in _likeliest(holds.get(path, {}))[:_HELD]],
        }
        for path, of in shares.items()
        if len(of) > 1
    ]


def _key(value: Json) -> str:
    return canonical_key({"": value})


def _count(table: dict[str, dict[str, float]], path: str, key: str, share: float) -> None:
    of = table.setdefault(path, {})
    of[key] = of.get(key, 0.0) + share


def _likeliest(of: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(((key, round(share, 4)) for key, share in of.items()), key=lambda one: -one[1])


def reach(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `ReachRequest`."""
    asked = decoded(ReachRequest, payload)

    def looked(rules: Rules) -> Reached:
        initial = first_state(namespace, asked.num_players, asked.parameters)
        target, calls = rules.key(asked.state), 0
        came: dict[str, tuple[str, Action] | None] = {rules.key(initial): None}
        level = [initial]
        while level and target not in came:
            ahead: list[State] = []
            for state in level:
                here, legal = rules.key(state), rules.legal_actions(state)
                calls += len(legal)
                if calls > asked.calls:
                    return Reached("unknown", [])
                for action in legal:
                    after = rules.apply_action(state, action)
                    if (key := rules.key(after)) not in came:
                        came[key] = here, action
                        ahead.append(after)
            level = ahead
        return Reached("yes", _way(came, target)) if target in came else Reached("no", [])

    return attributed(namespace, asked.num_players, looked, looked)._asdict()


def _way(came: Mapping[str, tuple[str, Action] | None], target: str) -> list[Action]:
    actions: list[Action] = []
    while (step := came[target]) is not None:
        target, action = step
        actions.append(action)
    return actions[::-1]


OPERATIONS: dict[str, Operation] = {
    "solve_line": solve_line,
    "hypotheses": hypotheses,
    "reach": reach,
}
