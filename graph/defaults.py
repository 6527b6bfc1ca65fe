"""The resources of a run that nobody handed any: the default context, made once a process."""

import os
import time
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import cast

from langgraph.runtime import Runtime

from agents.protocols import Design
from graph.context import RunContext, RunOptions
from graph.folder import RunFolder
from graph.settings import RunSettings, settings_for
from graph.state import RunState

_PACKAGES = ("rulewright", "langgraph", "langchain-openai", "chromadb", "numpy", "pydantic")


def context_of(runtime: Runtime[RunContext]) -> RunContext:
    """The context the graph was invoked with, or the default resources with the caller's options.

    LangGraph leaves `runtime.context` None where nobody gave one, and builds `RunOptions`, the
    declared schema, where a server's client did.
    """
    given = cast("RunContext | RunOptions | None", runtime.context)
    if isinstance(given, RunContext):
        return given
    options = given or RunOptions()
    chosen = settings_for(
        seed=options.seed,
        quick=options.quick,
        approve=options.approve,
        own_games=options.own_games,
    )
    return replace(default_context(own_games=options.own_games), settings=chosen)


def home() -> Path:
    """Where the store lies: `RULEWRIGHT_HOME`, else a folder of the user's cache."""
    named = os.environ.get("RULEWRIGHT_HOME")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "rulewright"


def runs_folder() -> Path:
    """Where runs go that name no folder: `RULEWRIGHT_RUNS`, else `runs` here."""
    return Path(os.environ.get("RULEWRIGHT_RUNS", "runs"))


@cache
def default_context(*, own_games: bool) -> RunContext:
    """Roles by the environment, the embedded store; opened on first use, once a process."""
    return make_context(settings_for(own_games=own_games))


def make_context(
    settings: RunSettings, *, interactive: bool = False, exchanges: Path | None = None
) -> RunContext:
    """Open what a run needs.

    Args:
        settings: The run's settings.
        interactive: Whether a person can answer an interrupt.
        exchanges: Where exchanges with a model are recorded; None for nowhere.
    """
    from graph.resources import open_roles, open_sandbox, open_store_for

    roles, budget = open_roles(exchanges)
    store, retrieval = open_store_for(settings)
    return RunContext(
        roles=roles,
        retrieval=retrieval,
        sandbox=open_sandbox(),
        runs=runs_folder(),
        settings=settings,
        store_snapshot=store.snapshot_id(),
        embedding=store.embedder.identity,
        clock=time.monotonic,
        budget=budget,
        interactive=interactive,
        versions={"python": python_version(), **{name: version(name) for name in _PACKAGES}},
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
