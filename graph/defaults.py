"""The resources of a run that nobody handed any: the default context, made once a process."""

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from langgraph.runtime import Runtime

from agents.protocols import Design
from graph.context import RunContext, RunOptions
from graph.folder import RunFolder
from graph.places import runs_folder
from graph.settings import RunSettings, settings_for
from graph.state import RunState
from graph.versions import versions

if TYPE_CHECKING:
    from agents.budgets import Budget
    from agents.protocols import RoleSet
    from tools.sandbox import Sandbox
    from vectorstore.store import Store

Opened = TypeVar("Opened")
_LOG = logging.getLogger(__name__)
_RUNS_AT_ONCE = 32


def context_of(runtime: Runtime[RunContext], folder: str) -> RunContext:
    """The context the graph was invoked with, or the default resources with the caller's options.

    LangGraph leaves `runtime.context` None where nobody gave one, and builds `RunOptions`, the
    declared schema, where a server's client did. Store and sandbox are shared by all runs of the
    process; roles, and so the model's budget and its recorded exchanges, belong to one run.

    Args:
        runtime: The node's.
        folder: The run's folder.
    """
    given = cast("RunContext | RunOptions | None", runtime.context)
    if isinstance(given, RunContext):
        return given
    from graph.resources import retrieval_for, seen_snapshot

    options = given or RunOptions()
    settings = settings_for(
        seed=options.seed,
        quick=options.quick,
        approve=options.approve,
        own_games=options.own_games,
    )
    store, sandbox = _shared()
    roles, budget = _roles_of(folder)
    return RunContext(
        roles=roles,
        retrieval=retrieval_for(store, settings),
        sandbox=sandbox,
        runs=runs_folder(),
        settings=settings,
        store_snapshot=seen_snapshot(store, settings),
        embedding=store.embedder.identity,
        clock=time.monotonic,
        budget=budget,
        versions=versions(),
    )


def runs_of(runtime: Runtime[RunContext]) -> Path:
    """Where a new run's folder goes."""
    given = cast("RunContext | RunOptions | None", runtime.context)
    return given.runs if isinstance(given, RunContext) else runs_folder()


@cache
def _shared() -> "tuple[Store, Sandbox]":
    """The embedded store and a sandbox; opened on first use, once a process."""
    from graph.resources import open_store_here
    from graph.sandboxes import describe_grade

    sandbox, store = _sandbox_and(lambda: open_store_here(_LOG.warning))
    level = logging.INFO if sandbox.grade.name == "strong" else logging.WARNING
    _LOG.log(level, describe_grade(sandbox.grade))
    return store, sandbox


def _sandbox_and(open_store: Callable[[], Opened]) -> "tuple[Sandbox, Opened]":
    """A sandbox that has started, and a store; nothing is left open where one of them fails."""
    from graph.sandboxes import open_sandbox

    with ExitStack() as undone:
        sandbox = undone.enter_context(open_sandbox())
        sandbox.start()  # first, because it is quick to say no
        store = open_store()
        undone.pop_all()
    return sandbox, store


@lru_cache(maxsize=_RUNS_AT_ONCE)
def _roles_of(folder: str) -> "tuple[RoleSet, Budget | None]":
    """A run's roles by the environment; the folder keeps what was paid for."""
    from graph.resources import open_roles

    return open_roles(RunFolder(Path(folder)).exchanges)


def make_context(
    settings: RunSettings,
    *,
    interactive: bool = False,
    exchanges: Path | None = None,
    keeps_own_games: bool = True,
) -> RunContext:
    """Open what a run needs.

    Args:
        settings: The run's settings.
        interactive: Whether a person can answer an interrupt.
        exchanges: Where exchanges with a model are recorded; None for nowhere.
        keeps_own_games: Whether an accepted game joins the store's own games.
    """
    from graph.resources import open_roles, open_store_for, seen_snapshot

    roles, budget = open_roles(exchanges)
    sandbox, (store, retrieval) = _sandbox_and(lambda: open_store_for(settings))
    return RunContext(
        roles=roles,
        retrieval=retrieval,
        sandbox=sandbox,
        runs=runs_folder(),
        settings=settings,
        store_snapshot=seen_snapshot(store, settings),
        embedding=store.embedder.identity,
        clock=time.monotonic,
        budget=budget,
        interactive=interactive,
        keeps_own_games=keeps_own_games,
        versions=versions(),
    )


def folder_of(state: RunState) -> RunFolder:
    """The run's folder."""
    return RunFolder(Path(state.folder))


def need_design(state: RunState) -> Design:
    """The design, which every node after `design` may rely on.

    Raises:
        ValueError: If the graph was wired so that it is missing.
    """
    if state.design is None:
        raise ValueError("this node runs after design; the state holds no design")
    return state.design
