"""`package.module:Class`: the examples of docs/environments.md, and classes that are wrong."""

import io
import itertools
import re
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from games.engine import RandomPlayer, play_match
from games.environments import EnvironmentNotFoundError
from games.environments.registry import environment_named
from tests.agents.model.endpoint import message, serving
from tests.app.conftest import Command, Outcome
from tests.app.test_any_environment import by_heart
from tools.sandbox import Limits, Sandbox
from tools.sandbox.module import environment_in

DOCS = Path(__file__).parents[2] / "docs" / "environments.md"
GOOD = '''
class Game:
    """# Five

    Each takes one or two; whoever comes to five wins.
    """

    players = 2
    deals = 3

    def reset(self, deal):
        self.total, self.seat = -deal, 0

    def legal(self):
        return (None, []) if self.total >= 5 else (self.seat, ["take 1", "take 2"])

    def step(self, action):
        self.total += int(action[-1])
        won, self.seat = self.seat, 1 - self.seat
        return [0, 0] if self.total < 5 else [1 if seat == won else -1 for seat in (0, 1)]

    def show(self, seat):
        return {"total": self.total, "my_player_id": seat}
'''
# The same game as a model would write it: pure functions over the recorded states.
MODEL = """
def _total(state):
    return sum(int(one[-1]) for one in state["done"]) - state["deal"]


def get_current_player(state):
    if state["deal"] is None:
        return -1
    return -4 if _total(state) >= 5 else len(state["done"]) % 2


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, str(player_id))


def get_legal_actions(state):
    turn = get_current_player(state)
    if turn == -1:
        return ["deal 0", "deal 1", "deal 2"]
    return [] if turn == -4 else ["take 1", "take 2"]


def get_chance_probabilities(state):
    return [1 / 3, 1 / 3, 1 / 3]


def get_rewards(state):
    if get_current_player(state) != -4:
        return [0.0, 0.0]
    won = (len(state["done"]) - 1) % 2
    return [1.0 if seat == won else -1.0 for seat in (0, 1)]


def get_observations(state):
    if state["deal"] is None:
        return [{}, {}]
    return [{"total": _total(state), "my_player_id": seat} for seat in (0, 1)]


def apply_action(state, action):
    deal, done = state["deal"], list(state["done"])
    if deal is None:
        deal = int(action[-1])
    else:
        done.append(action)
    reached = {"deal": deal, "done": done}
    reached["seen"] = get_observations(reached)
    return reached
"""
# What is hidden: the second seat sees the sum of the deal and of what the first took.
DRAWS = """
import random


def resample_history(obs_action_history, player_id):
    while True:
        state, done, told = {"deal": None, "done": []}, [], list(obs_action_history)
        while (turn := get_current_player(state)) != -4:
            action = random.choice(get_legal_actions(state))
            if turn == player_id:
                seen, action = told.pop(0)
                if seen != get_observations(state)[player_id]:
                    break
                if action is None:
                    return done
            state, done = apply_action(state, action), [*done, action]
"""
Write = Callable[[str], str]
_NUMBER = itertools.count()


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """A module with a source, which can be imported; the name of its class `Game`."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(source: str) -> str:
        name = f"game_of_test_{next(_NUMBER)}"
        (tmp_path / f"{name}.py").write_text(source)
        return f"{name}:Game"

    return write


def goes_round(command: Command, name: str, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record, match, a twin, and play to the end of what is typed."""
    done = command("record", name, "--matches", 4, "--out", out, "--json")
    assert (done.code, done.json["environment"]) == (0, name), done.err
    assert abs(sum(done.json["mean_returns"])) < 1e-9
    for environment in (name, f"twin:2:{name}"):
        met = command("match", "--environment", environment, "--games", 2, "--json",
                      "--player", "random", "--player", "gt:simulations=10,rollouts=1")  # fmt: skip
        assert met.code == 0, met.err
        assert met.json["endings"]["finished"] == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n" * 2))
    played = command("play", name, "--opponent", "random", "--seed", 1)
    assert "Your move: " in played.out, played.err
    assert re.search(r"The match is over|The input has ended", played.out)


def example(file: str) -> str:
    text = DOCS.read_text(encoding="utf-8")
    blocks = [one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if file in one]
    assert len(blocks) == 1
    return str(blocks[0])


