import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from games.contract import Game, LocalModule, ModuleFault
from games.engine import Player
from games.records import to_jsonl
from games.table import GameTable, Table
from games.trajectories import IncompleteMatchError, open_deck
from tests.tools.playtest.players import PERFECT, REFUSES, UNIFORM, Uniform
from tests.tools.sources import NIM, nim_with
from tools.playtest import (
    Entrant,
    JournalError,
    Series,
    SeriesSettings,
    first_seat_advantage,
    play_series,
    sandbox_tables,
    skill_ladder,
)
from tools.sandbox import Sandbox

SETTINGS = SeriesSettings(game="nim", source_id="nim", matches=40, seed=11)


@contextmanager
def table() -> Iterator[Table]:
    yield GameTable(Game(LocalModule(NIM)))


def as_bytes(series: Series) -> bytes:
    return "".join(to_jsonl(record) for record in series.records).encode()


def test_the_first_seat_of_nim_wins_exactly_where_the_pile_is_four() -> None:
    # With perfect play a pile of 3 is lost for whoever moves, and a pile of 4 is won.
    series = play_series(table, [PERFECT, PERFECT], SETTINGS)
    fours = sum(record.actions[0] == "pile 4" for record in series.records)
    assert series.rotations == 1
    assert 20 < fours < 40
    assert first_seat_advantage(series.records).value == pytest.approx(fours / 40 - 0.5)


def test_seats_rotate_within_a_deal_and_deals_are_paired() -> None:
    series = play_series(table, [PERFECT, UNIFORM], SETTINGS)
    assert series.rotations == 2
    for first, second in series.finished_deals():
        assert first.players == ("perfect", "uniform")
        assert second.players == ("uniform", "perfect")
        assert first.actions[0] == second.actions[0]
    assert len({deal[0].actions[0] for deal in series.finished_deals()}) == 2


def test_a_sandboxed_series_equals_a_local_one_with_any_number_of_jobs(sandbox: Sandbox) -> None:
    here = play_series(table, [PERFECT, UNIFORM], SETTINGS)
    there = play_series(sandbox_tables(sandbox, NIM), [PERFECT, UNIFORM], SETTINGS, jobs=3)
    assert here == there


def test_a_series_killed_midway_resumes_to_the_same_bytes(tmp_path: Path, sandbox: Sandbox) -> None:
    child = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tests.tools.playtest.test_series import NIM, PERFECT, SETTINGS, UNIFORM\n"
        "from tools.playtest import play_series, sandbox_tables\n"
        "from tools.sandbox import Sandbox\n"
        "with Sandbox() as sandbox:\n"
        "    play_series(sandbox_tables(sandbox, NIM), [PERFECT, UNIFORM], SETTINGS,\n"
        "                journal=Path(sys.argv[1]), on_match=lambda record: time.sleep(0.03))\n"
    )
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    tables = sandbox_tables(sandbox, NIM)
    uninterrupted = play_series(tables, [PERFECT, UNIFORM], SETTINGS, journal=whole)
    with subprocess.Popen([sys.executable, "-c", child, str(cut)]) as process:
        deadline = time.monotonic() + 30
        while not cut.exists() or cut.read_bytes().count(b"\n") < 8:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    kept = cut.read_bytes().count(b"\n") - 1
    assert 7 <= kept < SETTINGS.matches
    arrived: list[int] = []
    resumed = play_series(
        tables,
        [PERFECT, UNIFORM],
        SETTINGS,
        journal=cut,
        on_match=lambda record: arrived.append(record.match_index),
    )
    assert resumed == uninterrupted
    assert as_bytes(resumed) == as_bytes(uninterrupted)
    assert cut.read_bytes() == whole.read_bytes()
    assert arrived == list(range(SETTINGS.matches))


def test_finished_matches_are_not_played_again(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"
    first = play_series(table, [PERFECT, PERFECT], SETTINGS, journal=path)

    def nobody(seat: int, match: int) -> Player:
        raise AssertionError("a match was played again")

    again = play_series(table, [Entrant("perfect", nobody)] * 2, SETTINGS, journal=path)
    assert again == first


def test_a_series_can_be_made_longer(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"
    play_series(
        table,
        [UNIFORM, UNIFORM],
        SETTINGS.model_copy(update={"matches": 10}),
        journal=path,
    )
    longer = play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
    assert longer == play_series(table, [UNIFORM, UNIFORM], SETTINGS)


def test_half_a_line_is_dropped_and_played_again(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"
    whole = play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    assert play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path) == whole
    assert path.read_bytes() == data


def test_a_damaged_or_foreign_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"
    play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
    other = SETTINGS.model_copy(update={"seed": 12})
    with pytest.raises(JournalError, match="seed: 11 there, 12 here"):
        play_series(table, [UNIFORM, UNIFORM], other, journal=path)
    with pytest.raises(JournalError, match="line_up"):
        play_series(table, [PERFECT, PERFECT], SETTINGS, journal=path)
    path.write_bytes(path.read_bytes().replace(b'"take 1"', b'"take 2"', 1))
    with pytest.raises(JournalError, match="damaged in line 2"):
        play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
    path.write_text("{}\n")
    with pytest.raises(JournalError, match="no journal"):
        play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)


def test_a_journal_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="cannot write"):
        play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=tmp_path / "file" / "x.jsonl")


