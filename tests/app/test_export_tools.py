"""`export --pettingzoo` and `--openspiel`: the tools' own tests, their solvers, and bad input."""

import ast
import importlib.util
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import (
    cfr,
    expected_game_score,
    exploitability,
    mcts,
    minimax,
)
from pettingzoo.test import api_test, seed_test

from agents.solving.form import cfr_plus, expected_returns
from app.export.exported import ExportError
from app.export.kit import GameKit, kit_of
from games import library
from tests.agents.solving.games_solved import preset
from tests.app.conftest import Command

SAMPLE = ("kuhn_poker", "connect_four", "tic_tac_toe")
NAMES = [
    pytest.param(name, marks=() if name in SAMPLE else pytest.mark.whole)
    for name in library.names()
]
DESIGNS = (
    "four in a row on a board of five by five",
    "a push your luck dice game for two players",
    "a quick trick-taking game for three with four suits and a trump",
)
# PettingZoo says so of all its own card and board games, but knows those by their names.
DICTIONARY = (
    r"Observation (is not a NumPy array|space for each agent)|Action mask numpy array is all"
)
Load = Callable[[str | Path, str], ModuleType]
_LOADED: dict[tuple[str, str], ModuleType] = {}


def imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def load(command: Command, tmp_path_factory: pytest.TempPathFactory) -> Load:
    """The exported file of a game, made once."""

    def loaded(game: str | Path, tool: str) -> ModuleType:
        if (str(game), tool) not in _LOADED:
            out = tmp_path_factory.mktemp("out")
            done = command("export", game, "--pettingzoo", "--openspiel", "--out", out, "--json")
            assert done.code == 0, done.err
            for file in map(Path, done.json["files"]):
                _LOADED[str(game), file.name.partition("_")[0]] = imported(file)
        return _LOADED[str(game), tool]

    return loaded


def pass_pettingzoo(module: Any) -> None:  # noqa: ANN401 - an exported file
    for make in (module.env, module.raw_env):
        env = make()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", DICTIONARY)
            api_test(env, num_cycles=100)
        env.close()
    seed_test(module.env, num_cycles=60)


def pass_openspiel(module: Any) -> str:  # noqa: ANN401 - an exported file
    """The playthrough that OpenSpiel writes of one match."""
    from open_spiel.python.tests.games_sim_test import GamesSimTest

    name = module.GAME_TYPE.short_name
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    np.random.seed(1)  # noqa: NPY002 - what OpenSpiel's test draws from
    GamesSimTest("test_game_sim_chess").sim_game(game)
    return playthrough(name, None)


def playthrough(name: str, actions: list[int] | None) -> str:
    """OpenSpiel's account of a match, which loads all games and is imported where it is needed."""
    from open_spiel.python.algorithms.generate_playthrough import playthrough as written

    return str(written(name, actions, seed=1))


