"""Clauses of a design: the person's demands, each in the person's own words, and what they miss."""

import re
from collections.abc import Collection, Sequence

from pydantic import BaseModel, Field

from agents.model.errors import ReplyError
from agents.model.replies import Remark
from agents.protocols import Clause, ClauseStatus
from games.library import empty_words

_PIECES = re.compile(r"[.,;:!?\n]+")
_RULE = re.compile(r"\bR\d+\b")
_ENOUGH = 2  # words that say something, for a stretch to be a demand; a number is one by itself
_MOST, _LONGEST = 12, 200  # stretches that are told, and characters of each
_UNNAMED = "the design names no rule for these words"


class ClauseReply(BaseModel, extra="forbid"):
    """One demand of the person, in the person's own words."""

    text: str
    status: ClauseStatus
    setting: Remark = Field(
        description="Ids of the rules that honour it; empty where not honoured."
    )
    reason: Remark = Field(description="Why it could not be honoured; empty where honoured.")


def quoted_clauses(
    said: str, clauses: Sequence[ClauseReply], rules: Collection[str]
) -> tuple[tuple[Clause, ...], tuple[str, ...]]:
    """The clauses that quote the person, and the others as assumptions: they are the designer's.

    Raises:
        ReplyError: If a clause names a rule that is not there, or none quotes the person.
    """
    wrong = [
        f"the clause {clause.text!r} names {', '.join(lost)}; there is no such rule"
        for clause in clauses
        if (lost := [name for name in _RULE.findall(clause.setting) if name not in rules])
    ]
    known = _words(said)
    own = [c for c in clauses if len(words := _words(c.text)) <= 2 * len(words & known)]
    others = [clause for clause in clauses if clause not in own]
    if not own:
        wrong += [
            f"the clause {clause.text!r} is not in the person's own words; quote them"
            for clause in others
        ]
    if wrong:
        raise ReplyError("; ".join(wrong))
    told = tuple(f"{c.text} ({c.setting or f'not honoured: {c.reason}'})" for c in others)
    return tuple(Clause(**clause.model_dump()) for clause in own), told


def unquoted(said: str, clauses: Sequence[Clause]) -> list[str]:
    """Stretches of a person's words that no clause quotes, at most twelve.

    >>> two = Clause(text="for two players", status="honoured")
    >>> unquoted("Please make a dice race for two players, first to 50 wins.", [two])
    ['dice race', 'first to 50 wins']
    >>> unquoted("A fine of 2 coins is paid.", [Clause(text="coins paid", status="honoured")])
    ['fine of 2']
    """
    known = set[str]().union(*(_words(clause.text) for clause in clauses))
    found = []
    for piece in _PIECES.split(said):
        run: list[str] = []
        words = [*re.findall(r"\w[\w'’-]*", piece), ""]
        for at, word in enumerate(words):
            if word and not _words(word) <= known:
                run.append(word)
                continue
            if len(run) == 1 and run[0].isdecimal():  # alone it says nothing
                run = words[max(0, at - 3) : at + 1]
            found += [_telling(run)] if _asks(run) else []
            run = []
    return list(dict.fromkeys(found))[:_MOST]


def _asks(run: Sequence[str]) -> bool:
    """True for words of which enough say something."""
    telling = [word for word in run if word.lower() not in empty_words()]
    return len(telling) >= _ENOUGH or any(word.isdecimal() for word in telling)


def _telling(run: Sequence[str]) -> str:
    """The words from the first that says something to the last."""
    at = [number for number, word in enumerate(run) if word.lower() not in empty_words()]
    return " ".join(run[at[0] : at[-1] + 1])[:_LONGEST]


def left_out(stretches: Sequence[str]) -> list[Clause]:
    """The words that no clause quotes, as demands that are not honoured."""
    return [Clause(text=one, status="not_honoured", reason=_UNNAMED) for one in stretches]


def of_changed(clauses: Sequence[Clause], changed: Collection[str]) -> list[Clause]:
    """The honoured clauses that rest on one of these rules."""
    return [
        clause
        for clause in clauses
        if clause.status == "honoured"
        and not {*clause.rules, *_RULE.findall(clause.setting)}.isdisjoint(changed)
    ]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
