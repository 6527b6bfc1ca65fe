"""The machine of `vary`: its wiring, and its runs from start to end."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.graph import START, StateGraph

from games import library
from games.corpus import corpus_names
from graph.run.checkpoints import open_checkpoints
from graph.run.events import Tell, with_waits
from graph.run.folder import RunFolder, RunFolderError, create_folder, runs_folder
from graph.run.handle import QuietRun
from graph.run.opening import model_settings, open_chat, open_embedder
from graph.run.sandboxes import open_sandbox
from graph.run.traces import tracing
from graph.vary.bases import BaseGame, base_of
from graph.vary.breeding import clusters_here, keep_clusters, kept_clusters
from graph.vary.nodes.base import base
from graph.vary.nodes.make import make
from graph.vary.nodes.rank import rank
from graph.vary.nodes.reflect import reflect
from graph.vary.nodes.report import report
from graph.vary.nodes.suggest import suggest
from graph.vary.report import TOLD, VaryReport, read_varied
from graph.vary.rulebooks import Rulebook, rulebook_named
from graph.vary.settings import (
    VaryRequest,
    VarySettings,
    WordingSettings,
    read_variation,
    write_variation,
)
from graph.vary.state import VaryContext, VaryState
from tools.sources import find_game
from vectorstore.documents import StoreError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from agents.model.settings import ModelSettings
    from graph.vary.wording import GameMaker, Wording
    from tools.sandbox import Sandbox

NODES = (base, suggest, reflect, rank, make, report)
STEPS = 400  # each round of choice and check settles a candidate at least


@dataclass(frozen=True)
class VaryResult:
    """A run at its end.

    Attributes:
        folder: Its folder.
        report: The object of `vary.json`.
    """

    folder: RunFolder
    report: VaryReport


def build_varying() -> StateGraph[VaryState, VaryContext, Any, Any]:
    """The machine, not yet compiled: base -> suggest -> reflect -> rank <-> make, then report."""
    builder: StateGraph[VaryState, VaryContext, Any, Any] = StateGraph(
        VaryState, context_schema=VaryContext
    )
    for node in NODES:
        builder.add_node(node.__name__, with_waits(node))
    builder.add_edge(START, "base")
    return builder


def require_chat_settings() -> "ModelSettings":
    """The settings of the configured model.

    Raises:
        SettingsError: If none is configured.
    """
    from agents.model.settings import SettingsError

    settings = model_settings()
    if settings.model is None:
        raise SettingsError(
            "no model is configured, and mechanics are read, bred and varied by one; set "
            "RULEWRIGHT_MODEL (see docs/settings.md). Without one: rulewright vary GAME"
        )
    return settings


def begin_varying(
    game: str, given: Mapping[str, object], *, with_model: bool, out: Path | None = None
) -> tuple[RunFolder, VaryRequest]:
    """A new run's folder, and what the run is asked.

    Args:
        game: A game of the library or of a run; to be varied in words one of the corpus, or a file
            of rules, too.
        given: Settings that somebody named; those of the other way of varying are left out.
        with_model: Whether it is varied in words.
        out: The folder; None for a new one among the runs.

    Raises:
        RunFolderError: If the game cannot be varied.
        SettingsError: If a model is needed, and none is configured.
        StoreError: If the mechanic store is of another embedder.
    """
    way, clusters = (WordingSettings if with_model else VarySettings), None
    settings = way.model_validate({n: v for n, v in given.items() if n in way.model_fields})
    base: BaseGame | Rulebook
    if with_model:
        require_chat_settings()
        base = rulebook_named(game)
        with open_embedder(lambda _: None) as store:
            clusters = clusters_here(store)
    elif game in corpus_names() and game not in library.names():
        raise RunFolderError(f"{game} is rules in words, which a model varies: --with-model")
    else:
        base = base_of(find_game(game))
    request = VaryRequest(base=base, settings=settings)
    folder = create_folder(out, title=f"vary {base.title}", runs=runs_folder())
    if clusters is not None:
        keep_clusters(clusters, folder)
    write_variation(request, folder)
    return folder, request


@contextmanager
def make_varying(
    folder: RunFolder, sandbox: "Sandbox | None" = None, maker: "GameMaker | None" = None
) -> Iterator[VaryContext]:
    """All that the run in a folder needs.

    Args:
        folder: The run's folder.
        sandbox: Where games run, which is the caller's to close; None opens one where it is needed.
        maker: Makes games of what is put into words; None where nobody can.

    Raises:
        SettingsError: If a model is needed, and none is configured.
        StoreError: If another embedder made the clusters of a run in words.
    """
    request = read_variation(folder)
    with ExitStack() as held:
        if isinstance(request.settings, WordingSettings):
            yield _wording(folder, request, maker, held)
        else:
            from agents.players.registry import PlayerRoster
            from graph.vary.walking import SettingsWalk

            opened = sandbox or held.enter_context(open_sandbox())
            yield SettingsWalk(folder, request, opened, PlayerRoster())


def _wording(
    folder: RunFolder, request: VaryRequest, maker: "GameMaker | None", held: ExitStack
) -> "Wording":
    from graph.vary.wording import Wording

    clusters = kept_clusters(folder)
    chat = open_chat(require_chat_settings(), folder.exchanges)
    store = held.enter_context(open_embedder(lambda _: None))
    if clusters.embedder != store.embedder.identity:
        raise StoreError(
            f"the run in {folder.path} compares texts by {clusters.embedder}, and this embedder"
            f" is {store.embedder.identity}; choose that one by RULEWRIGHT_EMBEDDINGS"
        )
    return Wording(folder, request, chat, store, clusters, maker)


class VaryRun(QuietRun):
    """A run in this process; see `QuietRun`."""

    context: VaryContext

    def result(self) -> VaryResult:
        """The run at its end.

        Raises:
            RunFolderError: If it has not ended.
        """
        return VaryResult(self.folder, read_varied(self.folder))


def has_varied(folder: RunFolder) -> bool:
    """True for a run that has ended."""
    return (folder.path / TOLD).exists()  # the last thing that a run writes


@contextmanager
def open_varying(
    folder: RunFolder, context: VaryContext, *, database: str | None = None
) -> Iterator[VaryRun]:
    """A run that begins, or goes on where its last checkpoint stands; to the same result.

    Args:
        folder: The run's folder.
        context: Its resources.
        database: A Postgres address for its checkpoints; None for a file in its folder.
    """
    with open_checkpoints(folder.checkpoints, database) as saver, tracing(folder.trace):
        config: RunnableConfig = {
            "configurable": {"thread_id": folder.thread},
            "recursion_limit": STEPS,
            "run_name": "rulewright vary",
            "metadata": {"seed": context.request.settings.seed, "run": folder.path.name},
        }
        graph = build_varying().compile(checkpointer=saver, name="rulewright vary")
        yield VaryRun(folder, context, graph, config)


def run_varying(
    folder: RunFolder,
    context: VaryContext,
    *,
    tell: Tell = lambda _: None,
    database: str | None = None,
) -> VaryResult:
    """Run to the end; see `open_varying`."""
    with open_varying(folder, context, database=database) as run:
        with closing(run.events()) as events:
            for event in events:
                tell(event)
        return run.result()
