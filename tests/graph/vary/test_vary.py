"""The machine of `vary`: its edges, what it keeps, and what it refuses."""

import os
import re
import signal
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from games import library
from games.checks import Finding, Outcome
from games.library import read_game, specialise
from games.library.settings import GameCard, game_of
from games.modules import LocalModule
from games.values import FaultKind, Json, ModuleFault
from graph.run.events import BaseMeasured
from graph.run.folder import RunFolder, RunFolderError
from graph.run.handle import RunHandle
from graph.vary import playing
from graph.vary.bases import BaseGame, base_of
from graph.vary.report import VaryReport, read_varied
from graph.vary.runs import build_varying, open_varying, run_varying
from graph.vary.settings import VarySettings, read_variation
from tests.graph.vary.varied import TINY, asked, context_in, library_game, started, written
from tools.playtest.jobs import GameSetup
from tools.playtest.journal import Journal, JournalError
from tools.playtest.series import play_series
from tools.sandbox import Sandbox
from tools.sources import GameSource, find_game
from tools.variation import trial as trying
from tools.variation.trial import TrialResult

MOMENTS = (
    *("base", "base midway", "suggest", "reflect", "reflect midway", "rank"),
    *("make", "make midway", "report"),
)
Vary = Callable[..., VaryReport]


@pytest.fixture
def vary(tmp_path: Path, sandbox: Sandbox) -> Vary:
    """Vary a game of the library to the end."""

    def run(base: BaseGame, **changes: object) -> VaryReport:
        folder = asked(tmp_path / "run", base, **changes)
        return run_varying(folder, context_in(folder, sandbox)).report

    return run


def test_an_edge_is_drawn_to_each_node_that_may_come_next_and_to_no_other() -> None:
    drawn: dict[str, set[str]] = {}
    for edge in build_varying().compile().get_graph().edges:
        drawn.setdefault(edge.source, set()).add(edge.target)
    assert drawn == {
        "__start__": {"base"},
        "base": {"suggest"},
        "suggest": {"reflect", "report"},
        "reflect": {"reflect", "rank"},
        "rank": {"make", "report"},
        "make": {"rank"},
        "report": {"__end__"},
    }


def killed(folder: Path, at: str) -> bool:
    """Go on until it is killed there; whether it was."""
    process = started(folder, at)
    process.join(300)
    return process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("every", [4, 1], ids=["some", "all"])
def test_killed_at_its_nodes_a_run_gives_the_bytes_of_one_that_never_was(
    tmp_path: Path, every: int
) -> None:
    base = library_game("leduc_poker")
    for name in ("straight", "killed"):
        asked(tmp_path / name, base, n=1)
    straight = started(tmp_path / "straight")
    assert all(killed(tmp_path / "killed", moment) for moment in MOMENTS[::every])
    straight.join(300)
    assert straight.exitcode == 0
    assert not killed(tmp_path / "killed", "")
    assert written(tmp_path / "killed") == written(tmp_path / "straight")


def test_a_variant_is_a_folder_whose_game_is_not_its_parent(vary: Vary, tmp_path: Path) -> None:
    more = {"trial_matches": 48, "good_matches": 24, "final_random": 60, "final_good": 24}
    report = vary(library_game("leduc_poker"), candidates=5, **more)
    assert report.end == "varied"
    assert len(report.variants) == 2
    usual = game_of("poker").defaults()
    for one in report.variants:
        made = find_game(str(tmp_path / "run" / one.folder))
        card = GameCard.model_validate(read_game(made.source))
        assert card.defaults() == {**usual, **one.changed} != usual
        assert sorted(made.heuristics) == sorted(library.heuristic_sources("poker"))
        assert one.novelty > report.chance
        assert one.checks is not None
        assert one.checks > 5
        assert (tmp_path / "run" / one.folder / "rulebook.md").read_text().startswith("# ")
        assert one.command.startswith("rulewright new --family poker --players 2 --set ")
        assert one.difference.startswith("Unlike leduc poker: ")
    page = (tmp_path / "run" / "report.html").read_text()
    assert all(one.title in page and one.folder in page for one in report.variants)


