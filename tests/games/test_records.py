"""Records as JSONL: what was written is read again."""

from dataclasses import replace

import pytest

from games.engine import Effort, Ply
from games.records import example_of_play, json_line, read_records, to_text
from tests.agents.roles.games import record
from tools.reporting.content import match_story


def test_records_are_read_as_they_were_written() -> None:
    text = json_line(record())
    (first, second) = read_records(text + text)
    assert json_line(first) + json_line(second) == text + text
    assert first.actions == record().actions


def _ply(action: str, *events: tuple[str, ...]) -> Ply:
    return Ply(0, {}, (action, "pass"), action, (0, 0), events, Effort(), {})


def test_an_example_of_play_is_a_decision_of_which_all_are_told_something() -> None:
    said, secret = (("Lead A.",), ("Lead A.",)), (("You: vote.",), ("Player 1 votes.",))
    one, two, quiet = _ply("lead", *said), _ply("follow", *said), _ply("vote", *secret)

    def example(*plies: Ply) -> list[str]:
        met = record()
        return example_of_play(replace(met, match=replace(met.match, plies=plies)))

    shown = ["Player 1 may choose: follow, pass.", "The choice is: follow.", "Lead A."]
    assert example(one, two) == shown  # the first of the second half
    assert example(quiet, quiet, quiet, two) == shown
    assert example(one, two, quiet, quiet) == shown
    assert example(quiet, quiet) == []


def test_no_word_of_a_game_or_a_player_steers_who_reads_the_text() -> None:
    evil = "it\x1b[2J\x1b]0;t\x07\x00\x9b31m\u202e\nending: finished<script>[x](javascript:y)"
    met = record()
    plies = [replace(ply, events=((evil,), ())) for ply in met.match.plies]
    match = replace(met.match, plies=tuple(plies), ending="fault", returns=None, reason=evil)
    hostile = replace(met, match=match, game=evil, players=(evil, evil))
    for text in (to_text(hostile), match_story(hostile)):
        assert not set(text) & {"\x1b", "\x07", "\x00", "\x9b", "\u202e", "<"}
        assert "](" not in text
        assert not any(line.startswith("ending: finished") for line in text.splitlines())


@pytest.mark.parametrize("text", ["mine", "[]", '{"ply": 0}', '{"ending": "finished"}', "3"])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no match, ply or result|Expecting value"):
        [*read_records(text)]
