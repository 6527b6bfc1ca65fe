"""The mechanic designer, asked of a chat model: brief to design."""

import json
import re
from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.model.chat import ChatModel
from agents.model.errors import ReplyError
from agents.model.replies import ask_structured
from agents.prompting import load_prompt
from agents.protocols import (
    NEW_FAMILY,
    Brief,
    Choices,
    Clause,
    ClauseStatus,
    Design,
    Mechanic,
    MechanicEdge,
    RoleError,
    Rule,
    Section,
)
from games.library import rulebook
from vectorstore.documents import Example

LONGEST_PROMPT = 20_000
_MECHANICS, _MECHANIC_LENGTH, _TITLE_LENGTH = 6, 600, 200
_MOST_PLAYERS = 8
_END = "M1"


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ClarifyReply(_Reply):
    """Whether a game can be designed from the person's words."""

    question: str | None = Field(description="The one clarifying question, or null.")
    assumptions: list[str] = Field(description="What is assumed where the words leave it open.")


class RuleReply(_Reply):
    """One sentence of the rulebook."""

    id: str = Field(description="R1, R2, ...")
    section: Section
    text: str


class ParameterReply(_Reply):
    """One parameter with this game's value."""

    name: str = Field(description="In snake_case.")
    value: bool | int | float | str


class MechanicReply(_Reply):
    """One node of the mechanic graph."""

    id: str = Field(description="M1, M2, ...; M1 is the end of the game.")
    name: str
    text: str


class EdgeReply(_Reply):
    """A mechanic that contributes to another."""

    source: str
    target: str


class ClauseReply(_Reply):
    """One demand of the person, in the person's own words."""

    text: str
    status: ClauseStatus
    setting: str = Field(description="Ids of the rules that honour it; empty where not honoured.")
    reason: str = Field(description="Why it could not be honoured; empty where honoured.")


class DesignReply(_Reply):
    """A whole design."""

    title: str
    summary: str = Field(description="One or two sentences.")
    num_players: int
    parameters: list[ParameterReply]
    rules: list[RuleReply]
    mechanics: list[MechanicReply]
    edges: list[EdgeReply]
    clauses: list[ClauseReply]
    assumptions: list[str]


