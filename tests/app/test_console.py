"""What a command prints of a game's own words cannot steer the terminal."""

import pytest

from app.console import Progress, note, say

HOSTILE = "\x1b[2J\x1b]0;owned\x07card \u202egnp\x9b1A\r\x08♥ 中"


def test_a_line_on_either_stream_holds_no_control_character(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say(HOSTILE)
    note(HOSTILE)
    out, err = capsys.readouterr()
    assert out == err == "card gnp♥ 中\n"  # 0x9b begins a control sequence, as ESC [ does


def test_a_line_of_progress_holds_none_either(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=False) as progress:
        progress({"node": "design", "title": HOSTILE})
    said = capsys.readouterr().err
    assert "title card gnp♥" in said
    assert not {"\x1b", "\x07", "\u202e", "\x9b", "\r"} & set(said)
