"""The machine of `learn`: its wiring, and its runs from start to end."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph.graph import START, StateGraph

from agents.model.settings import SettingsError
from agents.players.registry import PlayerRoster
from agents.strategy.models import ModelContest, Rejection, reject_models
from graph.learn.nodes.active import active
from graph.learn.nodes.arena import arena
from graph.learn.nodes.asking import infer, refine, synthesise, tensors, value
from graph.learn.nodes.check import check
from graph.learn.nodes.intake import intake
from graph.learn.nodes.report import report
from graph.learn.report import COMBINED, TOLD, Combined, LearnReport, read_report
from graph.learn.settings import LearnRequest, read_learning, write_learning
from graph.learn.state import LearnContext, LearnState
from graph.run.checkpoints import moved, open_checkpoints
from graph.run.events import Tell, with_waits
from graph.run.folder import RunFolder, RunFolderError
from graph.run.handle import QuietRun
from graph.run.opening import model_settings, open_chat
from graph.run.sandboxes import open_sandbox
from graph.run.settings import versions
from graph.run.traces import tracing

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from agents.model.settings import ModelSettings

_STEPS = 40
_STEPS_A_CALL = 4


@dataclass(frozen=True)
class LearnResult:
    """A run at its end.

    Attributes:
        folder: Its folder.
        state: Its last state.
        report: The object of `learn.json`.
    """

    folder: RunFolder
    state: LearnState
    report: LearnReport


def build_learning(saver: "BaseCheckpointSaver[str] | None" = None) -> Any:  # noqa: ANN401 - LangGraph's
    """The compiled machine: intake, synthesise, check <-> refine, infer, ..., tensors, report.

    `active` lies between `check` and itself, as long as the environment may be asked. From `arena`
    a run that keeps learning goes back to `check`.
    """
    builder = StateGraph(LearnState, context_schema=LearnContext)
    for node in (intake, synthesise, check, refine, infer, active, value, arena, tensors, report):
        builder.add_node(node.__name__, with_waits(node))
    builder.add_edge(START, "intake")
    return builder.compile(checkpointer=saver, name="rulewright learn")


def make_learning(
    folder: RunFolder, request: LearnRequest, model: "ModelSettings | None" = None
) -> LearnContext:
    """Open all that a run of `learn` needs.

    Args:
        folder: The run's folder.
        request: What the run was asked.
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
        request=request,
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


def goes_on(folder: RunFolder, more: int) -> LearnRequest | None:
    """The request of a run with something left to do; None where nothing is.

    Args:
        folder: The run's.
        more: Further calls, for a run that gave up.

    Raises:
        RunFolderError: If more calls are given to a run that did not give up.
    """
    request = read_learning(folder)
    ended = (folder.path / TOLD).exists()  # the last thing that a run writes
    told = read_report(folder) if ended else None
    gave_up = told is not None and told.end == "gave_up"
    if more and not gave_up:
        raise RunFolderError(
            f"the run in {folder.path} did not give up; --rounds is for a run that has"
        )
    if more:
        request = request.with_calls(request.settings.max_calls + more)
        write_learning(request, folder)
    if told is None:
        return request
    left = gave_up and sum(told.calls.values()) < request.settings.max_calls
    return request if left else None


def compared_runs(folder: RunFolder, runs: Mapping[str, RunFolder]) -> Combined:
    """Compare runs over the same matches that have ended, and write down which models may play.

    Where something is hidden the models compete, and whoever is behind the best by more than a
    tenth of what is at stake is left out. Elsewhere records tell a bad model: none competes.
    """
    told = {name: read_report(folder) for name, folder in runs.items()}
    made = {name: one for name, one in told.items() if one.accuracy is not None}
    order = sorted(made, key=lambda name: _fares(made[name]), reverse=True)
    hidden = [one for one in made.values() if one.inference not in (None, "")]
    note, found = "", Rejection(tuple(order), {}, 0, {})
    if len(made) < 2:  # noqa: PLR2004 - two compete
        note = "fewer than two have a model: none competes"
    elif not hidden:
        note = "nothing is hidden: held-out records tell a bad model, and none competes (App. F)"
    elif hidden[0].num_players != 2:  # noqa: PLR2004 - two compete
        note = f"two compete, and {hidden[0].num_players} play this game: none is left out"
    else:
        settings = hidden[0].settings
        contest = ModelContest(
            folder=folder.journals / "syntheses",
            roster=PlayerRoster(),
            seed=settings.seed,
            simulations=settings.value_simulations,
            deals=settings.value_deals,
        )
        models = {name: runs[name].path / "model.py" for name in made}
        found = reject_models(hidden[0].environment, models, contest)
        note = (
            f"held against each other in {found.matches} matches (App. F): {len(found.kept)} of "
            f"{len(told)} may play"
        )
    kept = sorted(found.kept, key=lambda name: (-found.means.get(name, 0.0), order.index(name)))
    best = told[kept[0] if kept else next(iter(told))]
    result = Combined(
        end=best.end,
        environment=best.environment,
        syntheses=told,
        kept=tuple(kept),
        means=dict(found.means),
        matches=found.matches,
        failures=dict(found.failures),
        note=note,
    )
    folder.write_json(COMBINED, result.model_dump(mode="json"))
    return result


def _fares(one: LearnReport) -> tuple[bool, float, float]:
    return one.end == "passed", one.held_out_accuracy or 0.0, one.accuracy or 0.0


class LearnRun(QuietRun):
    """A run in this process; see `QuietRun`."""

    context: LearnContext

    def result(self) -> LearnResult:
        """The run at its end.

        Raises:
            RunFolderError: If it has not ended.
        """
        return LearnResult(self.folder, self._state, read_report(self.folder))

    @property
    def _state(self) -> LearnState:
        return LearnState(**self.graph.get_state(self.config).values)

    def further(self) -> Any:  # noqa: ANN401 - a command, or None
        """Where it goes on: None where it stands, or where it gave up with calls left."""
        state = self._state
        if state.end != "gave_up" or len(state.calls) >= self.context.settings.max_calls:
            return None
        there = "refine" if state.pool else "synthesise" if state.base is None else "infer"
        return moved(there, state, state.ended(None, ""))


@contextmanager
def open_learning(
    folder: RunFolder, context: LearnContext, *, database: str | None = None
) -> Iterator[LearnRun]:
    """A run that begins, or goes on where its last checkpoint stands; to the same result.

    Args:
        folder: The run's folder.
        context: Its resources.
        database: A Postgres address for its checkpoints; None for a file in its folder.
    """
    settings = context.settings
    steps = _STEPS + _STEPS_A_CALL * (2 * settings.max_calls + settings.active)
    with open_checkpoints(folder.checkpoints, database) as saver, tracing(folder.trace):
        config: RunnableConfig = {
            "configurable": {"thread_id": folder.thread},
            "recursion_limit": steps,
            "run_name": "rulewright learn",
            "metadata": {"seed": settings.seed, "run": folder.path.name},
        }
        yield LearnRun(folder, context, build_learning(saver), config)


def run_learning(
    folder: RunFolder,
    context: LearnContext,
    *,
    tell: Tell = lambda _: None,
    database: str | None = None,
) -> LearnResult:
    """Run to the end; see `open_learning`."""
    with open_learning(folder, context, database=database) as run:
        with closing(run.events()) as events:
            for event in events:
                tell(event)
        return run.result()
