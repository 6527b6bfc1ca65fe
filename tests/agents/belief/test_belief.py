from collections.abc import Callable

import numpy as np
import pytest

from agents.belief.belief import (
    Belief,
    BeliefMemory,
    BeliefName,
    DecisionPoint,
    NoDeterminizationError,
)
from agents.belief.exact import _random_decisions
from agents.belief.module import HungError
from games import library
from games.information import Seen
from games.modules import bind, first_state, load_namespace
from games.trajectories import MOST_OUTCOMES
from games.values import ModuleFault
from tests.agents.belief.logs import logs_of
from tests.agents.small_games import KUHN, game

STATE = """
import random
def resample_state(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    others = [card for card in "JQK" if card != seen["hand"]]
    hands = [seen["hand"], random.choice(others)]
    return {"deck": [], "hands": hands if player_id == 0 else hands[::-1], "bets": seen["bets"]}
"""
HISTORY = """
import random
def resample_history(obs_action_history, player_id, last_is_terminal):
    assert last_is_terminal is False
    seen = obs_action_history[-1][0]
    others = [card for card in "JQK" if card != seen["hand"]]
    hands = [seen["hand"], random.choice(others)]
    hands = hands if player_id == 0 else hands[::-1]
    return ["deal " + card for card in hands] + list(seen["bets"])
"""
WRONG = """
def resample_state(obs_action_history, player_id):
    return {"deck": [], "hands": ["J", "J"], "bets": "pb"}
"""
RAISING = """
def resample_state(obs_action_history, player_id):
    raise RuntimeError("no idea")
"""
CHOKING = """
def resample_state(obs_action_history, player_id):
    return {"deck": None, "hands": 3}
"""
IMPOSSIBLE = """
def resample_history(obs_action_history, player_id):
    return ["deal Q", "deal Q", "p", "b"]
"""


def situation(extra: str = "") -> DecisionPoint:
    """Seat 0 of Kuhn poker holds the Queen, passed and faces a bet."""
    rules, namespace, start = game(KUHN + extra)
    log = logs_of(rules, start, ["deal Q", "deal K", "p", "b"])[0]
    return DecisionPoint(rules, namespace, start, log, ("p", "b"))


def hands(belief: Belief, count: int = 100) -> set[str]:
    return {str(belief.sample()["hands"]) for _ in range(count)}


@pytest.mark.parametrize(
    ("extra", "name", "used"),
    [
        (STATE, "auto", "resample_state"),
        (HISTORY, "auto", "resample_history"),
        (STATE + HISTORY, "module", "resample_history"),
        ("", "auto", "exact"),
        (STATE, "exact", "exact"),
        (STATE, "replay", "replay"),
        (STATE, "particle", "particle"),
    ],
)
def test_every_sampler_gives_both_deals_that_fit(extra: str, name: BeliefName, used: str) -> None:
    belief = Belief(situation(extra), name, 0, np.random.default_rng(0))
    assert hands(belief) == {"['Q', 'J']", "['Q', 'K']"}
    effort = belief.effort()
    assert effort["belief"] == used
    assert (effort["determinizations"], effort["belief_failures"]) == (100, 0)
    assert effort["belief_consistency"] == 1.0
    diversity, calls = effort["belief_diversity"], effort["belief_calls"]
    assert isinstance(diversity, float)
    assert isinstance(calls, int)
    assert 1.5 < diversity <= 2.0  # two deals fit, equally often
    assert calls > 0


def test_inconsistent_samples_are_counted_and_replaced() -> None:
    belief = Belief(situation(WRONG), "auto", 0, np.random.default_rng(0))
    assert hands(belief, 20) == {"['Q', 'J']", "['Q', 'K']"}
    effort = belief.effort()
    assert (effort["belief"], effort["determinizations"]) == ("exact", 20)
    assert effort["belief_failures"] == 20
    assert effort["belief_consistency"] == round(20 / 220, 4)  # ten tries for each of the twenty


def test_no_fitting_state_is_an_error_that_names_what_was_tried() -> None:
    belief = Belief(situation(WRONG), "module", 0, np.random.default_rng(0))
    with pytest.raises(NoDeterminizationError, match="seat 0 saw; tried resample_state"):
        belief.sample()
    effort = belief.effort()
    assert (effort["belief"], effort["determinizations"]) == ("none_found", 0)
    assert (effort["belief_failures"], effort["belief_consistency"]) == (1, 0.0)
    assert belief.fallback("ours")[1] == "random_legal"
    assert belief.fallback("paper")[1] == "random_in_model"


def test_a_pool_draws_its_determinizations_once() -> None:
    belief = Belief(situation(STATE), "auto", 3, np.random.default_rng(0))
    drawn = [belief.sample() for _ in range(30)]
    assert len({id(state) for state in drawn}) <= 3  # equal draws are one object
    assert belief.effort()["determinizations"] == 3


@pytest.mark.parametrize("drawn", ["random.choice(others)", "str(numpy.random.choice(others))"])
def test_the_same_generator_gives_the_same_states(drawn: str) -> None:
    source = STATE.replace("import random", "import random\nimport numpy.random")
    here = situation(source.replace("random.choice(others)", drawn) if "numpy" in drawn else STATE)
    first, second = (Belief(here, "auto", 0, np.random.default_rng(7)) for _ in "ab")
    assert [first.sample() for _ in range(30)] == [second.sample() for _ in range(30)]


