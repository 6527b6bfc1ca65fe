"""Opening of a chat model and of the store, by the environment."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from graph.run.environment import value_of, variables
from graph.run.folder import home

if TYPE_CHECKING:
    from agents.model.chat import ChatModel
    from agents.model.settings import ModelSettings
    from vectorstore.documents import StoreSettings
    from vectorstore.store import Store


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


def open_embedder(tell: Callable[[str], None]) -> "Store":
    """The store for its embedder and cached vectors alone: it may hold nothing, or what is old."""
    from vectorstore.store import open_store

    return open_store(store_settings(), tell=tell)


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
