"""The machine of `learn`: its wiring, and its runs from start to end."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from langgraph.graph import START, StateGraph
from langgraph.types import Command

from agents.model.settings import SettingsError
from graph.learn.active import active
from graph.learn.arena import arena
from graph.learn.ending import infer, report, tensors, value
from graph.learn.nodes import check, intake, refine, synthesise
from graph.learn.settings import LearnRequest, read_learning, write_learning
from graph.learn.state import LearnContext, LearnState
from graph.run.checkpoints import graph_events, has_checkpoint, open_checkpoints, plain_result
from graph.run.events import Tell, hear_waits, teller
from graph.run.folder import RunFolder, RunFolderError
from graph.run.opening import model_settings, open_chat
from graph.run.sandboxes import open_sandbox
from graph.run.settings import versions
from graph.run.traces import tracing

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from agents.model.settings import ModelSettings

TOLD = "learn.json"
_STEPS = 40
_STEPS_A_CALL = 4


@dataclass(frozen=True)
class LearnResult:
    """What a run came to.

    Attributes:
        folder: Its folder.
        state: Its last state.
        told: The object of `learn.json`.
    """

    folder: RunFolder
    state: LearnState
    told: dict[str, Any]


def build_learning(saver: "BaseCheckpointSaver[str] | None" = None) -> Any:  # noqa: ANN401
    """The compiled machine: intake, synthesise, check <-> refine, infer, ..., tensors, report.

    `active` lies between `check` and itself, as long as the environment may be asked. From `arena`
    a run that keeps learning goes back to `check`.
    """
    builder = StateGraph(LearnState, context_schema=LearnContext)
    for node in (intake, synthesise, check, refine, infer, active, value, arena, tensors, report):
        builder.add_node(node.__name__, _plainly(node))
    builder.add_edge(START, "intake")
    return builder.compile(checkpointer=saver, name="rulewright learn")


def _plainly(node: Callable[..., Any]) -> Any:  # noqa: ANN401 - LangGraph's type of a node
    """The node, with what it changes as plain data; LangGraph draws its edges as before.

    Who streams the run hears what a model is waited for.
    """

    @wraps(node)
    def run(state: LearnState, runtime: Any) -> Any:  # noqa: ANN401
        hear_waits(teller(runtime.stream_writer))
        return plain_result(node(state, runtime))

    return run


def make_learning(folder: RunFolder, model: "ModelSettings | None" = None) -> LearnContext:
    """Open what a run of `learn` needs.

    Args:
        folder: The run's folder.
        model: Who is asked; None for what the environment's variables say.

    Raises:
        SettingsError: If no model is configured.
    """
    from agents.roles.modeller import ModelModeller

    chat = open_chat(model or require_model(), folder.exchanges)
    sandbox = open_sandbox()
    sandbox.start()
    return LearnContext(
        modeller=ModelModeller(chat.of_role("modeller")),
        sandbox=sandbox,
        folder=folder,
        request=read_learning(folder),
        identity=chat.identity,
        budget=chat.budget,
        versions=versions(),
    )


def require_model() -> "ModelSettings":
    """The settings of the model that writes models.

    Raises:
        SettingsError: If none is configured.
    """
    settings = model_settings()
    if settings.model is None:
        raise SettingsError(
            "learn needs a language model to write the model of the game: set RULEWRIGHT_MODEL, "
            "and OPENAI_BASE_URL for an endpoint of your own"
        )
    return settings


def goes_on(folder: RunFolder, more: int) -> bool:
    """Whether there is anything left to do in a run; one that gave up takes `more` calls.

    Raises:
        RunFolderError: If more calls are given to a run that did not give up.
    """
    request = read_learning(folder)
    ended = (folder.path / TOLD).exists()  # the last thing that a run writes
    told: Any = folder.read_json(TOLD) if ended else {}
    gave_up = told.get("end") == "gave_up"
    if more and not gave_up:
        raise RunFolderError(
            f"the run in {folder.path} did not give up; --rounds is for a run that has"
        )
    calls = request.settings.max_calls + more
    if more:
        settings = request.settings.model_copy(update={"max_calls": calls})
        write_learning(request.model_copy(update={"settings": settings}), folder)
    return not ended or (gave_up and sum(told["calls"].values()) < calls)


def _step(graph: Any, config: "RunnableConfig", folder: RunFolder, calls: int) -> Any:  # noqa: ANN401
    """A run's next input: its first, none, or where it goes on that gave up with calls left."""
    if not has_checkpoint(graph, config, folder):
        return {"folder": str(folder.path)}
    state = LearnState.model_validate(graph.get_state(config).values)
    if state.end != "gave_up" or len(state.calls) >= calls:
        return None
    there = "refine" if state.pool else "synthesise" if state.base is None else "infer"
    return Command(goto=there, update={"end": None, "reason": ""})


def run_learning(
    folder: RunFolder,
    context: LearnContext,
    *,
    tell: Tell = lambda _: None,
    database: str | None = None,
) -> LearnResult:
    """Run the machine, or go on where its last checkpoint stands; the same result either way."""
    request: LearnRequest = context.request
    with open_checkpoints(folder.checkpoints, database) as saver, tracing(folder.trace):
        graph = build_learning(saver)
        config: RunnableConfig = {
            "configurable": {"thread_id": folder.thread},
            "recursion_limit": _STEPS
            + _STEPS_A_CALL * (2 * request.settings.max_calls + request.settings.active),
            "run_name": "rulewright learn",
            "metadata": {"seed": request.settings.seed, "run": folder.path.name},
        }
        step = _step(graph, config, folder, request.settings.max_calls)
        with closing(graph_events(graph, config, context, step)) as events:
            for event in events:
                tell(event)
        state = LearnState.model_validate(graph.get_state(config).values)
    told: Any = folder.read_json(TOLD)
    return LearnResult(folder, state, told)
