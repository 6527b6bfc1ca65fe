"""Graphs that `langgraph.json` names: without a checkpointer, because the server brings one."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field, WithJsonSchema

from games.checks import Finding, Outcome, verdict
from games.values import ModuleFault
from graph.new.build import build, recursion_limit
from graph.new.context import Inventor, RunContext, RunSettings
from graph.new.opening import context_of, runs_of
from graph.new.playing import clock_of, measured, play_of_run
from graph.new.results import artefacts
from graph.new.state import RunState, go_on
from graph.run.checkpoints import as_plain
from graph.run.events import writer_of
from graph.run.folder import create_folder
from tools.checking import check_source, usual_players
from tools.reporting.content import Evaluation
from tools.reporting.verdict import verdict_text
from tools.sandbox.reading import foreign_game

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph

_SCHEMA: Any = RunSettings  # what a client may send as the context


class CheckInput(BaseModel):
    """A module to judge."""

    source: str = Field(description="The module, by the contract for games: one Python file.")
    players: int = Field(default=0, ge=0, le=8, description="Seats; 0 for the usual number.")


class CheckOutput(BaseModel):
    """The findings of the checks.

    Attributes:
        outcome: "passed", "failed", or "could_not_judge", which is neither.
        findings: Every check with its evidence, and the line at fault where one is known.
        summary: The same in a few lines.
        seed: Of all that was drawn; as the context's seed it repeats the checks.
    """

    outcome: Outcome = "could_not_judge"
    seed: int | None = None
    findings: Annotated[
        list[Finding], WithJsonSchema({"type": "array", "items": Finding.model_json_schema()})
    ] = Field(default_factory=list)
    summary: str = ""


class PlayOutput(CheckOutput):
    """The findings of the checks, and the results of play where they passed.

    Attributes:
        verdict: Answers on fairness, length, skill and choice, with their figures.
        evaluation: Every figure; None where nothing was played.
    """

    verdict: list[str] = Field(default_factory=list)
    evaluation: Annotated[Evaluation | None, WithJsonSchema({"type": ["object", "null"]})] = None


class _State(CheckInput, PlayOutput):
    """A module, and what was found of it."""


def _judge(state: _State, runtime: Runtime[RunContext]) -> dict[str, object]:
    context = context_of(runtime, "")
    run = check_source(
        context.sandbox,
        state.source,
        settings=context.settings.check,
        num_players=state.players or None,
        parameters={},
    )
    outcome = verdict(run.findings)
    wrong = [f"{f.check}: {f.evidence}" for f in run.findings if f.outcome != "passed"]
    said = "\n".join([f"{outcome}: {len(run.findings)} checks", *wrong])
    judged = {"outcome": outcome, "findings": as_plain(list(run.findings)), "summary": said}
    judged["seed"] = context.settings.seed
    return {**judged, "verdict": [], "evaluation": None}  # a thread keeps those of a game before


def _play(state: _State, runtime: Runtime[RunContext]) -> dict[str, object]:
    """Play-test by the players that need nothing but the rules."""
    try:
        info = foreign_game(state.source)
    except ModuleFault as fault:
        return {"outcome": "could_not_judge", "summary": f"it cannot be played: {fault}"}
    title = str(info.get("name") or "game")
    folder = create_folder(None, title=f"playtest {title}", runs=runs_of(runtime))
    context = context_of(runtime, str(folder.path), state.seed)
    seats = state.players or usual_players(info)
    try:
        clock = clock_of(context, folder, context.settings.playtest_s)
        tell = writer_of(runtime.stream_writer)
        play = play_of_run(context, state.source, seats, folder, tell=tell, clock=clock)
        evaluation = measured(play, (), context.settings.protocol).evaluation
    except ModuleFault as fault:
        return {"outcome": "could_not_judge", "summary": f"it cannot be played: {fault}"}
    lines = verdict_text(evaluation)
    return {"evaluation": as_plain(evaluation), "verdict": lines, "summary": "\n".join(lines)}


def _designed(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["__end__"]]:
    """The end of the graph `design`: the next message asks about the design, or changes it."""
    del runtime
    files = artefacts(state)
    said = files.get("rulebook.md", "")
    shown = state.stopping("code", state.reason).summed_up(said, files).saying(said)
    return go_on("__end__", state, shown)


def _check_graph() -> "StateGraph[_State, RunContext, CheckInput, CheckOutput]":
    builder = StateGraph(
        _State, context_schema=_SCHEMA, input_schema=CheckInput, output_schema=CheckOutput
    )
    builder.add_node("judge", _judge)
    builder.add_edge(START, "judge")
    return builder


def _playtest_graph() -> "StateGraph[_State, RunContext, CheckInput, PlayOutput]":
    builder = StateGraph(
        _State, context_schema=_SCHEMA, input_schema=CheckInput, output_schema=PlayOutput
    )
    builder.add_node("check", _judge)
    builder.add_node("play", _play)
    builder.add_edge(START, "check")
    builder.add_conditional_edges(
        "check", lambda state: "play" if state.outcome == "passed" else END, ["play", END]
    )
    return builder


# Any: what stands here is for servers, which send JSON and no `RunState`.
_Served: TypeAlias = CompiledStateGraph[Any, RunContext, Any, Any]


class _Drawn(CompiledStateGraph[Any, RunContext, Any, Any]):
    """A graph whose drawing leaves out the nodes that LangGraph adds for errors; it runs them."""

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> "Graph":  # noqa: ANN401 - LangGraph's type
        return _without_handlers(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: Any = None, *, xray: int | bool = False) -> "Graph":  # noqa: ANN401 - LangGraph's type
        return _without_handlers(await super().aget_graph(config, xray=xray))


def _without_handlers(drawn: "Graph") -> "Graph":
    for name in [name for name in drawn.nodes if name.startswith(_HANDLER)]:
        drawn.remove_node(drawn.nodes[name])
    return drawn


def _drawn(compiled: _Served) -> _Served:
    compiled.__class__ = _Drawn  # a copy would lose what `compile` sets at the end
    return compiled


_HANDLER = "__error_handler__"


def served_chat(inventor: "Inventor | None" = None) -> _Served:
    """The whole machine of a server.

    Args:
        inventor: Answers what a client wishes that no change of a rule gives; None for nobody.
    """
    limit: Any = {"recursion_limit": recursion_limit(RunSettings().max_rounds)}
    return _drawn(build(inventor=inventor).compile(name="rulewright").with_config(limit))


graph: _Served = served_chat()
design: _Served = _drawn(build(code=_designed).compile(name="design"))
check: _Served = _check_graph().compile(name="check")
playtest_alone: _Served = _playtest_graph().compile(name="playtest")
