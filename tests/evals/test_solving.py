import pytest

from agents.solving import uniform
from evals.solving import (
    QUICK,
    Size,
    Solved,
    conclusion,
    measure,
    search_scores,
    solved,
    solver_scores,
    tolerance,
)
from evals.solving_searches import Sampled
from tests.agents.solving.games_solved import preset

LEDUC, THEIRS = "leduc_poker", "OpenSpiel ISMCTSBot"


def policy(value: float) -> Sampled:
    return Sampled(searches=2, asked=200, behaviours=(), nash_conv=value, halves=value + 0.1)


def found(our: float, their: float) -> dict[tuple[str, str, int], Sampled]:
    return {(LEDUC, "ismcts", 1000): policy(our), (LEDUC, THEIRS, 1000): policy(their)}


def test_the_solver_keeps_its_thresholds_and_an_unsolved_game_does_not() -> None:
    games = {name: solved(name) for name in ("kuhn_poker", LEDUC)}
    scores = solver_scores(games)
    assert [score.at_most for score in scores] == [1e-9, 0.01, 10.0]
    assert [score.passed for score in scores[:2]] == [True, True]
    # Uniform play of Leduc poker has NashConv 4.747 (OpenSpiel).
    leduc = preset(LEDUC)
    lazy = Solved(LEDUC, leduc, uniform(leduc), 11.0)
    assert lazy.nash_conv == pytest.approx(4.747, abs=1e-3)
    assert [score.passed for score in solver_scores({**games, LEDUC: lazy})] == [True, False, False]


def test_a_search_that_is_worse_than_openspiels_is_flagged() -> None:
    strict = Size({1000: 20})
    assert search_scores(found(1.40, 1.26), strict, ())[0].passed
    assert not search_scores(found(1.42, 1.26), strict, ())[0].passed
    # A score rests on both: without OpenSpiel's there is none.
    assert search_scores({(LEDUC, "ismcts", 1000): policy(1.0)}, strict, ()) == ()


def test_the_quick_one_allows_what_chance_does_to_such_a_figure_and_no_more() -> None:
    again = [1.2, 1.3, 1.4]
    # The standard deviation is 0.1, that of a difference sqrt(2) times as much; two of those.
    assert tolerance(again) == pytest.approx(0.2828, abs=1e-4)
    assert search_scores(found(1.68, 1.26), QUICK, again)[0].passed
    assert not search_scores(found(1.71, 1.26), QUICK, again)[0].passed


def test_the_words_carry_the_figures() -> None:
    kuhn = preset("kuhn_poker")
    words = conclusion(Solved(LEDUC, kuhn, uniform(kuhn), 2.0), found(1.31, 1.25))
    assert "do not make ISMCTS converge" in words
    assert "ismcts 1.31 at 1000; OpenSpiel ISMCTSBot 1.25 at 1000" in words
    assert "0.9167 in 2.0 s" in words  # 11/12, uniform play of Kuhn poker


def test_a_small_run_reports_both_searches_and_duels() -> None:
    said = list[str]()
    size = Size({4: 2}, held=4, again=2, is_strict=False, searched=("kuhn_poker",))
    result = measure(2, said.append, size)
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
    assert {"ismcts", "exploration_openspiel", "tolerance", "process"} <= result.effective.keys()
