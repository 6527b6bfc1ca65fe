"""News: what is told of observations is enough to know them, and says nothing twice."""

from hypothesis import given
from hypothesis import strategies as st

from games.lockstep import Columns
from games.values import Json, canonical_object
from tools.guest.news import SeatNews

PART = st.booleans() | st.integers(-2, 2) | st.floats(-1, 1) | st.lists(st.integers(0, 2))
OBSERVATION = st.dictionaries(st.sampled_from("abcd"), PART)


@given(st.lists(st.tuples(st.integers(0, 1), OBSERVATION)))
def test_what_is_told_of_an_observation_is_enough_to_know_it(
    told: list[tuple[int, dict[str, Json]]],
) -> None:
    news = SeatNews()
    known: dict[int, dict[str, Json]] = {0: {}, 1: {}}
    news.begin_match(0, known)
    for seat, seen in told:
        news.begin_round()
        changed, gone = news.of(0, seat, seen)
        assert isinstance(changed, dict)
        assert isinstance(gone, list)
        of = known[seat]
        of |= {name: news.parts[int(str(number))] for name, number in changed.items()}
        known[seat] = {name: part for name, part in of.items() if name not in gone}
        assert repr(canonical_object(known[seat])) == repr(canonical_object(seen))


def test_what_many_seats_see_is_told_once() -> None:
    news = SeatNews()
    news.begin_match(3, range(4))
    news.begin_round()
    for seat in range(4):
        news.of(3, seat, {"trick": ["2C", "9C"], "seat": seat})
    assert news.parts == [["2C", "9C"], 0, 1, 2, 3]


def test_a_list_that_a_module_changes_in_place_is_told_again() -> None:
    trick: list[Json] = ["2C"]
    news = SeatNews()
    news.begin_match(0, [0])
    news.of(0, 0, {"trick": trick})
    trick.append("9C")
    assert news.begin_round().of(0, 0, {"trick": trick}) == ({"trick": 0}, [])
    assert news.begin_round().of(0, 0, {"trick": trick}) == ({}, [])
    assert news.begin_round().of(0, 0, {}) == ({}, ["trick"])


def test_parts_have_one_form_on_the_host() -> None:
    reply: Json = [[0], [0], ["pass"], [], [{"b": 1.0, "a": -0.0}]]
    assert repr(Columns.of(reply, 1).parts) == "[{'a': 0, 'b': 1}]"
