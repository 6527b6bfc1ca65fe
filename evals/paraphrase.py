"""Eval: does changing one clause of a brief change the game in exactly that clause?

The pairs were written by somebody who saw neither the composer's code nor its word lists. Each
pair's two prompts differ by one clause and are otherwise re-worded. A clause is *honoured* where
the design names a setting for it that says what the clause demands, *listed* where the design
says that it is not honoured, and *dropped* where neither holds. A pair *invents* where its two
games differ in a setting that no clause of the difference names.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, JsonValue

from agents.protocols import Clause, Design, RoleError, RoleSet
from evals.fit import composer_here, overlap
from evals.results import EvalOptions, EvalResult, Row, Score, read_data, score_over
from tools.retrieval import Retrieval

Fate: TypeAlias = Literal["honoured", "listed", "dropped"]
HONOURED_AT_LEAST = 0.8
EXACT_AT_LEAST = 0.8
_SETS = ("", "_2", "_3", "_4", "_5")
# Packs have names ("short"), so a count of cards need not stand in the setting itself.
_DECK = re.compile(r"\b(deck|decks|ranks|suits|copies|cards)=")
_NAMED_VALUES = frozenset(("hearts", "spades", "clubs", "diamonds", "none", "standard", "short"))


class ParaphrasePair(BaseModel, frozen=True, extra="forbid"):
    """Two prompts that differ by one clause.

    Attributes:
        id: Name of the pair.
        family: Family of prompt `a`; of both unless `kind` is "family".
        kind: What the differing clause is about; "none" where the demands are the same, and
            "unsupported" where no such program can honour it.
        a: The first prompt.
        b: The second prompt.
        clause_a: The words of the differing clause in `a`; empty where it is absent.
        clause_b: The same in `b`.
        value_a: What `clause_a` demands; None where it is absent.
        value_b: The same for `clause_b`.
        held_out: Whether the composer was never developed against it.
    """

    id: str
    family: str
    kind: str
    a: str
    b: str
    clause_a: str
    clause_b: str
    value_a: JsonValue
    value_b: JsonValue
    held_out: bool = False


def load_pairs() -> list[ParaphrasePair]:
    """The blind-written pairs, by five authors.

    The composer was developed against all sets but the last once they had been measured; that one
    stays held out.
    """
    return [
        ParaphrasePair.model_validate({**fields, "held_out": name == _SETS[-1]})
        for name in _SETS
        for fields in read_data(f"data/paraphrase_pairs{name}.json")
    ]


@dataclass(frozen=True)
class PromptDesign:
    """The composer's reading of one prompt."""

    family: str
    settings: Row
    clauses: tuple[Clause, ...]


@dataclass(frozen=True)
class JudgedPair:
    """One pair, judged.

    Attributes:
        pair: The pair.
        fates: What became of the differing clause in each prompt that has it.
        invented: Settings that differ although no clause of the difference names them, and
            neither design lists the words behind them as not honoured.
        unheard: Settings that differ because one wording was listed as not honoured.
        problem: Why it could not be judged; empty where it was.
    """

    pair: ParaphrasePair
    fates: tuple[Fate, ...]
    invented: tuple[str, ...]
    unheard: tuple[str, ...] = ()
    problem: str = ""


def run(options: EvalOptions) -> EvalResult:
    """Read every prompt with the composer; no model, play or seed. Quick: the held-out pairs."""
    judged = []
    with composer_here(options.tell) as (roles, retrieval, about):
        for pair in (one for one in load_pairs() if one.held_out or not options.quick):
            judged.append(judge_pair(pair, lambda text: design_of(text, roles, retrieval)))
            options.tell(f"{pair.id} {pair.kind}: {_line(judged[-1])}")
    effective: Row = {"pairs": len(judged), **about}
    return score_pairs(judged, effective)


def _line(one: JudgedPair) -> str:
    said = [", ".join(one.fates) or "no clause differs"]
    said += [f"invented {name}" for name in one.invented]
    said += [f"unheard {name}" for name in one.unheard]
    return "; ".join([*said, *filter(None, [one.problem])])


def design_of(prompt: str, roles: RoleSet, retrieval: Retrieval) -> PromptDesign:
    """The design of one prompt, as far as it can be compared.

    Raises:
        RoleError: If no design can be made, or a question is asked instead.
    """
    brief = roles.designer.clarify(prompt)
    if brief.question is not None:
        raise RoleError(f"asked: {brief.question}")
    design: Design = roles.designer.design(brief, retrieval.mechanics)
    settings = {"num_players": design.num_players, **design.parameters}
    return PromptDesign(design.family, settings, design.clauses)


def judge_pair(pair: ParaphrasePair, reader: Callable[[str], PromptDesign]) -> JudgedPair:
    """Compare the two readings of a pair."""
    try:
        first, second = reader(pair.a), reader(pair.b)
    except RoleError as problem:
        return JudgedPair(pair, (), (), problem=str(problem))
    sides = [
        (reading, clause, value)
        for reading, clause, value in (
            (first, pair.clause_a, pair.value_a),
            (second, pair.clause_b, pair.value_b),
        )
        if clause
    ]
    fates = tuple(fate(pair.kind, reading, clause, value) for reading, clause, value in sides)
    elsewhere = changed_elsewhere(pair, first, second)
    unheard = tuple(name for name in elsewhere if _listed_for(name, first, second))
    silent = tuple(name for name in elsewhere if name not in unheard)
    return JudgedPair(pair, fates, silent, unheard)


