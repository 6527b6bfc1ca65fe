"""Series of matches: rotation, journal, resumption, and the ladder of neighbours."""

import json
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from agents.players.registry import PlayerRoster
from games.engine import Player
from games.library import source
from games.records import json_line
from games.trajectories import IncompleteMatchError, open_deck
from tests.processes import wait_for
from tests.tools.playtest.rosters import NimRoster, Perfect, Uniform
from tests.tools.playtest.test_tournament import RECIPE
from tests.tools.sources import NIM, nim_with
from tools.playtest.intervals import Estimate, Unmeasured
from tools.playtest.jobs import GameSetup, MatchEntry, PlayerSpec
from tools.playtest.journal import JournalError
from tools.playtest.report import (
    LadderStep,
    ladder_step,
    score_step,
    seat_share,
    skill_ladder,
)
from tools.playtest.runner import Workers
from tools.playtest.series import Series, SeriesSettings, play_finding, play_series
from tools.sandbox import Sandbox

GAME = GameSetup("nim", NIM, 2)
MATCHES, SEED = 40, 11
BOTH, PERFECTS = ("perfect", "uniform"), ("perfect", "perfect")
Play = Callable[..., Series]
AMOUNT = [field.name for field in fields(SeriesSettings)]


@pytest.fixture
def play(sandbox: Sandbox) -> Play:
    def played(specs: Sequence[str], **given: Any) -> Series:  # noqa: ANN401
        amount = {name: given.pop(name) for name in AMOUNT if name in given}
        settings = SeriesSettings(**{"matches": MATCHES, "seed": SEED, **amount})
        game, roster = given.pop("game", GAME), given.pop("roster", NimRoster())
        return play_series(game, specs, roster, settings, sandbox=sandbox, **given)

    return played


class Called(NimRoster):
    """Says when a player is seated; only for threads."""

    def __init__(self, seated: Callable[[int], Player]) -> None:
        object.__setattr__(self, "seated", seated)

    def seat(
        self, player: PlayerSpec, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
    ) -> Player:
        made: Player = self.__dict__["seated"](match)
        return made


def as_bytes(series: Series) -> bytes:
    return "".join(json_line(record) for record in series.records).encode()


def indices(path: Path) -> list[int]:
    return [json.loads(line)["index"] for line in path.read_bytes().splitlines()[1:]]


def test_the_first_seat_of_nim_wins_exactly_where_the_pile_is_four(play: Play) -> None:
    # With perfect play a pile of 3 is lost for whoever moves, and a pile of 4 is won.
    series = play(PERFECTS)
    fours = sum(record.actions[0] == "pile 4" for record in series.records)
    assert series.rotations == 1
    assert 20 < fours < 40
    assert seat_share(series.records, 0).value == pytest.approx(fours / 40)


def test_matches_of_equal_players_are_deals_of_their_own_and_no_copies(play: Play) -> None:
    board = GameSetup("tic_tac_toe", source("tic_tac_toe"), 2, {"size": 4})
    series = play(("uniform", "uniform"), game=board, matches=12)
    assert series.rotations == 1
    assert [series.plan.schedule.place(match).deal for match in series.entries] == [*range(12)]
    assert len({record.actions for record in series.records}) == 12


def test_seats_rotate_within_a_deal_and_deals_are_paired(play: Play) -> None:
    series = play(BOTH)
    assert series.rotations == 2
    deals = list(zip(series.records[::2], series.records[1::2], strict=True))
    for first, second in deals:
        assert first.players == ("perfect", "uniform")
        assert second.players == ("uniform", "perfect")
        assert first.actions[0] == second.actions[0]
    assert len({first.actions[0] for first, _ in deals}) == 2


@pytest.mark.parametrize("workers", [Workers(3, "threads"), Workers(2)])
def test_a_series_is_the_same_in_threads_and_in_processes(
    play: Play, tmp_path: Path, workers: Workers
) -> None:
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    alone = play(BOTH, matches=8, journal=here)
    settings = SeriesSettings(8, SEED)
    beside = play_series(
        *(GAME, BOTH, NimRoster(), settings), sandbox=RECIPE, journal=there, workers=workers
    )
    assert beside.records == alone.records
    assert there.read_bytes() == here.read_bytes()


