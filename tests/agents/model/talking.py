"""Chat models over a scripted endpoint, with a clock that only sleeping moves."""

from typing import TYPE_CHECKING

from agents.model.chat import ChatModel, build_chat
from agents.model.settings import ModelSettings
from tests.agents.model.endpoint import Endpoint

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

ASKED = [{"role": "user", "content": "What wins?"}]


class Sleeper:
    """Remembers the waits instead of waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


def settings_for(endpoint: Endpoint | None = None, **changes: object) -> ModelSettings:
    base: dict[str, object] = {
        "model": "scripted",
        "api_key": "sk-very-secret",
        "base_url": endpoint.url if endpoint else "http://127.0.0.1:9/v1",
        "timeout_s": 10,
        "deadline_s": 30,
    }
    return ModelSettings.model_validate(base | changes)


def chat_with(
    endpoint: Endpoint | None = None, *, sleeper: Sleeper | None = None, **changes: object
) -> ChatModel:
    return build_chat(settings_for(endpoint, **changes), sleep=sleeper or Sleeper())


def text_of(reply: "AIMessage") -> str:
    return str(reply.text)
