import re
from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np
import pyspiel
import pytest

from agents.solving.form import SequenceForm, cfr_plus, expected_returns, nash_conv, uniform
from evals.openspiel import Ask, their_nash_conv, theirs
from evals.results import EvalOptions
from evals.solving import (
    QUICK,
    SampledPolicy,
    SolvedGame,
    SolvingSize,
    alone,
    asking,
    classes,
    conclusion,
    run,
    sample_policy,
    search_scores,
    solve_preset,
    solver_scores,
)
from games.engine import Decision, Player, RandomPlayer
from games.information import SeatLog, entry_rows
from games.values import canonical_key
from tests.agents.small_games import KUHN
from tests.agents.solving.games_solved import preset, small

SUITLESS = re.compile(r"\b([JQK])[HS]\b")


def deciding(game: SequenceForm, told: Callable[[str], str]) -> Ask:
    """Decides by a digest of what `told` leaves of the seat's log, and of the sample."""

    def ask(seat: int, number: int, sample: int) -> str:
        text = told(canonical_key([*entry_rows(game.log(seat, number).entries)]))
        drawn = sha256(f"{seat} {sample} {text}".encode()).digest()[0]
        legal = game.seats[seat].states[number].actions
        return legal[drawn % len(legal)]

    return ask


def both(game: SequenceForm, ways: Callable[[SequenceForm, int], list[int]]) -> list[list[int]]:
    return [ways(game, seat) for seat in range(2)]


def test_there_are_as_many_classes_as_openspiel_has_states_without_suits() -> None:
    spiel = pyspiel.load_game("leduc_poker", {"suit_isomorphism": True})
    known = set[str]()

    def visit(state: "pyspiel.State") -> None:
        if state.is_terminal():
            return
        if not state.is_chance_node():
            known.add(state.information_state_string())
        for action in state.legal_actions():
            visit(state.child(action))

    visit(spiel.new_initial_state())
    game = preset("leduc_poker")
    assert sum(len(set(numbers)) for numbers in both(game, classes)) == len(known) == 288


def test_states_of_one_class_hold_the_same_ranks_and_actions() -> None:
    game = preset("leduc_poker")
    for seat, numbers in enumerate(both(game, classes)):
        states = game.seats[seat].states
        for number, first in enumerate(numbers):
            assert numbers[first] == first <= number
            assert states[number].actions == states[first].actions
            logs = [
                canonical_key([*entry_rows(game.log(seat, n).entries)]) for n in (number, first)
            ]
            assert len({SUITLESS.sub(r"\1", log) for log in logs}) == 1


def test_asking_one_state_of_a_class_gives_the_nash_conv_of_asking_all() -> None:
    game = preset("leduc_poker")
    ask = deciding(game, lambda text: SUITLESS.sub(r"\1", text))
    whole = sample_policy(game, ask, 2, both(game, alone))
    reduced = sample_policy(game, ask, 2, both(game, classes))
    assert reduced.nash_conv == pytest.approx(whole.nash_conv, abs=1e-12)
    assert reduced.halves == pytest.approx(whole.halves, abs=1e-12)
    assert reduced.asked < whole.asked
    for one, other in zip(reduced.behaviours, whole.behaviours, strict=True):
        assert np.array_equal(one, other)


def test_a_policy_that_looks_at_suits_does_not_survive_the_copying() -> None:
    game = preset("leduc_poker")
    ask = deciding(game, lambda text: text)
    whole = sample_policy(game, ask, 2, both(game, alone))
    reduced = sample_policy(game, ask, 2, both(game, classes))
    assert abs(whole.nash_conv - reduced.nash_conv) > 0.01


def test_openspiels_search_decides_in_our_words() -> None:
    game = preset("kuhn_poker")
    ask = theirs(game, "kuhn_poker", 200, seed=1)
    found = sample_policy(game, ask, 2, both(game, alone))
    # Its NashConv on Kuhn poker at 100 simulations and more is about 1/3.
    assert found.nash_conv == pytest.approx(1 / 3, abs=0.2)


