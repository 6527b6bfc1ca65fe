"""What a play-test report says; plain values, so that it can be written and read anywhere."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from tools.sandbox.limits import Grade


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Figure(_Value):
    """One measured number with its interval.

    Attributes:
        name: What was measured.
        meaning: The same in a sentence.
        value: The estimate; None where it could not be made.
        low: Lower end of the 95 % interval.
        high: Upper end.
        n: How many samples it rests on.
        method: How the interval was made.
        problem: Why there is no value; empty where there is one.
    """

    name: str
    meaning: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    method: str = ""
    problem: str = ""


class Rung(_Value):
    """One step of the skill ladder: a stronger player against a weaker one.

    Attributes:
        stronger: Spec of the player expected to do better.
        weaker: Spec of the players at the other seats.
        measure: "win_share": share of wins at one seat, ties shared. "return": mean return less
            the weaker player's on the same deals (one player, or cooperation).
        figure: The measured value.
        even: The value of equal players.
        verdict: "climbs" or "falls" where the interval leaves `even` out.
        unfinished: Matches without a result, by how they ended.
    """

    stronger: str
    weaker: str
    measure: Literal["win_share", "return"]
    figure: Figure
    even: float
    verdict: Literal["climbs", "falls", "undecided", "unmeasured"]
    unfinished: dict[str, int] = Field(default_factory=dict)


class Evaluation(_Value):
    """What playing the game showed.

    Attributes:
        figures: Measures over random play.
        ladder: From the weakest rung to the strongest.
        lengths: Decisions of every finished random match.
        branching: Mean number of legal actions at the n-th decision of a match.
        unfinished: Random matches without a result, by how they ended.
        players: Specs from weak to strong.
        notes: What a reader must know about these numbers.
        sandbox: What the matches were played in; None where that was not kept.
    """

    figures: tuple[Figure, ...]
    ladder: tuple[Rung, ...]
    lengths: tuple[int, ...]
    branching: tuple[float, ...]
    unfinished: dict[str, int]
    players: tuple[str, ...]
    notes: tuple[str, ...] = ()
    sandbox: Grade | None = None


class Line(_Value):
    """A line of a table: a word, a state, an explanation."""

    name: str
    state: str
    text: str = ""


class Report(_Value):
    """Everything the page shows."""

    title: str
    summary: str
    players: int
    made_by: str
    facts: tuple[tuple[str, str], ...]
    clauses: tuple[Line, ...]
    assumptions: tuple[str, ...]
    checks: tuple[Line, ...]
    heuristics: tuple[Line, ...]
    evaluation: Evaluation | None
    record: str
    settings: dict[str, JsonValue]
    problem: str = ""
