"""Analysis beside a module: exact values along a match, a seat's hypotheses, ways to a position.

A value is the mean return of the whole match, with what was paid before.
"""

from collections.abc import Sequence
from math import inf, isnan
from typing import Literal, NamedTuple

from agents.belief.belief import (
    EXACT_LIMIT,
    REPLAY_BUDGET,
    Belief,
    DecisionPoint,
    NoDeterminizationError,
)
from agents.belief.exact import HiddenInformationError, TooManyStatesError, Weighted, posterior
from agents.belief.exact import require_perfect_information as require_open
from agents.belief.follow import BeliefCallsError, CallCount, Follower, LogPlace, counted_rules
from agents.belief.zones import Zones, zones_of
from agents.search.alphabeta import AlphaBeta, UnsuitableGameError
from agents.solving.enumeration import (
    MARGIN,
    TooManyHistoriesError,
    enumerate_game,
    estimated_histories,
)
from agents.solving.form import action_values, cfr_plus, log_after, nash_conv
from agents.worker.blame import attributed
from games.checks.zones import components, concrete_paths, read_path
from games.information import Did, SeatLog, read_entries
from games.modules import Rules, first_state
from games.streams import stream
from games.values import Action, Json, State, canonical_key
from tools.guest.operations import Operation
from tools.guest.protocol import decoded

_DRAWN = 200  # samples of a belief
_SHOWN, _HELD = 5, 12  # contents that are told of a zone, and components
ITERATIONS = 1000  # of CFR+
CALLS = 60_000  # of apply_action: ten times what tic-tac-toe takes
HISTORIES = 20_000  # twice what Leduc poker has


class AnalysisRequest(NamedTuple):
    """One question about a game; each operation reads its own fields.

    Attributes:
        num_players: Seats at the table.
        parameters: Of the game.
        actions: Of a match, chance's included, whose positions are solved.
        seat: Whose hypotheses are asked for.
        entries: Of its log.
        is_turn: Whether it is to move.
        state: To which a play is looked for.
        calls: Of apply_action that may be made.
    """

    num_players: int
    parameters: dict[str, Json]
    actions: list[Action] | None = None
    seat: int = 0
    entries: list[dict[str, Json]] | None = None
    is_turn: bool = False
    state: dict[str, Json] | None = None
    calls: int = CALLS


class SolvedLine(NamedTuple):
    """The solution of a match's positions.

    Attributes:
        by: How they were solved.
        why: Why some or all were not; "" where all were.
        values: One a position: by action the value to the seat to move; empty where there is none.
        returns: Of the whole game, by seat; empty where it is not solved from its beginning.
        nash_conv: The distance of CFR+'s solution from an equilibrium; 0 for alpha-beta.
    """

    by: Literal["alphabeta", "cfr+", "none"]
    why: str
    values: list[dict[str, float]]
    returns: list[float]
    nash_conv: float


class Hypotheses(NamedTuple):
    """A seat's belief, the others' play taken as uniform.

    Attributes:
        by: Exact enumeration, or samples as a player draws them, at the seat's newest turn; else
            "no_turn" where it has had none, "none" where no state was found.
        states: Distinct states that it holds.
        zones: Places that differ among them: `zone`, `contents` with their shares, the likeliest
            first, how many `others` there are, and `holds`, the share of each component.
    """

    by: Literal["exact", "samples", "no_turn", "none"]
    states: int
    zones: list[dict[str, Json]]


class Reached(NamedTuple):
    """A shortest play to a state, where there is one; "unknown" where the calls did not do."""

    answer: Literal["yes", "no", "unknown"]
    actions: list[Action]