def test_openspiels_solver_is_as_far_from_equilibrium_as_ours() -> None:
    game = preset("kuhn_poker")
    assert nash_conv(game, cfr_plus(game, 50)).total == pytest.approx(
        their_nash_conv("kuhn_poker", 50), rel=1e-6
    )


@pytest.mark.parametrize("searches", [0, 1, 3])
def test_an_odd_number_of_searches_has_no_halves(searches: int) -> None:
    game = preset("kuhn_poker")
    with pytest.raises(ValueError, match="even number, at least 2"):
        sample_policy(game, deciding(game, str), searches, both(game, alone))


LEDUC, THEIRS = "leduc_poker", "OpenSpiel ISMCTSBot"


def policy(value: float) -> SampledPolicy:
    return SampledPolicy(searches=2, asked=200, behaviours=(), nash_conv=value, halves=value + 0.1)


def found(our: float, their: float) -> dict[tuple[str, str, int], SampledPolicy]:
    return {(LEDUC, "ismcts", 1000): policy(our), (LEDUC, THEIRS, 1000): policy(their)}


def test_the_solver_keeps_its_thresholds_and_an_unsolved_game_does_not() -> None:
    games = {name: solve_preset(name) for name in ("kuhn_poker", LEDUC)}
    scores = solver_scores(games)
    assert [score.at_most for score in scores] == [1e-9, 0.01, 10.0]
    assert [score.passed for score in scores[:2]] == [True, True]
    # Uniform play of Leduc poker has NashConv 4.747 (OpenSpiel).
    leduc = preset(LEDUC)
    lazy = SolvedGame(LEDUC, leduc, uniform(leduc), 11.0)
    assert lazy.nash_conv == pytest.approx(4.747, abs=1e-3)
    assert [score.passed for score in solver_scores({**games, LEDUC: lazy})] == [True, False, False]


def test_a_search_that_is_worse_than_openspiels_is_flagged() -> None:
    strict = SolvingSize({1000: 20})
    assert search_scores(found(1.40, 1.26), strict)[0].passed
    assert not search_scores(found(1.42, 1.26), strict)[0].passed
    # A score rests on both: without OpenSpiel's there is none.
    assert search_scores({(LEDUC, "ismcts", 1000): policy(1.0)}, strict) == ()


def test_too_few_searches_show_the_figure_without_a_bound() -> None:
    (score,) = search_scores(found(1.77, 1.13), QUICK)
    assert score.value == pytest.approx(0.64)
    assert score.at_most is None


def test_the_words_carry_the_figures() -> None:
    kuhn = preset("kuhn_poker")
    words = conclusion(SolvedGame(LEDUC, kuhn, uniform(kuhn), 2.0), found(1.31, 1.25))
    assert "do not make ISMCTS converge" in words
    assert "ismcts 1.31 at 1000; OpenSpiel ISMCTSBot 1.25 at 1000" in words
    assert "0.9167 in 2.0 s" in words  # 11/12, uniform play of Kuhn poker


@pytest.mark.whole
def test_a_small_run_reports_both_searches_and_duels() -> None:
    said = list[str]()
    size = SolvingSize({4: 2}, held=4, worse_at_most=None, searched=("kuhn_poker",))
    result = run(EvalOptions(seed=2, tell=said.append), size)
    policies = {(row["game"], row["policy"]) for row in result.samples if "policy" in row}
    assert policies == {
        *((game, "CFR+") for game in ("kuhn_poker", LEDUC)),
        *(("kuhn_poker", who) for who in ("ismcts", THEIRS)),
    }
    solvers = [row for row in result.samples if row.get("policy") == "CFR+"]
    assert [row["information_states"] for row in solvers] == [12, 936]
    for row in solvers:
        # Every single iteration is tested elsewhere; over hundreds rounding leads them apart.
        assert row["nash_conv"] == pytest.approx(row["openspiel_nash_conv"], rel=0.02)
    duels = [row for row in result.samples if "duel" in row]
    assert len(duels) == 2
    # From both seats together an equilibrium loses to nobody; this one is 0.0009 away from it.
    assert all(isinstance(row["mean"], float) and row["mean"] > -0.001 for row in duels)
    assert len(result.scores) == 3
    assert not result.unscored
    assert result.effective["in_words"] == said[-1]
    assert {"ismcts", "exploration_openspiel", "process"} <= result.effective.keys()


