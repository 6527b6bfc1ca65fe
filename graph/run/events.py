"""Events: what a machine tells while it runs, the same for terminal, chat, trace and page.

A node writes an event to LangGraph's stream as one JSON object; `read_event` makes the class again.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, JsonValue

from agents.model.waiting import Waiting, listen, listening

Tell: TypeAlias = "Callable[[Event], None]"
Write: TypeAlias = Callable[[dict[str, JsonValue]], None]
_UNSAID: tuple[JsonValue, ...] = ([], "", None)


class _Event(BaseModel):
    """The form of every event.

    Attributes:
        node: The node at work; empty where no single one is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    node: str = ""

    @property
    def details(self) -> dict[str, JsonValue]:
        """The facts that it tells, by their names in words."""
        fields = self.model_dump(mode="json", exclude={"node"}).items()
        return {name.replace("_", " "): value for name, value in fields if value not in _UNSAID}


class Opens(_Event):
    """The run's resources are being opened."""

    node: Literal["open"] = "open"


class Begins(_Event):
    """A node begins."""


class Waits(Waiting, _Event):
    """A model is waited for; see `Waiting`."""


class SeriesBegins(_Event):
    """A series of matches begins."""

    series: str
    matches: int


class MatchPlayed(_Event):
    """A match of a series was played."""

    series: str
    played: int
    of: int | str


class FolderMade(_Event):
    """A prompt has a folder."""

    node: Literal["intake"] = "intake"
    folder: str


class MatchesRead(_Event):
    """Recorded matches were read."""

    node: Literal["intake"] = "intake"
    matches: int
    held_out: int
    not_used: int | None = None
    of_both_left_before_their_end: int | None = None
    environment: str


class Designed(_Event):
    """There is a design."""

    node: Literal["design"] = "design"
    title: str
    rules: int
    family: str


class Revised(_Event):
    """A message on a game was understood."""

    node: Literal["revise"] = "revise"
    changed: bool


class Coded(_Event):
    """There is a first draft."""

    node: Literal["code"] = "code"
    lines: int


class Recoded(_Event):
    """The code of the game before was edited."""

    node: Literal["recode"] = "recode"
    changes: int


class Checked(_Event):
    """A candidate was judged."""

    node: Literal["check"] = "check"
    candidate: int
    outcome: str
    failed: tuple[str, ...] = ()


class DraftsCompared(_Event):
    """Drafts were played on each other."""

    node: Literal["compare"] = "compare"
    ambiguities: int


class Refines(_Event):
    """A refinement begins."""

    node: Literal["refine"] = "refine"
    round: int
    candidate: int


class VoteCounted(_Event):
    """A claim was voted on."""

    node: Literal["arbitrate"] = "arbitrate"
    claim: str
    status: str
    votes: str


class Unheard(_Event):
    """A node ended without a usable reply, and the next message goes first."""

    outcome: str = "no usable reply; the next message goes first"


class Called(_Event):
    """A call of the modeller was judged, or gave nothing.

    Attributes:
        node: What was asked for, such as "transition".
        call: Its number.
        accuracy: The best of its candidates, with four digits; "none" without any.
        best: The best of the stage.
        held_out: Accuracy in held-out matches, where it was asked.
        places_where_draws_time_out: Places for which nothing was drawn in time.
        refused: Versions of no use.
    """

    call: int
    accuracy: str
    best: str
    held_out: str | None = None
    places_where_draws_time_out: int | None = None
    refused: int | None = None


class TestedAgain(_Event):
    """Candidates were judged that no newest call made."""

    __test__ = False  # pytest takes it for tests

    node: Literal["check"] = "check"
    tested_again: tuple[int, ...]
    accuracy: str


class Accepted(_Event):
    """A candidate is what further stages stand on."""

    node: Literal["check"] = "check"
    accepted_candidate: int
    of: str
    inference: str = ""


