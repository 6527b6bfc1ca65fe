"""Parameters on the command line: what cannot be is one sentence, before any match."""

from pathlib import Path

import pytest

from tests.app.conftest import Command, Outcome
from tests.tools.sources import NIM, nim_with

PLAYERS = {
    "match": ("--player", "random", "--player", "random"),
    "tournament": ("--player", "random", "--player", "uct:simulations=2", "--deals", "1"),
}
REFUSING = NIM.replace(
    '    return {"pile": 0',
    '    if most not in (1, 2, 3):\n'
    '        raise ValueError(f"most is {most}; allowed: 1 to 3")\n'
    '    return {"pile": 0',
)  # fmt: skip


def played(command: Command, name: str, game: Path | str, *arguments: str | Path) -> Outcome:
    return command(name, game, *PLAYERS[name], *arguments)


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize("value", ["0", "99999999999999999999", "null", "[1,2]", "true word"])
def test_a_value_that_the_module_refuses_is_the_persons_mistake(
    command: Command, tmp_path: Path, name: str, value: str
) -> None:
    game, journal = tmp_path / "nim.py", tmp_path / "journal.jsonl"
    game.write_text(REFUSING)
    done = played(command, name, game, "--set", f"most={value}", "--journal", journal)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith(
        f"Error: Invalid value for --set: {game} refuses most="
    )
    assert "allowed: 1 to 3" in done.err.splitlines()[-1]
    assert "Traceback" not in done.err
    assert not journal.exists()


@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize(
    "value",
    ["NaN", "-Infinity", "1e999", "[1, {\"a\": NaN}]", "9" * 5000, '"\\ud800"', "[" * 100_000],
    ids=["NaN", "infinite", "too large", "NaN inside", "endless", "half a character", "nested"],
)  # fmt: skip
def test_a_value_that_no_json_can_hold_is_refused(command: Command, name: str, value: str) -> None:
    done = played(command, name, "tic_tac_toe", "--set", f"size={value}")
    assert (done.code, done.out) == (2, "")
    last = done.err.splitlines()[-1]
    assert last.startswith("Error: Invalid value for --set: size=")
    assert "a finite number" in last
    assert len(last) < 250


@pytest.mark.parametrize("name", PLAYERS)
def test_a_module_that_fails_with_its_defaults_too_stays_at_fault(
    command: Command, tmp_path: Path, name: str
) -> None:
    game = tmp_path / "nim.py"
    game.write_text(nim_with("initial_state", 'raise ValueError("always")'))
    done = played(command, name, game, "--set", "most=2", "--json")
    assert done.code == 1
    assert done.json["endings"] == {"finished": 0, "unfinished": 0, "forfeit": 0, "fault": (
        1 if name == "match" else 2)}  # fmt: skip


@pytest.mark.parametrize("name", PLAYERS)
def test_a_module_that_breaks_on_an_accepted_value_stays_at_fault(
    command: Command, tmp_path: Path, name: str
) -> None:
    game = tmp_path / "nim.py"
    game.write_text(NIM.replace('return {"pile": 0,', 'return {"pile": [0, 0][most - 2],'))
    assert played(command, name, game, "--json").json["endings"]["fault"] == 0
    done = played(command, name, game, "--set", "most=9", "--json")
    assert (done.code, done.json["endings"]["finished"]) == (1, 0)
    assert any("IndexError" in reason for reason in done.json["reasons"])


@pytest.mark.parametrize("name", PLAYERS)
def test_a_game_that_declares_parameters_wrongly_is_told(
    command: Command, tmp_path: Path, name: str
) -> None:
    game = tmp_path / "nim.py"
    game.write_text(NIM.replace('{"most": {"default": 2, "range": [1, 3], ', '{"most": {'))
    done = played(command, name, game)
    assert (done.code, "with its default" in done.err, "Traceback" in done.err) == (2, True, False)