def fate(kind: str, reading: PromptDesign, clause: str, value: JsonValue) -> Fate:
    """The fate of one clause in one reading."""
    if kind == "family":
        return "honoured" if reading.family == value else _listed_or_dropped(reading, clause)
    said = [c for c in reading.clauses if overlap(c.text, clause)]
    if kind != "unsupported":
        each = [c.setting for c in said if c.status == "honoured"]
        settings = " ".join(each)
        if kind == "players" and reading.settings["num_players"] == value:
            return "honoured"
        if settings and any(says(text, value) for text in (*each, settings)):
            return "honoured"
        if kind == "deck" and _DECK.search(settings):
            return "honoured"
    return _listed_or_dropped(reading, clause)


def changed_elsewhere(
    pair: ParaphrasePair, first: PromptDesign, second: PromptDesign
) -> tuple[str, ...]:
    """Settings in which the games differ although the differing clause does not name them."""
    if pair.kind == "family":
        return ()
    changed = {
        name
        for name in first.settings.keys() | second.settings.keys()
        if first.settings.get(name) != second.settings.get(name)
    }
    if first.family != second.family:
        changed.add("family")
    named: set[str] = {"num_players"} if pair.kind == "players" else set()
    for reading, clause in ((first, pair.clause_a), (second, pair.clause_b)):
        for said in reading.clauses:
            if said.status == "honoured" and clause and overlap(said.text, clause):
                named |= set(re.findall(r"([a-z_]+)=", said.setting))
    return tuple(sorted(changed - named))


def _listed_for(name: str, first: PromptDesign, second: PromptDesign) -> bool:
    """True where one reading lists as not honoured the words by which the other sets `name`."""
    for setter, other in ((first, second), (second, first)):
        words = [c.text for c in setter.clauses if re.search(rf"\b{name}=", c.setting)]
        missed = [c.text for c in other.clauses if c.status == "not_honoured"]
        if any(overlap(said, text) for said in words for text in missed):
            return True
    return False


def says(settings: str, value: JsonValue) -> bool:
    """True where settings, written `name=value, ...`, say what a clause demands.

    >>> says("rows=7, columns=9", [7, 9]), says("trump=spades", "hearts"), says("n=5,4,3", [5, 4])
    (True, False, False)
    """
    written = [pair.partition("=")[2] for pair in re.split(r",? (?=[a-z_]+=)", settings)]
    numbers = [abs(float(text)) for text in re.findall(r"-?[0-9.]*[0-9]", " ".join(written))]
    if isinstance(value, bool) or value is None:
        return bool(written)
    if isinstance(value, int | float):
        return abs(float(value)) in numbers
    if isinstance(value, list):
        wanted = sorted(abs(float(item)) for item in value if isinstance(item, int | float))
        square = len(set(wanted)) == 1 and set(numbers) == set(wanted)
        return sorted(numbers) == wanted or square
    if isinstance(value, str):
        known = value.lower().replace(" ", "_")
        plain = " ".join(written).lower()
        # A demand in words ("eights are wild") has no one spelling; a named value must appear.
        return known in plain.replace(" ", "_") or " " in value or known not in _NAMED_VALUES
    return False


def _listed_or_dropped(reading: PromptDesign, clause: str) -> Fate:
    missed = [c for c in reading.clauses if c.status == "not_honoured"]
    return "listed" if any(overlap(c.text, clause) for c in missed) else "dropped"


def score_pairs(judged: Sequence[JudgedPair], effective: Row) -> EvalResult:
    """Shares over all differing clauses and over all pairs."""
    listed = [fate == "listed" for one in judged for fate in one.fates]
    found = _measures(judged)
    scores: tuple[Score, ...] = (
        score_over(found[_HONOURED], _HONOURED, at_least=HONOURED_AT_LEAST),
        score_over(listed, "clauses listed as not honoured"),
        score_over(found[_DROPPED], _DROPPED, at_most=0.0),
        score_over(found[_SOUND], _SOUND, at_least=1.0),
        score_over(found[_EXACT], _EXACT, at_least=EXACT_AT_LEAST),
    )
    scores += _held_out([one for one in judged if one.pair.held_out])
    samples: tuple[Row, ...] = tuple(
        {
            "id": one.pair.id,
            "kind": one.pair.kind,
            "prompts": [one.pair.a, one.pair.b],
            "fates": list(one.fates),
            "invented": list(one.invented),
            "unheard": list(one.unheard),
            "problem": one.problem,
        }
        for one in judged
    )
    return EvalResult(scores=scores, samples=samples, effective=effective)


_HONOURED, _DROPPED = "clauses honoured", "clauses silently dropped"
_SOUND = "pairs that invent nothing silently"
_EXACT = "pairs that change in exactly the clause"


def _measures(judged: Sequence[JudgedPair]) -> dict[str, list[bool | None]]:
    """By measure, the judgement of each clause or pair; None where it was not judged."""
    can = [fate for one in judged if one.pair.kind != "unsupported" for fate in one.fates]
    lost = [None for one in judged if one.problem]
    return {
        _HONOURED: [*(fate == "honoured" for fate in can), *lost],
        _DROPPED: [*(fate == "dropped" for one in judged for fate in one.fates), *lost],
        _SOUND: [None if one.problem else not one.invented for one in judged],
        _EXACT: [None if one.problem else not (one.invented or one.unheard) for one in judged],
    }


def _held_out(judged: Sequence[JudgedPair]) -> tuple[Score, ...]:
    """The same on pairs the composer was never developed against; shown, without thresholds."""
    found = _measures(judged) if judged else {}
    return tuple(score_over(values, f"held out: {name}") for name, values in found.items())
