"""Versions of what takes part, as results and runs keep them."""

from importlib.metadata import version
from platform import python_version

_PACKAGES = ("rulewright", "langgraph", "langchain-openai", "chromadb", "numpy", "pydantic")


def versions() -> dict[str, str]:
    """Python's version and the packages', by name."""
    return {"python": python_version(), **{name: version(name) for name in _PACKAGES}}
