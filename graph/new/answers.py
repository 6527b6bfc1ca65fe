"""Answers of a person: when a run takes them, and what they choose."""

import re
from typing import Any

from langchain_core.messages import HumanMessage

from agents.protocols import Clause, Design, Fit
from games.library import names
from graph.new.state import RunState

UNSURE = frozenset({"maybe", "perhaps", "not sure", "dunno", "i don t know", "don t know"})
YES = frozenset(
    {"", "y", "yes", "yeah", "yep", "ok", "okay", "sure", "approve", "approved", "agreed", "true"}
    | {"go", "on", "ahead", "anyway"}
)
NO = frozenset({"n", "no", "stop", "reject", "false"})
_POLITE = frozenset(
    {"please", "thanks", "thank", "you", "it", "this", "that", "is", "s", "all", "very", "for"}
    | {"me", "i", "like", "looks", "sounds", "works", "good", "great", "fine", "perfect"}
)
AGAIN = YES | {"again", "try again", "retry", "continue", "resume"}
_MEANT = {"accept": "yes", "approve": "yes", "ignore": "no", "reject": "no"}


def plain_answer(given: Any) -> str:  # noqa: ANN401 - whatever a client resumes with
    """The words of an answer, also of one in a form of Agent Chat UI or of Agent Inbox.

    >>> plain_answer(" yes "), plain_answer([{"type": "accept", "args": None}])
    ('yes', 'yes')
    >>> plain_answer([{"type": "response", "args": "four players"}])
    'four players'
    >>> plain_answer({"decisions": [{"type": "reject", "message": "four players"}]})
    'four players'
    """
    if isinstance(given, dict) and isinstance(given.get("decisions"), list):
        given = given["decisions"]
    if isinstance(given, list) and given:
        given = given[0]
    if not isinstance(given, dict):
        return str(given).strip()
    said = given.get("message") or given.get("args")
    return said.strip() if isinstance(said, str) else _MEANT.get(str(given.get("type")), "")


def means(answer: str, meant: frozenset[str]) -> bool:
    """Whether an answer says no more than these words, politely or not.

    >>> means("Yes, please!", YES), means("looks good", YES), means("No.", NO)
    (True, True, True)
    >>> means("yes, go ahead", YES), means("sure, this is perfect", YES)
    (True, True)
    >>> means("yes, but for four players", YES), means("do not go on", YES), means("please", NO)
    (False, False, False)
    >>> means("is that all?", YES)
    False
    """
    words = [word for word in re.findall(r"\w+", answer.lower()) if word not in _POLITE]
    if not words:
        return "" in meant and "?" not in answer  # a question approves nothing
    return " ".join(words) in meant or all(word in meant for word in words)


def human_words(state: RunState) -> list[str]:
    """The person's messages, oldest first, in characters that every file takes."""
    said = (m.text.strip() for m in state.messages if isinstance(m, HumanMessage))
    return [text.encode("utf-8", "replace").decode() for text in said]


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
    return not means(answer, YES | NO) and family_chosen(answer, None) is None


def doubts_of(design: Design) -> list[Clause]:
    """Demands that may have meant a setting which was not applied; of each setting, one."""
    return list({clause.perhaps: clause for clause in design.clauses if clause.perhaps}.values())


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
    return fit.family if fit is not None and means(answer, YES - {""}) else None
