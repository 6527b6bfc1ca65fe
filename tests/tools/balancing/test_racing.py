"""Search: where figures are known exactly, it finds what there is, and says what is not."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agents.players.registry import PlayerRoster
from games.library import defaults, read_game
from games.streams import stream
from games.values import Json
from tools.balancing.answer import balance_answer
from tools.balancing.playing import BalanceTable, balance_table
from tools.balancing.racing import BalanceSearch
from tools.balancing.space import SettingsSpace, declared_settings, settings_space
from tools.balancing.tallies import Tally
from tools.balancing.targets import TargetError, parse_targets
from tools.playtest.intervals import wilson
from tools.playtest.jobs import GameSetup, SandboxRecipe
from tools.playtest.journal import JournalError
from tools.playtest.runner import Workers

SOURCE = (Path(__file__).parents[2] / "models" / "weighted.py").read_text(encoding="utf-8")
CARD = read_game(SOURCE)


def space(*free: str, **start: Json) -> SettingsSpace:
    return settings_space(declared_settings(CARD), {**defaults(CARD), **start}, free)


class ExactTable(BalanceTable):
    """Plays the game by its own probabilities, without a sandbox: quick, and known exactly."""

    def refusal(self, settings: Mapping[str, Json]) -> str:
        even_blue = settings["bias"] == 50 and settings["colour"] == "blue"
        return "a blue coin is never even" if even_blue else ""

    def tally(
        self, settings: Mapping[str, Any], purpose: str, part: int, matches: int, *, replay: bool
    ) -> Tally:
        self.matches += matches
        if settings["endless"]:
            return Tally(2, void=matches, why="no end")
        drawn = stream(self.seed, purpose, match=part).random(matches) < settings["bias"] / 100
        won, nods = int(drawn.sum()), float(settings["nods"])
        sums = {"turns": nods, "forced": 1.0, "choices": 1.0}
        return Tally(
            2,
            Counter({(0, 1): won, (1, 0): matches - won}),
            {name: (matches * one, matches * one * one) for name, one in sums.items()},
        )


def searched(table: BalanceTable, here: SettingsSpace, target: str, budget: int) -> dict[str, Any]:
    search = BalanceSearch(table, here, parse_targets(target, 2), budget)
    search.run()
    return balance_answer(search, None)


def balanced(
    target: str, *free: str, budget: int = 12_000, start: Mapping[str, Json] | None = None
) -> dict[str, Any]:
    here = space(*free, **(start or {}))
    game = GameSetup("weighted", SOURCE, 2, here.start)
    table = ExactTable(game, PlayerRoster(), SandboxRecipe(), Workers(), 5, 60, player="random")
    return searched(table, here, target, budget)


def played(target: str, budget: int, journal: Path, jobs: int = 1) -> dict[str, Any]:
    """The same by real matches."""
    here = space()
    game = GameSetup("weighted", SOURCE, 2, here.start)
    begun = BalanceTable(*(game, PlayerRoster(), SandboxRecipe(), Workers(jobs, "threads"), 5, 60))
    with balance_table(begun, journal, {"target": target}) as table:
        table.choose_player(["random"])
        return searched(table, here, target, budget)


def figures(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["figure"]: row for row in found["figures"]}


def test_a_share_and_a_length_that_are_known_are_found_and_confirmed() -> None:
    found = balanced("first seat 50±8 %, 9 to 15 turns", budget=20_000)
    assert found["reached"]
    assert found["matches"] <= 20_000
    settings = found["settings"]
    assert 42 <= settings["bias"] <= 58  # the game's own probability
    assert 9 <= settings["nods"] <= 15
    row = figures(found)
    assert row["wins of seat 1"]["low"] <= settings["bias"] / 100 <= row["wins of seat 1"]["high"]
    assert row["turns"]["value"] == settings["nods"]
    assert set(found["changed"]) == {"bias", "nods"}  # the colour and the label stay


def test_where_the_start_reaches_the_targets_nothing_is_changed() -> None:
    found = balanced("first seat 80±10 %, turns under 8")
    assert (found["reached"], found["changed"]) == (True, {})


def test_the_intervals_of_several_that_could_be_confirmed_are_wider() -> None:
    one = balanced("first seat 80±10 %")  # the start alone
    assert one["confidence"] == 0.95
    several = balanced("first seat 50±8 %, 9 to 15 turns", budget=20_000)
    errors = [0.05 / count for count in range(2, 6)]  # Bonferroni: together 0.05 again
    assert any(1 - several["confidence"] == pytest.approx(error) for error in errors)
    for found in (one, several):
        row = next(row for row in found["figures"] if row["figure"] == "wins of seat 1")
        known = wilson(row["value"] * row["n"], row["n"], "matches", found["confidence"])
        assert (row["low"], row["high"]) == pytest.approx((known.low, known.high))


def test_what_nothing_reaches_is_told_with_its_miss_and_with_what_moves_it() -> None:
    found = balanced("40 to 50 turns, first seat 50±10 %", budget=4000)
    assert not found["reached"]
    row = figures(found)["turns"]
    assert row["answer"] == "missed"
    assert row["misses_by"] == 40 - row["value"]
    (lever,) = [one for one in found["levers"] if one["figure"] == "turns"]
    assert [one["setting"] for one in lever["moves"]] == ["nods"]  # nothing else moves the length


def test_a_figure_that_no_setting_moves_needs_another_rule() -> None:
    found = balanced("ties over 20 %", budget=2000)  # no match of this game is a tie
    (lever,) = found["levers"]
    assert (lever["answer"], lever["moves"]) == ("not moved", [])


def test_settings_without_an_end_are_ruled_out_and_said() -> None:
    found = balanced("turns over 20, first seat 80±10 %", budget=6000)
    endless = [row for row in found["tried"] if row["changed"].get("endless")]
    assert endless
    assert all("matches without a result" in row["why"] for row in endless)
    assert found["settings"]["endless"] is False


def test_a_start_without_an_end_is_searched_from_all_the_same() -> None:
    found = balanced("first seat 80±10 %", start={"endless": True})
    assert found["reached"]
    assert found["changed"]["endless"] is False


def test_where_nothing_ends_nothing_is_told() -> None:
    found = balanced("turns under 9", "bias", start={"endless": True}, budget=2000)
    assert (found["reached"], found["settings"]) == (False, None)
    assert "without a result" in found["why"][0]


def test_settings_that_the_game_refuses_cost_no_match() -> None:
    found = balanced("first seat 50±8 %", "bias", "colour", start={"colour": "blue"}, budget=4000)
    refused = [row for row in found["tried"] if row["why"] == "a blue coin is never even"]
    assert all(row["matches"] == 0 for row in refused)
    assert found["reached"]


def test_targets_whose_shares_do_not_add_up_are_refused() -> None:
    with pytest.raises(TargetError, match="add up"):
        balanced("first seat 70±2 %, second seat 60±2 %")


def test_a_setting_without_a_range_is_not_searched_and_said() -> None:
    here = space()
    assert "label" not in here.free
    assert here.fixed == {"label": "it declares neither a range nor choices"}
    for free, said in (("label", "cannot be searched"), ("bais", "did you mean 'bias'")):
        with pytest.raises(TargetError, match=said):
            space(free)


def test_a_start_beyond_what_is_declared_is_searched_from_or_said() -> None:
    found = balanced("first seat 50±15 %", "bias", "colour", start={"colour": "green"})
    assert found["reached"]
    assert found["changed"].keys() == {"bias"}  # the colour decides nothing, so the start's stays
    here = space(nods=40)
    assert here.fixed["nods"].endswith("nods can be 1 to 30; not 40")
    with pytest.raises(TargetError, match="1 to 30; not 40; leave it out"):
        space("nods", nods=40)


def test_what_was_stopped_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    target, journal, cut = "first seat 80±15 %, 4 to 6 turns", *map(tmp_path.joinpath, "ab")
    whole = played(target, 1000, journal)
    assert whole["reached"]
    lines = journal.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:20])
    again = played(target, 1000, cut, jobs=2)
    assert json.dumps(again) == json.dumps(whole)
    assert cut.read_bytes() == journal.read_bytes()
    other = lines[1].replace(b'"matches":32', b'"matches":33')
    cut.write_bytes(lines[0] + other)
    with pytest.raises(JournalError):
        played(target, 1000, cut)


WHOLE = {"asked": {"settings": {}, "purpose": "search", "part": 0, "matches": 32},
         "tally": {"ranks": {"0,1": 20, "1,0": 10}, "void": 2, "cut": 1, "why": "",
                   "sums": dict.fromkeys(["turns", "forced", "choices"], [60, 120])}}  # fmt: skip


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ((), ["not", "ours"], "other matches"),
        (("asked",), None, "other matches"),
        (("tally",), None, "no tally"),
        (("tally", "void"), -2, "no tally"),
        (("tally", "cut"), 3, "were cut"),
        (("tally", "void"), 3, "not those of 32 matches"),
        (("tally", "ranks"), {"0,1": 40, "1,0": -10}, "no tally"),
        (("tally", "ranks"), {"0,1,2": 30}, "others than 2 seats"),
        (("tally", "ranks"), {"first": 30}, "no tally"),
        (("tally", "sums", "turns"), [1e999, 1.0], "no tally"),
        (("tally", "sums"), {"turns": [60.0, 120.0]}, "no tally"),
    ],
)
def test_a_journal_is_believed_where_its_rows_are_tallies(
    place: tuple[str, ...], value: Json, said: str
) -> None:
    table = BalanceTable(
        *(GameSetup("weighted", SOURCE, 2, {}), PlayerRoster(), SandboxRecipe(), Workers(), 5, 60)
    )
    journal = SimpleNamespace(path="kept", entries={0: WHOLE})
    table.journal = cast(Any, journal)
    told = table.tally({}, "search", 0, 32, replay=False)
    assert (told.matches, told.void) == (30, 2)
    entry = json.loads(json.dumps(WHOLE))
    inner = entry
    for name in place[:-1]:
        inner = inner[name]
    if place:
        inner[place[-1]] = value
    journal.entries[1] = entry if place else value
    with pytest.raises(JournalError, match=said):
        table.tally({}, "search", 0, 32, replay=False)
