"""Records as JSONL: what was written is read again."""

from dataclasses import replace

import pytest

from games.records import json_line, read_records, to_text
from tests.agents.roles.games import record
from tools.reporting.content import match_story


def test_records_are_read_as_they_were_written() -> None:
    text = json_line(record())
    (first, second) = read_records(text + text)
    assert json_line(first) + json_line(second) == text + text
    assert first.actions == record().actions


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
        read_records(text)
