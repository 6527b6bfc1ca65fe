"""Small games, solved: information states enumerated, CFR+, exact best responses and NashConv.

game = enumerate_game(bind(namespace, 2), initial, limit=200_000)
average = cfr_plus(game, 300)
print(nash_conv(game, average).total)
"""

from agents.solving.cfr import cfr_plus
from agents.solving.enumeration import TooManyHistoriesError, enumerate_game
from agents.solving.form import Behaviour, SequenceForm
from agents.solving.measuring import Measurement, measure
from agents.solving.policies import Policy, behaviours_of, policy_of, uniform
from agents.solving.response import NashConv, best_response, expected_returns, nash_conv

__all__ = [
    "Behaviour",
    "Measurement",
    "NashConv",
    "Policy",
    "SequenceForm",
    "TooManyHistoriesError",
    "behaviours_of",
    "best_response",
    "cfr_plus",
    "enumerate_game",
    "expected_returns",
    "measure",
    "nash_conv",
    "policy_of",
    "uniform",
]