def test_the_example_of_pettingzoo_works(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pettingzoo")
    if find_spec("pygame") is None:  # with which the game is drawn, and nothing else
        (tmp_path / "pygame.py").write_text("def __getattr__(name):\n    return object\n")
    (tmp_path / "my_games.py").write_text(example("my_games.py"))
    monkeypatch.syspath_prepend(str(tmp_path))
    goes_round(command, "my_games:TicTacToe", tmp_path / "m.jsonl", monkeypatch)
    assert "Three own marks" in command("games", "my_games:TicTacToe").out


def test_the_example_of_rlcard_works(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rlcard")
    (tmp_path / "my_cards.py").write_text(example("my_cards.py"))
    monkeypatch.syspath_prepend(str(tmp_path))
    goes_round(command, "my_cards:Leduc", tmp_path / "m.jsonl", monkeypatch)
    assert "as RLCard plays it" in command("games", "my_cards:Leduc").out


def test_the_example_of_reading_a_file_works(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kuhn poker deals two of three cards, and then asks player 0."""
    monkeypatch.chdir(tmp_path)
    assert (
        command("record", "openspiel:kuhn_poker", "--matches", 3, "--out", "train.jsonl").code == 0
    )
    block = example("train.jsonl")
    said: list[tuple[object, ...]] = []
    exec(block, {"print": lambda *told: said.append(told)})
    assert [player for player, *_ in said[:3]] == [-1, -1, 0]
    assert {str(action) for player, action, _ in said if player == -1} <= {
        "Deal J",
        "Deal Q",
        "Deal K",
    }


def test_a_class_is_recorded_matched_and_played(
    command: Command, written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = written(GOOD)
    goes_round(command, name, tmp_path / "m.jsonl", monkeypatch)
    assert command("games", name).out.startswith("# Five\n\nEach takes one or two; whoever comes")
    assert "is played by 2" in command("match", "--environment", name, "--player", "random").err
    saved = max(tmp_path.parent.glob("**/played-game_of_test*.jsonl"), default=None)
    found = saved or command("play", name, "--opponent", "random").out.split("To go on: ")[-1]
    file = found if isinstance(found, Path) else Path(found.split()[-1])
    assert "whose import runs code" in command("play", file).err


def learned(
    command: Command,
    name: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: Callable[[Path], Sequence[str]],
) -> Outcome:
    """The outcome of `learn` for a class, where the model writes this of the recorded matches."""
    file, rules = folder / "train.jsonl", folder / "rules.md"
    assert command("record", name, "--matches", 12, "--out", file, "--force").code == 0
    rules.write_text(command("games", name).out)
    monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked = ("--rules", rules, "--trajectories", file, "--environment", name, "--quick",
             "--arena-matches", 2, "--simulations", 2)  # fmt: skip
    written = model(file)
    with serving(*(message(f"```python\n{one}```") for one in written)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        return command(
            "learn", *asked, "--max-calls", len(written), "--out", folder / "run", "--json"
        )


def test_a_class_is_learned_from_its_rules_and_matches(
    command: Command, written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = learned(command, written(GOOD), tmp_path, monkeypatch, lambda _: (MODEL, DRAWS))
    assert (done.code, done.json["end"], done.json["accuracy"]) == (0, "passed", 1.0), done.out
    assert done.json["arena"]


def test_a_model_that_knows_only_the_recorded_matches_has_not_passed(
    command: Command, written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = learned(command, written(GOOD), tmp_path, monkeypatch, lambda file: [by_heart(file)])
    assert (done.code, done.json["end"], done.json["accuracy"]) == (1, "gave_up", 1.0)
    assert "no candidate passes its tests; play: random match" in done.json["reason"]


def test_positions_are_the_same_in_whatever_order_they_are_asked_for(written: Write) -> None:
    environment = environment_named(written(GOOD))
    first = environment.advance(environment.open(2, {}), "deal 2")
    one, two = (environment.advance(first, action) for action in ("take 1", "take 2"))
    again = environment.advance(one, "take 2")
    assert (one.observations[0]["total"], two.observations[0]["total"]) == (-1, 0)
    assert again.observations[1] == {"total": 1, "my_player_id": 1}
    assert again.state["done"] == ["take 1", "take 2"]
    assert environment.advance(first, "take 1") == one
    assert (one.player, again.player) == (1, 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("def legal", "def legals"), "lacks legal; required are the methods reset, legal"),
        (("def show(self, seat)", "show = 3\n\n    def shown(self, seat)"), "lacks show"),
        (("players = 2", "players = 9"), "players = 9; required: a whole number from 1 to 8"),
        (("players = 2", "players = '2'"), "players = '2'; required"),
        (("players = 2", "seats = 2"), "players = None; required"),
        (("deals = 3", "deals = 0"), "deals = 0; required: a whole number from 1 to 10000"),
        (("class Game", "class Other"), "has no such name"),
        (("class Game", "Game = 3\n\n\nclass Other"), "and no class"),
        (("class Game", "raise SystemExit\n\n\nclass Game"), "cannot be imported (SystemExit"),
        (("class Game", "1 / 0\n\n\nclass Game"), "cannot be imported (ZeroDivisionError"),
        (("class Game", "class Game) ("), "cannot be imported (SyntaxError"),
    ],
)
def test_a_class_that_is_none_is_refused(
    command: Command, written: Write, tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    name = written(GOOD.replace(*change))
    with pytest.raises(EnvironmentNotFoundError, match=re.escape(said)):
        environment_named(name)
    done = command("record", name, "--matches", 1, "--out", tmp_path / "m.jsonl")
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


WRONG = {
    "raises": (
        "self.total += int",
        "raise KeyError('lost')\n        self.total += int",
        "KeyError",
    ),
    "dies": (
        "self.total += int",
        "import os; os._exit(3)\n        self.total += int",
        "the worker",
    ),
    "hangs": ("self.total += int", "while True: pass\n        self.total += int", "did not return"),
    "reads": ("self.total += int", "open('/etc/passwd')\n        self.total += int", "Error"),
    "no_text": (
        '["take 1", "take 2"]',
        "[1, 2]",
        "legal: bad_value: returned [1, 2]; required: a list of str",
    ),
    "no_line": ('["take 1", "take 2"]', '["take\\n1"]', "one line each"),
    "twice": ('["take 1", "take 2"]', '["take 1", "take 1"]', "duplicates"),
    "nobody": ("(self.seat, [", "(2, [", "required: a seat from 0 to 1 with an action"),
    "stuck": ("(self.seat, [", "(self.seat, [] and [", "required: a seat from 0 to 1"),
    "no_pair": (
        "(None, []) if self.total >= 5",
        "None if self.total < 9",
        "required: (seat, actions)",
    ),
    "nan": ("[0, 0] if", "[float('nan'), 0] if", "step: bad_value"),
    "too_few": ("[0, 0] if", "[0] if", "step: bad_value"),
    "no_numbers": ("[0, 0] if", "'ab' if", "step: bad_value"),
    "no_dict": ('{"total": self.total, "my_player_id": seat}', "[1]", "show: bad_value"),
    "no_json": ('{"total": self.total, "my_player_id": seat}', '{"total": {1}}', "show: bad_value"),
}


@pytest.fixture(scope="module")
def short() -> Sandbox:
    return Sandbox(limits=Limits(call_s=0.5, grace_s=0.2))


@pytest.mark.parametrize("wrong", WRONG)
def test_a_class_that_plays_wrongly_ends_the_match_with_a_sentence(
    short: Sandbox, written: Write, wrong: str
) -> None:
    before, after, said = WRONG[wrong]
    assert before in GOOD
    environment = environment_named(written(GOOD.replace(before, after)))
    with environment_in(short, environment) as there:
        match = play_match(there, [RandomPlayer()] * 2, parameters={}, seed=1)
    assert match.ending == "fault"
    assert said in match.reason


def test_a_class_that_never_ends_is_left_at_the_limit(
    command: Command, written: Write, tmp_path: Path
) -> None:
    name = written(GOOD.replace("self.total >= 5", "False"))
    out = tmp_path / "m.jsonl"
    done = command("record", name, "--matches", 1, "--max-plies", 9, "--out", out, "--json")
    assert (done.code, done.json["truncated"]) == (0, 1)


def test_a_class_whose_match_cannot_be_repeated_is_not_recorded(
    command: Command, written: Write, tmp_path: Path
) -> None:
    """A die is thrown that the deal does not tell."""
    thrown = GOOD.replace("int(action[-1])", "random.randint(1, 4)").replace(
        "deals = 3", "deals = 1"
    )
    name = written("import random\n" + thrown)
    done = command("record", name, "--matches", 9, "--out", tmp_path / "m.jsonl")
    assert done.code == 2
    assert "a state must tell all" in done.err
