"""The exported graph as a chat: one thread, several messages, a server's checkpointer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from agents.composer import composer_roles
from agents.model.errors import EndpointError
from agents.protocols import Brief
from graph.new.build import build
from graph.run.context import RunContext
from tests.graph.conftest import MakeContext
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL

ROOT = Path(__file__).parents[3]


class Chat:
    """One thread of the graph, compiled as a server would."""

    def __init__(self, context: RunContext) -> None:
        self.graph = build().compile(checkpointer=InMemorySaver())
        self.context = context

    def say(self, text: str) -> dict[str, Any]:
        return self.send({"messages": [("user", text)]})

    def send(self, given: object) -> dict[str, Any]:
        config: Any = {"configurable": {"thread_id": "1"}}
        value: dict[str, Any] = self.graph.invoke(given, config, context=self.context)  # type: ignore[call-overload]
        return value


def test_a_second_message_makes_a_second_game_in_a_folder_of_its_own(
    make_context: MakeContext,
) -> None:
    chat = Chat(make_context(composer_roles()))
    first = chat.say("tic tac toe for two players")
    game = (Path(first["folder"]) / "game.py").read_bytes()
    second = chat.say("goofspiel for two players with five cards")
    assert first["design"].family == "tic_tac_toe"
    assert (second["design"].family, second["end"]) == ("goofspiel", "made")
    assert second["folder"] != first["folder"]
    assert (Path(first["folder"]) / "game.py").read_bytes() == game
    assert [message.type for message in second["messages"]] == ["human", "ai", "human", "ai"]


def test_no_candidate_of_an_earlier_game_is_taken_for_one_of_the_next(
    make_context: MakeContext,
) -> None:
    crash = ("def get_rewards(state: State)", "def get_rewards(state: State, missing: int)")
    roles = ScriptedRoles(faults=[crash])
    chat = Chat(make_context(role_set(roles)))
    first = chat.say("noughts")
    assert len(first["candidates"]) == 2
    roles.faults.clear()
    second = chat.say("noughts, once more")
    assert (len(second["candidates"]), second["accepted"], second["rounds"]) == (1, 0, 0)


def test_an_answer_to_a_question_continues_the_brief(make_context: MakeContext) -> None:
    chat = Chat(make_context(composer_roles()))
    asked = chat.say("something nice for the evening")
    assert asked["end"] == "question"
    assert "Which game do you want?" in asked["messages"][-1].text
    done = chat.say("goofspiel for two players with five cards")
    assert (done["end"], done["design"].family) == ("made", "goofspiel")
    assert done["brief"].prompt.startswith("something nice for the evening\n")
    assert done["folder"] == asked["folder"]


def test_a_message_after_a_run_that_broke_off_begins_a_new_one(make_context: MakeContext) -> None:
    class Breaking(ScriptedRoles):
        def draft(self, *_: object) -> str:
            raise KeyboardInterrupt

    chat = Chat(make_context(role_set(Breaking())))
    with pytest.raises(KeyboardInterrupt):
        chat.say("noughts")
    chat.context = make_context()
    done = chat.say("noughts again")
    assert done["end"] == "made"
    assert Path(done["folder"]).name == "noughts-again"
    assert done["brief"].prompt == "noughts again"


def test_an_intake_that_is_tried_again_makes_one_folder(make_context: MakeContext) -> None:
    class Stumbling(ScriptedRoles):
        def clarify(self, prompt: str) -> Brief:
            brief = super().clarify(prompt)
            if len(self.calls) == 1:
                raise EndpointError("no answer")
            return brief

    roles = Stumbling()
    chat = Chat(make_context(role_set(roles)))
    done = chat.say("noughts")
    assert (done["end"], roles.calls.count("clarify")) == ("made", 2)
    assert [path.name for path in chat.context.runs.iterdir()] == ["noughts"]


def test_a_thread_waits_for_approval_where_that_is_wanted(make_context: MakeContext) -> None:
    settings = SMALL.model_copy(update={"approve": True})
    chat = Chat(make_context(composer_roles(), settings))
    waiting = chat.say("tic tac toe for two players")
    (question,) = waiting["__interrupt__"]
    assert "Approve" in question.value["ask"]
    assert chat.send(Command(resume="yes"))["end"] == "made"


SERVED = """
import sys
from graph.new.export import graph

asked = {"messages": [("user", "tic tac toe for two players")]}
first = graph.invoke(asked, context={"quick": True})
second = graph.invoke(asked, context={"quick": True, "own_games": True})
assert first["settings"].quick and second["settings"].own_games
assert first["folder"] != second["folder"]
print(first["end"], second["end"])
"""


def test_without_a_context_the_default_one_is_made_and_shared_by_all_runs(
    tmp_path: Path, built_home: Path
) -> None:
    shutil.copytree(built_home, tmp_path / "home")
    environment = {
        **os.environ,
        "RULEWRIGHT_HOME": str(tmp_path / "home"),
        "RULEWRIGHT_RUNS": str(tmp_path / "runs"),
        "RULEWRIGHT_LOCK_WAIT_S": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", SERVED],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stdout.split() == ["made", "made"], done.stderr
