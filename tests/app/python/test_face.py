"""The face for Python: its page and its notebook run, results are shown, mistakes are sentences."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import rulewright
from agents.players.specs import PlayerSpecError
from agents.protocols import RoleError
from app.python.shown import ArgumentError
from tests.agents.model.endpoint import message, serving
from tests.app.conftest import Command
from tests.tools.predicting.material import TIC_TAC_TOE
from tools.playtest.schedule import TournamentError
from tools.sources import GameNotFoundError

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "docs" / "first-steps.ipynb"
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
TASKS = dict(re.findall(r"^## ([^\n]*)\n[^#]*?```python\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
FACE = {"analyse", "design", "learn", "load", "match", "play", "tournament", "train"}


def ran(task: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(TASKS[task], "python.md", "exec"), {})
    return capsys.readouterr().out


def test_the_page_has_ten_lines_a_task_and_a_task_for_each_function() -> None:
    assert all(len([line for line in code.splitlines() if line]) <= 10 for code in TASKS.values())
    used = {name for code in TASKS.values() for name in re.findall(r"rulewright\.(\w+)\(", code)}
    assert used == FACE


def test_a_game_is_loaded_and_matches_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    said = ran("Load a game, and count matches", capsys)
    assert "tic_tac_toe: 10 matches, 10 finished" in said
    assert re.search(r"uct 20 +\d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\)", said)


def test_a_tournament_is_rated(capsys: pytest.CaptureFixture[str]) -> None:
    said = ran("A tournament", capsys)
    assert "tic_tac_toe: 12 matches" in said  # three pairs, two deals, two seatings
    assert all(name in said for name in ("random", "greedy", "osla"))


def test_a_match_is_played_by_a_function_and_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    said = ran("Play one match, with a player of your own", capsys)
    assert "leduc_poker:" in said
    assert "player 2 sees:" in said
    assert "your hand:" in said


def test_a_match_is_analysed(capsys: pytest.CaptureFixture[str]) -> None:
    said = ran("Analyse it", capsys)
    assert "tic_tac_toe, ply 3" in said
    assert re.search(r"[xo] \d,\d +-?\d\.\d{3}", said)
    assert "lost" in said


def test_a_game_is_designed_from_words(capsys: pytest.CaptureFixture[str]) -> None:
    said = ran("Design a game from words", capsys)
    assert said.splitlines()[0] in ("made", "delivered")
    assert "leak_audit" in said
    assert "# Hearts-like trick-taking game for 3 players" in said
    assert "report.html" in said


def test_a_run_that_asks_is_answered_and_goes_on() -> None:
    asks = rulewright.design("a game", quick=True, seed=1)
    assert (asks.end, asks.game) == ("question", None)
    assert "Which game do you want?" in asks.question
    assert asks.question in repr(asks)
    with pytest.raises(ArgumentError, match="this run made no game"):
        asks.play(["random"])
    heard: list[str] = []
    made = asks.answer("tic-tac-toe on a 4 by 4 board", lambda event: heard.append(event.node))
    assert (made.end, made.question, made.folder) == ("made", "", asks.folder)
    assert made.game is not None
    assert made.game.parameters["size"] == 4
    assert {"design", "check"} <= set(heard)
    with pytest.raises(ArgumentError, match="asks nothing"):
        made.answer("yes")


def test_a_player_is_trained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="training is an extra: not verified without torch")
    monkeypatch.chdir(tmp_path)
    said = ran("Train a player", capsys)
    assert (tmp_path / "kuhn.policy").is_file()
    assert "ppo:policy=kuhn.policy" in said
    assert "kuhn_poker: 20 matches" in said


def test_a_model_of_a_game_is_learned(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.txt").write_text("Three own marks in a row win.", encoding="utf-8")
    recorded = command("record", "openspiel:tic_tac_toe", "--matches", 30, "--out", "matches.jsonl")
    assert recorded.code == 0
    code = TASKS["Learn a model of a game"]
    with serving(message(f"```python\n{TIC_TAC_TOE}```")) as endpoint:
        monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        done: dict[str, Any] = {}
        exec(compile(code, "python.md", "exec"), done)
    learned = done["learned"]
    assert learned.report.accuracy == 1.0
    assert "accuracy  1.0000" in repr(learned)
    assert learned.game.players == 2


def test_the_notebook_shows_what_running_it_gives(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.python.notebook", str(NOTEBOOK)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80", "RULEWRIGHT_RUNS": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    again = "python -m tests.app.python.notebook docs/first-steps.ipynb --write"
    assert json.loads(done.stdout) == stored, f"store what it gives now: {again}"
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in code)


def test_importing_loads_nothing_of_ours_and_names_are_the_functions() -> None:
    code = "import sys, rulewright; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(ast.literal_eval(done.stdout))
    rooms = {"agents", "app", "evals", "games", "graph", "tools", "vectorstore"}
    assert not loaded & (rooms | {"numpy", "pydantic", "typer", "typing"})
    assert set(rulewright.__all__) == FACE
    assert set(dir(rulewright)) >= FACE
    with pytest.raises(AttributeError, match="has no 'nosuch'; it has analyse, design"):
        getattr(rulewright, "nosuch")  # noqa: B009 - there is none


def test_a_room_that_another_package_has_is_an_import_error(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "__init__.py").write_text("raise RuntimeError('theirs')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import rulewright; rulewright.load('whist')"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: another package here has the import name graph")


def test_a_type_checker_is_told_of_the_functions_that_are_given() -> None:
    tree = ast.parse((ROOT / "rulewright.py").read_text(encoding="utf-8"))
    imported = {
        one.asname: (node.module, one.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("app.python")
        for one in node.names
    }
    given = {name: getattr(rulewright, name) for name in FACE}
    assert imported == {name: (one.__module__, one.__name__) for name, one in given.items()}


def test_the_same_seed_gives_the_same_and_a_drawn_one_is_told() -> None:
    one, other = (rulewright.match("tic_tac_toe", ["random"] * 2, games=2, seed=5) for _ in "ab")
    assert one.summary == other.summary
    drawn = rulewright.match("tic_tac_toe", ["random"] * 2, games=2)
    again = rulewright.match("tic_tac_toe", ["random"] * 2, games=2, seed=drawn.seed)
    assert drawn.summary == again.summary


def test_nothing_is_noted_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    rulewright.play("tic_tac_toe", ["random", "greedy"], seed=1)
    rulewright.match("tic_tac_toe", ["random", "greedy"], games=2)
    assert capfd.readouterr() == ("", "")


def test_names_and_words_of_a_game_are_text_in_a_notebook(tmp_path: Path) -> None:
    source = (ROOT / "games/skeleton/game.py").read_text("utf-8")
    odd = source.replace('"name": "last_stone"', '"name": "<script>x</script>"', 1)
    (tmp_path / "game.py").write_text(odd, encoding="utf-8")
    game = rulewright.load(tmp_path)
    match = game.play(["random", "random"], seed=1)
    for shown in (game, match, match.position(2)):
        assert "<script" not in shown._repr_html_()
        assert "<script" not in unescape(shown._repr_html_())
        assert "<script" not in repr(shown)


def test_a_notebook_shows_a_position_as_the_page_draws_it() -> None:
    """The third ply of tic-tac-toe: two marks on nine cells, of which seven may be taken."""
    first = lambda seen, legal: legal[0]  # noqa: E731 - a player
    position = rulewright.play("tic_tac_toe", [first, first], seed=1).position(ply=3)
    shown = position._repr_html_()
    assert shown.startswith("<iframe sandbox ")  # no script runs in it
    drawn = unescape(shown.partition("srcdoc=")[2])
    assert len(set(re.findall(r'name="action" value="(x [^"]+)"', drawn))) == 7
    assert ".table" in drawn.partition("</style>")[0]
    assert "Player 1" in drawn
    assert str(position).splitlines()[0] == "Before ply 3 player 1 sees:"


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (lambda: rulewright.load("conect_four"), GameNotFoundError, "did you mean 'connect_four'"),
        (lambda: rulewright.load("tic_tac_toe", parameters={"size": 9}), ArgumentError, "allowed"),
        (lambda: rulewright.load("tic_tac_toe", parameters={"n": 9}), TournamentError, "has no"),
        (lambda: rulewright.match("whist", ["random"] * 3), TournamentError, "takes 4 players"),
        (lambda: rulewright.match("whist", ["nosuch"] * 4), PlayerSpecError, "known players"),
        (lambda: rulewright.match("whist", ["random"] * 4, games=0), ArgumentError, "at least 1"),
        (
            lambda: rulewright.play("tic_tac_toe", [lambda seen, legal: "x 9,9", "random"]),
            ArgumentError,
            "player 1 chose 'x 9,9'; legal were: x 1,1",
        ),
        (lambda: rulewright.design("  "), ArgumentError, "the prompt is empty"),
        (lambda: rulewright.design("x", family="nosuch"), RoleError, "nosuch"),
        (lambda: rulewright.train("kuhn_poker", "x.policy"), ArgumentError, "required: steps"),
        (lambda: rulewright.learn("nosuch.txt", "m.jsonl"), ArgumentError, "cannot be read"),
    ],
)  # fmt: skip
def test_a_mistake_is_an_error_of_the_product_with_a_sentence(
    wrong: object,
    error: type[Exception],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callable(wrong)
    with pytest.raises(error, match=re.escape(said)) as raised:
        wrong()
    assert type(raised.value).__module__.split(".")[0] in (
        "agents",
        "app",
        "games",
        "graph",
        "tools",
    )
    assert not list(tmp_path.iterdir())


LOOSE: Any = rulewright  # as a caller without a type checker has it


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: LOOSE.load(None), "game is None; required: a name, a path"),
        (lambda: LOOSE.load("whist", players="4"), "players is '4'; required: a whole number"),
        (lambda: LOOSE.match("whist", "random"), "players is 'random'; required: a list"),
        (lambda: LOOSE.match("whist", [str, str]), "each a text such as 'greedy'"),
        (lambda: LOOSE.match("pig", ["random"], seed="1"), "seed is '1'; required"),
        (lambda: LOOSE.match("pig", ["random"], seed=-1), "a whole number of at least 0, or None"),
        (lambda: LOOSE.match("pig", ["random"], seed=True), "seed is True; required"),
        (lambda: LOOSE.load("pig", parameters=[1]), "names with values of JSON"),
        (lambda: LOOSE.load("pig", parameters={"goal": {1}}), "names with values of JSON"),
        (lambda: LOOSE.play("pig", []), "required: a list of players, one a seat"),
        (lambda: LOOSE.play("pig", [None, "random"]), "or a function"),
        (lambda: LOOSE.tournament("pig", ["a", "b"], seats="2"), "seats is '2'; required"),
        (lambda: LOOSE.analyse("whist"), "match is 'whist'; required: what play gave"),
        (lambda: LOOSE.design(None), "prompt is None; required: text"),
        (lambda: LOOSE.design("x", players=-2), "players is -2; required: a whole number"),
        (lambda: LOOSE.design("x", quick="no"), "quick is 'no'; required: True or False"),
        (lambda: LOOSE.train("pig", None, steps=1), "out is None; required: a path"),
        (lambda: LOOSE.train("pig", "x", steps=None), "steps is None; required: a whole number"),
        (lambda: LOOSE.learn("r", "m", max_calls=0), "max_calls is 0; required: a whole number"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_named(
    call: Callable[[], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=re.escape(said)):
        call()
    assert not list(tmp_path.iterdir())


def test_places_that_a_match_does_not_have_are_refused() -> None:
    match = rulewright.play("tic_tac_toe", ["random", "random"], seed=1)
    wrong: Any = "1"
    with pytest.raises(ArgumentError, match="ply is '1'; required: a whole number"):
        match.position(wrong)
    with pytest.raises(ArgumentError, match="ply is '1'; required: a whole number"):
        rulewright.analyse(match, ply=wrong)
    for ply, seat in ((0, 1), (99, 1), (1, 3)):
        with pytest.raises(ArgumentError, match="required: a ply from 1 to"):
            match.position(ply, seat)
        with pytest.raises(ArgumentError, match="required: a ply from 1 to"):
            rulewright.analyse(match, ply=ply, seat=seat)
    with pytest.raises(ArgumentError, match="player 2 decided nothing"):
        match.position(1, seat=2)
