"""The journal of a series: the same bytes whatever arrives when, and only of the same work."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from games.contract import Game, LocalModule
from games.engine import Player
from games.records import MatchRecord
from games.table import GameTable, Table
from tests.tools.playtest.players import PERFECT, UNIFORM, Uniform
from tests.tools.sources import NIM
from tools.playtest import Entrant, JournalError, SeriesSettings, play_series

SETTINGS = SeriesSettings(game="nim", source_id="nim", matches=6, seed=11)


@contextmanager
def table() -> Iterator[Table]:
    yield GameTable(Game(LocalModule(NIM)))


def indices(path: Path) -> list[int]:
    return [json.loads(line)["index"] for line in path.read_bytes().splitlines()[1:]]


def test_matches_that_arrive_in_another_order_leave_the_same_journal(tmp_path: Path) -> None:
    one, three = tmp_path / "one.jsonl", tmp_path / "three.jsonl"
    arrived: list[int] = []
    last = threading.Event()

    def late(seat: int, match: int) -> Player:
        assert match or last.wait(30)  # match 0 begins when all others have arrived
        return Uniform()

    def tell(record: MatchRecord) -> None:
        arrived.append(record.match_index)
        if len(arrived) == SETTINGS.matches - 1:
            last.set()

    slow = Entrant(UNIFORM.name, late)
    play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=one)
    series = play_series(table, [slow, slow], SETTINGS, journal=three, jobs=3, on_match=tell)
    assert arrived[-1] == 0
    assert [record.match_index for record in series.records] == list(range(SETTINGS.matches))
    assert three.read_bytes() == one.read_bytes()


def test_matches_beyond_those_asked_for_stay_in_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"
    play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))  # the first match is missing
    few = SETTINGS.model_copy(update={"matches": 2})
    assert len(play_series(table, [UNIFORM, UNIFORM], few, journal=path).records) == 2
    assert indices(path) == list(range(SETTINGS.matches))
    assert path.read_bytes() == whole


def test_a_journal_of_other_heuristics_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"
    mine = SETTINGS.model_copy(update={"heuristics": {"mine": "aa"}})
    first = play_series(table, [UNIFORM, PERFECT], mine, journal=path)
    for others in ({"mine": "bb"}, {"mine": "aa", "yours": "aa"}, {}):
        changed = SETTINGS.model_copy(update={"heuristics": others})
        with pytest.raises(JournalError, match="other work .heuristics: "):
            play_series(table, [UNIFORM, PERFECT], changed, journal=path)
    assert play_series(table, [UNIFORM, PERFECT], mine, journal=path) == first


def test_where_there_are_no_heuristics_the_heading_does_not_name_any(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"
    play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
    assert json.loads(path.read_bytes().splitlines()[0]) == {
        "journal": 1,
        "identity": {"game": "nim", "source_id": "nim", "parameters": {}, "seed": 11,
                     "max_plies": 2000, "line_up": ["uniform", "uniform"]},
    }  # fmt: skip


def test_entrants_and_seats_agree_with_the_records() -> None:
    series = play_series(table, [UNIFORM, PERFECT], SETTINGS)
    for record in series.records:
        for entrant, name in enumerate(series.line_up):
            seat = series.seat_of(entrant, record.match_index)
            assert record.players[seat] == name
            assert series.entrant_at(seat, record.match_index) == entrant
