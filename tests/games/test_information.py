"""A seat's log, its turns, and its form outside Python."""

import pytest

from games.information import (
    Did,
    SeatLog,
    Seen,
    entry_rows,
    information_key,
    newest_turn,
    own_turns,
    read_entries,
    seat_turns,
    since_turn,
)


def log_of_three_turns() -> SeatLog:
    log = SeatLog(1)
    log.see({"n": 1}, ["A card is dealt."])
    log.act("draw")
    log.see({"n": 2}, [])
    log.see({"n": 2}, [])  # nothing new
    log.see({"n": 3.0}, ["Seat 0 passes."])
    log.act("keep")
    return log


def test_an_observation_that_says_nothing_new_is_dropped_and_the_others_have_one_form() -> None:
    log = log_of_three_turns()
    assert log.entries == [
        Seen({"n": 1}, ("A card is dealt.",)),
        Did("draw"),
        Seen({"n": 2}),
        Seen({"n": 3}, ("Seat 0 passes.",)),
        Did("keep"),
    ]


def test_a_turn_holds_all_from_one_own_action_to_the_next() -> None:
    log = log_of_three_turns()
    first, second, now = seat_turns(log.entries)
    assert (first.before, first.events, first.action) == (None, ("A card is dealt.",), "draw")
    assert (second.before, second.events) == ("draw", ("Seat 0 passes.",))
    assert (second.observation, second.action, second.end) == ({"n": 3}, "keep", 4)
    assert (now.before, now.events, now.observation, now.action) == ("keep", (), {"n": 3}, None)


def test_the_papers_history_ends_in_the_newest_observation_only_where_something_was_seen() -> None:
    log = log_of_three_turns()
    acted = [({"n": 1}, "draw"), ({"n": 3}, "keep")]
    assert own_turns(log) == acted
    log.see({"n": 4}, [])
    assert own_turns(log) == [*acted, ({"n": 4}, None)]


@pytest.mark.parametrize("length", range(6))
def test_the_newest_turn_is_read_from_the_end_as_from_the_whole_log(length: int) -> None:
    entries = log_of_three_turns().entries[:length]
    whole, cut = seat_turns(entries)[-1], newest_turn(entries)
    assert (cut.before, cut.events, cut.observation) == (
        whole.before,
        whole.events,
        whole.observation,
    )
    assert newest_turn(since_turn(entries)) == cut


def test_rows_are_read_again_and_anything_else_is_refused() -> None:
    log = log_of_three_turns()
    assert entry_rows(log.entries[:2]) == [
        {"observation": {"n": 1}, "events": ["A card is dealt."]},
        {"action": "draw"},
    ]
    assert read_entries(entry_rows(log.entries)) == log.entries
    with pytest.raises(ValueError, match="is no entry of a seat's log"):
        read_entries([{"observation": {"n": 1}}])


def test_equal_logs_of_two_seats_have_keys_of_their_own() -> None:
    log = log_of_three_turns()
    same = SeatLog(1, read_entries(entry_rows(log.entries)))
    assert information_key(same) == information_key(log)
    assert information_key(SeatLog(0, log.entries)) != information_key(log)
