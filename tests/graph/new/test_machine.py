"""The machine as a whole, over scripted roles, a real sandbox and a real store."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph

from agents.protocols import Brief, Design, RoleError
from graph.new.context import RunContext
from graph.new.export import design, graph
from graph.new.results import RunResult, exit_code
from graph.run.events import Coded, Event
from graph.run.folder import RunFolder, RunFolderError, create_folder
from tests.graph.conftest import Entries, MakeContext
from tests.graph.running import resume_run, start_run
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL, UNPLAYED
from tools.sandbox import Sandbox
from vectorstore.documents import Example

FILES = (
    "rulebook.md",
    "game.py",
    "design.json",
    "checks.json",
    "players/players.json",
    "records/random.jsonl",
    "report.html",
    "run.json",
    "trace.jsonl",
)
PROMPT = "noughts and crosses"
CRASH = ("def get_rewards(state: State)", "def get_rewards(state: State, missing: int)")


@pytest.fixture(scope="module")
def kept() -> dict[str, RunResult]:
    return {}


@pytest.fixture
def finished(
    kept: dict[str, RunResult], make_context: MakeContext, tmp_path_factory: pytest.TempPathFactory
) -> RunResult:
    """One run that the tests of its outcome read."""
    if not kept:
        base = tmp_path_factory.mktemp("finished")
        folder = create_folder(base / "run", title="", runs=base)
        kept[PROMPT] = start_run(PROMPT, folder, make_context())
    return kept[PROMPT]


def test_a_prompt_becomes_a_folder_with_everything(finished: RunResult) -> None:
    assert finished.state.end == "made"
    assert [name for name in FILES if not (finished.folder.path / name).exists()] == []
    assert exit_code(finished.state) == 0


def test_run_json_holds_settings_versions_and_sandbox_grade(
    finished: RunResult, sandbox: Sandbox
) -> None:
    written = json.loads((finished.folder.path / "run.json").read_text())
    assert written["settings"] == SMALL.model_dump(mode="json")
    assert written["sandbox"] == sandbox.grade.model_dump(mode="json")
    assert written["sandboxes"] == [written["sandbox"]]
    assert written["store_snapshot"]
    assert written["roles"] == "scripted"


def test_the_page_needs_no_network(finished: RunResult) -> None:
    page = (finished.folder.path / "report.html").read_text()
    assert "<svg" in page
    for outside in ("http://", "https://", "<script", "<link", "src="):
        assert outside not in page


def test_a_crash_in_the_draft_is_found_and_mended(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = ScriptedRoles(faults=[CRASH])
    result = start_run("noughts", folder, make_context(role_set(roles), UNPLAYED))
    assert result.state.end == "made"
    assert roles.calls.count("edit") == 1
    outcomes = [candidate.outcome for candidate in result.state.candidates]
    assert outcomes == ["failed", "passed"]


def test_a_coder_without_a_mend_ends_the_run_saying_why(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = ScriptedRoles(faults=[CRASH], mends=False)
    result = start_run("noughts", folder, make_context(role_set(roles)))
    assert result.state.end == "gave_up"
    assert "no mend" in result.state.reason
    assert exit_code(result.state) == 1
    assert (folder.path / "report.html").exists()


def test_a_question_makes_nothing_and_exits_as_a_run_that_waits(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = ScriptedRoles(question="Which game should it be?")
    result = start_run("hm", folder, make_context(role_set(roles)))
    assert result.state.end == "question"
    assert exit_code(result.state) == 3
    assert not (folder.path / "game.py").exists()


def test_an_answer_keeps_the_question_that_it_answers(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = ScriptedRoles(question="Which game should it be?")
    context = make_context(role_set(roles), UNPLAYED)
    start_run("hm", folder, context)
    roles.question = None
    brief = resume_run(folder, context, answer=lambda _: "that of noughts").state.brief
    assert brief is not None
    assert (brief.prompt, brief.asked) == ("hm\nthat of noughts", ("Which game should it be?",))


def test_a_design_that_fails_keeps_its_reason(make_context: MakeContext, folder: RunFolder) -> None:
    class Refusing(ScriptedRoles):
        def design(self, brief: Brief, retrieve: Callable[[str], Sequence[Example]]) -> Design:
            raise RoleError("no such game can be made")

    result = start_run("noughts", folder, make_context(role_set(Refusing())))
    assert (result.state.end, result.state.reason) == ("gave_up", "no such game can be made")
    assert exit_code(result.state) == 2


@pytest.mark.parametrize(("answer", "end", "designs"), [("yes", "made", 1), ("no", "gave_up", 1)])
def test_approval_waits_for_a_person(
    make_context: MakeContext, folder: RunFolder, answer: str, end: str, designs: int
) -> None:
    roles = ScriptedRoles()
    settings = UNPLAYED.model_copy(update={"approve": True})
    context = make_context(role_set(roles), settings)
    waiting = start_run("noughts", folder, context)
    assert waiting.question is not None
    assert "Approve" in waiting.question.ask
    assert not (folder.path / "game.py").exists()
    done = resume_run(folder, context, answer=lambda _: answer)
    assert done.state.end == end
    assert roles.calls.count("design") == designs


def test_an_answer_in_words_changes_the_design_at_hand_and_asks_again(
    make_context: MakeContext, folder: RunFolder
) -> None:
    roles = ScriptedRoles()
    context = make_context(role_set(roles), UNPLAYED.model_copy(update={"approve": True}))
    start_run("noughts", folder, context)
    answers = iter(["on a larger board", "yes"])
    done = resume_run(folder, context, answer=lambda _: next(answers))
    assert done.state.end == "made"
    assert (roles.calls.count("design"), roles.calls.count("revise")) == (1, 1)
    assert done.state.brief is not None
    assert done.state.brief.corrections == ("on a larger board",)


def test_a_finished_run_is_not_played_again(make_context: MakeContext, finished: RunResult) -> None:
    roles = ScriptedRoles()
    again = resume_run(finished.folder, make_context(role_set(roles)))
    assert again.state.evaluation == finished.state.evaluation
    assert roles.calls == []


def test_the_same_seed_gives_the_same_bytes(
    make_context: MakeContext,
    finished: RunResult,
    folder: RunFolder,
    entries: Entries,
) -> None:
    other = finished.folder
    entries.clear()  # its matches are really played
    start_run(PROMPT, folder, make_context())
    for name in ("game.py", "records/random.jsonl", "players/players.json", "checks.json"):
        assert (folder.path / name).read_bytes() == (other.path / name).read_bytes()
    runs = [json.loads((f.path / "run.json").read_text()) for f in (folder, other)]
    assert runs[0]["evaluation"] == runs[1]["evaluation"]


def test_the_exported_graph_answers_a_chat(make_context: MakeContext) -> None:
    result = graph.invoke({"messages": [("user", "noughts")]}, context=make_context())
    last = result["messages"][-1]
    assert last.type == "ai"
    assert "Everything is in" in last.content


def test_the_exported_graph_has_no_checkpointer() -> None:
    assert graph.checkpointer is None


@pytest.mark.parametrize("served", [graph, graph.copy({"checkpointer": InMemorySaver()}), design])
def test_what_is_drawn_are_the_machines_own_nodes(
    served: CompiledStateGraph[Any, RunContext, Any, Any],
) -> None:
    """A server copies the graph, with its checkpointer, and draws the copy; errors are caught."""
    drawn = served.get_graph()
    names = {*drawn.nodes} - {"__start__", "__end__"}
    assert asyncio.run(served.aget_graph()).nodes.keys() == drawn.nodes.keys()
    assert names == {name for name in served.builder.nodes if not name.startswith("__")}
    assert {end for edge in drawn.edges for end in (edge.source, edge.target)} <= {*drawn.nodes}
    assert any(name.startswith("__error_handler__") for name in served.nodes)


def test_the_wiring_is_the_documented_one() -> None:
    drawn = graph.get_graph()
    edges = {(edge.source, edge.target) for edge in drawn.edges}
    for edge in [
        ("__start__", "intake"),
        ("intake", "design"),
        ("design", "approve"),
        ("design", "code"),
        ("intake", "revise"),
        ("revise", "recode"),
        ("revise", "approve"),
        ("recode", "check"),
        ("approve", "code"),
        ("code", "check"),
        ("check", "refine"),
        ("refine", "check"),
        ("check", "strategize"),
        ("strategize", "evaluate"),
        ("evaluate", "report"),
    ]:
        assert edge in edges


def test_a_folder_that_is_moved_away_is_told_and_goes_on_where_it_lies(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context, elsewhere = make_context(), folder.path.with_name("elsewhere")

    def move(event: Event) -> None:
        if isinstance(event, Coded):
            folder.path.rename(elsewhere)

    with pytest.raises(RunFolderError, match="not there any more"):
        start_run("noughts for two players", folder, replace(context, folder=folder.path), move)
    moved = RunFolder(elsewhere)
    assert resume_run(moved, replace(context, folder=elsewhere)).state.end == "made"
    assert not (folder.path / "run.json").exists()
