"""What a worker that holds a module can be asked to solve; it serves one player at one table."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from agents.search.rules import bind
from agents.solving.cfr import cfr_plus
from agents.solving.enumeration import TooManyHistoriesError, enumerate_game
from agents.solving.form import Behaviour, SequenceForm
from agents.solving.response import nash_conv
from agents.solving.sizing import MARGIN, estimated_histories
from games.contract import Json, State
from games.information import SeatLog
from games.streams import stream

Operation: TypeAlias = Callable[[dict[str, object], dict[str, Json]], Json]

_games: list[SequenceForm] = []
_solutions: dict[int, tuple[tuple[Behaviour, ...], float]] = {}


def enumerate_module(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Enumerate the game and keep it.

    Args:
        namespace: The module's names.
        payload: `num_players`, `parameters`, `histories` (how many may be looked at).

    Returns:
        `{"histories", "information_states"}`, or `{"too_large": how far it came, "about": how many
        histories random plays estimate}`.
    """
    players = cast("int", payload["num_players"])
    initial_state = cast("Callable[..., State]", namespace["initial_state"])
    initial = initial_state(players, **cast("dict[str, Json]", payload["parameters"]))
    rules, limit = bind(namespace, players), cast("int", payload["histories"])
    generator = stream(0, "solving")  # the same game is always judged the same
    about = estimated_histories(rules, initial, generator, enough=MARGIN * limit)
    if about > MARGIN * limit:
        why = f"random plays put it above {about:.0e} histories, of {limit} allowed"
        return {"too_large": why, "about": about}
    try:
        game = enumerate_game(rules, initial, limit=limit)
    except TooManyHistoriesError as error:
        return {"too_large": str(error), "about": about}
    _games[:] = [game]
    _solutions.clear()
    return {"histories": game.histories, "information_states": game.num_states}


def solve(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """The solution at one information state; the game is solved when it is first asked for.

    Args:
        namespace: The module's names; not looked at again.
        payload: `seat`, `entries` (of the seat's log), `iterations`.

    Returns:
        `{"chances": {action: probability}, "nash_conv", "equilibrium"}`, where `equilibrium` is
        "guaranteed" in the limit or "not_guaranteed"; or None if no play leads to that log.

    Raises:
        ValueError: If no game was enumerated before.
    """
    del namespace
    if not _games:
        raise ValueError("no game was enumerated; ask for that first")
    game, iterations = _games[0], cast("int", payload["iterations"])
    if iterations not in _solutions:
        behaviours = cfr_plus(game, iterations)
        _solutions[iterations] = behaviours, nash_conv(game, behaviours).total
    behaviours, distance = _solutions[iterations]
    seat = cast("int", payload["seat"])
    state = game.find(SeatLog(seat, cast("list[dict[str, Json]]", payload["entries"])))
    if state is None:
        return None
    sure = len(game.seats) == 2 and game.constant_sum  # noqa: PLR2004 - the theorem's case
    return {
        "chances": {**_chances(game, seat, state, behaviours[seat])},
        "nash_conv": distance,
        "equilibrium": "guaranteed" if sure else "not_guaranteed",
    }


def _chances(
    game: SequenceForm, seat: int, state: int, behaviour: Behaviour
) -> Mapping[str, float]:
    form = game.seats[seat]
    actions, first = form.states[state].actions, int(form.firsts[state])
    chances = behaviour[first : first + len(actions)].tolist()
    return dict(zip(actions, chances, strict=True))


OPERATIONS: dict[str, Operation] = {"enumerate": enumerate_module, "solve": solve}
