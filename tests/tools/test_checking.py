"""Checking a source in the sandbox, and finding it by name."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from games.checks import Finding, verdict
from games.checks.run import CheckSettings
from games.checks.unit_tests import UnitTest
from tests.games.checks.test_checks import SOUND
from tests.games.checks.test_choices import GAME, GAMES
from tools.checking import check_source, usual_players
from tools.pace import slowest_function
from tools.sandbox import Limits, Sandbox, SandboxUnavailableError
from tools.sources import GameNotFoundError, find_game

SETTINGS = CheckSettings(matches=3, samples=8)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def test_a_sound_source_passes_and_leaves_records(sandbox: Sandbox) -> None:
    run = check_source(sandbox, SOUND, settings=SETTINGS, num_players=2, parameters={})
    assert verdict(run.findings) == "passed"
    assert [record.match.ending for record in run.records] == ["finished"] * 3


def test_a_source_that_does_not_load_fails_with_its_line(sandbox: Sandbox) -> None:
    run = check_source(sandbox, "x = (\n", settings=SETTINGS, num_players=2, parameters={})
    assert [(f.check, f.outcome, f.line) for f in run.findings] == [("load", "failed", 1)]
    assert run.records == ()


def _slow(seconds: float) -> str:
    """SOUND, whose rewards take so long."""
    return SOUND.replace(
        "def get_rewards(state):\n",
        f"import time\ndef get_rewards(state):\n    until = time.process_time() + {seconds}\n"
        "    while time.process_time() < until: pass\n",
    )


def _but_for_its_clock(findings: Sequence[Finding]) -> list[Finding]:
    return [found for found in findings if found.check != "imports"]


def test_an_import_that_the_contract_does_not_allow_is_a_finding_by_name_and_line(
    sandbox: Sandbox,
) -> None:
    """docs/module.md lists what a module may import; `typing` and `random` have their uses."""
    free = "from __future__ import annotations\nimport random, re\nfrom typing import Any\n"
    hidden = SOUND.replace(
        "def get_rewards(state):\n", "def get_rewards(state):\n    import os, re\n"
    )
    found = {
        name: check_source(sandbox, text, settings=SETTINGS, num_players=2, parameters={}).findings
        for name, text in (("free", free + SOUND), ("hidden", hidden))
    }
    assert verdict(found["free"]) == "passed"
    (told,) = [one for one in found["hidden"] if one.outcome != "passed"]
    line = hidden.splitlines().index("    import os, re") + 1
    assert (told.check, told.line) == ("imports", line)
    assert told.evidence.startswith("imports os; allowed: ")


def test_a_slow_module_ends_at_the_overall_deadline_and_its_slow_function_is_named(
    sandbox: Sandbox,
) -> None:
    run = check_source(
        sandbox, _slow(0.05), settings=SETTINGS, num_players=2, parameters={}, deadline_s=1.0
    )
    assert verdict(_but_for_its_clock(run.findings)) == "could_not_judge"
    late = [f for f in run.findings if "within 1 s in all" in f.evidence]
    assert {(f.outcome, f.function) for f in late} == {("could_not_judge", "get_rewards")}
    assert all("a call of get_rewards takes " in f.evidence for f in late)


def test_no_function_is_blamed_where_a_deadline_ends_and_none_is_slow(sandbox: Sandbox) -> None:
    run = check_source(
        sandbox, SOUND, settings=SETTINGS, num_players=2, parameters={}, deadline_s=0.01
    )
    late = [f for f in run.findings if "s in all" in f.evidence]
    assert {(f.outcome, f.function) for f in late} == {("could_not_judge", None)}
    assert "failed" not in {f.outcome for f in run.findings}


def test_a_module_that_says_itself_that_time_is_up_has_failed(sandbox: Sandbox) -> None:
    """Nobody has the words of the deadline but the deadline."""
    lying = SOUND.replace(
        "def get_rewards(state):\n",
        "def get_rewards(state):\n"
        '    raise ValueError("the checks did not end within 1 s in all")\n',
    )
    run = check_source(sandbox, lying, settings=SETTINGS, num_players=2, parameters={})
    assert verdict(run.findings) == "failed"


def test_a_function_of_which_few_calls_were_seen_is_not_blamed(sandbox: Sandbox) -> None:
    """The start is called once a match; here each takes long, and few fit into the time."""
    slow = SOUND.replace(
        "def initial_state(num_players, **parameters):\n",
        "import time\ndef initial_state(num_players, **parameters):\n"
        "    until = time.process_time() + 1.5\n    while time.process_time() < until: pass\n",
    )
    assert slow != SOUND
    assert slowest_function(sandbox, slow, 2, {}) is None
    often = slow.replace("+ 1.5", "+ 0.05")
    assert (slowest_function(sandbox, often, 2, {}) or ("",))[0] == "initial_state"


def test_a_module_that_passes_slowly_is_told_which_function_takes_the_time(
    sandbox: Sandbox,
) -> None:
    run = check_source(sandbox, _slow(0.008), settings=SETTINGS, num_players=2, parameters={})
    assert verdict(_but_for_its_clock(run.findings)) == "passed"
    (pace,) = [f for f in run.findings if f.check == "pace"]
    assert pace.function == "get_rewards"
    assert "a ply takes" in pace.evidence
    sound = check_source(sandbox, SOUND, settings=SETTINGS, num_players=2, parameters={})
    assert "pace" not in {f.check for f in sound.findings}


def test_a_worker_that_dies_in_visible_is_a_finding(sandbox: Sandbox) -> None:
    dying = SOUND + "\n\ndef visible(state, player_id):\n    return ctypes.string_at(0)\n"
    run = check_source(
        sandbox, "import ctypes\n" + dying, settings=SETTINGS, num_players=2, parameters={}
    )
    assert ("leak_audit", "failed") in {(f.check, f.outcome) for f in run.findings}
    assert {f.outcome for f in run.findings if f.function == "visible"} == {"failed"}


# Sound wherever a function is asked by itself, but not in the operation that plays a match.
TWO_FACED = """
import inspect