def test_asking_for_the_modules_sampler_needs_one() -> None:
    with pytest.raises(ModuleFault, match="use belief=auto"):
        Belief(situation(), "module", 0, np.random.default_rng(0))


@pytest.mark.parametrize(("extra", "errors"), [(RAISING, 20), (CHOKING, 20), (IMPOSSIBLE, 0)])
def test_a_resampler_at_fault_is_counted_and_skipped(extra: str, errors: int) -> None:
    belief = Belief(situation(extra), "auto", 0, np.random.default_rng(0))
    assert belief.sample()["bets"] == "pb"
    belief.sample()
    effort = belief.effort()
    assert (effort["belief"], effort["belief_failures"]) == ("exact", 2)
    assert effort["belief_errors"] == errors


def test_a_resampler_that_hangs_is_not_asked_again_in_the_match() -> None:
    def impatient(call: Callable[[], object]) -> object:
        del call
        raise HungError("not back in time")

    here, memory = situation(STATE), BeliefMemory()
    for errors in (1, 0):
        generator = np.random.default_rng(0)
        belief = Belief(here, "auto", 0, generator, memory=memory, guard=impatient)
        belief.sample()
        belief.sample()
        assert belief.effort()["belief"] == "exact"
        assert belief.effort()["belief_errors"] == errors
    assert memory.hung


ELSEWHERE = """
def resample_state(obs_action_history, player_id):
    return {"deck": ["J"], "hands": ["Q"], "bets": ""}
"""


def test_by_the_papers_protocol_the_action_is_legal_in_the_models_own_state() -> None:
    belief = Belief(situation(ELSEWHERE), "module", 0, np.random.default_rng(0))
    with pytest.raises(NoDeterminizationError):
        belief.sample()
    assert belief.fallback("paper") == ("deal J", "random_in_model")
    action, how = belief.fallback("ours")
    assert (action in ("p", "b"), how) == (True, "random_legal")


def test_without_a_model_state_both_protocols_play_a_random_legal_action() -> None:
    belief = Belief(situation(RAISING), "module", 0, np.random.default_rng(0))
    with pytest.raises(NoDeterminizationError, match="resample_state raised RuntimeError: no idea"):
        belief.sample()
    assert belief.fallback("paper")[1] == belief.fallback("ours")[1] == "random_legal"


def test_a_population_that_dies_gives_way_to_the_next_sampler() -> None:
    here = situation()
    here.log.entries[-1] = Seen(here.log.latest(), ("A trumpet sounds.",))
    belief = Belief(here, "particle", 0, np.random.default_rng(0))
    with pytest.raises(NoDeterminizationError, match="tried particle, replay"):
        belief.sample()


def test_a_memory_of_another_module_is_of_no_use() -> None:
    memory = BeliefMemory(hung=True)
    belief = Belief(situation(STATE), "auto", 0, np.random.default_rng(0), memory=memory)
    belief.sample()
    assert belief.effort()["belief"] == "resample_state"


def test_without_a_sampler_of_its_own_a_card_game_is_believed_alike_after_a_resume() -> None:
    """The true state fits, so some state does; a new belief gives the same at the same cost."""
    namespace = load_namespace(library.source("shedding"), "shedding")
    own = {name: value for name, value in namespace.items() if not name.startswith("resample_")}
    rules, start = bind(own, 3), first_state(own, 3)
    memories: dict[int, BeliefMemory] = {}
    met = _random_decisions(rules, start, np.random.default_rng(1).random)
    for number, log in enumerate(met[:6]):
        kept = memories.setdefault(log.seat, BeliefMemory())
        drawn = []
        for memory in (kept, BeliefMemory()):
            generator = np.random.default_rng(number)
            here = DecisionPoint(rules, own, start, log, ())
            belief = Belief(here, "auto", 0, generator, memory=memory)
            drawn.append(([belief.sample() for _ in range(4)], belief.effort()))
            assert belief.failures == 0
        assert drawn[0] == drawn[1]
    assert len(memories) == 3
    assert all(memory.too_many for memory in memories.values()), "enumerated once a seat"


@pytest.mark.parametrize(("outcomes", "drawn"), [(MOST_OUTCOMES, False), (MOST_OUTCOMES + 1, True)])
def test_of_more_outcomes_than_a_file_of_matches_tells_one_need_only_be_applied(
    outcomes: int, drawn: bool
) -> None:
    at_deal = f'["deal " + str(n) for n in range({outcomes})]'
    unnamed = KUHN.replace('["deal " + card for card in state["deck"]]', at_deal)
    rules, namespace, start = game(unnamed + HISTORY)
    log = logs_of(rules, start, ["deal Q", "deal K", "p", "b"])[0]
    there = DecisionPoint(rules, namespace, start, log, ("p", "b"))
    belief = Belief(there, "module", 0, np.random.default_rng(0))
    if drawn:
        assert hands(belief) == {"['Q', 'J']", "['Q', 'K']"}
    else:
        with pytest.raises(NoDeterminizationError):
            belief.sample()
