"""How exploitable any player is: its decisions sampled at every information state."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.solving.form import Behaviour, Floats, SequenceForm
from agents.solving.response import nash_conv
from games.engine import Player
from games.information import SeatLog
from games.streams import stream


@dataclass(frozen=True)
class Measurement:
    """The NashConv of the average policy of players, as far as finitely many samples tell.

    The mean of `searches` decisions stands for a player's policy. Decisions at different states
    are independent, so expected returns are unbiased, while a best response also exploits the
    chance deviations: the figure is too high on average, and falls towards the truth as
    `searches` grows. `halves` shows by how much it still falls.

    Attributes:
        searches: Decisions sampled at each information state with a choice. States that a seat
            was never seen to enter by its own decisions are not asked for: they change nothing.
        asked: Decisions sampled in all.
        nash_conv: NashConv of the mean of all of them.
        halves: Mean NashConv of the first and of the second half of them, taken alone.
        returns: `[num_players]` expected returns of the sampled policy.
        behaviours: `[num_players]` the sampled policy.
    """

    searches: int
    asked: int
    nash_conv: float
    halves: float
    returns: tuple[float, ...]
    behaviours: tuple[Behaviour, ...]


def measure(
    game: SequenceForm, players: Sequence[Player], *, searches: int, seed: int
) -> Measurement:
    """Sample players at every information state and find how exploitable they are.

    Every decision is asked for with a log of its own and the generator
    `stream(seed, "solving", match=<number of the sample>, seat=..., ply=<number of the state>)`.

    Args:
        game: The game.
        players: One a seat.
        searches: Decisions to sample at each information state; even, at least 2.
        seed: Keys the players' randomness.

    Raises:
        ValueError: If a player answers an action that is not legal, or `searches` is odd or < 2.
        PlayerFault: If a player failed.
    """
    if searches < 2 or searches % 2:  # noqa: PLR2004 - two halves are compared
        raise ValueError(f"searches is {searches}; required: an even number, at least 2")
    counts = [_decisions(game, seat, player, searches, seed) for seat, player in enumerate(players)]
    halves = [
        nash_conv(game, _normalised(game, [count[half] for count in counts])).total
        for half in (0, 1)
    ]
    behaviours = _normalised(game, [count.sum(axis=0) for count in counts])
    found = nash_conv(game, behaviours)
    return Measurement(
        searches=searches,
        asked=int(sum(count.sum() for count in counts)),
        nash_conv=found.total,
        halves=sum(halves) / len(halves),
        returns=found.returns,
        behaviours=behaviours,
    )


def _normalised(game: SequenceForm, counts: Sequence[Floats]) -> tuple[Behaviour, ...]:
    return tuple(form.normalised(count) for form, count in zip(game.seats, counts, strict=True))


def _decisions(game: SequenceForm, seat: int, player: Player, searches: int, seed: int) -> Floats:
    """`[2, S]` how often each sequence was chosen, in the first and the second half."""
    form = game.seats[seat]
    counts, entered = np.zeros((2, form.size)), np.zeros(form.size, dtype=np.bool_)
    entered[0] = True
    for number, (first, state) in enumerate(zip(form.firsts, form.states, strict=True)):
        sequences = slice(int(first), int(first) + len(state.actions))
        if not entered[form.origin[first]]:
            continue
        if len(state.actions) == 1:
            entered[sequences] = True
            continue
        entries = game.log(seat, number).entries
        for sample in range(searches):
            generator = stream(seed, "solving", match=sample, seat=seat, ply=number)
            log = SeatLog(seat, list(entries))
            action = player.choose(log, state.actions, generator).action
            if action not in state.actions:
                raise ValueError(f"seat {seat} chose {action!r}; legal: {list(state.actions)}")
            counts[2 * sample // searches, first + state.actions.index(action)] += 1
        entered[sequences] = counts[:, sequences].sum(axis=0) > 0
    return counts
