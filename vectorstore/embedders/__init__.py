"""Embedders: texts to vectors."""

from collections.abc import Callable

from vectorstore.embedders.base import Embedder, Vectors
from vectorstore.embedders.chroma_default import ChromaDefault
from vectorstore.embedders.minilm import MiniLM, packaged_model
from vectorstore.embedders.remote import RemoteEmbedder
from vectorstore.settings import StoreSettings

__all__ = ["ChromaDefault", "Embedder", "MiniLM", "RemoteEmbedder", "Vectors", "choose_embedder"]


def choose_embedder(settings: StoreSettings, tell: Callable[[str], None]) -> Embedder:
    """The embedder that the settings ask for; `tell` hears when `auto` falls back to a download.

    Raises:
        EmbedderError: If the embedder asked for is not installed.
    """
    if settings.remote is not None:
        return RemoteEmbedder(settings.remote)
    if settings.embedder == "chroma":
        return ChromaDefault()
    if settings.embedder == "minilm" or packaged_model() is not None:
        return MiniLM()
    tell(
        "the packaged MiniLM weights are not installed: using Chroma's own MiniLM, which downloads "
        "its weights once"
    )
    return ChromaDefault()
