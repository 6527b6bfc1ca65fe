import numpy as np
import pytest

from agents.belief.exact import HiddenInformationError
from agents.search.settings import SearchResult
from agents.search.tree import UctSearch
from agents.search.uct import UctSettings
from agents.worker.session import ReusedTree
from games.values import State
from tests.agents.belief.logs import logs_of
from tests.agents.small_games import KUHN, SOON, TIC_TAC_TOE, game

SETTINGS = UctSettings(reuse="yes", simulations=200, exploration=1.0, solver="no")
WORDS = (1, 2, 3)


def match(settings: UctSettings = SETTINGS) -> tuple[list[str], list[SearchResult]]:
    """Seat 0 with one tree against a seat that takes the first free square."""
    rules, _, start = game(TIC_TAC_TOE)
    tree = ReusedTree(rules, start, 0, settings, WORDS)
    state, actions, found = start, list[str](), list[SearchResult]()
    while rules.current_player(state) != -4:
        if rules.current_player(state) == 0:
            found.append(tree.decide(logs_of(rules, start, actions)[0].entries))
            action = found[-1].best
        else:
            action = rules.legal_actions(state)[0]
        actions.append(action)
        state = rules.apply_action(state, action)
    assert rules.rewards(state) == [1.0, -1.0]  # against such play x wins
    return actions, found


def test_a_decision_begins_from_the_visits_that_the_last_one_left() -> None:
    _, found = match()
    assert "inherited" not in found[0].figures
    for result in found[1:]:
        inherited = result.figures["inherited"]
        assert isinstance(inherited, int)
        assert inherited > 0
        assert sum(result.visits) == 200 + inherited
        assert result.simulations == 200


@pytest.mark.parametrize(
    "settings", [SETTINGS, SETTINGS.model_copy(update={"simulations": 100, "rave": "grave"})]
)
def test_a_tree_rebuilt_in_the_middle_of_a_match_is_the_same(settings: UctSettings) -> None:
    rules, _, start = game(TIC_TAC_TOE)
    actions, found = match(settings)
    for decision, result in enumerate(found):
        fresh = ReusedTree(rules, start, 0, settings, WORDS)
        log = logs_of(rules, start, actions[: 2 * decision])[0]
        assert fresh.decide(log.entries) == result


def test_other_words_give_another_tree() -> None:
    rules, _, start = game(TIC_TAC_TOE)
    entries = logs_of(rules, start, [])[0].entries
    results = {
        ReusedTree(rules, start, 0, SETTINGS, (word,)).decide(entries).visits for word in range(3)
    }
    assert len(results) == 3


def test_a_log_of_another_match_does_not_continue_a_tree() -> None:
    rules, _, start = game(TIC_TAC_TOE)
    tree = ReusedTree(rules, start, 0, SETTINGS, WORDS)
    tree.decide(logs_of(rules, start, [])[0].entries)
    longer = logs_of(rules, start, ["4", "0"])[0].entries
    assert tree.continues(longer, WORDS)
    assert not tree.continues(longer, (9,))
    tree.decide(longer)
    assert not tree.continues(logs_of(rules, start, ["0", "4"])[0].entries, WORDS)


def test_a_forced_decision_that_is_asked_for_all_the_same_is_searched() -> None:
    rules, _, start = game(SOON, 1)
    tree = ReusedTree(rules, start, 0, SETTINGS, WORDS)
    entries = logs_of(rules, start, ["slow"])[0].entries
    assert len(tree.decide(entries).actions) == 1
    with pytest.raises(ValueError, match="no decision that is left"):
        tree.decide(entries)


def test_the_root_moves_to_the_new_state_and_what_lies_above_it_is_dropped() -> None:
    rules, _, start = game(TIC_TAC_TOE)
    search = UctSearch(rules, start, SETTINGS, np.random.default_rng(0))
    for _ in range(300):
        search.simulate()
    child = search.root.children[0]
    assert child is not None
    passed, visits = (
        child.visits,
        {n.action: n.edge_visits for n in child.children if n is not None},
    )
    search.go_on(child, np.random.default_rng(1))
    assert search.size == child.count() < 301
    for _ in range(50):
        search.simulate()
    found = search.result()
    assert (found.simulations, sum(found.visits)) == (50, passed + 50)
    assert all(found.visits[found.actions.index(a)] >= n for a, n in visits.items())


def test_what_cannot_be_rebuilt_is_refused() -> None:
    for budget in ("calls", "time"):
        with pytest.raises(ValueError, match="required: budget=simulations"):
            UctSettings.model_validate({"reuse": "yes", "budget": budget})


def test_a_log_that_leaves_several_states_is_refused() -> None:
    rules, _, start = game(KUHN)
    tree = ReusedTree(rules, start, 0, SETTINGS, WORDS)
    dealt: State = start
    log = logs_of(rules, dealt, ["deal Q", "deal K"])[0]
    with pytest.raises(HiddenInformationError):
        tree.decide(log.entries)