def test_what_words_name_stays_and_what_they_do_not_is_said(vary: Vary) -> None:
    report = vary(library_game("tic_tac_toe"), keep="the size; the zebra", n=3)
    assert report.kept == {"size": "the size"}
    assert report.not_understood == ("the zebra",)
    assert all("size" not in one.changed for one in report.variants)


def test_where_all_is_held_nothing_is_varied_and_it_is_said(vary: Vary) -> None:
    report = vary(library_game("tic_tac_toe"), keep="size, misere, wild")
    assert (report.end, report.variants) == ("none", ())
    assert report.reason == "no setting is free to change"


def test_more_than_there_are_gives_fewer_and_says_why(vary: Vary) -> None:
    report = vary(library_game("tic_tac_toe"), keep="size, misere", n=64, candidates=1)
    assert report.tried == 1
    assert len(report.variants) <= 1
    assert report.end in ("fewer", "none")
    assert "told from the base" in report.reason


@pytest.mark.parametrize("n", [0, 10_000])
def test_a_number_of_variants_out_of_bounds_is_refused(n: int) -> None:
    with pytest.raises(ValidationError, match="n\n"):
        VarySettings(n=n)


def own_game(tmp_path: Path, source: str) -> GameSource:
    (tmp_path / "own.py").write_text(source)
    return find_game(str(tmp_path / "own.py"))


ENDLESS = '''
"""Count on and on; with `last` at 9 nobody can end it."""
GAME = {
    "name": "count", "summary": "Count.", "min_players": 2, "max_players": 2,
    "parameters": {"last": {"default": DEFAULT, "range": [3, 9], "meaning": "The last number."}},
}
ZONES = {}


def initial_state(num_players, **parameters):
    last = parameters.get("last", GAME["parameters"]["last"]["default"])
    return {"last": last, "at": 0, "player": 0, "said": 0}


def get_current_player(state):
    return -4 if state["said"] >= state["last"] and state["last"] < 9 else state["player"]


def get_player_name(player):
    return {-4: "terminal", -1: "chance"}.get(player, f"Player {player + 1}")


def get_legal_actions(state):
    return [] if get_current_player(state) == -4 else ["one", "two"]


def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError(action)
    at = state["at"] + (1 if action == "one" else 2)
    return {**state, "at": at % 5, "player": 1 - state["player"], "said": state["said"] + 1}


def get_rewards(state):
    if get_current_player(state) != -4:
        return [0, 0]
    return [1, -1] if state["at"] in (0, 2) else [-1, 1]


def get_observations(state):
    return [{"at": state["at"], "said": state["said"]}] * 2


def get_events(state, action):
    return [[f"{get_player_name(state['player'])} says {action}."]] * 2


def visible(state, player):
    return {}
'''


def test_settings_whose_games_never_end_are_not_kept_and_said(vary: Vary, tmp_path: Path) -> None:
    base = base_of(own_game(tmp_path, ENDLESS.replace("DEFAULT", "6")))
    report = vary(base, n=2, candidates=6)
    assert all(one.changed["last"] != 9 for one in report.variants)
    assert any("did not end" in why for why in report.dropped)
    assert base.family == ""


