"""Answers of a person: when a run takes them, and what they choose."""

from langchain_core.messages import HumanMessage

from agents.protocols import Fit
from games.library import names
from graph.new.state import RunState

YES = frozenset({"", "y", "yes", "ok", "approve", "approved", "true", "go on", "go on anyway"})
NO = frozenset({"n", "no", "stop", "reject", "false"})


def waits_for_words(state: RunState) -> bool:
    """Whether a run ended before a design, in a question or a refusal that words can answer."""
    refused = state.end == "gave_up" and state.design is None
    return refused or state.end in ("question", "no_fit")


def answered(state: RunState) -> int:
    """How many answers a run has taken: every human message but the prompt is one.

    >>> answered(RunState(messages=[HumanMessage("whist"), HumanMessage("yes")]))
    1
    """
    return sum(isinstance(message, HumanMessage) for message in state.messages) - 1


def is_words(answer: str) -> bool:
    """Whether an answer says something of the game, and is no yes, no or name of a family."""
    return answer.lower() not in YES | NO and family_chosen(answer, None) is None


def family_chosen(answer: str, fit: Fit | None) -> str | None:
    """The library's name that an answer chooses: its own words, or yes to the nearest family.

    >>> family_chosen("Connect Four", None), family_chosen("with four suits", None)
    ('connect_four', None)
    >>> nearest = Fit(family="shedding", kept=(), lost=("dice",))
    >>> family_chosen("yes", nearest), family_chosen("yes", None)
    ('shedding', None)
    """
    name = "_".join(answer.lower().split())
    if name in names():
        return name
    return fit.family if fit is not None and answer.lower() in YES - {""} else None
