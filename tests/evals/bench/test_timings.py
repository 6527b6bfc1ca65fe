import pytest

from evals.bench.timings import Timing, interleaved, machine


def test_measures_take_turns_and_every_other_round_is_turned_round() -> None:
    order: list[str] = []

    def note(name: str) -> float:
        order.append(name)
        return float(len(order))

    values = interleaved({"a": lambda: note("a"), "b": lambda: note("b")}, 3)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert values == {"a": (1.0, 4.0, 5.0), "b": (2.0, 3.0, 6.0)}


def test_a_sample_states_its_conditions_and_its_extremes() -> None:
    sample = Timing("x, ms", (3.0, 1.0, 2.5), {"grade": "strong"}).as_sample()
    assert sample == {
        "measured": "x, ms",
        "grade": "strong",
        "repetitions": 3,
        "min": 1.0,
        "median": 2.5,
        "max": 3.0,
    }


def test_a_timing_without_values_has_no_median() -> None:
    with pytest.raises(ValueError, match="no median"):
        _ = Timing("x, ms", ()).median


def test_figures_say_what_they_were_measured_on() -> None:
    assert machine().keys() == {"kernel", "python", "cores", "load_average"}