class ModelDesigner:
    """See `agents.protocols.Designer`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def clarify(self, prompt: str) -> Brief:
        """See `Designer.clarify`; empty words need no model to be asked about.

        Raises:
            RoleError: If the words are longer than `LONGEST_PROMPT` characters.
        """
        if not prompt.strip():
            return Brief(prompt=prompt, question="What game would you like? Describe it in words.")
        if len(prompt) > LONGEST_PROMPT:
            raise RoleError(
                f"the words for the game are {len(prompt)} characters long; required: at most "
                f"{LONGEST_PROMPT}. Shorten them to what the game must have"
            )
        messages = load_prompt("designer_clarify").fill(brief=prompt)

        def accept(reply: ClarifyReply) -> Brief:
            return Brief(
                prompt=prompt, question=reply.question, assumptions=tuple(reply.assumptions)
            )

        return ask_structured(self.model, messages, ClarifyReply, accept)

    def design(self, brief: Brief, retrieve: Callable[[str], Sequence[Example]]) -> Design:
        """See `Designer.design`."""
        pieces = [
            {"title": piece.title[:_TITLE_LENGTH], "text": piece.text[:_MECHANIC_LENGTH]}
            for piece in retrieve(brief.prompt)[:_MECHANICS]
        ]
        fixed = _fixed(brief.choices)
        messages = load_prompt("designer_design").fill(
            brief=brief.prompt,
            corrections=brief.corrections,
            fixed=[f"{name}={json.dumps(value)}" for name, value in fixed.items()],
            family=rulebook(brief.choices.family) if brief.choices.family else "",
            assumptions=brief.assumptions,
            mechanics=pieces,
        )
        return ask_structured(
            self.model, messages, DesignReply, lambda reply: to_design(brief, reply)
        )


def to_design(brief: Brief, reply: DesignReply) -> Design:
    """The reply as a design, held against the brief and against itself.

    Raises:
        ReplyError: Naming what contradicts what.
    """
    _require_sound(brief, reply)
    _require_choices(brief.choices, reply)
    fields = reply.model_dump()
    try:
        return Design(
            title=reply.title,
            summary=reply.summary,
            family=NEW_FAMILY,
            num_players=reply.num_players,
            parameters={item.name: item.value for item in reply.parameters},
            rules=tuple(Rule(**rule) for rule in fields["rules"]),
            mechanics=tuple(Mechanic(**mechanic) for mechanic in fields["mechanics"]),
            edges=tuple(MechanicEdge(**edge) for edge in fields["edges"]),
            clauses=tuple(Clause(**clause) for clause in fields["clauses"]),
            assumptions=(*brief.assumptions, *reply.assumptions),
        )
    except ValidationError as error:
        problem = error.errors()[0]
        raise ReplyError(f"{problem['msg']}, got {problem['input']!r}") from error


def _fixed(choices: Choices) -> dict[str, JsonValue]:
    """Seats and parameters that the person chose, by name.

    Raises:
        RoleError: If no design can have them.
    """
    if (choices.num_players or 0) > _MOST_PLAYERS:
        raise RoleError(f"num_players={choices.num_players}: a game is for 1 to {_MOST_PLAYERS}")
    for name, value in choices.settings.items():
        if not name.isidentifier() or not isinstance(value, bool | int | float | str):
            raise RoleError(
                f"{name}={json.dumps(value)}: a parameter has a name in snake_case, and a number, "
                "true, false or a word as its value"
            )
    seats = {} if choices.num_players is None else {"num_players": choices.num_players}
    return {**seats, **choices.settings}


def _require_choices(choices: Choices, reply: DesignReply) -> None:
    made: dict[str, JsonValue] = {item.name: item.value for item in reply.parameters}
    made["num_players"] = reply.num_players
    for name, value in _fixed(choices).items():
        if made.get(name) != value or isinstance(made[name], bool) != isinstance(value, bool):
            raise ReplyError(
                f"the person fixed {name}={json.dumps(value)}, got {json.dumps(made.get(name))}"
            )


def _require_sound(brief: Brief, reply: DesignReply) -> None:
    for kind, names in (
        ("rule", [rule.id for rule in reply.rules]),
        ("mechanic", [mechanic.id for mechanic in reply.mechanics]),
        ("parameter", [parameter.name for parameter in reply.parameters]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ReplyError(f"the {kind} ids {', '.join(twice)} are used more than once")
    if not reply.rules:
        raise ReplyError("it has no rules")
    unnamed = [p.name for p in reply.parameters if not p.name.isidentifier()]
    if unnamed:
        raise ReplyError(f"parameter names must be in snake_case, got {unnamed}")
    _require_graph(reply)
    words = _words(brief.words)
    for clause in reply.clauses:
        own = _words(clause.text)
        if own and len(own & words) * 2 < len(own):
            raise ReplyError(
                f"the clause {clause.text!r} is not in the person's own words; quote them"
            )


def _require_graph(reply: DesignReply) -> None:
    known = {mechanic.id for mechanic in reply.mechanics}
    strangers = {end for edge in reply.edges for end in (edge.source, edge.target)} - known
    if strangers:
        raise ReplyError(f"edges name the unknown mechanics {', '.join(sorted(strangers))}")
    reached, grown = set[str](), {_END}
    while grown:
        reached |= grown
        grown = {edge.source for edge in reply.edges if edge.target in reached} - reached
    lost = sorted(known - reached)
    if lost or _END not in known:
        raise ReplyError(f"the mechanics {', '.join(lost) or _END} do not lead to {_END}, the end")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
