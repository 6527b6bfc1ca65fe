"""Forks of a thread: LangGraph's time travel, where branches are independent of each other."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from agents.composer import composer_roles
from graph.run.folder import RunFolder
from tests.graph.conftest import MakeContext
from tests.graph.new.test_chat import Chat
from tests.graph.settings import SMALL

GOMOKU = "gomoku for two players on a board of 5 by 5, four in a row"
ASKING = SMALL.model_copy(update={"approve": True})


def files(folder: str) -> dict[str, bytes]:
    """What a person finds in a folder of a game, but for its revisions."""
    found = (path for path in Path(folder).rglob("*") if path.is_file())
    names = {path.relative_to(folder): path for path in found}
    return {
        str(n): p.read_bytes() for n, p in names.items() if n.parts[0][0:3] not in (".st", "rev")
    }


def rows(chat: Chat, folder: str) -> set[int]:
    """The rows of the board, by each file of a folder that says them."""
    made = files(folder)
    told: dict[str, Any] = {}
    exec(made["game.py"].decode(), told)
    named = f"{told['GAME']['parameters']['rows']['default']}"
    assert f"rows: {named}" in made["design.yaml"].decode()
    assert f'"end": "{chat.output["end"]}"' in made["run.json"].decode()
    return {int(named)}


def fork(chat: Chat, at: RunnableConfig) -> None:
    """Go on from an earlier checkpoint, as LangGraph's docs on time travel do."""
    chat.config = chat.graph.update_state(at, None, as_node="__copy__")


def newest(chat: Chat) -> RunnableConfig:
    return chat.graph.get_state({"configurable": {"thread_id": "1"}}).config


def test_an_edited_message_makes_a_game_of_its_own_and_leaves_the_other_whole(
    make_context: MakeContext,
) -> None:
    chat = Chat(make_context(composer_roles()))
    first = chat.say(GOMOKU)
    before = newest(chat)
    six = chat.say("make the board 6 by 6")
    kept = files(first["folder"]), files(six["folder"])
    chat.config = before  # what a chat client does where a message is edited
    chat.say("make the board 7 by 7")
    seven = chat.output
    assert (six["end"], seven["end"]) == ("made", "made")
    assert len({first["folder"], six["folder"], seven["folder"]}) == 3
    assert (rows(chat, six["folder"]), rows(chat, seven["folder"])) == ({6}, {7})
    assert (files(first["folder"]), files(six["folder"])) == kept


def test_another_answer_at_a_question_makes_a_game_of_its_own(make_context: MakeContext) -> None:
    chat = Chat(make_context(composer_roles(), ASKING))
    chat.say(GOMOKU)
    asked = newest(chat)
    chat.send(Command(resume="rows=6"))
    six = chat.send(Command(resume="yes"))
    kept = files(six["folder"])
    fork(chat, asked)
    chat.graph.invoke(None, chat.config, context=chat.context)
    chat.config = newest(chat)
    (question,) = chat.graph.get_state(chat.config).interrupts
    assert "5 rows" in question.value["description"]
    chat.graph.invoke(Command(resume="yes"), chat.config, context=chat.context)
    five = chat.graph.get_state(newest(chat)).values
    assert five["folder"] != six["folder"]
    chat.output = five
    assert (rows(chat, six["folder"]), rows(chat, five["folder"])) == ({6}, {5})
    assert files(six["folder"]) == kept


def test_four_forks_at_once_have_a_folder_each(make_context: MakeContext) -> None:
    chat = Chat(make_context(composer_roles(), ASKING))
    chat.say(GOMOKU)
    asked = newest(chat)

    def ended(rows: int) -> dict[str, Any]:
        at = chat.graph.update_state(asked, None, as_node="__copy__")
        return chat.graph.invoke(Command(resume=f"rows={rows}"), at, context=chat.context)

    with ThreadPoolExecutor(4) as threads:
        ends = dict(zip((4, 6, 7, 8), threads.map(ended, (4, 6, 7, 8)), strict=True))
    assert len({end["folder"] for end in ends.values()}) == 4
    for rows_asked, end in ends.items():
        made = files(end["folder"])
        assert f"rows: {rows_asked}" in made["design.yaml"].decode()
        assert f"The board has {rows_asked} rows" in made["rulebook.md"].decode()


@pytest.mark.parametrize("node", ["code", "check", "strategize", "evaluate", "report"])
def test_a_run_that_goes_on_from_any_step_once_more_has_the_same_files_elsewhere(
    make_context: MakeContext, node: str
) -> None:
    chat = Chat(make_context(composer_roles()))
    made = chat.say(GOMOKU)
    kept = files(made["folder"])
    history = chat.graph.get_state_history(chat.config)
    fork(chat, next(state.config for state in history if state.next == (node,)))
    chat.graph.invoke(None, chat.config, context=chat.context)
    again = chat.graph.get_state(newest(chat)).values
    assert again["folder"] != made["folder"]
    assert files(made["folder"]) == kept
    assert files(again["folder"]).keys() == kept.keys()
    assert files(again["folder"])["game.py"] == kept["game.py"]


def test_a_run_that_is_cancelled_goes_on_at_once_though_its_step_still_works(
    make_context: MakeContext,
) -> None:
    """A step in a thread cannot be stopped: asyncio cancels who waits for it, and no more."""
    chat = Chat(make_context(composer_roles()))
    sent: Any = {"messages": [{"role": "user", "content": GOMOKU}]}
    modes: Any = {"context": chat.context, "stream_mode": "custom"}

    async def until_play() -> None:
        async for event in chat.graph.astream(sent, chat.config, **modes):
            if event["event"] == "MatchPlayed":
                return

    async def cancelled() -> dict[str, Any]:
        await until_play()
        return await chat.graph.ainvoke(None, chat.config, context=chat.context)

    chat.output = asyncio.run(cancelled())
    assert (chat.output["end"], rows(chat, chat.output["folder"])) == ("made", {5})
    assert not RunFolder(Path(chat.output["folder"])).revisions