def test_a_series_killed_midway_resumes_to_the_same_bytes(tmp_path: Path, play: Play) -> None:
    child = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tests.tools.playtest.rosters import NimRoster\n"
        "from tests.tools.playtest.test_series import BOTH, GAME, MATCHES, SEED\n"
        "from tools.playtest.series import SeriesSettings, play_series\n"
        "from tools.sandbox import Sandbox\n"
        "with Sandbox() as sandbox:\n"
        "    play_series(GAME, BOTH, NimRoster(), SeriesSettings(MATCHES, SEED), sandbox=sandbox,\n"
        "                journal=Path(sys.argv[1]), on_match=lambda *_: time.sleep(0.03))\n"
    )
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    uninterrupted = play(BOTH, journal=whole)
    with subprocess.Popen([sys.executable, "-c", child, str(cut)]) as process:
        wait_for(lambda: cut.exists() and cut.read_bytes().count(b"\n") >= 8)
        process.send_signal(signal.SIGKILL)
    kept = cut.read_bytes().count(b"\n") - 1
    assert 7 <= kept < MATCHES
    arrived: list[int] = []
    resumed = play(BOTH, journal=cut, on_match=lambda index, _: arrived.append(index))
    assert resumed.records == uninterrupted.records
    assert as_bytes(resumed) == as_bytes(uninterrupted)
    assert cut.read_bytes() == whole.read_bytes()
    assert arrived == list(range(MATCHES))


def test_of_finished_matches_one_in_eight_is_played_again(tmp_path: Path, play: Play) -> None:
    path, asked = tmp_path / "series.jsonl", list[int]()
    first = play(PERFECTS, journal=path)

    def once_more(match: int) -> Player:
        asked.append(match)
        return Perfect()

    assert play(PERFECTS, journal=path, roster=Called(once_more)).records == first.records
    assert len({*asked}) == -(-MATCHES // 8)


def test_who_left_a_journal_as_it_is_asks_no_player_again(tmp_path: Path, play: Play) -> None:
    path, asked, left = tmp_path / "series.jsonl", list[int](), dict[Path, bytes]()

    def once_more(match: int) -> Player:
        asked.append(match)
        return Perfect()

    first = play(PERFECTS, journal=path, left=left)
    assert (
        play(PERFECTS, journal=path, roster=Called(once_more), left=left).records == first.records
    )
    assert asked == []
    kept = path.read_bytes()
    path.write_bytes(b"".join(kept.splitlines(keepends=True)[:-1]))  # somebody takes a match out
    play(PERFECTS, journal=path, roster=Called(once_more), left=left)
    assert len({*asked}) == 1 + -(-(MATCHES - 1) // 8)  # it, and of the others those to try
    assert path.read_bytes() == kept


def test_a_series_can_be_made_longer(tmp_path: Path, play: Play) -> None:
    path = tmp_path / "series.jsonl"
    play(["uniform"] * 2, matches=4, journal=path)
    longer = play(["uniform"] * 2, matches=10, journal=path)
    assert longer.records == play(["uniform"] * 2, matches=10).records


def test_matches_beyond_those_asked_for_stay_in_the_journal_untold(
    tmp_path: Path, play: Play
) -> None:
    path = tmp_path / "series.jsonl"
    play(["uniform"] * 2, matches=6, journal=path)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))  # the first match is missing
    told: list[int] = []
    few = play(["uniform"] * 2, matches=2, journal=path, on_match=lambda i, _: told.append(i))
    assert len(few.records) == 2
    assert sorted(told) == [0, 1]
    assert indices(path) == list(range(6))
    assert path.read_bytes() == whole


def test_matches_that_arrive_in_another_order_leave_the_same_journal(
    tmp_path: Path, play: Play
) -> None:
    one, three = tmp_path / "one.jsonl", tmp_path / "three.jsonl"
    arrived: list[int] = []
    last = threading.Event()

    def late(match: int) -> Player:
        assert match or last.wait(30)  # match 0 begins when all others have arrived
        return Uniform()

    def tell(index: int, _: MatchEntry) -> None:
        arrived.append(index)
        if len(arrived) == 5:
            last.set()

    play(["uniform"] * 2, matches=6, journal=one)
    series = play(
        ["uniform"] * 2, matches=6, journal=three, roster=Called(late),
        workers=Workers(3, "threads"), on_match=tell,
    )  # fmt: skip
    assert arrived[-1] == 0
    assert [record.match_index for record in series.records] == list(range(6))
    assert three.read_bytes() == one.read_bytes()


def test_half_a_line_is_dropped_and_played_again(tmp_path: Path, play: Play) -> None:
    path = tmp_path / "series.jsonl"
    whole = play(["uniform"] * 2, matches=6, journal=path)
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    assert play(["uniform"] * 2, matches=6, journal=path).records == whole.records
    assert path.read_bytes() == data


