"""Chat models from settings: connected, recorded or replayed, and seated as the four roles."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from agents.budgets import Budget, BudgetExhaustedError, Limits, Usage
from agents.chat import ChatModel
from agents.errors import ModelError
from agents.estimates import RunEstimate, estimate_run
from agents.exchange import Recording, ReplayMissError, place
from agents.faults import EndpointError, MalformedReplyError, RefusedRequestError, ReplyError
from agents.network import forbid_network
from agents.settings import ModelSettings, SettingsError, read_settings

if TYPE_CHECKING:
    from agents.protocols import RoleSet

__all__ = [
    "BudgetExhaustedError",
    "ChatModel",
    "EndpointError",
    "MalformedReplyError",
    "ModelError",
    "ModelSettings",
    "RefusedRequestError",
    "ReplayMissError",
    "ReplyError",
    "RunEstimate",
    "SettingsError",
    "build_chat",
    "estimate_run",
    "forbid_network",
    "open_model",
    "place",
    "read_settings",
]

OPENAI_URL = "https://api.openai.com/v1"
HTTP_OK = 200


def build_chat(
    settings: ModelSettings,
    *,
    budget: Budget | None = None,
    label: str = "",
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> ChatModel:
    """Connect a chat model as the settings say, recording or replaying where they ask for it.

    Args:
        settings: `settings.model` must be set.
        budget: The run's budget; a new one with the settings' bounds where None.
        label: Who answers, written into a new recording.
        clock: Seconds, monotonic.
        sleep: Waits before a retry.

    Raises:
        SettingsError: If no model is configured.
        RecordingError: If the recording cannot be read.
    """
    if settings.model is None:
        raise SettingsError("no model is configured: set RULEWRIGHT_MODEL")
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    from agents.transport import http_clients

    if settings.offline:
        forbid_network()
    url = settings.base_url or OPENAI_URL
    recording = open_recording(settings, label)
    http, http_async = http_clients(settings.mode, recording, base_url=url, secret=settings.api_key)
    client = ChatOpenAI(
        model=settings.model,
        base_url=url,
        api_key=SecretStr(settings.api_key or "none"),
        temperature=settings.temperature,
        timeout=settings.timeout_s,
        max_retries=0,
        streaming=False,
        disable_streaming=True,
        use_responses_api=False,
        http_client=http,
        http_async_client=http_async,
    )
    spending = budget or Budget(Limits.of(settings))
    return ChatModel(client, settings, spending, recording, clock=clock, sleep=sleep)


def open_recording(settings: ModelSettings, label: str = "") -> Recording:
    """The recording that the settings name; an empty one in memory where they name none."""
    if settings.replay is not None:
        return Recording.load(settings.replay)
    if settings.record is not None:
        return Recording.open(settings.record, label=label)
    return Recording()


def open_model(settings: ModelSettings, exchanges: Path | None = None) -> "tuple[RoleSet, Budget]":
    """The four roles over the configured model, and the budget they share.

    Args:
        settings: `settings.model` must be set.
        exchanges: File that exchanges are recorded to where the settings name none, so that a
            resumed run does not pay for an answer twice; None for nowhere. What is recorded there
            already counts as spent.
    """
    from agents.roles import model_roles

    if settings.mode == "off" and exchanges is not None:
        settings = settings.model_copy(update={"record": exchanges})
    spent = spent_before(settings)
    chat = build_chat(
        settings,
        budget=Budget(Limits.of(settings), spent),
        label=f"recorded by a run with {settings.model}",
    )
    return model_roles(chat), chat.budget


def spent_before(settings: ModelSettings) -> Usage:
    """What the recorded part of an interrupted run has used, from what the endpoint reported.

    An exchange that the resumed run reads from the recording once more counts once more: the
    budget errs on the safe side, by the calls of the node that was interrupted.
    """
    if settings.mode != "record":
        return Usage()
    recording = open_recording(settings)
    tokens = [reported_tokens(exchange.response) for exchange in recording.exchanges]
    return Usage(
        calls=len(tokens),
        failed_calls=sum(exchange.status != HTTP_OK for exchange in recording.exchanges),
        tokens_in=sum(pair[0] for pair in tokens),
        tokens_out=sum(pair[1] for pair in tokens),
    )


def reported_tokens(response: JsonValue) -> tuple[int, int]:
    """Prompt and completion tokens that a recorded response reports; zeros where it does not.

    >>> reported_tokens({"usage": {"prompt_tokens": 7, "completion_tokens": 2}})
    (7, 2)
    >>> reported_tokens("<html>"), reported_tokens({"usage": None})
    ((0, 0), (0, 0))
    """
    usage = response.get("usage") if isinstance(response, dict) else None
    if not isinstance(usage, dict):
        return 0, 0
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    asked, said = (count if isinstance(count, int) else 0 for count in counts)
    return asked, said