def _in_a_match():
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "_advance":
            return True
        frame = frame.f_back
    return False

_sound = {name}

def {name}(*arguments):
    value = _sound(*arguments)
    return {changed} if _in_a_match() else value
"""


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("get_rewards", "[paid * 2 for paid in value]"),
        ("get_events", "[told + ['psst'] for told in value]"),
        ("get_observations", "[{**seen, 'all': arguments[0]['hands']} for seen in value]"),
    ],
)
def test_a_module_that_plays_otherwise_than_it_answers_does_not_pass(
    sandbox: Sandbox, name: str, changed: str
) -> None:
    source = SOUND + TWO_FACED.format(name=name, changed=changed)
    run = check_source(sandbox, source, settings=SETTINGS, num_players=2, parameters={}, records=0)
    wrong = [(f.check, f.function) for f in run.findings if f.outcome != "passed"]
    assert ("functions", name) in wrong
    assert verdict(run.findings) == "failed"
    assert "functions" not in {f.check for f in run.findings if f.outcome == "passed"}


def test_a_module_that_remembers_its_matches_does_not_pass(sandbox: Sandbox) -> None:
    remembering = SOUND.replace(
        '    return [{"me": seat, "hand"',
        "    turn = _memory.setdefault(str(state), len(_memory))\n"
        '    return [{"turn": turn, "me": seat, "hand"',
    )
    run = check_source(
        sandbox, "_memory = {}\n" + remembering, settings=SETTINGS, num_players=2, parameters={}
    )
    assert ("functions", "get_observations") in {
        (f.check, f.function) for f in run.findings if f.outcome == "failed"
    }


@pytest.mark.parametrize(
    ("expected", "outcome"), [("-1", "passed"), ("0", "failed"), ("{", "could_not_judge")]
)
def test_a_unit_test_is_judged_on_the_host(sandbox: Sandbox, expected: str, outcome: str) -> None:
    run = check_source(sandbox, SOUND, settings=SETTINGS, num_players=2, parameters={})
    test = UnitTest(
        name="dealing comes first",
        rule="R1",
        actions=(),
        function="get_current_player",
        expected_json=expected,
    )
    assert [f.outcome for f in run.unit_tests([test])] == [outcome]


def test_unit_tests_that_all_passed_are_not_run_twice() -> None:
    good = UnitTest(
        name="dealing comes first",
        rule="R1",
        actions=(),
        function="get_current_player",
        expected_json="-1",
    )
    bad = good.model_copy(update={"expected_json": "0"})
    with Sandbox() as own:
        run = check_source(own, SOUND, settings=SETTINGS, num_players=2, parameters={})
        found = run.unit_tests([good])
        assert [f.outcome for f in run.unit_tests([bad])] == ["failed"]
    assert run.unit_tests([good]) == found
    for others in ([bad], [good, bad]):
        with pytest.raises(SandboxUnavailableError, match="closed"):
            run.unit_tests(others)


def test_what_looking_ahead_tells_makes_no_match_too_large() -> None:
    """A match tells some 50 KiB, all that is looked at ahead some MiB; 1 MiB a match is allowed."""
    player, legal, pays = GAMES["random play never wins as the second, play that looks ahead does"]
    source = GAME.format(player=player, legal=legal, pays=pays)
    assert source.count('{"n": len(state["m"])}') == 1
    source = source.replace('{"n": len(state["m"])}', '{"n": len(state["m"]), "pad": "x" * 2000}')
    names = "{-1: 'chance', -4: 'terminal'}.get(player_id, 'player')"
    source += f"\ndef get_player_name(player_id):\n    return {names}\n"
    with Sandbox(limits=Limits(table_bytes=2**20)) as narrow:
        settings = CheckSettings(matches=12, samples=8, seed=0)
        run = check_source(narrow, source, settings=settings, num_players=2, parameters={})
    assert "decisions" in {finding.check for finding in run.findings}
    assert not [f for f in run.findings if "of memory" in f.evidence]


def test_a_unit_test_with_an_illegal_action_fails(sandbox: Sandbox) -> None:
    run = check_source(sandbox, SOUND, settings=SETTINGS, num_players=2, parameters={})
    test = UnitTest(
        name="a bid before the deal",
        rule="R1",
        actions=("bid 1",),
        function="get_current_player",
        expected_json="0",
    )
    assert [f.outcome for f in run.unit_tests([test])] == ["failed"]


def test_two_players_where_two_may_play() -> None:
    assert usual_players({"min_players": 1, "max_players": 4}) == 2
    assert usual_players({"min_players": 3, "max_players": 6}) == 3
    assert usual_players({"min_players": 1, "max_players": 1}) == 1


def test_a_run_folder_is_a_game_with_its_heuristics(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text(SOUND)
    (tmp_path / "players").mkdir()
    (tmp_path / "players" / "bold.py").write_text("def score(observation, action): return 1.0\n")
    found = find_game(str(tmp_path))
    assert (found.source, list(found.heuristics)) == (SOUND, ["bold"])


def heuristic(folder: Path) -> Path:
    """Where a run folder of a sound game keeps a heuristic, which is not written yet."""
    (folder / "game.py").write_text(SOUND)
    (folder / "players").mkdir()
    return folder / "players" / "bold.py"


def test_a_heuristic_that_is_no_text_is_named(tmp_path: Path) -> None:
    heuristic(tmp_path).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GameNotFoundError, match=r"bold.py cannot be read as UTF-8 text.*save"):
        find_game(str(tmp_path))


def test_a_heuristic_of_five_megabytes_is_refused(tmp_path: Path) -> None:
    heuristic(tmp_path).write_text("#" * 5_000_000)
    with pytest.raises(GameNotFoundError, match="bold.py has 5000000 bytes; a heuristic may"):
        find_game(str(tmp_path))


NO_FILES = {
    "folder": "a folder",
    "broken link": "a link to nothing",
    "link to itself": "a link to nothing",
    "pipe": "a pipe",
}


def test_a_module_with_a_byte_order_mark_is_read_as_python_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "marked.py"
    file.write_text(SOUND, encoding="utf-8-sig")
    assert find_game(str(file)).source == SOUND


@pytest.mark.parametrize("name", ["gone.py", "./gone", "link.py", "empty"])
def test_a_path_to_no_game_is_called_what_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / "link.py").symlink_to("nowhere")
    (tmp_path / "empty").mkdir()
    words = "it is a link to nothing" if name == "link.py" else "there is no "
    with pytest.raises(GameNotFoundError, match=words) as caught:
        find_game(f"{tmp_path}/{name}")
    assert "library" not in str(caught.value)
    assert str(caught.value).count("gone") == name.count("gone")


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_named_like_a_heuristic_and_is_no_file_is_refused_at_once(
    tmp_path: Path, kind: str
) -> None:
    file = heuristic(tmp_path)
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("nowhere.py" if kind == "broken link" else file.name)
    with pytest.raises(
        GameNotFoundError, match=rf"bold.py cannot be read \(it is {NO_FILES[kind]}"
    ):
        find_game(str(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_heuristic_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    heuristic(tmp_path).touch(0)
    with pytest.raises(GameNotFoundError, match=r"bold.py cannot be read"):
        find_game(str(tmp_path))


def test_a_name_longer_than_any_path_is_no_game() -> None:
    with pytest.raises(GameNotFoundError, match=r"no game at .*: .*; required is a module file"):
        find_game("x" * 5_000)


@pytest.mark.parametrize("name", ["", ".", "./no/such"])
def test_a_place_without_a_game_is_told_with_what_may_stand_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        GameNotFoundError, match=r"required is a module file, or a folder with game\.py"
    ):
        find_game(name)


def test_a_game_that_is_not_there_lists_the_library() -> None:
    with pytest.raises(GameNotFoundError, match="trick_taking"):
        find_game("no_such_game")


def test_a_source_of_five_megabytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text("#" * 5_000_000)
    with pytest.raises(GameNotFoundError, match="5000000 bytes"):
        find_game(str(tmp_path / "game.py"))


@pytest.mark.parametrize(("hints", "outcomes"), [("{}", ["passed"]), ("[1]", ["failed"]), ("", [])])
def test_hints_for_a_drawing_are_judged_where_a_module_has_some(
    sandbox: Sandbox, hints: str, outcomes: list[str]
) -> None:
    """For `check`, `new` and `revise` alike: all ask this function."""
    source = f"{SOUND}\nPRESENTATION = {hints}\n" if hints else SOUND
    run = check_source(sandbox, source, settings=SETTINGS, num_players=2, parameters={})
    assert [f.outcome for f in run.findings if f.check == "presentation"] == outcomes
