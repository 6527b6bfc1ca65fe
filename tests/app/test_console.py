"""What a command prints of a game's own words cannot steer the terminal."""

import time

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


def test_without_a_terminal_a_line_says_who_waits_for_which_model_and_which_try(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = {"waiting": "MODEL", "role": "designer", "seconds": 35, "try": 2, "of": 4}
    with Progress(quiet=False) as progress:
        progress({**told, "lines": 0})
        progress({**told, "lines": 7, "after": f"status 500: {HOSTILE}"})
    said = capsys.readouterr().err
    assert "waiting for MODEL: designer, 35 s, try 2 of 4\n" in said
    assert "designer, 35 s, 7 lines of it, try 2 of 4, after: status 500: card gnp♥" in said


def test_long_work_is_told_without_a_terminal_too(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=False, every_s=0.05) as progress:
        progress({"node": "matches", "series": "random", "played": 7, "of": 40})
        time.sleep(0.4)
        progress.pause()  # a person is asked
        capsys.readouterr()
        time.sleep(0.2)
        silence = capsys.readouterr().err
        progress({"begins": "evaluate"})
        time.sleep(0.2)
    assert silence == ""
    assert "playing matches" in capsys.readouterr().err


def test_once_a_model_has_answered_nobody_is_told_to_wait_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = {"waiting": "MODEL", "role": "coder", "seconds": 10, "try": 1, "of": 4}
    with Progress(quiet=False, every_s=0.05) as progress:
        progress({"begins": "refine"})
        progress({"node": "refine", "round": 1})
        progress(told)
        time.sleep(0.2)  # the next line of it comes with its next event
        progress({"answered": "coder"})
        progress({"begins": "check"})
        time.sleep(0.2)
    said = capsys.readouterr().err
    assert said.count("waiting for MODEL") == 1
    assert said.rstrip().endswith("checking")
    assert "refine: round 1" in said


def test_a_line_of_long_work_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=False, every_s=0.05) as progress:
        progress({"node": "matches", "series": "random", "played": 7, "of": 40})
        time.sleep(0.4)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all("playing matches: series random, played 7, of 40" in line for line in lines)


def test_a_quiet_run_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=True, every_s=0.05) as progress:
        progress({"node": "matches", "series": "random", "played": 7, "of": 40})
        time.sleep(0.2)
    assert capsys.readouterr().err == ""
