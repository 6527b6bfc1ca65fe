"""Settings of the store: where it lies, who embeds, and what can go wrong with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


class RemoteSettings(BaseModel):
    """An OpenAI-compatible embeddings endpoint.

    Attributes:
        model: Model name, as the endpoint knows it.
        dimension: Components of its vectors; the endpoint is asked to shorten them only where
            `shorten` is set, because many servers refuse the request for it.
        base_url: The endpoint, or None for the client's own default.
        api_key: Sent as the bearer token.
        timeout_s: Seconds for one request.
        max_retries: Retries of one request, besides the first try.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1)
    dimension: int = Field(ge=1)
    shorten: bool = False
    base_url: str | None = None
    api_key: SecretStr
    timeout_s: float = Field(default=60.0, gt=0)
    max_retries: int = Field(default=2, ge=0)


class StoreSettings(BaseModel):
    """Where the store lies and who embeds.

    Attributes:
        path: Folder of the embedded store; with a host, only the embedding cache lies there.
        host: Host of a Chroma server; None for the embedded store.
        port: Port of the Chroma server.
        ssl: Whether the server is asked over TLS.
        embedder: `auto` is MiniLM where its weights are installed, else `lexical`, which compares
            words alone. `chroma` is Chroma's own MiniLM; it downloads its weights at the first
            text.
        remote: The endpoint, needed by the embedder `remote`.
        lock_wait_s: Seconds to wait for another process that writes the embedded store.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path
    host: str | None = None
    port: int = Field(default=8000, ge=1, le=65535)
    ssl: bool = False
    embedder: Literal["auto", "minilm", "lexical", "chroma", "remote"] = "auto"
    remote: RemoteSettings | None = None
    lock_wait_s: float = Field(default=120.0, ge=0)

    @model_validator(mode="after")
    def _remote_is_given(self) -> Self:
        if (self.embedder == "remote") != (self.remote is not None):
            raise ValueError("the embedder 'remote' and the settings `remote` need each other")
        return self


class StoreError(Exception):
    """The store could not do what was asked; the message says what was wrong and what to do."""


class StoreLockedError(StoreError):
    """Another process is writing the embedded store."""


class NotIndexedError(StoreError):
    """A library collection was searched before anything was put into it."""


class EmbedderError(StoreError):
    """Texts could not be turned into vectors."""


Vectors: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors; two embedders of one identity give comparable vectors."""

    @property
    def identity(self) -> str:
        """Model, width and origin in letters, digits, dots and hyphens; names the collections."""
        ...

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed N texts.

        Returns:
            float32 [N, dimension], one row a text, in the order given.

        Raises:
            EmbedderError: If the model is missing, damaged, unreachable or answers nonsense.
        """
        ...