@pytest.mark.parametrize("name", NAMES)
def test_pettingzoos_own_tests_pass(load: Load, name: str) -> None:
    pass_pettingzoo(load(name, "pettingzoo"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", NAMES)
def test_openspiels_own_tests_pass(load: Load, name: str) -> None:
    text = pass_openspiel(load(name, "openspiel"))
    played = [int(line.split(":")[1]) for line in text.splitlines() if line.startswith("action: ")]
    assert played
    if name in SAMPLE:
        assert playthrough(f"rulewright_{name}", played) == text


@pytest.mark.whole
@pytest.mark.parametrize("prompt", DESIGNS)
def test_the_tools_own_tests_pass_for_games_that_were_made(
    command: Command, load: Load, tmp_path: Path, prompt: str
) -> None:
    done = command("new", prompt, "--quick", "--out", tmp_path / "run", "--json")
    assert done.code == 0, done.err
    pass_pettingzoo(load(tmp_path / "run", "pettingzoo"))
    pass_openspiel(load(tmp_path / "run", "openspiel"))


def solved(name: str, iterations: int) -> tuple[float, float]:
    """Value of the first seat and exploitability of OpenSpiel's CFR+."""
    game = pyspiel.load_game(name)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    value = expected_game_score.policy_value(game.new_initial_state(), [policy] * 2)[0]
    return float(value), float(exploitability.exploitability(game, policy))


def test_openspiel_solves_kuhn_poker_as_kuhn_did(load: Load) -> None:
    """Kuhn 1950: the game is worth -1/18 to the first player."""
    load("kuhn_poker", "openspiel")
    value, exploited = solved("rulewright_kuhn_poker", 300)
    assert value == pytest.approx(-1 / 18, abs=1e-3)
    own = preset("kuhn_poker")
    assert value == pytest.approx(expected_returns(own, cfr_plus(own, 300))[0], abs=1e-3)
    assert exploited < 2e-3
    # Uniform play of Kuhn poker is exploitable by 11/24 (0.4583), as OpenSpiel's own test has it.
    from open_spiel.python.policy import UniformRandomPolicy

    game = pyspiel.load_game("rulewright_kuhn_poker")
    theirs = pyspiel.load_game("kuhn_poker")
    assert exploitability.exploitability(game, UniformRandomPolicy(game)) == pytest.approx(
        exploitability.exploitability(theirs, UniformRandomPolicy(theirs))
    )


@pytest.mark.whole
@pytest.mark.timeout(900)
def test_openspiel_solves_leduc_poker_as_published(load: Load) -> None:
    """The value of Leduc poker is -0.0856 to the first player."""
    load("leduc_poker", "openspiel")
    value, exploited = solved("rulewright_leduc_poker", 50)
    assert value == pytest.approx(-0.0856, abs=2e-3)
    own = preset("leduc_poker")
    assert value == pytest.approx(expected_returns(own, cfr_plus(own, 200))[0], abs=3e-3)
    assert exploited < 0.5  # uniform play: 2.37


@pytest.mark.whole
def test_tic_tac_toe_is_a_draw(load: Load) -> None:
    load("tic_tac_toe", "openspiel")
    value, _ = minimax.alpha_beta_search(pyspiel.load_game("rulewright_tic_tac_toe"))
    assert value == 0


def test_openspiels_search_takes_a_win(load: Load) -> None:
    load("tic_tac_toe", "openspiel")
    game = pyspiel.load_game("rulewright_tic_tac_toe")
    state = game.new_initial_state()
    words = [state.action_to_string(action) for action in state.legal_actions()]
    row = [word for word in words if word.endswith((" a1", " a2", " a3"))] or sorted(words)[:3]
    for place in (row[0], sorted(words)[-1], row[1], sorted(words)[-2]):
        cell = place.partition(" ")[2]
        state.apply_action(
            next(a for a in state.legal_actions() if state.action_to_string(a).endswith(cell))
        )
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = mcts.MCTSBot(game, 2.0, 60, evaluator, random_state=np.random.RandomState(1))
    assert state.action_to_string(bot.step(state)).endswith(row[2].partition(" ")[2])


def test_an_action_that_self_play_did_not_show_has_a_spare_number(load: Load) -> None:
    module: Any = load("tic_tac_toe", "pettingzoo")
    kit = kit_of(module.KIT)
    first, *others = kit.actions
    fewer: GameKit = replace(kit, actions=tuple(others), spare=2)
    assert fewer.numbered([first, others[3]]) == {3: others[3], len(others): first}
    assert fewer.numbered(["zz", first]) == {len(others): first, len(others) + 1: "zz"}
    with pytest.raises(ExportError, match="raise 'spare' in the exported file"):
        fewer.numbered(["zz", "zy", first])


class TestEnvironment:
    """The environment itself."""

    @pytest.fixture
    def module(self, load: Load) -> Any:  # noqa: ANN401 - an exported file
        return load("tic_tac_toe", "pettingzoo")

    def test_spare_numbers_play_the_whole_game(self, module: Any) -> None:  # noqa: ANN401
        """Half of the actions are forgotten; each is still told, and can be taken."""
        told = {**module.KIT, "actions": module.KIT["actions"][::2], "spare": 9}
        env = type("Forgetful", (module.raw_env,), {"kit_told": told})()
        env.reset(seed=3)
        unseen = 0
        for agent in env.agent_iter():
            seen, _, terminated, truncated, info = env.last()
            assert len(info["legal"]) == seen["action_mask"].sum()
            unseen += info["unseen"]
            over = terminated or truncated
            env.step(None if over else env.action_space(agent).sample(seen["action_mask"]))
        assert unseen > 0
        env.close()

    def test_rewards_sum_to_the_returns_of_the_match(self, module: Any) -> None:  # noqa: ANN401
        """A row of x wins 1, and the other loses 1."""
        env = module.raw_env()
        env.reset(seed=0)
        total = dict.fromkeys(env.possible_agents, 0.0)
        cells = iter(("a1", "b1", "a2", "b2", "a3"))
        legal = env.infos["player_0"]["legal"]
        names = sorted({word.partition(" ")[2] for word in legal})
        rows = dict(zip((a + b for a, b in product("abc", "123")), names, strict=True))
        for agent in env.agent_iter():
            seen, reward, over, _, info = env.last()
            total[agent] += reward
            if over:
                env.step(None)
                continue
            cell = rows[next(cells)]
            word = next(one for one in info["legal"] if one.endswith(cell))
            env.step(int(np.flatnonzero(seen["action_mask"])[info["legal"].index(word)]))
        assert total == {"player_0": 1.0, "player_1": -1.0}
        env.close()

    def test_a_match_is_left_when_a_seat_has_had_its_cycles(self, module: Any) -> None:  # noqa: ANN401
        """As `max_cycles_test` asks, no agent acts more often; its actions are the legal ones."""
        env = module.env(max_cycles=2)
        env.reset(seed=1)
        acted = dict.fromkeys(env.possible_agents, 0)
        for agent in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            acted[agent] += not (terminated or truncated)
            assert not terminated
            env.step(None if truncated else env.action_space(agent).sample(seen["action_mask"]))
        assert acted == {"player_0": 2, "player_1": 1}
        env.close()

    def test_what_is_not_legal_is_refused_or_loses(self, module: Any) -> None:  # noqa: ANN401
        raw = module.raw_env()
        raw.reset(seed=1)
        illegal = int(np.flatnonzero(raw.observe("player_0")["action_mask"] == 0)[0])
        for wrong in (illegal, -5, 10_000, None):
            with pytest.raises(ExportError, match="is not legal for player_0; legal are"):
                raw.step(wrong)
        raw.close()
        env = module.env()
        env.reset(seed=1)
        env.step(illegal)
        assert env.terminations == {"player_0": True, "player_1": True}
        assert env.rewards == {"player_0": -1.0, "player_1": 0}
        env.close()

    def test_it_is_drawn_as_text(self, module: Any) -> None:  # noqa: ANN401
        env = module.env(render_mode="ansi")
        env.reset(seed=1)
        assert env.render().count(".") >= 9
        env.close()
        with pytest.raises(ExportError, match="required: 'ansi'"):
            module.raw_env(render_mode="human")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 9}, "has format 9"),
        ({"actions": 3}, "was changed"),
        ({"encoder": {}}, "changed"),
    ],
)
def test_a_file_that_was_spoilt_says_so(load: Load, change: dict[str, Any], said: str) -> None:
    module: Any = load("tic_tac_toe", "pettingzoo")
    with pytest.raises(ExportError, match=said):
        kit_of({**module.KIT, **change})


