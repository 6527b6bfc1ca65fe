"""The scorer of the fit eval, on outcomes made by hand."""

import re

import pytest

from agents.protocols import Clause
from evals.fit import (
    _SETS,
    JudgedBrief,
    LabelledBrief,
    Seats,
    load_briefs,
    load_near_misses,
    score_briefs,
)
from games.library import families
from games.library.settings import PLAYERS, game_of
from scripts.meaning import labelled_briefs


def brief(kind: str, family: str | None, seats: object = None) -> LabelledBrief:
    fields = {"id": "x", "kind": kind, "text": "a game", "family": family, "seats": seats}
    return LabelledBrief.model_validate({**fields, "settings": {"rows": 8}, "unhonoured": []})


def made(one: LabelledBrief, family: str | None, seats: int = 2, rows: int = 8) -> JudgedBrief:
    return JudgedBrief(
        one, "confirm", family, seats, {"rows": rows}, "made" if family else "no_fit"
    )


def values(*judged: JudgedBrief) -> dict[str, float]:
    return {s.name.removeprefix("confirm: "): s.value for s in score_briefs(judged, {}).scores}


def test_a_game_of_another_kind_that_is_made_counts_as_wrong_and_a_refusal_does_not() -> None:
    own = made(brief("in", "capture"), "capture")
    assert values(own, made(brief("out", None), "capture"))["made in a wrong family"] == 0.5
    assert values(own, made(brief("out", None), None))["made in a wrong family"] == 0.0


def test_settings_are_counted_in_the_right_family_alone_and_refusals_among_its_own() -> None:
    own = brief("in", "capture")
    found = values(made(own, "capture"), made(own, "capture", rows=9), made(own, None))
    assert found["settings found"] == 0.5
    assert found["in, refused"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("wanted", "seats", "right"), [(None, 5, True), (3, 2, False), (Seats(min=2, max=4), 4, True)]
)
def test_seats_are_right_where_the_brief_says_so_or_nothing(
    wanted: object, seats: int, right: bool
) -> None:
    assert made(brief("in", "capture", wanted), "capture", seats).seated is right


def test_every_brief_names_a_family_of_the_library_or_is_out_of_it() -> None:
    held_out = {part: load_briefs(part) for part in _SETS}
    for one in (one for of in (*held_out.values(), labelled_briefs()) for one in of):
        assert (one.family is None) == (one.kind == "out")
        assert one.family is None or one.family in families()


def test_what_is_measured_was_not_learned_from() -> None:
    learned = {one.text for one in labelled_briefs()}
    assert learned.isdisjoint(one.text for part in _SETS for one in load_briefs(part))


def test_the_parts_of_a_labelled_brief_say_what_it_asks_for_in_words_that_it_holds() -> None:
    for one in labelled_briefs():
        for name, _, part in one.said:
            assert name == PLAYERS or name in one.settings
            # A number or a card rank is set aside; every other word is the person's.
            assert {*re.findall(r"[a-z]{3,}", part)} <= {*re.findall(r"[a-z]{3,}", one.text)}


def test_a_setting_that_nobody_asked_for_costs_precision() -> None:
    asked = brief("in", "capture")
    mine = made(asked, "capture", rows=7)
    both = JudgedBrief(asked, "confirm", "capture", 2, {"rows": 7, "columns": 7}, "made")
    found = values(mine, both)
    assert found["settings made that the brief speaks of"] == pytest.approx(2 / 3)
    assert found["settings made as asked"] == 0.0


def test_the_floor_is_what_the_family_has_anyway() -> None:
    usual = game_of("capture").defaults()
    fields = {"id": "x", "kind": "in", "text": "a game", "family": "capture", "seats": 2}
    settings = {"rows": usual["rows"], "columns": 99}
    one = LabelledBrief.model_validate({**fields, "settings": settings, "unhonoured": []})
    found = values(made(one, "capture"))
    assert found["settings found, nothing read"] == 0.5
    assert found["seats right, nothing read"] == 1.0


def test_a_demand_is_dropped_where_no_clause_shares_a_word_with_it() -> None:
    fields = {"id": "x", "kind": "border", "text": "a game", "family": "capture", "seats": None}
    lost = ["dragons breathe fire", "a shop sells swords"]
    one = LabelledBrief.model_validate({**fields, "settings": {}, "unhonoured": lost})
    clause = Clause(text="fire burns", status="not_honoured", reason="no setting")
    judged = JudgedBrief(one, "confirm", "capture", 2, {}, "made", (clause,))
    assert values(judged)["demands dropped without a word"] == 0.5


def test_thresholds_stand_on_all_sets_together_and_an_interval_beside_each_figure() -> None:
    own = made(brief("in", "capture"), "capture")
    result = score_briefs([own, own], {})
    bound = {s.name for s in result.scores if s.at_least is not None or s.at_most is not None}
    assert all(name.startswith("all: ") for name in bound)
    intervals = result.effective["intervals (Wilson, 95%)"]
    assert isinstance(intervals, dict)
    # Wilson for 2 of 2: low is n / (n + z²), with z = 1.96.
    assert intervals["all: settings found"] == [pytest.approx(2 / (2 + 1.96**2), abs=1e-3), 1.0]


def test_a_near_miss_is_told_where_more_demands_are_listed_as_lost_than_as_kept() -> None:
    kept = Clause(text="two play", status="honoured", setting="num_players=2")
    lost = Clause(text="melds are words", status="not_honoured", reason="no setting")
    ends = [
        JudgedBrief(brief("out", None), "near_misses", "rummy", 2, {}, "made", (kept, lost)),
        JudgedBrief(brief("out", None), "near_misses", "rummy", 2, {}, "made", (kept, lost, lost)),
        JudgedBrief(brief("out", None), "near_misses", None, 0, {}, "no_fit"),
    ]
    (near,) = [s for s in score_briefs(ends, {}).scores if s.name.startswith("near misses")]
    assert near.scored == 3
    assert near.value == pytest.approx(1 / 3)


def test_thirty_near_misses_are_no_familys_game_and_were_not_learned_from() -> None:
    near = load_near_misses()
    learned = {one.text for one in labelled_briefs()}
    assert (len(near), {one.family for one in near}) == (30, {None})
    assert learned.isdisjoint(one.text for one in near)
