from evals.bench.uct_connect_four import measure


def test_repeats_do_the_same_work() -> None:
    first, second = (measure(simulations=30, seed=1) for _ in range(2))
    assert first.calls == second.calls
    # Each simulation applies at least one action and reads the new state's actions and rewards.
    assert first.calls >= 3 * 30
    assert first.whole > 0
