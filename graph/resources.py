"""Opening what a run needs, by the environment: models and store."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agents.protocols import RoleSet
from graph.context import RunContext
from graph.places import home
from graph.sandboxes import SETTINGS as SANDBOX_SETTINGS
from graph.settings import RunSettings

if TYPE_CHECKING:
    from agents.budgets import Budget
    from agents.models import ModelSettings
    from tools.retrieval import Retrieval
    from vectorstore.settings import StoreSettings
    from vectorstore.store import Store

# Settings of ours that are not the model's; anything else that starts with RULEWRIGHT_ is an error.
OTHER_SETTINGS = (
    "RULEWRIGHT_DATABASE",
    "RULEWRIGHT_EMBEDDINGS",
    "RULEWRIGHT_EMBEDDING_DIMENSION",
    "RULEWRIGHT_EMBEDDING_MODEL",
    "RULEWRIGHT_HOME",
    "RULEWRIGHT_LOCK_WAIT_S",
    "RULEWRIGHT_RUNS",
    "RULEWRIGHT_STORE_HOST",
    "RULEWRIGHT_STORE_PORT",
    *SANDBOX_SETTINGS,
)
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
    from agents.models import read_settings

    return read_settings(os.environ, also_known=OTHER_SETTINGS)


def open_roles(exchanges: Path | None) -> "tuple[RoleSet, Budget | None]":
    """The model's roles where one is configured, else the composer's.

    Args:
        exchanges: Where exchanges with the model are kept, so that a resumed run does not pay
            for an answer twice; None for nowhere.
    """
    settings = model_settings()
    if settings.model is None:
        from agents.composer import composer_roles

        return composer_roles(), None
    from agents.models import open_model

    return open_model(settings, exchanges)


def store_settings() -> "StoreSettings":
    """Where the store lies and who embeds, from the environment.

    Raises:
        SettingsError: Naming the variable whose value does not do.
    """
    from pydantic import ValidationError

    from agents.models import SettingsError

    try:
        return _read_store_settings(os.environ)
    except ValidationError as error:
        problems = "; ".join(
            f"{_STORE_VARIABLES.get(str(problem['loc'][-1]), str(problem['loc'][-1]))}: "
            f"{problem['msg'][:1].lower()}{problem['msg'][1:]}, got {problem['input']!r}"
            for problem in error.errors()
        )
        raise SettingsError(f"settings out of range: {problems}") from None


def _read_store_settings(environment: Mapping[str, str]) -> "StoreSettings":
    from vectorstore.settings import RemoteSettings, StoreSettings

    remote = None
    embedder = environment.get("RULEWRIGHT_EMBEDDINGS") or "auto"
    if embedder == "remote":
        remote = RemoteSettings.model_validate(
            {
                "model": environment.get("RULEWRIGHT_EMBEDDING_MODEL", ""),
                "dimension": environment.get("RULEWRIGHT_EMBEDDING_DIMENSION") or "1536",
                "base_url": environment.get("OPENAI_BASE_URL"),
                "api_key": environment.get("OPENAI_API_KEY", ""),
            }
        )
    fields = {
        "path": home() / "store",
        "host": environment.get("RULEWRIGHT_STORE_HOST") or None,
        "port": environment.get("RULEWRIGHT_STORE_PORT") or "8000",
        "lock_wait_s": environment.get("RULEWRIGHT_LOCK_WAIT_S") or "30",
        "embedder": embedder,
        "remote": remote,
    }
    return StoreSettings.model_validate(fields)


def open_store_here(tell: Callable[[str], None]) -> "Store":
    """The store, built or brought up to date by its first use."""
    from vectorstore.indexing import ensure_indexed
    from vectorstore.store import open_store

    store = open_store(store_settings(), tell=tell)
    try:
        report = ensure_indexed(store)
    except BaseException:
        store.close()
        raise
    if report.added or report.changed or report.removed:
        tell(f"the store was brought up to date ({report.added} new, {report.changed} changed)")
    return store


def open_store_for(
    settings: RunSettings, tell: Callable[[str], None] = lambda _: None
) -> "tuple[Store, Retrieval]":
    """The store and how the roles of a run see it."""
    store = open_store_here(tell)
    return store, retrieval_for(store, settings)


def retrieval_for(store: "Store", settings: RunSettings) -> "Retrieval":
    """An open store as the roles of a run see it."""
    from tools.retrieval import Retrieval

    return Retrieval(store, own_games=settings.own_games)


def seen_snapshot(store: "Store", settings: RunSettings) -> str:
    """Content id of what retrieval can see: the library, and the own games where asked for."""
    from vectorstore.documents import KINDS, LIBRARY_KINDS

    return store.snapshot_id(KINDS if settings.own_games else LIBRARY_KINDS)


def describe_roles(context: RunContext) -> str:
    """One line on who designs, codes and judges, and what that may cost."""
    if context.budget is None:
        return "roles: composer (no model is configured; set RULEWRIGHT_MODEL to use one)"
    from agents.models import estimate_run

    settings = context.settings
    estimate = estimate_run(
        model_settings(),
        max_rounds=settings.max_rounds,
        records_judged=settings.records_judged,
    )
    return f"roles: {context.roles.identity}; {estimate}"