def solve_line(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Solve the positions of a match by alpha-beta or CFR+; answered with `SolvedLine`."""
    asked = decoded(AnalysisRequest, payload)

    def solved_with(rules: Rules) -> SolvedLine:
        states = [first_state(namespace, asked.num_players, asked.parameters)]
        for action in asked.actions or []:
            states.append(rules.apply_action(states[-1], action))
        try:
            require_open(rules, states[0], stream(0, "solving"))
            found = _minimax(rules, states, asked.calls)
        except HiddenInformationError as error:
            found = _unsolved(str(error), states)
        if found.by == "none" and asked.num_players == 2:  # noqa: PLR2004 - the theorem's case
            found = _equilibrium(rules, states, asked.actions or [])
        return found

    return attributed(namespace, asked.num_players, solved_with, solved_with)._asdict()


def _unsolved(why: str, states: Sequence[State]) -> SolvedLine:
    return SolvedLine("none", why, [{} for _ in states], [], 0.0)


def _minimax(rules: Rules, states: Sequence[State], calls: int) -> SolvedLine:
    """The positions from the last one back, as far as the calls do."""
    if rules.num_players != 2:  # noqa: PLR2004 - a game for two
        return _unsolved(f"it has {rules.num_players} seats; games for two are solved", states)
    search, rows, why = AlphaBeta(rules, calls), list[dict[str, float]](), ""
    paid = [sum(rules.rewards(state)[0] for state in states[: n + 1]) for n in range(len(states))]
    try:
        for state, before in zip(reversed(states), reversed(paid), strict=True):
            row: dict[str, float] = {}
            sign = -1 if rules.current_player(state) == 1 else 1
            for action in rules.legal_actions(state):
                after = rules.apply_action(state, action)
                worth = rules.rewards(after)[0] + search.value(after, None, -inf, inf)
                row[action] = sign * (before + worth)
            rows.insert(0, row)
    except (UnsuitableGameError, RecursionError) as error:
        why = str(error) or "its lines of play are too long"
    if why and not any(rows):
        return _unsolved(why, states)
    best = 0.0 if why else max(rows[0].values(), default=0.0)
    best *= -1 if rules.current_player(states[0]) == 1 else 1
    missing: list[dict[str, float]] = [{} for _ in states[len(rows) :]]
    return SolvedLine("alphabeta", why, missing + rows, [] if why else [best, -best], 0.0)


def _equilibrium(rules: Rules, states: Sequence[State], actions: Sequence[Action]) -> SolvedLine:
    enough = MARGIN * HISTORIES
    about = estimated_histories(rules, states[0], stream(0, "solving"), enough=enough)
    if about > enough:
        return _unsolved(f"random plays put it above {about:.0e} histories", states)
    try:
        game = enumerate_game(rules, states[0], limit=HISTORIES)
    except TooManyHistoriesError as error:
        return _unsolved(str(error), states)
    if not game.constant_sum:
        return _unsolved("its payments are of no constant sum", states)
    behaviours, rows = cfr_plus(game, ITERATIONS), []
    values = [action_values(game, seat, behaviours) for seat in range(2)]
    for ply, state in enumerate(states):
        seat, row = rules.current_player(state), dict[str, float]()
        if seat >= 0:
            number = game.find(log_after(rules, states[0], actions[:ply], seat))
            form = game.seats[seat]
            if number is not None:
                own, first = form.states[number].actions, int(form.firsts[number])
                row = {name: float(values[seat][first + n]) for n, name in enumerate(own)}
        rows.append({} if any(map(isnan, row.values())) else row)
    distance = nash_conv(game, behaviours)
    return SolvedLine("cfr+", "", rows, [*distance.returns], distance.total)


class _ReadFollower(Follower):
    """Follows a log to where all of it is read, whoever is to move there."""

    def is_present(self, place: LogPlace) -> bool:
        """See `Follower.is_present`."""
        return place.read == len(self.entries)


def hypotheses(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Tell what a seat cannot see and may think, by its log alone; answered with `Hypotheses`."""
    asked = decoded(AnalysisRequest, payload)

    def found(rules: Rules) -> Hypotheses:
        initial = first_state(namespace, asked.num_players, asked.parameters)
        entries, zones = read_entries(asked.entries or []), zones_of(namespace)
        kind = Follower if asked.is_turn else _ReadFollower
        counted = counted_rules(rules, CallCount(limit=REPLAY_BUDGET))
        try:
            exact = posterior(kind(counted, asked.seat, entries), initial, limit=EXACT_LIMIT)
            return Hypotheses("exact" if exact else "none", len(exact), _told(exact, zones))
        except (TooManyStatesError, BeliefCallsError):
            turns = [n for n, one in enumerate(entries) if isinstance(one, Did)]
        end = len(entries) if asked.is_turn else max(turns, default=0)
        if not end:
            return Hypotheses("no_turn", 0, [])
        here = DecisionPoint(rules, namespace, initial, SeatLog(asked.seat, entries[:end]), ())
        belief = Belief(here, "auto", 0, stream(0, "analysis", seat=asked.seat))
        try:
            drawn = [(belief.sample(), 1 / _DRAWN) for _ in range(_DRAWN)]
        except NoDeterminizationError:
            return Hypotheses("none", 0, [])
        states = len({rules.key(state) for state, _ in drawn})
        return Hypotheses("samples", states, _told(drawn, zones))

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
                value = sorted(value, key=canonical_key)
            key = canonical_key(value)
            known[key] = value
            for table, names in ((shares, {key}), (holds, {*components(value)})):
                of = table.setdefault(path, {})
                of.update({name: of.get(name, 0.0) + share for name in names})
    return [
        {
            "zone": path,
            "contents": [[known[key], share] for key, share in _likeliest(of)[:_SHOWN]],
            "others": max(0, len(of) - _SHOWN),
            "holds": [[one, share] for one, share in _likeliest(holds[path])[:_HELD]],
        }
        for path, of in shares.items()
        if len(of) > 1
    ]


def _likeliest(of: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(((key, round(share, 4)) for key, share in of.items()), key=lambda one: -one[1])


def reach_state(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Look for a play that leads to a state; answered with `Reached`."""
    asked = decoded(AnalysisRequest, payload)

    def looked(rules: Rules) -> Reached:
        initial = first_state(namespace, asked.num_players, asked.parameters)
        target, calls = rules.key(asked.state or {}), 0
        came: dict[str, list[Action]] = {rules.key(initial): []}
        level = [initial]
        while level and target not in came:
            ahead: list[State] = []
            for state in level:
                plies, legal = came[rules.key(state)], rules.legal_actions(state)
                calls += len(legal)
                if calls > asked.calls:
                    return Reached("unknown", [])
                for action in legal:
                    after = rules.apply_action(state, action)
                    if (key := rules.key(after)) not in came:
                        came[key] = [*plies, action]
                        ahead.append(after)
            level = ahead
        return Reached("yes", came[target]) if target in came else Reached("no", [])

    return attributed(namespace, asked.num_players, looked, looked)._asdict()


OPERATIONS: dict[str, Operation] = {
    "solve_line": solve_line,
    "hypotheses": hypotheses,
    "reach_state": reach_state,
}