class EnvironmentAsked(_Event):
    """The environment was asked for a match."""

    node: Literal["active"] = "active"
    match: int
    because: str


class ValuesCompared(_Event):
    """Value functions competed."""

    node: Literal["value"] = "value"
    call: int
    used: bool


class Opposed(_Event):
    """Matches of the model's player against one opponent, and how many of them are played."""

    node: Literal["arena"] = "arena"
    against: str
    of: int
    played: int


class RoundPlayed(_Event):
    """A round of the arena is over, or could not be played."""

    node: Literal["arena"] = "arena"
    round: int
    matches: int | None = None
    predicted: str = ""
    forfeits: int | None = None
    problem: str = ""


class BaseMeasured(_Event):
    """The game that is varied was played under several seeds."""

    node: Literal["base"] = "base"
    seeds: int
    chance_distance: str


class TwistsProposed(_Event):
    """Settings are to be tried."""

    node: Literal["suggest"] = "suggest"
    candidates: int
    kept: str
    not_understood: tuple[str, ...] = ()


class VariantsChosen(_Event):
    """The candidates that differ most are to be made."""

    node: Literal["rank"] = "rank"
    chosen: int
    of: int


class MechanicsRead(_Event):
    """The game that is varied was taken apart."""

    node: Literal["base"] = "base"
    mechanics: int
    problems: tuple[str, ...] = ()


class ReplacementsProposed(_Event):
    """Mechanics that many games have are to be replaced."""

    node: Literal["suggest"] = "suggest"
    variants: int
    frequent: tuple[str, ...]


class Reworded(_Event):
    """A variant was put into words, and read again."""

    node: Literal["reflect"] = "reflect"
    variant: int
    title: str
    problems: int
    reason: str = ""


class Reported(_Event):
    """The report is written."""

    node: Literal["report"] = "report"
    end: str | None
    folder: str


Event: TypeAlias = (
    Opens
    | Begins
    | Waits
    | SeriesBegins
    | MatchPlayed
    | FolderMade
    | MatchesRead
    | Designed
    | Revised
    | Coded
    | Recoded
    | Checked
    | DraftsCompared
    | Refines
    | VoteCounted
    | Unheard
    | Called
    | TestedAgain
    | Accepted
    | EnvironmentAsked
    | ValuesCompared
    | Opposed
    | RoundPlayed
    | BaseMeasured
    | TwistsProposed
    | VariantsChosen
    | MechanicsRead
    | ReplacementsProposed
    | Reworded
    | Reported
)
_KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in get_args(Event)}


def writer_of(write: Write) -> Tell:
    """A function that writes events to a stream."""
    return lambda event: write({"event": type(event).__name__, **event.model_dump(mode="json")})


def read_event(data: Mapping[str, JsonValue]) -> Event:
    """The event that was written to a stream.

    Raises:
        ValueError: If it is none.

    >>> read_event({"event": "Coded", "node": "code", "lines": 7}).details
    {'lines': 7}
    """
    kind = _KINDS.get(str(data.get("event")))
    if kind is None:
        raise ValueError(f"{data.get('event')!r} is no event; known: {', '.join(_KINDS)}")
    return kind.model_validate({name: value for name, value in data.items() if name != "event"})


def hear_waits(tell: Tell) -> None:
    """Let a listener be told what a model is waited for, for the rest of this context."""
    listen(lambda told: tell(Waits(**told.model_dump())))


def hearing_waits(tell: Tell) -> AbstractContextManager[None]:
    """Inside the block a listener is told what a model is waited for."""
    return listening(lambda told: tell(Waits(**told.model_dump())))


def with_waits(node: Callable[..., Any]) -> Any:  # noqa: ANN401 - LangGraph's type of a node
    """The node, of which who streams the run hears what a model is waited for."""

    @wraps(node)
    def run(state: Any, runtime: Any) -> Any:  # noqa: ANN401 - the node's own types
        hear_waits(writer_of(runtime.stream_writer))
        return node(state, runtime)

    return run