def measure(
    game: SequenceForm, players: Sequence[Player], *, searches: int, seed: int
) -> SampledPolicy:
    classes = [alone(game, seat) for seat in range(len(players))]
    return sample_policy(game, asking(game, players, seed), searches, classes)


class Always:
    """Always plays the same action."""

    def __init__(self, action: str) -> None:
        self.action = action

    def choose(
        self, log: SeatLog, legal: Sequence[str], generator: np.random.Generator
    ) -> Decision:
        del log, legal, generator
        return Decision(self.action)


def test_a_player_without_chance_is_measured_exactly() -> None:
    game = small(KUHN)
    found = measure(game, [Always("b"), Always("b")], searches=2, seed=0)
    assert found.nash_conv == found.halves == pytest.approx(2 / 3)  # by hand, as for policies
    assert expected_returns(game, found.behaviours) == pytest.approx((0.0, 0.0))


def test_finitely_many_samples_of_random_play_show_a_nash_conv_too_high_that_falls() -> None:
    game = small(KUHN)
    few = [measure(game, [RandomPlayer()] * 2, searches=4, seed=seed) for seed in range(400)]
    many = measure(game, [RandomPlayer()] * 2, searches=1000, seed=0)
    assert many.nash_conv == pytest.approx(11 / 12, abs=0.05)
    mean = float(np.mean([found.nash_conv for found in few]))
    halves = float(np.mean([found.halves for found in few]))
    # Three standard errors of the mean of 400 are 0.044; it is 0.983.
    assert 11 / 12 + 0.02 < mean < halves


def test_samples_depend_on_the_seed_alone() -> None:
    game = small(KUHN)
    one, same, other = (
        measure(game, [RandomPlayer()] * 2, searches=10, seed=seed).nash_conv for seed in (1, 1, 2)
    )
    assert one == same != other


def test_players_see_nothing_but_the_log_of_their_state() -> None:
    game = small(KUHN)
    shown: list[SeatLog] = []

    class Spy(RandomPlayer):
        def choose(
            self, log: SeatLog, legal: Sequence[str], generator: np.random.Generator
        ) -> Decision:
            shown.append(log)
            return super().choose(log, legal, generator)

    measure(game, [Spy(), Spy()], searches=20, seed=0)
    assert [(log.seat, game.find(log)) for log in shown[::20]] == [
        (seat, state) for seat in (0, 1) for state in range(6)
    ]


def test_states_that_own_decisions_never_enter_are_not_asked_for() -> None:
    # Who always bets is never asked again; who always passes is, after a bet of the other seat.
    game = small(KUHN)
    betting = measure(game, [Always("b"), Always("b")], searches=4, seed=0)
    passing = measure(game, [Always("p"), Always("p")], searches=4, seed=0)
    assert (betting.asked, passing.asked) == (4 * (3 + 6), 4 * (6 + 6))
    # Where both always pass, each would win 1 for sure by betting.
    assert betting.nash_conv == pytest.approx(2 / 3)
    assert passing.nash_conv == pytest.approx(2.0)


def test_an_illegal_answer_is_no_measurement() -> None:
    with pytest.raises(ValueError, match="seat 0 chose 'pass'; legal:"):
        measure(small(KUHN), [Always("pass")] * 2, searches=2, seed=0)
