"""The graphs that a server offers, each by itself."""

import json
import os
import shutil
import subprocess
import sys
import uuid
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import ValidationError

from agents.composer import composer_roles
from games import library
from graph.new import export
from graph.run.events import Tell
from graph.run.folder import RunFolder, RunFolderError, create_folder
from tests.graph.conftest import MakeContext
from tests.graph.settings import UNPLAYED
from tests.processes import PATIENCE_S
from tools.balancing.wishes import Wish

ROOT = Path(__file__).parents[3]
SOUND = library.source("tic_tac_toe")
SETTLED = ("Is it fair?", "How long is it?", "Luck or skill?", "Is there something to decide?")


def test_every_graph_is_named_with_a_description_and_says_what_it_takes() -> None:
    named = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
    assert named.keys() == {"rulewright", "design", "check", "playtest", "vary"}
    takes = {}
    for name, entry in named.items():
        assert len(entry["description"]) > 40
        file, _, variable = entry["path"].partition(":")
        module = import_module(file.removeprefix("./").removesuffix(".py").replace("/", "."))
        graph = getattr(module, variable)
        takes[name] = set(graph.get_input_jsonschema()["properties"])
    assert takes["rulewright"] == takes["design"] == {"messages", "choices"}
    assert takes["check"] == takes["playtest"] == {"source", "players"}
    assert takes["vary"] == {"game", "n", "keep", "quick", "seed", "with_model", "make"}


def test_a_wish_in_a_served_chat_is_answered_by_whom_the_server_has(
    make_context: MakeContext,
) -> None:
    heard: list[tuple[Wish, Path]] = []

    def inventor(wish: Wish, folder: RunFolder, seed: int, tell: Tell) -> str:
        heard.append((wish, folder.path))
        return f"searched from {seed}"

    graph = export.served_chat(inventor).builder.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    context: Any = make_context(composer_roles(), UNPLAYED)

    def said(words: str) -> dict[str, Any]:
        return graph.invoke({"messages": [("user", words)]}, thread, context=context)

    folder = Path(said("tic tac toe for two players")["folder"])
    told = said("Give me five twists of this.")
    assert told["messages"][-1].text == f"searched from {UNPLAYED.seed}"
    said("make it fairer for the last player")
    assert heard == [
        (Wish(variants=5), folder),
        (Wish(target="last player 50±5 %"), folder),
    ]
    assert not (folder / "revisions").exists()


def test_a_module_is_judged_by_itself(make_context: MakeContext) -> None:
    context: Any = make_context()
    sound = export.check.invoke({"source": SOUND}, context=context)
    assert (sound["outcome"], set(sound)) == ("passed", {"outcome", "findings", "seed", "summary"})
    broken = SOUND.replace("def get_rewards(", "def get_reward(")
    found = export.check.invoke({"source": broken}, context=context)
    assert found["outcome"] == "failed"
    assert "get_rewards" in found["summary"]
    assert export.check.invoke({"source": "}"}, context=context)["outcome"] == "failed"


@pytest.mark.parametrize("name", ["graph", "check"])
def test_a_key_of_the_context_that_is_none_is_refused_by_its_name(name: str) -> None:
    graph = getattr(export, name)
    with pytest.raises(ValidationError, match="quik") as refused:
        graph.invoke({"source": SOUND}, context={"quik": True})
    assert refused.value.error_count() == 1


def test_a_sound_module_is_played_and_a_broken_one_is_not(make_context: MakeContext) -> None:
    context: Any = make_context()
    graph = export.playtest_alone.builder.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    played = graph.invoke({"source": SOUND, "players": 2}, thread, context=context)
    assert [line.partition("?")[0] + "?" for line in played["verdict"][:4]] == list(SETTLED)
    assert played["evaluation"]["players"]
    broken = graph.invoke({"source": "GAME = 1"}, thread, context=context)
    assert (broken["outcome"], broken["verdict"], broken["evaluation"]) == ("failed", [], None)


def test_a_client_of_a_server_cannot_choose_where_a_run_writes(tmp_path: Path) -> None:
    graph = export.design.builder.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    with pytest.raises(RunFolderError, match="is not in"):
        graph.invoke(Command(update={"folder": str(tmp_path), "asks": True}), thread)
    assert not [*tmp_path.iterdir()]


def test_a_client_of_a_server_cannot_lead_its_run_into_the_folder_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    others = create_folder(None, title="another game", runs=tmp_path)
    others.write_text("run.json", "theirs")
    assert others.thread
    graph = export.graph.builder.compile(checkpointer=InMemorySaver())
    for number, key in enumerate(({}, {"key": ""}, {"key": str(uuid.uuid4())})):
        thread: Any = {"configurable": {"thread_id": str(number)}}
        update = {"folder": str(others.path), "end": "gave_up", "reason": "mine", **key}
        with pytest.raises(RunFolderError, match="is of another run"):
            graph.invoke(Command(update=update, goto="report"), thread)
    assert (others.path / "run.json").read_text() == "theirs"


@pytest.mark.parametrize("words", ["goofspiel for two players with three cards", " "])
def test_a_design_is_made_by_itself_or_a_question_is_asked(
    make_context: MakeContext, words: str
) -> None:
    context: Any = make_context(composer_roles())
    made = export.design.invoke({"messages": [("user", words)]}, context=context)
    if words.strip():
        assert made["summary"] == made["artefacts"]["rulebook.md"]
        assert "game.py" not in made["artefacts"]
    else:
        assert (made["end"], made["artefacts"].get("rulebook.md")) == ("question", None)


AT_ONCE = """
import asyncio, logging
from graph.new.export import design

async def together():
    asked = {"messages": [("user", "tic tac toe for two players")]}
    made = await asyncio.gather(*[design.ainvoke(asked) for _ in range(6)])
    print(*["rulebook.md" in one["artefacts"] for one in made], len({m["folder"] for m in made}))

logging.basicConfig(level=logging.INFO)
asyncio.run(together())
"""


def test_runs_that_begin_at_once_in_a_fresh_process_are_all_answered(
    tmp_path: Path, built_home: Path
) -> None:
    shutil.copytree(built_home, tmp_path / "home")
    places = {"RULEWRIGHT_HOME": str(tmp_path / "home"), "RULEWRIGHT_RUNS": str(tmp_path / "runs")}
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE],
        cwd=ROOT,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout.split() == ["True"] * 6 + ["6"], done.stderr
    assert done.stderr.count("sandbox grade: ") == 1  # it was opened once, by one of them
