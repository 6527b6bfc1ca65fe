"""The solution of a whole game, made beside its module; a worker serves one player at one table."""

from agents.belief.exact import TooManyStatesError, posterior
from agents.belief.follow import BeliefCallsError, CallCount, Follower, LogPlace, counted_rules
from agents.solving.enumeration import (
    MARGIN,
    TooManyHistoriesError,
    enumerate_game,
    estimated_histories,
)
from agents.solving.form import Behaviour, SequenceForm, cfr_plus, nash_conv
from agents.worker.blame import attributed
from agents.worker.protocol import (
    Enumerated,
    EnumerateRequest,
    Posterior,
    PosteriorRequest,
    Solution,
    SolveRequest,
    TooLarge,
)
from games.information import SeatLog, read_entries
from games.modules import Rules, bind, first_state
from games.streams import stream
from games.values import Action, Json, State
from tools.guest.operations import Operation
from tools.guest.protocol import decoded


class SolvingSession:
    """A worker's game and its solutions by number of iterations."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._game: SequenceForm | None = None
        self._solutions: dict[int, tuple[tuple[Behaviour, ...], float]] = {}

    def enumerate(self, namespace: dict[str, object], payload: dict[str, Json]) -> Json:
        """See `EnumerateRequest`."""
        players, parameters, limit = decoded(EnumerateRequest, payload)
        initial, rules = first_state(namespace, players, parameters), bind(namespace, players)
        generator = stream(0, "solving")  # the same game is always judged the same
        about = estimated_histories(rules, initial, generator, enough=MARGIN * limit)
        if about > MARGIN * limit:
            why = f"random plays put it above {about:.0e} histories, of {limit} allowed"
            return TooLarge(why, about)._asdict()
        try:
            self._game = enumerate_game(rules, initial, limit=limit)
        except TooManyHistoriesError as error:
            return TooLarge(str(error), about)._asdict()
        self._solutions.clear()
        return Enumerated(self._game.histories, self._game.num_states)._asdict()

    def solve(self, _namespace: dict[str, object], payload: dict[str, Json]) -> Json:
        """See `SolveRequest`.

        Raises:
            ValueError: If no game was enumerated before.
        """
        request = decoded(SolveRequest, payload)
        game, seat = self._game, request.seat
        if game is None:
            raise ValueError("no game was enumerated; ask for that first")
        if request.iterations not in self._solutions:
            behaviours = cfr_plus(game, request.iterations)
            self._solutions[request.iterations] = behaviours, nash_conv(game, behaviours).total
        behaviours, distance = self._solutions[request.iterations]
        state = game.find(SeatLog(seat, read_entries(request.entries)))
        if state is None:
            return None
        sure = len(game.seats) == 2 and game.constant_sum  # noqa: PLR2004 - the theorem's case
        chances = _chances(game, seat, state, behaviours[seat])
        solution = Solution(chances, distance, "guaranteed" if sure else "not_guaranteed")
        return solution._asdict()


def _chances(game: SequenceForm, seat: int, state: int, behaviour: Behaviour) -> dict[str, float]:
    form = game.seats[seat]
    actions, first = form.states[state].actions, int(form.firsts[state])
    chances = behaviour[first : first + len(actions)].tolist()
    return dict(zip(actions, chances, strict=True))


class _TurnFollower(Follower):
    """Follows a log that holds what its seat saw at its own turns, and nothing between them."""

    def start(self, initial: State) -> LogPlace | None:
        """See `Follower.start`."""
        return self._arrived(initial, 0)

    def _seen(self, place: LogPlace, action: Action, read: int) -> tuple[Json, LogPlace | None]:
        after = self._arrived(self.rules.apply_action(place.state, action), read)
        return None, after

    def _arrived(self, state: State, read: int) -> LogPlace | None:
        if self.rules.current_player(state) != self.seat:
            return LogPlace(state, read, {})
        seen = self.rules.observations(state)[self.seat]
        entry = self.seen_at(read)
        return LogPlace(state, read + 1, seen) if entry and entry.observation == seen else None


def enumerate_posterior(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `PosteriorRequest`."""
    request = decoded(PosteriorRequest, payload)

    def found(rules: Rules) -> Json:
        counted = counted_rules(rules, CallCount(limit=request.calls))
        follower = _TurnFollower(counted, request.seat, read_entries(request.entries))
        try:
            fitting = posterior(follower, request.start, limit=request.limit)
        except (TooManyStatesError, BeliefCallsError):
            return None
        return Posterior([state for state, _ in fitting], [p for _, p in fitting])._asdict()

    return attributed(namespace, request.num_players, found, found)


_session = SolvingSession()
OPERATIONS: dict[str, Operation] = {
    "enumerate": _session.enumerate,
    "solve": _session.solve,
    "posterior": enumerate_posterior,
}
