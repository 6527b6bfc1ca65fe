from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from agents.players.registry import PRELOAD
from evals.information import OMNISCIENT, SETUPS, Deal, DealSetup, every_deal, play_deal, run
from evals.results import EvalOptions, find_eval
from games import library
from tools.playtest.jobs import sandbox_of_process
from tools.playtest.journal import JournalError

SEA = DealSetup(
    "sea", "battleship", "osla:passes=1,leaf=value", quick=2, full=3, at_least=0.9,
    parameters={"rows": 4, "columns": 4, "ships": "3,2"},
)  # fmt: skip
KUHN = DealSetup("kuhn", "kuhn_poker", "ismcts:simulations=5", quick=6, full=9, every_deal=2)
QUICK = EvalOptions(quick=True)


def told(line: str) -> None:
    assert line


def test_who_sees_the_fleet_never_misses_and_wins_from_both_seats() -> None:
    # Five cells in five shots: nobody who has to search for them is as fast in four games.
    result = run(replace(QUICK, seed=3, tell=told), [SEA])
    (row,) = result.samples
    wins = row["wins"]
    assert isinstance(wins, dict)
    assert (wins["value"], wins["n"], row["whole_deals"]) == (1.0, 2, 2)
    assert result.passed


def test_the_omniscient_worker_is_marked_with_its_reason_and_is_nobody_elses() -> None:
    effective = run(replace(QUICK, seed=3, tell=told), [replace(SEA, quick=2)]).effective
    assert effective["omniscient"] == {
        "reason": "the value of information: what the same search gains by seeing what is hidden "
        "from it",
        "preloads": ["evals.leakage.omniscient"],
        "modules": "of the library alone",
        "ranked": False,
    }
    assert not {*PRELOAD} & {*OMNISCIENT.preload}


def test_every_deal_of_a_pack_is_played_once_before_one_is_played_again() -> None:
    leduc = SETUPS[0]
    deals = every_deal(leduc)
    assert (len(deals), len(set(deals))) == (6 * 5 * 4, 120)
    assert {index * 7919 % 120 for index in range(120)} == {*range(120)}
    assert leduc.full % len(deals) == 0
    with sandbox_of_process(OMNISCIENT):
        assert play_deal(Deal(KUHN, 1, 0))["reasons"] == []


def test_a_run_goes_on_from_its_folder_to_the_same_result(tmp_path: Path) -> None:
    kept = EvalOptions(quick=True, folder=tmp_path)
    whole = run(replace(kept, seed=4, tell=told), [KUHN])
    (journal,) = tmp_path.iterdir()
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + KUHN.quick
    journal.write_bytes(b"".join(lines[:3]) + lines[3][:-20])  # killed in the middle of a line
    assert run(replace(kept, seed=4, tell=told), [KUHN]) == whole
    assert sorted(journal.read_bytes().splitlines(keepends=True)) == sorted(lines)
    with pytest.raises(JournalError, match="kuhn"):
        run(replace(kept, seed=5, tell=told), [KUHN])


def test_a_folder_of_another_source_of_the_game_is_refused(tmp_path: Path) -> None:
    kept = EvalOptions(quick=True, folder=tmp_path)
    run(replace(kept, seed=4, tell=told), [KUHN])
    (journal,) = tmp_path.iterdir()
    source = library.source("kuhn_poker").encode()
    ours, other = (sha256(text).hexdigest() for text in (source, source + b"# changed since\n"))
    text = journal.read_text()
    assert text.count(ours) == 1
    journal.write_text(text.replace(ours, other))
    with pytest.raises(JournalError, match=f"source_id: .{other}. there, .{ours}. here"):
        run(replace(kept, seed=4, tell=told), [KUHN])


def test_two_processes_come_to_the_result_of_one() -> None:
    one, two = (
        run(EvalOptions(seed=4, tell=told, quick=True, workers=workers), [KUHN])
        for workers in (1, 2)
    )
    assert one.samples == two.samples


def test_a_match_that_does_not_finish_is_counted_for_nobody() -> None:
    result = run(replace(QUICK, seed=3, tell=told), [replace(SEA, max_plies=9)])
    (row,) = result.samples
    assert (row["wins"], row["whole_deals"], row["reasons"]) == (
        None,
        0,
        ["unfinished: no end after 9 plies"],
    )
    assert result.unscored == {"sea": "unfinished: no end after 9 plies"}
    assert not result.passed


def test_hidden_hands_ranks_positions_and_cards_are_all_measured() -> None:
    assert {setup.game for setup in SETUPS} == {
        "leduc_poker",
        "battleship",
        "whist",
        "go_fish",
        "small_capture_the_flag",
    }
    assert find_eval("information").takes == ("quick", "folder", "workers")
