"""Eval: is a game made only where a family is what the brief asks for, with seats and settings?

Every set was written by somebody who saw neither the composer's code nor its words. A set is
measured once before anybody reads it; then the composer may learn from it. These five sets were not
learned from, but earlier composers were mended with them in sight, and the penalty and the bar of
the classifier were chosen on them: their figures are no first ones.
An `out` brief is no family's game, an `in` brief is one's, a `border` brief has a family's core and
rules that none has: made with these listed, or refused, both are right.

The thresholds are those of all sets together; they were written down before the composer was made
small. The floor is what a composer scores that reads nothing: the right family as it is.
Precision is over the settings of a made game that are not the family's defaults: the share of them
that the brief speaks of. A demand that no family honours is dropped where no clause of the design
shares a word with it. A near miss names a family and then plays otherwise: it is made without a
word where a game is made and no more demands are listed as lost than as kept.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from agents.composer.lexicon import lexicon_of
from agents.protocols import Clause, NoFitError, RoleError, RoleSet
from evals.results import EvalOptions, EvalResult, Row, Tell, read_data, score_over
from games.library.settings import game_of
from graph.new.opening import composer_over
from graph.run.opening import open_store_here
from graph.run.sandboxes import open_sandbox
from tools.playtest.intervals import wilson
from tools.retrieval import Retrieval

WRONG_AT_MOST = 8 / 200
REFUSED_AT_MOST = 11 / 100
SETTINGS_AT_LEAST = 0.8
PRECISION_AT_LEAST = 0.92
SEATS_AT_LEAST = 95 / 104
NEAR_AT_MOST = 4 / 30
_SETS = ("confirm_25", "confirm_27", "confirm_29", "confirm_31", "confirm_33")
_NEAR = "near_misses"
_FILLERS = frozenset(read_data("data/paraphrase_words.yaml")["fillers"].split())


class Seats(BaseModel, frozen=True, extra="forbid"):
    """Numbers of players."""

    min: int
    max: int


class LabelledBrief(BaseModel, frozen=True, extra="forbid"):
    """One brief and what is right for it.

    Attributes:
        id: Its name.
        kind: Whether it is a family's game; a border brief has a family's core and rules that none
            has.
        text: The brief.
        family: The right family; None for `out`.
        seats: How many play; None where it does not say.
        settings: What it asks of the family's settings.
        unhonoured: Its demands that the family cannot honour.
        said: Setting, value as it is written for training, and the part that says so.
        silent: Parts that say nothing of any setting.
    """

    id: str
    kind: Literal["in", "out", "border"]
    text: str
    family: str | None
    seats: int | Seats | None
    settings: dict[str, bool | int | str]
    unhonoured: tuple[str, ...]
    said: tuple[tuple[str, str, str], ...] = ()
    silent: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgedBrief:
    """The end of a brief.

    Attributes:
        brief: The brief.
        part: Its set.
        family: The family that was made; None where nothing was.
        seats: How many play in it.
        settings: Its settings.
        end: "made", or why nothing was.
        clauses: What became of its demands.
    """

    brief: LabelledBrief
    part: str
    family: str | None
    seats: int
    settings: Row
    end: str
    clauses: tuple[Clause, ...] = ()

    @property
    def found(self) -> list[bool]:
        """For each setting that was asked for, whether the game has it."""
        return [self.settings.get(name) == value for name, value in self.brief.settings.items()]

    @property
    def changed(self) -> list[str]:
        """The settings of the game that are no defaults."""
        usual = game_of(self.family).defaults() if self.family else {}
        return [name for name, value in self.settings.items() if usual.get(name) != value]

    @property
    def spoken_of(self) -> list[bool]:
        """For each setting of the game that is no default, True if the brief asks about it."""
        return [name in self.brief.settings for name in self.changed]

    @property
    def as_asked(self) -> list[bool]:
        """For each setting of the game that is no default, True if the brief asks for its value."""
        asked = self.brief.settings
        return [asked.get(name) == self.settings[name] for name in self.changed]

    @property
    def by_default(self) -> list[bool]:
        """For each setting that was asked for, True if the right family has it anyway."""
        usual = game_of(self.brief.family).defaults() if self.brief.family else {}
        return [usual.get(name) == value for name, value in self.brief.settings.items()]

    @property
    def dropped(self) -> list[bool]:
        """For each demand that the family cannot honour, True if no clause speaks of it."""
        said = [clause.text for clause in self.clauses]
        return [not any(overlap(text, one) for text in said) for one in self.brief.unhonoured]

    @property
    def silent(self) -> bool:
        """True for a game that lists no more demands as lost than as kept."""
        kept = sum(clause.status == "honoured" for clause in self.clauses)
        return self.family is not None and 2 * kept >= len(self.clauses)

    @property
    def seated(self) -> bool:
        """True where as many play as the brief says."""
        return self.seats_as_said(self.seats)

    @property
    def seated_by_default(self) -> bool:
        """True where as many play in the family, as usual, as the brief says."""
        return self.seats_as_said(lexicon_of(self.family or "").players)

    def seats_as_said(self, seats: int) -> bool:
        """True where the brief says so many seats, or nothing of them."""
        wanted = self.brief.seats
        if isinstance(wanted, Seats):
            return wanted.min <= seats <= wanted.max
        return wanted in (None, seats)


def overlap(text: str, clause: str) -> bool:
    """True where two pieces of a prompt share a word that carries meaning.

    >>> overlap("three players", "for three of us"), overlap("a game", "for a trio")
    (True, False)
    """
    return bool(_words(text) & _words(clause))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9']+", text.lower())) - _FILLERS


def load_briefs(part: str) -> list[LabelledBrief]:
    """The briefs of one set."""
    return [LabelledBrief.model_validate(fields) for fields in read_data(f"data/fit_{part}.yaml")]


def load_near_misses() -> list[LabelledBrief]:
    """The briefs that name a family and then play otherwise: no family's game."""
    rows: list[Row] = read_data(f"data/fit_{_NEAR}.yaml")
    plain = [{name: v for name, v in row.items() if name != "named"} for row in rows]
    return [LabelledBrief.model_validate({**row, "kind": "out"}) for row in plain]


