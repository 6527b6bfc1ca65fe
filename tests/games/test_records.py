"""Records as JSONL: what was written is read again."""

import pytest

from games.records import json_line, read_records
from tests.agents.roles.games import record


def test_records_are_read_as_they_were_written() -> None:
    text = json_line(record())
    (first, second) = read_records(text + text)
    assert json_line(first) + json_line(second) == text + text
    assert first.actions == record().actions


@pytest.mark.parametrize("text", ["mine", "[]", '{"ply": 0}', '{"ending": "finished"}', "3"])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no match, ply or result|Expecting value"):
        read_records(text)
