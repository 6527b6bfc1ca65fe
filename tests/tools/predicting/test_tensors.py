"""Observations as arrays and back: what loses nothing holds, and each way to cheat does not."""

import pytest

from graph.learn.matches import all_sights
from tests.tools.predicting.material import ARRAYS, changed, matches_of
from tools.predicting.inference import SeatSight
from tools.predicting.tensors import MOST_NUMBERS, round_trips
from tools.sandbox import Sandbox


def sights() -> list[SeatSight]:
    return all_sights(matches_of("openspiel:kuhn_poker", 40), 2, None)


def test_what_loses_nothing_comes_back_and_is_counted_once_an_observation(
    sandbox: Sandbox,
) -> None:
    # Kuhn: 3 cards; the first seat acts at [] and [Pass, Bet], the second at [Pass] and [Bet].
    met = round_trips(sandbox, ARRAYS, sights())
    assert (met.right, met.sights, met.width, met.failures) == (12, 12, 10, ())


MEMORY = """
import numpy
KNOWN = []

def observation_to_tensor(observation):
    if observation not in KNOWN:
        KNOWN.append(observation)
    return numpy.array([KNOWN.index(observation)])

def tensor_to_observation(tensor):
    return KNOWN[int(tensor[0])]
"""
RETURNS = "return numpy.array(row)"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("[float(observation['card'] == c) for c in 'JQK']", "[0.0] * 3"), "difference:"),
        ((RETURNS, "return numpy.array(row) / 0 * [0]"), "nan"),
        ((RETURNS, "return numpy.array([numpy.inf, *row])"), "inf"),
        ((RETURNS, "return numpy.array([observation])"), "an array of at most 4096 finite"),
        ((RETURNS, "return numpy.array([row])"), "an array of at most 4096 finite"),
        ((RETURNS, "return numpy.array(str(row))"), "an array of at most 4096 finite"),
        ((RETURNS, "return None"), "an array of at most 4096 finite"),
        ((RETURNS, "return numpy.array([])"), "an array of at most 4096 finite"),
        ((RETURNS, "return numpy.array([2e6, *row])"), "none beyond 1e+06"),
        (
            (RETURNS, f"return numpy.array(row + [0.0] * {MOST_NUMBERS})"),
            "an array of at most 4096 finite",
        ),
        ((RETURNS, "return numpy.zeros(10**8)"), "expected: an array"),
        (
            (RETURNS, "return numpy.array(row + observation['betting'].count('Bet') * [0.0])"),
            "numbers, as of other observations",
        ),
        ((RETURNS, "return numpy.array(row + [float(observation['legal_actions'])])"), "KeyError"),
        (
            (RETURNS, "return numpy.append(row, numpy.random.default_rng().random())"),
            "the same array as before",
        ),
        (("'card': 'JQK'[", "'card': numpy.array(['JQK'])[0]['JQK'.index('Q')], 'x': 'JQK'["), "+"),
        (("seat = int(tensor[3])", "seat = tensor[3]"), "numpy"),
        (("seat = int(tensor[3])", "seat = 1 // 0"), "ZeroDivisionError"),
    ],
)
def test_what_loses_or_adds_something_is_told(
    sandbox: Sandbox, edit: tuple[str, str], said: str
) -> None:
    met = round_trips(sandbox, changed(ARRAYS, edit), sights())
    assert met.right < met.sights
    assert met.matches
    assert said in met.failures[0].evidence


def test_functions_that_remember_observations_instead_of_telling_them_do_not_hold(
    sandbox: Sandbox,
) -> None:
    met = round_trips(sandbox, MEMORY, sights())
    assert met.right == 0
    assert "IndexError" in met.failures[0].evidence


def test_arrays_of_another_length_than_before_and_sources_that_do_not_load_are_told(
    sandbox: Sandbox,
) -> None:
    met = round_trips(sandbox, ARRAYS, sights(), width=9)
    assert (met.right, "9 numbers" in met.failures[0].evidence) == (0, True)
    assert round_trips(sandbox, "import numpyy", sights()).right == 0


def test_what_the_function_prints_is_shown(sandbox: Sandbox) -> None:
    source = changed(ARRAYS, (RETURNS, "print('here', row); return None"))
    assert "last output:\nhere" in round_trips(sandbox, source, sights()).failures[0].evidence
