"""What behaviours are worth, exactly: expected returns, best responses and NashConv."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.solving.form import Behaviour, SequenceForm, backed_up


@dataclass(frozen=True)
class NashConv:
    """How much the seats together could gain by deviating alone (Lanctot et al. 2017).

    Attributes:
        returns: `[num_players]` expected return of each seat.
        best: `[num_players]` expected return of its best response to the others.
    """

    returns: tuple[float, ...]
    best: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """`[num_players]` what each seat would gain, at least 0 but for rounding."""
        return tuple(best - got for best, got in zip(self.best, self.returns, strict=True))

    @property
    def total(self) -> float:
        """The sum of the gains: 0 at a Nash equilibrium. Exploitability is half of it for two."""
        return float(sum(self.gains))


def expected_returns(game: SequenceForm, behaviours: Sequence[Behaviour]) -> tuple[float, ...]:
    """`[num_players]` expected returns, by evaluation of the whole tree.

    Args:
        game: The game.
        behaviours: One a seat; take them from different policies to set those against each other.
    """
    reach = np.prod(game.reaches(behaviours), axis=0)
    return tuple(float(form.payoffs @ reach) for form in game.seats)


def best_response(
    game: SequenceForm, seat: int, behaviours: Sequence[Behaviour]
) -> tuple[float, Behaviour]:
    """What a seat gets by its best response to the others, and a response that gets it.

    Args:
        game: The game.
        seat: Who responds; its own entry of `behaviours` makes no difference.
        behaviours: One a seat.

    Returns:
        The expected return, and a behaviour that plays one action everywhere; of equals the first.
    """
    form = game.seats[seat]
    gains = game.gains(seat, game.reaches(behaviours))
    worth, values = backed_up(form, gains, None)
    best = np.flatnonzero(worth[1:] == values[form.owner[1:]]) + 1
    chosen = np.zeros(form.size)
    chosen[best[np.unique(form.owner[best], return_index=True)[1]]] = 1.0
    return float(worth[0]), form.normalised(chosen)


def nash_conv(game: SequenceForm, behaviours: Sequence[Behaviour]) -> NashConv:
    """Sum over the seats of what a best response gains: `sum_i max_b u_i(b, -i) - u_i`."""
    return NashConv(
        returns=expected_returns(game, behaviours),
        best=tuple(best_response(game, seat, behaviours)[0] for seat in range(len(game.seats))),
    )