def test_what_was_written_before_the_disk_was_full_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(JournalError, match="what is in it is kept"):
            play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes().endswith(b"\n")
    assert path.read_bytes().count(b"\n") > 2
    resumed = play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
    assert resumed == play_series(table, [UNIFORM, UNIFORM], SETTINGS)


def test_one_journal_has_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "series.jsonl"

    def second(seat: int, match: int) -> Player:
        with pytest.raises(JournalError, match="another process"):
            play_series(table, [UNIFORM, UNIFORM], SETTINGS, journal=path)
        return Uniform()

    one = SETTINGS.model_copy(update={"matches": 1})
    play_series(table, [Entrant("uniform", second)] * 2, one, journal=path)


def test_endings_are_counted_apart(sandbox: Sandbox) -> None:
    short = SETTINGS.model_copy(update={"matches": 4, "max_plies": 2})
    assert play_series(table, [UNIFORM] * 2, short).endings["unfinished"] == 4
    few = SETTINGS.model_copy(update={"matches": 4})
    assert play_series(table, [UNIFORM, REFUSES], few).endings["forfeit"] == 4
    broken = sandbox_tables(sandbox, nim_with("get_rewards", "return {1}"))
    series = play_series(broken, [UNIFORM] * 2, few)
    assert series.endings == {"finished": 0, "unfinished": 0, "forfeit": 0, "fault": 4}
    assert series.finished_deals() == []


def test_a_module_that_does_not_load_ends_the_series(sandbox: Sandbox) -> None:
    with pytest.raises(ModuleFault, match="unreadable"):
        play_series(sandbox_tables(sandbox, "def f(:"), [UNIFORM] * 2, SETTINGS)


def test_matches_that_do_not_fill_the_rotation_are_refused() -> None:
    odd = SETTINGS.model_copy(update={"matches": 3})
    with pytest.raises(ValueError, match="a multiple of 2, such as 4"):
        play_series(table, [UNIFORM, PERFECT], odd)
    assert len(play_series(table, [UNIFORM, UNIFORM], odd).records) == 3


def test_players_are_closed_after_each_match() -> None:
    made: list[Uniform] = []

    def make(seat: int, match: int) -> Player:
        made.append(Uniform())
        return made[-1]

    few = SETTINGS.model_copy(update={"matches": 4})
    play_series(table, [Entrant("uniform", make), REFUSES], few)
    assert len(made) == 4
    assert all(player.closed for player in made)


def test_records_of_a_series_refuse_to_be_read_as_open_deck() -> None:
    one = SETTINGS.model_copy(update={"matches": 1})
    (record,) = play_series(table, [UNIFORM] * 2, one).records
    with pytest.raises(IncompleteMatchError):
        open_deck(record.match)


def test_the_ladder_climbs_from_random_to_perfect_and_falls_back(tmp_path: Path) -> None:
    again = Entrant("uniform again", UNIFORM.make)
    steps = skill_ladder(
        table, [UNIFORM, PERFECT, again], SETTINGS.model_copy(update={"matches": 100}), 2,
        journals=tmp_path,
    )  # fmt: skip
    assert [step.verdict for step in steps] == ["climbs", "falls"]
    assert [(step.lower, step.higher) for step in steps] == [
        ("uniform", "perfect"),
        ("perfect", "uniform again"),
    ]
    assert steps[0].endings["finished"] == 100
    assert len(list(tmp_path.iterdir())) == 2


def test_a_step_between_equals_is_undecided() -> None:
    # In nim from 3 or 4 the perfect player and itself split every deal's two seatings alike.
    again = Entrant("perfect again", PERFECT.make)
    (step,) = skill_ladder(table, [PERFECT, again], SETTINGS, 2)
    assert step.verdict == "undecided"
    assert step.advantage.value == 0  # type: ignore[union-attr]


def test_a_ladder_that_finishes_nothing_is_unmeasured() -> None:
    short = SETTINGS.model_copy(update={"max_plies": 1})
    (step,) = skill_ladder(table, [UNIFORM, PERFECT], short, 2)
    assert (step.verdict, step.endings["unfinished"]) == ("unmeasured", 40)


def test_cooperation_compares_returns_on_the_same_deals() -> None:
    shared = NIM.replace("return [1, -1] if", "return [1, 1] if").replace(
        "else [-1, 1]", "else [0, 0]"
    )

    @contextmanager
    def cooperative() -> Iterator[Table]:
        yield GameTable(Game(LocalModule(shared)))

    (step,) = skill_ladder(cooperative, [UNIFORM, PERFECT], SETTINGS, 2, cooperative=True)
    assert step.measure == "return"
    assert step.endings["finished"] == 80
