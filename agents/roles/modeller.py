"""The modeller, asked of a chat model: models of a game from its rules and recorded matches."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel

from agents.model.chat import ChatModel, Message
from agents.model.errors import FormError, ReplyError
from agents.model.replies import Remark, parse_reply
from agents.prompting import load_prompt
from agents.protocols import Attempt
from agents.roles.coder import answer_in_words, bound_names, broken_off, code_blocks
from agents.roles.matches import in_full, shortened
from agents.roles.tool_calls import CallError, EditReply, edited
from games.text import number_of
from games.trajectories import OpenTrajectory, Trajectory, counts_outcomes
from games.values import REQUIRED_FUNCTIONS, Json, State, canonical_key
from tools.predicting.inference import Inference
from tools.predicting.steady import ALLOWED_IMPORTS
from tools.predicting.tensors import LARGEST, MOST_NUMBERS, TENSORS
from tools.sandbox.reading import foreign_tree
from tools.sources import ADDED

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_HOW_OPEN = (
    "Each line is a position: who is to move, what is legal, the state, what each seat sees, and "
    "under `then` what was played. After the first, `changed` holds the parts of the state that "
    "differ from the line before, and `gone` names those that are no longer there. Rewards are "
    "left out where they are all 0, observations where they differ from the state in the same "
    "parts as in several lines before. Of several plies of chance in a row only outcomes are shown."
)
_HOW_CLOSED = (
    "Each line is what the seat knows at one place: its observation; at its own turns (`player`) "
    "what is legal, and under `then` what it did; the player -4 at the end; `reward` where it was "
    "paid something since the line before. After the first, `changed` holds the parts of the "
    "observation that differ from the line before, and `gone` names those that are no longer "
    "there. How many hidden plies passed between two lines is not told, nor what others did but by "
    "what the seat then sees."
)
_WANTED = "blocks of code"
_IMPORTS = ", ".join(ALLOWED_IMPORTS)
PREDICTING = tuple(name for name in REQUIRED_FUNCTIONS if name not in ADDED)


class MendReply(BaseModel, extra="forbid"):
    """Partial edits of a source."""

    cause: Remark = ""
    edits: list[EditReply]


@dataclass(frozen=True)
class GameBrief:
    """The facts that a modeller is told of a game.

    Attributes:
        game: Its name.
        players: Seats.
        parameters: The effective parameters.
        rules: The rules as text.
        matches: Those that it may see, the one to show in full first.
        closed: Whether they are one seat's view.
        seat: Whose.
        refused: Why the last answer could not be used, in part or as a whole.
    """

    game: str
    players: int
    parameters: dict[str, Json]
    rules: str
    matches: tuple[Trajectory, ...]
    closed: bool = False
    seat: int | None = None
    refused: tuple[str, ...] = ()

    @property
    def common(self) -> dict[str, object]:
        """The facts of the game that every prompt states."""
        return {"game": self.game, "players": self.players, "rules": self.rules}

    @property
    def is_uneven(self) -> bool:
        """True if some match shows an outcome of chance that is likelier than another."""
        matches = [match for match in self.matches if isinstance(match, OpenTrajectory)]
        return any(here.is_uneven for match in matches for here in match.positions)

    @property
    def is_counted(self) -> bool:
        """True if some match shows outcomes of chance of which only the number is known."""
        return any(map(counts_outcomes, self.matches))

    @property
    def told_parameters(self) -> str:
        """The parameters as text; empty without any."""
        return json.dumps(self.parameters, sort_keys=True) if self.parameters else ""


@dataclass(frozen=True)
class FailedTests:
    """The tests that a source fails.

    Attributes:
        accuracy: How much of the tests holds, in words.
        failures: Failing tests as text.
        played: What was played around the first of them, as text; empty where nothing shows it.
        tried: Versions that were made of the source already, and what is wrong with each.
    """

    accuracy: str
    failures: Sequence[str]
    played: str = ""
    tried: Sequence[Attempt] = ()


@dataclass(frozen=True)
class Proposals:
    """The sources that one call gave.

    Attributes:
        sources: Versions: of the whole source, or of the part that was asked for.
        refused: Why further ones cannot be used.
        cause: What the modeller held to be wrong.
        exchange: The request and the reply, as messages.
    """

    sources: tuple[str, ...]
    refused: tuple[str, ...] = ()
    cause: str = ""
    exchange: tuple[Message, ...] = ()


class ModelModeller:
    """Writes and mends models over a chat model; every method is one call."""

    def __init__(self, model: ChatModel) -> None:
        """Ask `model`; its budget bounds the requests."""
        self.model = model

    def draft(self, brief: GameBrief, tests: Sequence[str], versions: int) -> Proposals:
        """First sources.

        Raises:
            MalformedReplyError: If no reply had code in it.
        """
        task = load_prompt("modeller_draft").fill(
            contract=_contract(brief),
            parameters=brief.told_parameters,
            deck=f" as seat {brief.seat} saw it" if brief.closed else "",
            whole=in_full(brief.matches[0]),
            others=shortened(brief.matches[0], brief.matches[1:]),
            tests="\n\n".join(tests),
            how=_HOW_CLOSED if brief.closed else _HOW_OPEN,
            inference=_history(brief) if brief.closed else "",
            versions=versions,
            **brief.common,
        )
        return self._blocks(
            brief, task, (*PREDICTING, *(["resample_history"] if brief.closed else []))
        )

    def mend(
        self,
        brief: GameBrief,
        source: str,
        failed: FailedTests,
        *,
        earlier: Sequence[Attempt],
        versions: int,
        part: str = "",
        needed: Sequence[str] = PREDICTING,
        talk: Sequence[Message] = (),
    ) -> Proposals:
        """Better versions of a source, or of its part below the line `part`.

        Args:
            brief: The game.
            source: As it stands.
            failed: What is wrong with it.
            earlier: How the source came to be.
            versions: Versions to ask for.
            part: The line below which the part begins that may change; empty for all of it.
            needed: Functions that a version has to define.
            talk: The conversation that the request goes on; empty for one of its own.

        Raises:
            MalformedReplyError: If no reply had code or edits in it.
        """
        about = {
            "source": source,
            "failures": [*failed.failures],
            "accuracy": failed.accuracy,
            "played": failed.played,
            "part": part,
            "versions": versions,
        }
        if talk:
            again = load_prompt("modeller_again").fill(**about)[0]["content"]
            task = [*talk, {"role": "user", "content": again}]
        else:
            task = load_prompt("modeller_mend").fill(
                contract="\n\n".join(_asked_for(brief, needed)),
                parameters=brief.told_parameters,
                earlier=[attempt.model_dump() for attempt in earlier],
                tried=[attempt.model_dump() for attempt in failed.tried],
                **about,
                **brief.common,
            )

        def read(message: "AIMessage") -> Proposals:
            text = answer_in_words(message, _WANTED)
            if list(code_blocks(text)) or broken_off(text):
                return _versions(message, needed)
            return _edits(message, source, part)

        return self._asked(brief, task, read)

    def infer(
        self,
        brief: GameBrief,
        source: str,
        function: Inference,
        histories: Sequence[str],
        *,
        start: State,
        versions: int,
    ) -> Proposals:
        """Versions of an inference function for a model.

        Args:
            brief: The game.
            source: The model.
            function: Which function.
            histories: Calls as they will be made, each with what was really played.
            start: The first state of every match.
            versions: Versions to ask for.

        Raises:
            MalformedReplyError: If no reply had code in it.
        """
        task = load_prompt("modeller_infer").fill(
            task=_drawing(brief, function),
            source=source,
            start=canonical_key(start),
            imports=_IMPORTS,
            tests="\n\n".join(histories),
            versions=versions,
            **brief.common,
        )
        return self._blocks(brief, task, (function,))

    def values(self, brief: GameBrief, source: str, versions: int) -> Proposals:
        """Versions of a value function for a model.

        Raises:
            MalformedReplyError: If no reply had code in it.
        """
        task = load_prompt("modeller_value").fill(
            source=source, imports=_IMPORTS, versions=versions, **brief.common
        )
        return self._blocks(brief, task, ("value_function",))

    def tensors(
        self, brief: GameBrief, source: str, observations: Sequence[str], versions: int
    ) -> Proposals:
        """Versions of the functions that turn observations into arrays and back.

        Args:
            brief: The game.
            source: The model.
            observations: Some that seats had at their turns, as JSON.
            versions: Versions to ask for.

        Raises:
            MalformedReplyError: If no reply had code in it.
        """
        task = load_prompt("modeller_tensors").fill(
            task=_arrays(),
            source=source,
            observations="\n".join(observations),
            versions=versions,
            **brief.common,
        )
        return self._blocks(brief, task, TENSORS)

    def _blocks(
        self, brief: GameBrief, task: Sequence[Message], needed: Sequence[str]
    ) -> Proposals:
        return self._asked(brief, task, lambda message: _versions(message, needed))

    def _asked(
        self,
        brief: GameBrief,
        task: Sequence[Message],
        read: Callable[["AIMessage"], Proposals],
    ) -> Proposals:
        request = _told(brief, task)

        def heard(message: "AIMessage") -> Proposals:
            reply = {"role": "assistant", "content": answer_in_words(message, _WANTED)}
            return replace(read(message), exchange=(*request, reply))

        return self.model.ask(request, heard)


def _told(brief: GameBrief, task: Sequence[Message]) -> list[Message]:
    """The request, at its end with what could not be used of the answer before it."""
    if not brief.refused:
        return list(task)
    note = load_prompt("modeller_refused").fill(refused=[*brief.refused])[0]
    last = {**task[-1], "content": f"{task[-1]['content'].rstrip()}\n\n{note['content']}"}
    return [*task[:-1], last]


def _versions(message: "AIMessage", needed: Sequence[str]) -> Proposals:
    """The blocks of a reply that define what is needed.

    Raises:
        ReplyError: If there is none.
    """
    blocks = list(dict.fromkeys(code_blocks(answer_in_words(message, _WANTED))))
    lacking = {block: sorted({*needed} - bound_names(block)) for block in blocks}
    sources = tuple(block for block in blocks if not lacking[block])
    refused = tuple(
        _unparsed(b) or f"a version lacks {', '.join(lacking[b])}" for b in blocks if lacking[b]
    )
    if not sources:
        if broken := broken_off(answer_in_words(message, _WANTED)):
            raise ReplyError(f"{broken}; required: {', '.join(needed)}, shorter if need be")
        told = "".join(f"; {said}" for said in filter(None, map(_unparsed, blocks)))
        raise ReplyError(
            f"it has {number_of(len(blocks), 'closed block')} of code and none defines all of "
            f"{', '.join(needed)}{told}; required: a block that begins with ```python and ends "
            "with ```"
        )
    return Proposals(sources, refused)


def _unparsed(block: str) -> str:
    """Why a block is no Python; empty where it parses."""
    try:
        foreign_tree(block)
    except (SyntaxError, ValueError) as error:
        return f"a version is no Python: {error}"
    return ""


def _edits(message: "AIMessage", source: str, part: str) -> Proposals:
    """The source, or its part, with the edits of a reply; what does not apply is refused.

    Raises:
        ReplyError: If the reply holds neither code nor edits.
    """
    try:
        reply = parse_reply(message, MendReply)
    except FormError as error:
        raise FormError(f"it has no closed block of code, and as edits {error}") from error
    try:
        new = edited(source, reply.edits)
    except CallError as error:
        return Proposals((), (str(error),), reply.cause)
    if not part:
        return Proposals((new,), (), reply.cause)
    before, _, below = new.partition(f"{part}\n")
    if before != source.partition(f"{part}\n")[0]:
        said = f"the edits change what stands above the line {part!r}, which must stay"
        return Proposals((), (said,), reply.cause)
    return Proposals((below.lstrip("\n"),), (), reply.cause)


def _contract(brief: GameBrief) -> str:
    prompt = load_prompt("modeller_contract")
    told = {"closed": brief.closed, "odds": brief.is_uneven, "counted": brief.is_counted}
    return prompt.fill(imports=_IMPORTS, **told)[0]["content"]


def _asked_for(brief: GameBrief, needed: Sequence[str]) -> list[str]:
    """The contract, and what the functions do that are mended."""
    if tuple(needed) == TENSORS:
        return [_arrays()]
    told = [_contract(brief)]
    if brief.closed:
        return [*told, _history(brief)]
    return told + [_drawing(brief, name) for name in needed if name not in PREDICTING]


def _drawing(brief: GameBrief, function: str) -> str:
    """The task of an inference function of an open deck."""
    if function == "resample_state":
        return load_prompt("modeller_state").fill()[0]["content"]
    return _history(brief)


def _arrays() -> str:
    """The task of the functions that turn observations into arrays and back."""
    prompt = load_prompt("modeller_arrays")
    return prompt.fill(imports=_IMPORTS, most=MOST_NUMBERS, largest=f"{LARGEST:,.0f}")[0]["content"]


def _history(brief: GameBrief) -> str:
    prompt = load_prompt("modeller_history")
    return prompt.fill(ends=brief.closed, counted=brief.is_counted)[0]["content"]
