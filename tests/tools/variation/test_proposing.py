"""Proposals: other settings than those at hand, within what each may be."""

import numpy as np

from games.library.settings import GameParameter
from tools.variation.proposing import SettingSpace, Twist

FIELDS = {
    "rows": GameParameter(default=6, range=(2, 19)),
    "gravity": GameParameter(default=True, choices=[True, False]),
    "bets": GameParameter(default="2,4"),
}
BASE = {"rows": 6, "gravity": True, "bets": "2,4"}


def space(held: frozenset[str] = frozenset(), **more: object) -> SettingSpace:
    given = {"presets": [], "objection": lambda _: "", **more}
    return SettingSpace(FIELDS, BASE, held, **given)  # type: ignore[arg-type]


def proposed(of: SettingSpace, count: int, seed: int = 1) -> list[Twist]:
    return of.proposals(count, np.random.default_rng(seed))


def test_no_proposal_is_its_parent_and_none_comes_twice() -> None:
    found = proposed(space(presets=[BASE, {**BASE, "rows": 15}]), 12)
    assert {"rows": 15} in found
    assert all(
        twist and all(BASE[name] != value for name, value in twist.items()) for twist in found
    )
    assert len({str(sorted(twist.items())) for twist in found}) == len(found)


def test_several_settings_change_at_once_and_none_leaves_its_range() -> None:
    found = proposed(space(), 14)
    assert any(len(twist) > 1 for twist in found)
    assert all(2 <= int(str(twist.get("rows", 6))) <= 19 for twist in found)


def test_what_is_held_and_what_has_no_values_stays() -> None:
    found = proposed(space(held=frozenset({"rows"}), presets=[{**BASE, "rows": 15}]), 14)
    assert found == [{"gravity": False}]
    assert space().unranged == ["bets"]


def test_what_there_is_an_objection_to_is_not_proposed_and_too_many_are_not_to_be_had() -> None:
    assert proposed(space(objection=lambda _: "no game"), 8) == []
    assert len(proposed(space(), 10_000)) == 7 + 1 + 7  # rows, gravity, and both


def test_the_same_generator_gives_the_same_proposals() -> None:
    assert proposed(space(), 9, 3) == proposed(space(), 9, 3)
    assert proposed(space(), 9, 3) != proposed(space(), 9, 4)
