"""How long the tests of candidates take, in turn and at once."""

from evals.cwm.synthesis import judging_rates
from tests.tools.predicting.material import TIC_TAC_TOE, matches_of
from tools.sandbox import Sandbox


def test_two_candidates_at_once_take_at_least_half_of_the_time_in_turn() -> None:
    matches = matches_of("openspiel:tic_tac_toe", 2)
    with Sandbox() as sandbox:
        told = judging_rates(TIC_TAC_TOE, matches, sandbox)
    assert told["records tested"] == sum(len(match.positions) for match in matches)
    assert told["seconds a candidate"] > 0
    assert 0 < told["two at once over in turn"] < 3  # by chance a little over 2
