"""OpenSpiel, which some evaluations compare with: whether it is there, and its actions in ours."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TypeAlias

from agents.solving.form import SequenceForm
from games.values import Action

MISSING = "OpenSpiel is not installed; it comes with the extra openspiel"
THEIR_EXPLORATION = 5.0  # with which it reaches the NashConv it is known for, 1.26 on Leduc

Ask: TypeAlias = Callable[[int, int, int], Action]
"""The decision of a seat at its information state of that number, the sample of that number."""


def has_openspiel() -> bool:
    """True where OpenSpiel can be imported."""
    return find_spec("pyspiel") is not None


def their_nash_conv(name: str, iterations: int) -> float:
    """NashConv of OpenSpiel's own CFR+ after so many iterations, by its own measure."""
    import pyspiel

    spiel = pyspiel.load_game(name)
    solver = pyspiel.CFRPlusSolver(spiel)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return float(pyspiel.nash_conv(spiel, solver.average_policy()))


def kuhn_action(action: Action) -> int:
    """OpenSpiel's number of an action of two-player Kuhn poker."""
    if action.startswith("deal"):
        return "JQK".index(action[5])
    return 1 if action in ("bet", "call") else 0


def leduc_action(action: Action) -> int:
    """OpenSpiel's number of an action of two-player Leduc poker."""
    if action.startswith("deal"):
        return 2 * "JQK".index(action[5]) + "HS".index(action[6])
    return {"fold": 0, "call": 1, "check": 1, "bet": 2, "raise": 2}[action]


_TRANSLATES = {"kuhn_poker": kuhn_action, "leduc_poker": leduc_action}


def theirs(game: SequenceForm, name: str, simulations: int, seed: int) -> Ask:
    """OpenSpiel's C++ ISMCTSBot: the most visited move, one rollout.

    Args:
        game: The game.
        name: OpenSpiel's name of it.
        simulations: A search.
        seed: Of all its searches.
    """
    import pyspiel

    spiel, translate = pyspiel.load_game(name), _TRANSLATES[name]
    bot = pyspiel.ISMCTSBot(
        seed,
        pyspiel.RandomRolloutEvaluator(1, seed),
        THEIR_EXPLORATION,
        simulations,
        -1,
        pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
    )

    def ask(seat: int, number: int, sample: int) -> Action:
        del sample
        known = game.seats[seat].states[number]
        state = spiel.new_initial_state()
        for action in known.plies:
            state.apply_action(translate(action))
        chosen = bot.step(state)
        return next(action for action in known.actions if translate(action) == chosen)

    return ask
