"""CFR+: counterfactual regret minimisation with regret matching+ (Tammelin 2014).

Iteration `t = 1, 2, ...` goes through the seats in turn; seat `i` meets the newest behaviour of the
others (alternating updates). At its information state `I`, with `worth` and `value` the
counterfactual values of `agents.solving.form.backed_up`,

    regret[I, a]    = max(0, regret[I, a] + worth[I, a] - value[I])
    plans[s]        = plans[s] + t * plan[s]                    (linear averaging)
    behaviour[I, a] = regret[I, a] / sum_b regret[I, b]         (uniform where that sum is 0)

where `plan` is the realization plan of the behaviour before it is updated. The average behaviour is
`plans` normalised at every information state. In two-player zero-sum games it converges
to a Nash equilibrium; with more players or other sums nothing is guaranteed, and its NashConv says
how far it came.
"""

import numpy as np

from agents.solving.form import Behaviour, Floats, SequenceForm, backed_up


def cfr_plus(game: SequenceForm, iterations: int) -> tuple[Behaviour, ...]:
    """Solve a game; the same iterations always give the same result.

    Args:
        game: The game, from `enumerate_game`.
        iterations: Passes over all seats, at least 1.

    Returns:
        `[num_players]` average behaviours.
    """
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}; required: at least 1")
    regrets = [np.zeros(form.size) for form in game.seats]
    plans = [np.zeros(form.size) for form in game.seats]
    behaviours = [form.normalised(none) for form, none in zip(game.seats, regrets, strict=True)]
    reaches = game.reaches(behaviours)
    for iteration in range(1, iterations + 1):
        for seat, form in enumerate(game.seats):
            behaviour = behaviours[seat]
            plans[seat] += iteration * form.plan(behaviour)
            _add_regrets(game, seat, behaviour, reaches, regrets[seat])
            behaviours[seat] = form.normalised(regrets[seat])
            reaches[seat] = form.plan(behaviours[seat])[form.ends]
    return tuple(form.normalised(plan) for form, plan in zip(game.seats, plans, strict=True))


def _add_regrets(
    game: SequenceForm, seat: int, behaviour: Behaviour, reaches: list[Floats], regrets: Floats
) -> None:
    """Add one iteration's regrets of a seat to `regrets`, in place, and cut them at 0."""
    form = game.seats[seat]
    worth, values = backed_up(form, game.gains(seat, reaches), behaviour)
    regrets[1:] += worth[1:] - values[form.owner[1:]]
    np.maximum(regrets, 0.0, out=regrets)
