"""Wiring of a run by the environment: its roles, and the context that holds what it needs."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.runtime import Runtime

from agents.protocols import Choices, RoleSet
from graph.new.context import RunContext, RunSettings
from graph.run.events import hear_waits, writer_of
from graph.run.folder import RunFolder, runs_folder
from graph.run.opening import model_settings, open_chat, open_store_here
from graph.run.sandboxes import describe_grade, open_sandbox
from graph.run.settings import versions

if TYPE_CHECKING:
    from agents.model.budget import Budget
    from agents.model.settings import ModelSettings
    from tools.sandbox import Sandbox
    from vectorstore.store import Store


_LOG = logging.getLogger(__name__)
_OPENING = threading.Lock()  # a cache calls twice where two threads ask at once

_RUNS_AT_ONCE = 32


_MINILM = "minilm-l6-v2"


def _model_roles(exchanges: Path | None) -> "tuple[RoleSet, Budget] | None":
    """The model's roles and their budget, where one is configured; see `open_chat`."""
    settings = model_settings()
    return open_model(settings, exchanges) if settings.model else None


def composer_over(store: "Store") -> RoleSet:
    """The composer, judging fit by the store's embedder where that is MiniLM."""
    from agents.composer import composer_roles

    return composer_roles(store.vectors if _MINILM in store.embedder.identity else None)


def require_choices(choices: Choices, *, settings: bool) -> None:
    """Refuse choices that no game of the library can be made with.

    Args:
        choices: What the person fixed beside the brief.
        settings: Whether seats and settings are the library's too, and not a model's.

    Raises:
        RoleError: Saying what is allowed.
    """
    from agents.composer.designer import refuse_impossible

    refuse_impossible(choices, settings=settings)


def open_model(
    settings: "ModelSettings", exchanges: Path | None = None
) -> "tuple[RoleSet, Budget]":
    """The four roles over the configured model, and the budget they share; see `open_chat`."""
    from agents.roles import model_roles

    chat = open_chat(settings, exchanges)
    return model_roles(chat), chat.budget


def describe_roles(context: RunContext) -> str:
    """On who designs, codes and judges, what it may cost, and how the library is searched."""
    from vectorstore.embedders import LACKING

    lacking = f"\nlibrary: {LACKING}" if context.embedding.startswith("lexical") else ""
    if context.budget is None:
        return f"roles: composer (no model is configured; set RULEWRIGHT_MODEL to use one){lacking}"
    from agents.model.budget import estimate_run

    settings, used = context.settings, context.budget.usage
    estimate = estimate_run(
        context.budget.settings,
        max_rounds=settings.max_rounds,
        records_judged=settings.records_judged,
        answered=context.budget.answered,
    )
    spent = f"used so far: {used}" if used.calls else ""
    left = str(estimate) if estimate.low.calls else ""  # of a finished game nothing is left
    about = "; left of its game, ".join(filter(None, (spent, left)))
    return f"roles: {context.roles.identity}; {about}{lacking}"


def make_context(
    settings: RunSettings,
    *,
    interactive: bool = False,
    exchanges: Path | None = None,
    keeps_own_games: bool = True,
    tell: Callable[[str], None] = lambda _: None,
    opened: "tuple[Sandbox, Store] | None" = None,
) -> RunContext:
    """Open what a run needs.

    Args:
        settings: The run's settings.
        interactive: Whether a person can answer an interrupt.
        exchanges: Where exchanges with a model are recorded; None for nowhere.
        keeps_own_games: Whether an accepted game joins the store's own games.
        tell: Hears of what takes its time.
        opened: A sandbox and a store that are open already.
    """
    model = _model_roles(exchanges)
    return replace(
        _context(settings, model, *(opened or _open_both(tell))),
        interactive=interactive,
        keeps_own_games=keeps_own_games,
    )


def context_of(runtime: Runtime[RunContext], folder: str, seed: int | None = None) -> RunContext:
    """The context the graph was invoked with, or the default resources with the caller's settings.

    LangGraph leaves `runtime.context` None where nobody gave one, and builds `RunSettings`, the
    declared schema, where a server's client did. Store and sandbox are shared by all runs of the
    process; roles, and so the model's budget and its recorded exchanges, belong to one run. Who
    streams the run hears what a model is waited for.

    Args:
        runtime: The node's.
        folder: The run's folder.
        seed: Of the run; None where it is drawn now, at its intake. One that is given goes before.
    """
    hear_waits(writer_of(runtime.stream_writer))
    given = _given(runtime)
    if isinstance(given, RunContext):
        return given
    settings = given or RunSettings()
    if seed is not None:
        settings = settings.of_seed(seed)
    return _context(settings, _roles_of(folder), *_shared())


def runs_of(runtime: Runtime[RunContext]) -> Path:
    """Where a new run's folder goes."""
    given = _given(runtime)
    return given.runs if isinstance(given, RunContext) else runs_folder()


def folder_given(runtime: Runtime[RunContext]) -> Path | None:
    """The one folder that the run may write to, where its caller named one."""
    given = _given(runtime)
    return given.folder if isinstance(given, RunContext) else None


def step_of(runtime: Runtime[RunContext]) -> str:
    """The checkpoint from which the node runs; the same where it runs again."""
    return runtime.execution_info.checkpoint_id if runtime.execution_info else ""


def _given(runtime: Runtime[RunContext]) -> RunContext | RunSettings | None:
    return runtime.context


def _context(
    settings: RunSettings,
    model: "tuple[RoleSet, Budget] | None",
    sandbox: "Sandbox",
    store: "Store",
) -> RunContext:
    from tools.retrieval import NothingRetrieved, Retrieval

    reads = Retrieval if settings.retrieval else NothingRetrieved
    retrieval = reads(store, own_games=settings.own_games, corpus=settings.corpus)
    roles, budget = model or (composer_over(store), None)
    return RunContext(
        roles=roles,
        retrieval=retrieval,
        sandbox=sandbox,
        runs=runs_folder(),
        settings=settings,
        store_snapshot=retrieval.snapshot_id(),
        embedding=store.embedder.identity,
        clock=time.monotonic,
        budget=budget,
        versions=versions(),
    )


def _shared() -> "tuple[Sandbox, Store]":
    """A sandbox and the embedded store; opened on first use, once a process, by one thread."""
    with _OPENING:
        return _opened()


@cache
def _opened() -> "tuple[Sandbox, Store]":
    sandbox, store = _open_both(_LOG.warning)
    level = logging.INFO if sandbox.grade.name == "strong" else logging.WARNING
    _LOG.log(level, describe_grade(sandbox.grade))
    return sandbox, store


def _open_both(tell: Callable[[str], None]) -> "tuple[Sandbox, Store]":
    """A sandbox that has started, and the store; nothing is left open where one of them fails."""
    with ExitStack() as undone:
        sandbox = undone.enter_context(open_sandbox())
        sandbox.start()  # first, because it is quick to say no
        store = open_store_here(tell)
        undone.pop_all()
    return sandbox, store


@lru_cache(maxsize=_RUNS_AT_ONCE)
def _roles_of(folder: str) -> "tuple[RoleSet, Budget] | None":
    """A run's model by the environment; the folder keeps what was paid for."""
    return _model_roles(RunFolder(Path(folder)).root.exchanges)
