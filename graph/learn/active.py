"""Active learning: which further match the environment is asked for."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.learn.state import LearnContext, LearnState


def active(state: LearnState, runtime: Runtime[LearnContext]) -> Command[Literal["test"]]:
    """Ask the environment for the match that tells most, and test again."""
    return Command(goto="test", update={"asked": runtime.context.settings.active})