def test_the_file_holds_the_module_as_text_and_imports_only_ours(load: Load) -> None:
    for tool in ("pettingzoo", "openspiel"):
        module = load("kuhn_poker", tool)
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert [ast.unparse(node).split()[1] for node in found] == [f"app.export.{tool}"]
        assert kit_of(vars(module)["KIT"]).source == library.source("kuhn_poker")


def test_a_module_that_does_not_end_is_refused(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "game.py"
    source = library.source("pig")
    file.write_text(source + "\n\ndef get_rewards(state):\n    raise KeyError('none')\n")
    done = command("export", file, "--pettingzoo", "--out", tmp_path / "out", "--json")
    assert done.code == 2
    assert "self-play did not finish" in done.err
    assert not (tmp_path / "out").exists()


def test_the_examples_of_the_page_run(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[2] / "docs" / "export.md"
    text = page.read_text(encoding="utf-8").partition("## PettingZoo and OpenSpiel")[2]
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for tool, block in zip(("pettingzoo", "openspiel"), blocks, strict=True):
        module = load("kuhn_poker", tool)
        monkeypatch.setitem(sys.modules, f"{tool}_kuhn_poker", module)
        held: dict[str, Any] = {}
        exec(block, held)
        if tool == "openspiel":
            assert held["game"].num_players() == 2
        else:
            assert held["match"].agents == []


@pytest.mark.parametrize(
    ("tool", "module"), [("pettingzoo", "pettingzoo"), ("openspiel", "pyspiel")]
)
def test_what_is_not_installed_is_named(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, module: str
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "app.export.exported.find_spec", lambda n: None if n == module else found(n)
    )
    done = command("export", "kuhn_poker", f"--{tool}", "--out", tmp_path / "out")
    assert done.code == 2
    assert f"pip install 'rulewright[{tool}]'" in done.err
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_there_stays(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "openspiel_kuhn_poker.py"
    file.write_text("mine")
    done = command("export", "kuhn_poker", "--openspiel", "--out", tmp_path)
    assert (done.code, file.read_text()) == (2, "mine")
    assert "--force" in done.err
