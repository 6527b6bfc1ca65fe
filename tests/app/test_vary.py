"""`vary` on the command line: a table, folders to play on with, and what cannot be varied."""

import re
from pathlib import Path

import pytest

from tests.app.conftest import Command
from tests.app.test_surface import ELSEWHERE, lost


def test_variants_are_told_kept_and_played_on_with(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    asked = ["vary", "leduc_poker", "--n", 1, "--quick", "--seed", 3, "--keep", "the ante; a zebra"]
    done = command(*asked, "--out", out)
    assert done.code == 0, done.err
    assert "1 of 1 variant kept" in done.out
    assert "Kept as it is: ante (“the ante”)" in done.out
    assert "Not understood, so nothing is kept for it: “a zebra”" in done.out
    again = command("resume", out, "--json")  # it has ended: nothing is played
    assert (again.code, again.json["end"]) == (0, "varied")
    assert lost(ELSEWHERE["vary"], again.json) == []
    assert command("resume", out, "--accept").code == 2
    (variant,) = again.json["variants"]
    assert "ante" not in variant["changed"]
    assert variant["novelty"] > again.json["chance"]
    checked = command("check", out / variant["folder"], "--json")
    assert checked.json["outcome"] == "passed"
    (place,) = re.findall(r"rulewright play (.*variants/1)$", done.out, re.MULTILINE)
    assert (
        "2 finished"
        in command("match", place, "--player", "random", "--player", "greedy", "--games", 2).out
    )
    (told_by,) = re.findall(r"rule by rule: rulewright (compare .*)$", done.out, re.MULTILINE)
    compared = command(*told_by.split(), "--matches", 0, "--json").json["comparisons"][0]
    assert {row["name"] for row in compared["settings"]} == set(variant["changed"])
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    (listed,) = command("runs", "--json").json["runs"]
    assert (listed["end"], listed["title"]) == ("varied", "leduc poker")
    told = (out / "vary.json").read_text()
    (out / "vary.json").write_text(told.replace('"end": "varied"', '"end": "zzz"'))
    theirs = command("resume", out)
    assert theirs.code == 2
    assert "is no report (1 faults)" in " ".join(theirs.err.split())
    assert "Traceback" not in theirs.err
    assert theirs.out == ""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["connect_four", "--n", 0], "greater than or equal to 1"),
        (["connect_four", "--n", 10_000], "less than or equal to 64"),
        (["connect_five"], "connect_four"),
        (["fixed.py"], "declares no parameter with choices or a range"),
        (["broken.py"], "GAME cannot be read"),
        (["rules.txt"], "rules in words are varied by a model: --with-model"),
        (["backgammon"], "rules in words, which a model varies: --with-model"),
        (["connect_four", "--keep", "k" * 2001], "at most 2000 are read"),
    ],
)
def test_what_cannot_be_varied_is_said_in_a_sentence_and_leaves_no_folder(
    more: list[object], said: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("GAME = 1\n")
    (tmp_path / "rules.txt").write_text("Whoever claps first wins.\n")
    fixed = '"name": "x", "summary": "x", "min_players": 2, "max_players": 2'
    (tmp_path / "fixed.py").write_text(f"GAME = {{{fixed}}}\n")
    done = command("vary", *more)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert not (tmp_path / "runs").exists()