def test_a_damaged_or_foreign_journal_is_refused(tmp_path: Path, play: Play) -> None:
    path = tmp_path / "series.jsonl"
    play(["uniform"] * 2, matches=4, journal=path)
    with pytest.raises(JournalError, match="seed: 11 there, 12 here"):
        play(["uniform"] * 2, matches=4, seed=12, journal=path)
    with pytest.raises(JournalError, match="players 1 player: "):
        play(PERFECTS, matches=4, journal=path)
    path.write_bytes(path.read_bytes().replace(b'"take 1"', b'"take 2"', 1))
    with pytest.raises(JournalError, match="damaged in line 2"):
        play(["uniform"] * 2, matches=4, journal=path)
    path.write_text("{}\n")
    with pytest.raises(JournalError, match="no journal"):
        play(["uniform"] * 2, matches=4, journal=path)


def test_a_journal_of_other_heuristics_is_refused(tmp_path: Path, play: Play) -> None:
    path = tmp_path / "series.jsonl"
    mine = replace(GAME, heuristics={"mine": "a"})
    first = play(BOTH, game=mine, matches=4, journal=path)
    for others in ({"mine": "b"}, {"mine": "a", "yours": "a"}, {}):
        with pytest.raises(JournalError, match="other work .heuristics "):
            play(BOTH, game=replace(GAME, heuristics=others), matches=4, journal=path)
    assert play(BOTH, game=mine, matches=4, journal=path).records == first.records


def test_a_journal_that_cannot_be_written_says_so(tmp_path: Path, play: Play) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="cannot write"):
        play(["uniform"] * 2, matches=2, journal=tmp_path / "file" / "x.jsonl")


