"""The exported graph as a chat: one thread, several messages, a server's checkpointer."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from agents.composer import composer_roles
from graph.new.build import build
from graph.new.context import RunContext
from graph.new.opening import open_model
from graph.new.state import RunState
from tests.agents.model.endpoint import Answer, Endpoint, Request, error, serving
from tests.agents.model.talking import settings_for
from tests.graph.answering import PROMPT, answer, schema_of
from tests.graph.conftest import MakeContext
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL
from tests.processes import PATIENCE_S

ROOT = Path(__file__).parents[3]


class Chat:
    """One thread of the graph, compiled as a server would."""

    def __init__(self, context: RunContext, *, played: bool = False) -> None:
        self.graph = build().compile(checkpointer=InMemorySaver())
        brief = {} if played else {"max_plies": 1}
        self.context = replace(context, settings=context.settings.model_copy(update=brief))
        self.config: Any = {"configurable": {"thread_id": "1"}}
        self.output: dict[str, Any] = {}

    def say(self, text: str) -> dict[str, Any]:
        return self.send({"messages": [("user", text)]})

    def send(self, given: object) -> dict[str, Any]:
        """The whole state after an input, with what the thread waits for."""
        self.output = self.graph.invoke(given, self.config, context=self.context)  # type: ignore[call-overload]
        found = self.graph.get_state(self.config)
        return {**vars(RunState(**found.values)), "__interrupt__": found.interrupts}


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
    told = [message.type for message in second["messages"] if message.name is None]
    assert told == ["human", "ai", "human", "ai"]


def test_a_part_of_a_message_that_is_no_text_is_said_to_be_unread(
    make_context: MakeContext,
) -> None:
    """A chat client sends an image so, as the chat-completions protocol has it."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    words = {"type": "text", "text": "tic tac toe for two players"}
    context = make_context(composer_roles(), SMALL.model_copy(update={"approve": True}))
    for content, told in (([words, image], ["image_url"]), ([words], [])):
        chat = Chat(context)
        design = chat.send({"messages": [{"role": "user", "content": content}]})["design"]
        said = [one for one in design.assumptions if "Only the words" in one]
        assert [kind in line for kind in told for line in said] == [True] * len(told)
        assert len(said) == len(told)
        again = [{"type": "text", "text": "completing a line loses"}, *content[1:]]
        later = chat.send({"messages": [{"role": "user", "content": again}]})["messages"]
        assert any("Only the words" in str(m.content) for m in later) == bool(told)


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


@pytest.mark.parametrize(
    ("brief", "said"),
    [
        ("something with cards my grandma would like, not too long", "recognised in these words"),
        ("a lovely evening " * 300, "at most 4000 are read"),
    ],
)
def test_the_answer_to_which_game_stands_in_the_place_of_words_without_one(
    make_context: MakeContext, brief: str, said: str
) -> None:
    chat = Chat(make_context(composer_roles()))
    asked = chat.say(brief)
    assert asked["end"] == "question"
    assert said in asked["messages"][-1].text
    assert "Which game do you want" in asked["messages"][-1].text
    done = chat.say("goofspiel for two players with five cards")
    assert (done["end"], done["design"].family) == ("made", "goofspiel")
    assert done["brief"].prompt == "goofspiel for two players with five cards"
    assert {clause.status for clause in done["design"].clauses} == {"honoured"}
    assert any(brief[:10] in assumed for assumed in done["design"].assumptions)
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


def test_a_thread_waits_for_approval_where_that_is_wanted(make_context: MakeContext) -> None:
    settings = SMALL.model_copy(update={"approve": True})
    chat = Chat(make_context(composer_roles(), settings))
    waiting = chat.say("tic tac toe for two players")
    (question,) = waiting["__interrupt__"]
    assert "Approve" in question.value["ask"]
    rulebook = (Path(waiting["folder"]) / "rulebook.md").read_text()
    assert question.value["description"].startswith(rulebook)
    assert {"allow_accept", "allow_respond", "allow_edit", "allow_ignore"} == set(
        question.value["config"]
    )
    assert question.value["action_requests"][0]["description"].startswith(rulebook)
    assert chat.send(Command(resume="yes"))["end"] == "made"


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        ([{"type": "accept", "args": None}], "made"),
        ({"decisions": [{"type": "approve"}]}, "made"),
        ([{"type": "ignore", "args": None}], "gave_up"),
    ],
)
def test_an_approval_is_taken_in_the_forms_that_chat_clients_send(
    make_context: MakeContext, answer: object, end: str
) -> None:
    chat = Chat(make_context(settings=SMALL.model_copy(update={"approve": True})))
    chat.say("noughts")
    assert chat.send(Command(resume=answer))["end"] == end