@contextmanager
def composer_here(tell: Tell) -> Iterator[tuple[RoleSet, Retrieval, Row]]:
    """The composer over this machine's store, and the effective parameters that name them."""
    with open_sandbox() as opened:  # nothing runs in it here; every result says what there was
        sandbox = opened.grade.model_dump(mode="json")
    with open_store_here(tell) as store:
        roles = composer_over(store)
        about = {"store": store.snapshot_id(), "embedding": store.embedder.identity}
        yield roles, Retrieval(store), {"roles": roles.identity, "sandbox": sandbox, **about}


def run(options: EvalOptions) -> EvalResult:
    """Design every brief with the composer; no model, no play, no seed. Quick: the last set."""
    judged = []
    with composer_here(options.tell) as (roles, retrieval, about):
        sets = {part: load_briefs(part) for part in (_SETS[-1:] if options.quick else _SETS)}
        sets |= {} if options.quick else {_NEAR: load_near_misses()}
        for part, briefs in sets.items():
            for brief in briefs:
                judged.append(judge_brief(brief, part, roles, retrieval))
                options.tell(
                    f"{brief.id} {brief.kind} {brief.family}: {judged[-1].family or 'refused'}"
                )
    return score_briefs(judged, about)


def judge_brief(
    brief: LabelledBrief, part: str, roles: RoleSet, retrieval: Retrieval
) -> JudgedBrief:
    """Let the designer make a game of one brief."""
    try:
        asked = roles.designer.clarify(brief.text)
        if asked.question is not None:
            return JudgedBrief(brief, part, None, 0, {}, "question")
        design = roles.designer.design(asked, retrieval.mechanics)
    except RoleError as error:
        end = "no_fit" if isinstance(error, NoFitError) else "gave_up"
        return JudgedBrief(brief, part, None, 0, {}, end)
    made = design.family, design.num_players, design.parameters
    return JudgedBrief(brief, part, *made, "made", design.clauses)


Found = dict[str, tuple[list[bool], float | None, float | None]]
"""Figures by name: a value a sample, and the thresholds from below and above."""


def score_briefs(judged: Sequence[JudgedBrief], effective: Row) -> EvalResult:
    """Shares for all briefs, with thresholds, and for every set of them, without."""
    near = [one.silent for one in judged if one.part == _NEAR]
    plain = [one for one in judged if one.part != _NEAR]
    named: Found = {f"all: {name}": figure for name, figure in _figures(plain).items()}
    named["near misses: made without a word"] = near, None, NEAR_AT_MOST
    for part in dict.fromkeys(one.part for one in plain):
        mine = _figures([one for one in plain if one.part == part])
        named |= {f"{part}: {name}": (values, None, None) for name, (values, *_) in mine.items()}
    named = {name: figure for name, figure in named.items() if figure[0]}
    intervals: Row = {}
    for name, (values, *_) in named.items():
        found = wilson(sum(values), len(values), "matches")
        intervals[name] = [round(found.low, 4), round(found.high, 4)]
    return EvalResult(
        scores=tuple(
            score_over(values, name, at_least=least, at_most=most)
            for name, (values, least, most) in named.items()
        ),
        samples=tuple(map(_sample, judged)),
        effective={**effective, "intervals (Wilson, 95%)": intervals},
    )


def _figures(judged: Sequence[JudgedBrief]) -> Found:
    """By figure, the judgement of each brief, setting or demand; settings of their family only."""
    own = [one for one in judged if one.brief.kind == "in"]
    right = [one for one in own if one.family == one.brief.family]
    made = [one for one in judged if one.family is not None]
    wrong = [one.family not in (None, one.brief.family) for one in judged]
    demands = [lost for one in made if one.family == one.brief.family for lost in one.dropped]
    return {
        "made in a wrong family": (wrong, None, WRONG_AT_MOST),
        "in, refused": ([one.family is None for one in own], None, REFUSED_AT_MOST),
        "seats right": ([one.seated for one in made], SEATS_AT_LEAST, None),
        "seats right, nothing read": ([one.seated_by_default for one in made], None, None),
        "settings found": ([x for one in right for x in one.found], SETTINGS_AT_LEAST, None),
        "settings found, nothing read": ([x for one in right for x in one.by_default], None, None),
        "settings made that the brief speaks of": (
            [x for one in right for x in one.spoken_of],
            PRECISION_AT_LEAST,
            None,
        ),
        "settings made as asked": ([x for one in right for x in one.as_asked], None, None),
        "demands dropped without a word": (demands, None, 0.0),
    }


def _sample(one: JudgedBrief) -> Row:
    honoured = sum(clause.status == "honoured" for clause in one.clauses)
    return {
        "id": one.brief.id,
        "prompt": one.brief.text,
        "set": one.part,
        "kind": one.brief.kind,
        "wanted": {"family": one.brief.family},
        "made": one.family,
        "end": one.end,
        "seats right": one.seated,
        "settings": len(one.found),
        "found": sum(one.found),
        "clauses honoured": honoured,
        "clauses not honoured": len(one.clauses) - honoured,
    }