def test_a_base_that_never_ends_is_refused_with_a_sentence(vary: Vary, tmp_path: Path) -> None:
    base = base_of(own_game(tmp_path, ENDLESS.replace("DEFAULT", "9")))
    with pytest.raises(RunFolderError, match="cannot be varied, as it cannot be measured"):
        vary(base)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("GAME = {}\n", "GAME cannot be read"),
        ("def f(:\n", "GAME cannot be read"),
        (ENDLESS.replace('"range": [3, 9], ', "").replace("DEFAULT", "6"), "declares no parameter"),
    ],
)
def test_a_base_that_cannot_be_varied_is_refused_with_a_sentence(
    source: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(RunFolderError, match=why):
        base_of(own_game(tmp_path, source))


def test_a_run_of_a_family_is_varied_as_the_family_until_its_code_is_another(
    tmp_path: Path,
) -> None:
    made = specialise(
        library.source("placement"),
        name="Ours",
        summary="Ours.",
        num_players=2,
        parameters={"rows": 5, "connect": 3},
    )
    (tmp_path / "design.json").write_text('{"family": "placement"}')
    (tmp_path / "rulebook.md").write_text("# Ours\n")
    base = base_of(own_game(tmp_path, made))
    assert (base.family, base.title) == ("placement", "Ours")
    assert base.settings["rows"] == 5
    assert "5 rows" in base.rulebook({"columns": 4})
    other = base_of(own_game(tmp_path, made.replace('EMPTY = "."', 'EMPTY = "-"')))
    assert other.family == ""
    acts = re.sub(
        r'(def get_rewards.*?:\n)    """.*?"""\n', r"\1    state.clear()\n", made, flags=re.S
    )
    assert acts != made
    assert base_of(own_game(tmp_path, acts)).family == ""  # a call is no docstring
    assert other.rulebook({"rows": 4}).startswith("# Ours\n")


def test_what_is_no_text_beside_a_strangers_game_is_not_read_and_holds_nothing_up(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "rulebook.md")
    os.mkfifo(tmp_path / "design.json")
    game = own_game(tmp_path, ENDLESS.replace("DEFAULT", "6"))
    assert base_of(game).rules == f"# {tmp_path / 'own.py'}\n"
    (tmp_path / "design.json").unlink()
    (tmp_path / "design.json").write_text('{"family": ' + "[" * 200_000)
    assert base_of(game).family == ""


def test_a_variant_of_the_game_that_init_teaches_passes_the_whole_check(
    vary: Vary, tmp_path: Path
) -> None:
    """Its module names the default of `stones` itself, and so gives 15 stones whatever `GAME` says.

    Two heaps of other sizes differ in the length of a match, and so in play.
    """
    skeleton = files("games") / "skeleton" / "game.py"
    base = base_of(own_game(tmp_path, skeleton.read_text(encoding="utf-8")))
    report = vary(base, n=1, candidates=4)
    (one,) = report.variants
    made = find_game(str(tmp_path / "run" / one.folder)).source
    assert heap(made) == one.changed["stones"] != 15
    assert heap(made, stones=7) == 7
    again = base_of(own_game(tmp_path, base.module({"stones": 9}))).module({"stones": 8})
    assert heap(again) == 8


def heap(source: str, **parameters: Json) -> int:
    """The stones at the start, as the module itself lays them out."""
    first: Any = LocalModule(source, "made").call("initial_state", 2, **parameters)
    return len(first["heap"])


def test_a_match_that_the_clock_ended_is_no_result(vary: Vary, tmp_path: Path) -> None:
    """The game hangs where `last` is 9, which is tried."""
    hangs = (
        'if state["last"] == 9:\n        while True:\n            pass\n    if action not in get'
    )
    source = ENDLESS.replace("DEFAULT", "6").replace("if action not in get", hangs)
    with pytest.raises(RunFolderError, match=r"the game with last=9 was stopped: .*timed_out"):
        vary(base_of(own_game(tmp_path, source)), n=1, candidates=6)
    kept = (tmp_path / "run" / ".state" / "journals" / "trial.jsonl").read_text()
    assert "timed_out" not in kept


@pytest.mark.parametrize("kind", ["timed_out", "killed"])
def test_what_the_clock_or_the_machine_stopped_is_no_result_and_is_played_again(
    kind: FaultKind, tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = asked(tmp_path / "run", library_game("tic_tac_toe"), n=1)
    true, stopped = play_series, list[str]()

    def stops_once(game: GameSetup, *args: object, **named: object) -> object:
        if game.parameters["size"] != 3 and not stopped:
            stopped.append(game.name)
            raise ModuleFault(kind, "apply_action", "did not return", line=3)
        return true(game, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(trying, "play_series", stops_once)
    with pytest.raises(RunFolderError, match=rf"size=.* {kind} .*resume {folder.path}"):
        run_varying(folder, context_in(folder, sandbox))
    report = run_varying(folder, context_in(folder, sandbox)).report
    assert stopped
    assert not any(kind in why for why in report.dropped)


@pytest.mark.parametrize(
    ("outcome", "told"), [("failed", "the checks: "), ("could_not_judge", "could not be judged: ")]
)
def test_a_check_that_judges_nothing_is_an_end_of_its_own(
    outcome: Outcome,
    told: str,
    vary: Vary,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finding = Finding(check="total", outcome=outcome, evidence="no match finished")
    monkeypatch.setattr(playing, "_checked", lambda *_: [finding])
    report = vary(library_game("leduc_poker"), n=1)
    assert report.end == "none"
    assert f"{told}total: no match finished" in report.dropped


@pytest.mark.parametrize("entry", [{"zzz": 1}, {"problem": "", "profile": {"length": 1.0}}, 7])
def test_a_line_that_no_run_writes_is_refused_with_a_sentence(
    entry: Json, tmp_path: Path, sandbox: Sandbox
) -> None:
    folder = asked(tmp_path / "run", library_game("tic_tac_toe"))
    seeds = int(str(TINY["base_seeds"]))
    about: dict[str, Json] = {"vary": "base", "jobs": [*range(seeds + 1)]}
    with Journal(folder.journals / "base.jsonl", about) as journal:
        journal.append(1, entry)
    with pytest.raises(JournalError, match=r'base.jsonl holds an entry of "index":1 that no run'):
        run_varying(folder, context_in(folder, sandbox))


def test_a_line_of_no_job_is_refused_with_a_sentence(tmp_path: Path, sandbox: Sandbox) -> None:
    folder = asked(tmp_path / "run", library_game("tic_tac_toe"))
    about: dict[str, Json] = {"vary": "base", "jobs": [*range(int(str(TINY["base_seeds"])) + 1)]}
    with Journal(folder.journals / "base.jsonl", about) as journal:
        journal.append(99, TrialResult(problem="theirs").model_dump(mode="json"))
    with pytest.raises(JournalError, match='"index":99'):
        run_varying(folder, context_in(folder, sandbox))


@pytest.mark.parametrize(
    "changes",
    [{"settings": {}}, {"family": "zzz"}, {"settings": {"num_players": "two"}}, {"fields": {}}],
)
def test_a_strangers_request_that_is_no_game_is_refused_with_a_sentence(
    changes: dict[str, object], tmp_path: Path
) -> None:
    folder = asked(tmp_path / "run", library_game("tic_tac_toe"))
    told: Any = folder.read_json(".state/varying.json")
    told["base"] |= changes
    folder.write_json(".state/varying.json", told)
    with pytest.raises(RunFolderError, match="is no request of this version"):
        read_variation(folder)


def test_a_run_that_its_handle_stopped_goes_on_to_its_end_and_takes_no_answer(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    folder = asked(tmp_path / "run", library_game("tic_tac_toe"), n=1)
    with open_varying(folder, context_in(folder, sandbox)) as run:
        handle: RunHandle[object] = run
        for event in handle.events():
            if isinstance(event, BaseMeasured):
                handle.stop()
        with pytest.raises(RunFolderError, match=r"vary.json"):
            handle.result()
        with pytest.raises(RunFolderError, match="asks nothing"):
            run.answer("yes")
    with open_varying(folder, context_in(folder, sandbox)) as run:
        list(run.events())
        assert run.result().report == read_varied(RunFolder(tmp_path / "run"))
        assert run.question is None


def test_presets_seats_and_settings_that_change_nothing_are_known() -> None:
    base = library_game("connect_four")
    assert {"rows": 15, "connect": 5}.items() <= base.presets[1].items()
    assert base.settings["num_players"] == 2
    assert "connect is 8" in base.objection({"connect": 8})
    assert "changes no rule" in library_game("crazy_eights").objection({"penalty_cards": 4})
    assert base.setup({"num_players": 3}).num_players == 3