def test_what_was_written_before_the_disk_was_full_is_kept(tmp_path: Path, play: Play) -> None:
    path = tmp_path / "series.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(JournalError, match="what is in it is kept"):
            play(["uniform"] * 2, journal=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes().endswith(b"\n")
    assert path.read_bytes().count(b"\n") > 2
    assert play(["uniform"] * 2, journal=path).records == play(["uniform"] * 2).records


def test_one_journal_has_one_writer(tmp_path: Path, play: Play) -> None:
    path = tmp_path / "series.jsonl"

    def second(match: int) -> Player:
        with pytest.raises(JournalError, match="another process"):
            play(["uniform"] * 2, matches=1, journal=path)
        return Uniform()

    play(["uniform"] * 2, matches=1, journal=path, roster=Called(second))


def test_endings_are_counted_apart(play: Play) -> None:
    assert play(["uniform"] * 2, matches=4, max_plies=2).endings["unfinished"] == 4
    assert play(["uniform", "fails"], matches=4).endings["forfeit"] == 4
    broken = replace(GAME, source=nim_with("get_rewards", "return {1}"))
    series = play(["uniform"] * 2, game=broken, matches=4)
    assert series.endings == {"finished": 0, "unfinished": 0, "forfeit": 0, "fault": 4}
    assert series.tables.scored == []


def test_a_module_that_does_not_load_is_at_fault_in_every_match(play: Play) -> None:
    series = play(["uniform"] * 2, game=replace(GAME, source="def f(:"), matches=2)
    assert series.endings["fault"] == 2
    assert all("unreadable" in entry.reason for entry in series.entries.values())


def test_matches_that_do_not_fill_the_rotation_are_refused(play: Play) -> None:
    with pytest.raises(ValueError, match="a multiple of 2, such as 4"):
        play(["uniform", "perfect"], matches=3)
    assert len(play(["uniform"] * 2, matches=3).records) == 3


def test_players_are_closed_after_each_match(play: Play) -> None:
    made: list[Uniform] = []

    def make(match: int) -> Player:
        made.append(Uniform())
        return made[-1]

    play(["uniform", "fails"], matches=4, roster=Called(make))
    assert len(made) == 8
    assert all(player.closed for player in made)


def test_records_of_a_series_refuse_to_be_read_as_open_deck(play: Play) -> None:
    (record,) = play(["uniform"] * 2, matches=1).records
    with pytest.raises(IncompleteMatchError):
        open_deck(record.match)


def test_entrants_and_seats_agree_with_the_records(play: Play) -> None:
    series = play(BOTH, matches=6)
    for record in series.records:
        seated = series.seated(record.match_index)
        assert record.players == tuple(series.line_up[who] for who in seated)


def ladder(
    play: Play,
    *rungs: str,
    **given: Any,  # noqa: ANN401
) -> tuple[list[str], list[LadderStep]]:
    def compare(lower: str, higher: str, number: int) -> LadderStep:
        assert number >= 0
        return ladder_step(lower, higher, play([higher, lower], **given))

    return skill_ladder(rungs, compare)


def test_a_player_takes_its_place_from_the_top_by_what_was_measured(play: Play) -> None:
    # A slow player without time forfeits nothing but plays as uniform does: below perfect play.
    order, steps = ladder(play, "uniform", "perfect", "slow:seconds=0", matches=100)
    compared = [(step.lower, step.higher, step.verdict) for step in steps]
    assert compared[:2] == [
        ("uniform", "perfect", "climbs"),
        ("perfect", "slow:seconds=0", "falls"),
    ]
    assert [(lower, higher) for lower, higher, _ in compared[2:]] == [("uniform", "slow:seconds=0")]
    assert order[-1] == "perfect"
    assert steps[0].endings["finished"] == 100


def test_players_listed_from_strong_to_weak_are_put_in_measured_order(play: Play) -> None:
    order, _ = ladder(play, "perfect", "uniform", matches=100)
    assert order == ["uniform", "perfect"]


def test_a_step_between_equals_is_undecided(play: Play) -> None:
    # In nim from 3 or 4 the perfect player and itself split every deal's two seatings alike.
    _, (step,) = ladder(play, "perfect", "perfect_again")
    assert step.verdict == "undecided"
    assert isinstance(step.advantage, Estimate)
    assert step.advantage.value == 0


def test_a_ladder_that_finishes_nothing_is_unmeasured(play: Play) -> None:
    _, (step,) = ladder(play, "uniform", "perfect", max_plies=1)
    assert (step.verdict, step.endings["unfinished"]) == ("unmeasured", 40)


def test_who_was_not_measured_stands_below_all_others_and_is_met_by_nobody(play: Play) -> None:
    def compare(lower: str, higher: str, number: int) -> LadderStep:
        cut = {"max_plies": 1} if higher == "perfect_again" else {}
        return ladder_step(lower, higher, play([higher, lower], **cut))

    order, steps = skill_ladder(["uniform", "perfect_again", "perfect"], compare)
    assert [step.verdict for step in steps] == ["unmeasured", "climbs"]
    assert (steps[1].lower, order) == ("uniform", ["perfect_again", "uniform", "perfect"])


def test_a_step_in_which_many_matches_do_not_end_is_no_result(play: Play) -> None:
    # Some matches of nim are over within three plies, and others are not.
    _, (step,) = ladder(play, "uniform", "perfect", max_plies=3, matches=120)
    assert step.endings["finished"] > 4 < step.endings["unfinished"]
    assert isinstance(step.advantage, Unmeasured)
    assert step.advantage.reason.startswith("no result: ")
    assert step.verdict == "unmeasured"


def test_a_game_for_one_compares_returns_on_the_same_deals(play: Play) -> None:
    alone = NIM
    for both, one in (
        ('"min_players": 2, "max_players": 2', '"min_players": 1, "max_players": 1'),
        ("num_players != 2", "num_players != 1"),
        ('1 - state["turn"]', "0"),
        ("return [0, 0]", "return [0]"),
        ('[1, -1] if state["won"] == 0 else [-1, 1]', "[1]"),
        ("range(2)", "range(1)"),
        ('[[f"{action}."], [f"{action}."]]', '[[f"{action}."]]'),
    ):
        assert both in alone
        alone = alone.replace(both, one)
    game = GameSetup("nim", alone, 1)
    series = {spec: play([spec], game=game) for spec in ("uniform", "perfect")}
    step = score_step("uniform", "perfect", series)
    assert step.measure == "return"
    assert step.endings["finished"] == 80


def test_matches_that_are_one_and_the_same_are_told() -> None:
    """Two who play Nim by its theory draw nothing: any number of matches is one a seating."""
    sure = NIM.replace('["pile 3", "pile 4"]', '["pile 4"]').replace("[0.25, 0.75]", "[1.0]")
    with Sandbox() as sandbox:
        same, other = (
            play_series(
                GameSetup("nim", sure, 2),
                names,
                NimRoster(),
                SeriesSettings(matches=10, seed=SEED),
                sandbox=sandbox,
            ).tables
            for names in (PERFECTS, BOTH)
        )
    assert same.cautions["repeated"].startswith("10 matches are ")
    assert "repeated" not in other.cautions


def test_matches_that_no_time_was_left_for_are_no_pass(sandbox: Sandbox) -> None:
    asked = SeriesSettings(MATCHES, SEED, record=False)
    found = play_finding(sandbox, GAME, PlayerRoster(), asked)
    assert (found.outcome, found.evidence.partition(" ")[0] != "0") == ("passed", True)
    late = play_finding(sandbox, GAME, PlayerRoster(), replace(asked, until=time.monotonic()))
    assert late.outcome == "could_not_judge"
    assert f"of {MATCHES} matches: allow more seconds" in late.evidence
