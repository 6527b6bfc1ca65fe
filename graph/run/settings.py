"""Settings that machines share, and the versions that every result holds."""

from importlib.metadata import version
from platform import python_version
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import Field

if TYPE_CHECKING:
    pass


_PACKAGES = ("rulewright", "langgraph", "langchain-openai", "chromadb", "numpy", "pydantic")


RefineStrategy: TypeAlias = Literal["conversation", "tree"]


MOST = 1_000_000
"""The most of anything that is counted: a server's client may send settings, too."""


def sized(usual: int, *, quick: int, least: int = 0) -> Any:  # noqa: ANN401 - as pydantic's Field
    """A field that a quick run has smaller."""
    return Field(
        default_factory=lambda given: quick if given["quick"] else usual, ge=least, le=MOST
    )


def versions() -> dict[str, str]:
    """Python's version and the packages', by name."""
    return {"python": python_version(), **{name: version(name) for name in _PACKAGES}}
