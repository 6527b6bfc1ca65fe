"""Wiring of a run by the environment: roles, store, sandbox, and the context that holds them."""

import logging
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.runtime import Runtime

from agents.protocols import RoleSet
from graph.run.context import RunContext, RunSettings, versions
from graph.run.environment import value_of, variables
from graph.run.folder import RunFolder, home, runs_folder
from graph.run.sandboxes import describe_grade, open_sandbox

if TYPE_CHECKING:
    from agents.model.budget import Budget
    from agents.model.chat import ChatModel
    from agents.model.settings import ModelSettings
    from tools.sandbox import Sandbox
    from vectorstore.documents import StoreSettings
    from vectorstore.store import Store

_LOG = logging.getLogger(__name__)
_RUNS_AT_ONCE = 32
_MINILM = "minilm-l6-v2"
_STORE_VARIABLES = {
    "dimension": "RULEWRIGHT_EMBEDDING_DIMENSION",
    "embedder": "RULEWRIGHT_EMBEDDINGS",
    "host": "RULEWRIGHT_STORE_HOST",
    "lock_wait_s": "RULEWRIGHT_LOCK_WAIT_S",
    "model": "RULEWRIGHT_EMBEDDING_MODEL",
    "port": "RULEWRIGHT_STORE_PORT",
}


def model_settings() -> "ModelSettings":
    """The chat model's settings from the environment; raises on unknown names."""
    from agents.model.settings import read_settings

    return read_settings(os.environ, also_known=[known.name for known in variables()])


def _model_roles(exchanges: Path | None) -> "tuple[RoleSet, Budget] | None":
    """The model's roles and their budget, where one is configured; see `open_chat`."""
    settings = model_settings()
    return open_model(settings, exchanges) if settings.model else None


def composer_over(store: "Store") -> RoleSet:
    """The composer, judging fit by the store's embedder where that is MiniLM."""
    from agents.composer import composer_roles

    return composer_roles(store.vectors if _MINILM in store.embedder.identity else None)


def open_model(
    settings: "ModelSettings", exchanges: Path | None = None
) -> "tuple[RoleSet, Budget]":
    """The four roles over the configured model, and the budget they share; see `open_chat`."""
    from agents.roles import model_roles

    chat = open_chat(settings, exchanges)
    return model_roles(chat), chat.budget


def open_chat(settings: "ModelSettings", exchanges: Path | None = None) -> "ChatModel":
    """The configured model with its budget.

    Args:
        settings: `settings.model` must be set.
        exchanges: File that exchanges are recorded to where the settings name none, so that a
            resumed run does not pay for an answer twice; None for nowhere. What is recorded there
            already counts as spent.
    """
    from agents.model.budget import budget_of
    from agents.model.chat import build_chat

    if settings.mode == "off" and exchanges is not None:
        settings = settings.model_copy(update={"record": exchanges})
    return build_chat(
        settings,
        budget=budget_of(settings),
        label=f"recorded by a run with {settings.model}",
    )


def store_settings() -> "StoreSettings":
    """Where the store lies and who embeds, from the environment.

    Raises:
        SettingsError: Naming the variable whose value does not do.
    """
    from pydantic import ValidationError

    from agents.model.settings import out_of_range
    from vectorstore.documents import RemoteSettings, StoreSettings

    fields: dict[str, object] = {
        field: value_of(_STORE_VARIABLES[field])
        for field in ("embedder", "host", "port", "lock_wait_s")
    }
    try:
        if fields["embedder"] == "remote":
            fields["remote"] = RemoteSettings.model_validate(
                {
                    "model": value_of("RULEWRIGHT_EMBEDDING_MODEL") or "",
                    "dimension": value_of("RULEWRIGHT_EMBEDDING_DIMENSION"),
                    "base_url": os.environ.get("OPENAI_BASE_URL"),
                    "api_key": os.environ.get("OPENAI_API_KEY", ""),
                }
            )
        return StoreSettings.model_validate({"path": home() / "store", **fields})
    except ValidationError as error:
        raise out_of_range(error, _STORE_VARIABLES) from None


def open_store_here(tell: Callable[[str], None]) -> "Store":
    """The store, built or brought up to date by its first use; `tell` takes progress."""
    from vectorstore.indexing import ensure_indexed
    from vectorstore.store import open_store

    store = open_store(store_settings(), tell=tell)
    try:
        if not store.mark():
            tell("building the store of games and rules, once; it takes some seconds")
        report = ensure_indexed(store)
    except BaseException:
        store.close()
        raise
    added, changed = report["added"], report["changed"]
    if added or changed or report["removed"]:
        tell(f"the store was brought up to date ({added} new, {changed} changed)")
    return store


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
    )
    # It is of a whole run: of one that goes on, nobody can tell how much is left.
    about = f"used so far: {used}" if used.calls else str(estimate)
    return f"roles: {context.roles.identity}; {about}{lacking}"


def make_context(
    settings: RunSettings,
    *,
    interactive: bool = False,
    exchanges: Path | None = None,
    keeps_own_games: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> RunContext:
    """Open what a run needs.

    Args:
        settings: The run's settings.
        interactive: Whether a person can answer an interrupt.
        exchanges: Where exchanges with a model are recorded; None for nowhere.
        keeps_own_games: Whether an accepted game joins the store's own games.
        tell: Hears of what takes its time.
    """
    model = _model_roles(exchanges)
    return replace(
        _context(settings, model, *_open_both(tell)),
        interactive=interactive,
        keeps_own_games=keeps_own_games,
    )


def context_of(runtime: Runtime[RunContext], folder: str) -> RunContext:
    """The context the graph was invoked with, or the default resources with the caller's settings.

    LangGraph leaves `runtime.context` None where nobody gave one, and builds `RunSettings`, the
    declared schema, where a server's client did. Store and sandbox are shared by all runs of the
    process; roles, and so the model's budget and its recorded exchanges, belong to one run. Who
    streams the run hears what a model is waited for.

    Args:
        runtime: The node's.
        folder: The run's folder.
    """
    from agents.model.transport import listen

    listen(runtime.stream_writer)
    given = _given(runtime)
    if isinstance(given, RunContext):
        return given
    return _context(given or RunSettings(), _roles_of(folder), *_shared())


def runs_of(runtime: Runtime[RunContext]) -> Path:
    """Where a new run's folder goes."""
    given = _given(runtime)
    return given.runs if isinstance(given, RunContext) else runs_folder()


def folder_given(runtime: Runtime[RunContext]) -> Path | None:
    """The one folder that the run may write to, where its caller named one."""
    given = _given(runtime)
    return given.folder if isinstance(given, RunContext) else None


def _given(runtime: Runtime[RunContext]) -> RunContext | RunSettings | None:
    return runtime.context


def _context(
    settings: RunSettings,
    model: "tuple[RoleSet, Budget] | None",
    sandbox: "Sandbox",
    store: "Store",
) -> RunContext:
    from tools.retrieval import Retrieval

    retrieval = Retrieval(store, own_games=settings.own_games)
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


@cache
def _shared() -> "tuple[Sandbox, Store]":
    """A sandbox and the embedded store; opened on first use, once a process."""
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