def test_a_plain_message_at_the_approval_is_the_answer(make_context: MakeContext) -> None:
    settings = SMALL.model_copy(update={"approve": True})
    chat = Chat(make_context(composer_roles(), settings))
    first = chat.say("tic tac toe for two players")
    done = chat.say("yes")
    assert (done["end"], done["folder"]) == ("made", first["folder"])


def test_a_client_sends_messages_and_choices_and_cannot_set_the_state(
    make_context: MakeContext, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    chat = Chat(make_context())
    assert chat.graph.get_input_jsonschema()["properties"].keys() == {"messages", "choices"}
    asked = {"messages": [("user", "noughts")], "folder": str(elsewhere), "accepted": 7}
    done = chat.send(asked)
    assert (done["end"], done["accepted"]) == ("made", 0)
    assert Path(done["folder"]).parent == chat.context.runs
    assert not elsewhere.exists()


def test_a_client_gets_the_result_as_text_and_nothing_of_the_state(
    make_context: MakeContext,
) -> None:
    chat = Chat(make_context(), played=True)
    chat.say("noughts")
    assert chat.output.keys() == {"messages", "folder", "end", "reason", "summary", "artefacts"}
    assert chat.output["summary"] == chat.output["messages"][-1].text
    for name in ("rulebook.md", "game.py", "design.json", "players/players.json"):
        assert chat.output["artefacts"][name] == Path(chat.output["folder"], name).read_text()


def test_a_short_message_for_each_stage_streams_into_the_chat(make_context: MakeContext) -> None:
    chat = Chat(make_context(), played=True)
    asked: Any = {"messages": [("user", "noughts")]}
    parts = chat.graph.stream(
        asked,
        chat.config,
        context=chat.context,
        stream_mode="updates",
    )
    told = [m for part in parts for update in part.values() for m in update.get("messages", [])]
    stages = ["design", "code", "check", "strategize", "evaluate", None]
    assert [message.name for message in told] == stages
    assert all(len(message.text) < 200 for message in told[:-1])


def test_a_foreign_checkpointer_has_nothing_to_warn_of(
    make_context: MakeContext, caplog: pytest.LogCaptureFixture
) -> None:
    settings = SMALL.model_copy(update={"approve": True})
    chat = Chat(make_context(composer_roles(), settings))
    chat.send({"messages": [("user", "tic tac toe")], "choices": {"num_players": 2}})
    assert chat.say("yes")["end"] == "made"
    assert list(chat.graph.get_state_history(chat.config))
    assert not [entry.getMessage() for entry in caplog.records if "langgraph" in entry.name]


@pytest.mark.parametrize("role", ["ClarifyReply", "DesignReply", "HeuristicsReply"])
def test_a_model_that_fails_is_told_in_the_chat_and_the_thread_goes_on(
    make_context: MakeContext, role: str
) -> None:
    def down(request: Request) -> Answer:
        return error(401, "no such key") if schema_of(request) == role else answer(request)

    def talking(endpoint: Endpoint) -> RunContext:
        roles, budget = open_model(settings_for(endpoint, retries=0, deadline_s=10))
        return replace(make_context(roles), budget=budget)

    with serving(down) as endpoint:
        chat = Chat(talking(endpoint))
        failed = chat.say(PROMPT)
    assert failed["end"] is None
    assert "no such key" in failed["messages"][-1].text
    with serving(answer) as mended:
        chat.context = talking(mended)
        done = chat.say("go on")
    assert (done["end"], done["folder"]) == ("made", failed["folder"])
    assert done["brief"].prompt == PROMPT


SERVED = """
import json, sys
from graph.new.export import graph

hidden = "hidden movement: a spy flees across London while detectives search the city together"
asked = [{"messages": [("user", text)]} for text in (hidden, "tic tac toe for two players")]
small = {"quick": True, "ladder_matches": 4, "random_matches": 4, "lessons": 0}
first = graph.invoke(asked[0], context=small)
second = graph.invoke(asked[1], context={**small, "own_games": True})
settings = [json.loads(made["artefacts"]["run.json"])["settings"] for made in (first, second)]
assert settings[0]["quick"] and settings[1]["own_games"]
assert first["folder"] != second["folder"]
print(first["end"], second["end"])
"""


@pytest.mark.whole
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
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout.split() == ["no_fit", "made"], done.stderr
