"""The scorer of the fit eval, on outcomes made by hand."""

import re

import pytest

from agents.composer.lexicon import PLAYERS
from agents.composer.meaning.statements import LabelledBrief, Seats, labelled_briefs
from evals.fit import _SETS, JudgedBrief, load_briefs, score_briefs
from games.library import families


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
    for one in (one for of in (*held_out.values(), *labelled_briefs().values()) for one in of):
        assert (one.family is None) == (one.kind == "out")
        assert one.family is None or one.family in families()


def test_what_is_measured_was_not_learned_from() -> None:
    learned = {one.text for of in labelled_briefs().values() for one in of}
    assert learned.isdisjoint(one.text for part in _SETS for one in load_briefs(part))


def test_the_parts_of_a_labelled_brief_say_what_it_asks_for_in_words_that_it_holds() -> None:
    for one in (one for of in labelled_briefs().values() for one in of):
        for name, _, part in one.said:
            assert name == PLAYERS or name in one.settings
            # A number or a card rank is set aside; every other word is the person's.
            assert {*re.findall(r"[a-z]{3,}", part)} <= {*re.findall(r"[a-z]{3,}", one.text)}
