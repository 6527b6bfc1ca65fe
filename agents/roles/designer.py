"""The mechanic designer, asked of a chat model: brief to design."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from agents.model.chat import ChatModel
from agents.model.errors import MalformedReplyError, ReplyError
from agents.model.replies import ask_structured
from agents.prompting import load_prompt
from agents.protocols import (
    NEW_FAMILY,
    Brief,
    Choices,
    Clause,
    Design,
    Parting,
    Revision,
    RoleError,
    Rule,
    Ruling,
    Section,
    Talk,
)
from agents.roles.clauses import ClauseReply, left_out, of_changed, quoted_clauses, unquoted
from agents.roles.texts import design_text
from games.library import preset, read_game, rulebook, source
from vectorstore.documents import Example

LONGEST_PROMPT = 20_000
_LONGEST_RULES = 40_000  # characters together; every later request holds them
_MECHANICS, _MECHANIC_LENGTH, _TITLE_LENGTH = 6, 600, 200
_MOST_PLAYERS = 8
_SAID, _SAID_LENGTH = 12, 2_000
_UNQUOTED = (
    "no clause quotes these words of the person: {}. Give each demand in them a clause, honoured "
    "with its rules or not_honoured with the reason, and leave all else as it is"
)


class _Reply(BaseModel, extra="forbid"):
    """An object without other keys than these."""


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


class RevisionReply(_Reply):
    """What becomes of the person's message."""

    kind: Literal["answer", "change", "other"] = Field(
        description="answer: the game stays. change: it is changed. other: another game is wanted."
    )
    reply: str = Field(description="What the person is told, in a few sentences.")
    title: str
    summary: str
    num_players: int
    parameters: list[ParameterReply] = Field(description="All of them, as they are afterwards.")
    rules: list[RuleReply] = Field(description="Only those that are new, or read otherwise now.")
    dropped: list[str] = Field(description="Ids of the rules that hold no more.")
    assumptions: list[str] = Field(description="All of them, as they are afterwards.")
    clauses: list[ClauseReply] = Field(description="The single demands of the message.")


def _bare(question: str) -> list[str]:
    """The words of a question, by which it is the same."""
    return re.findall(r"\w+", question.casefold())


class ModelDesigner:
    """See `agents.protocols.Designer`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def clarify(self, prompt: str, asked: Sequence[str] = ()) -> Brief:
        """See `Designer.clarify`; empty words need no model to be asked about.

        A question that was answered before is not asked again: the model assumes something.

        Raises:
            RoleError: If the words are longer than `LONGEST_PROMPT` characters.
        """
        if not prompt.strip():
            return Brief(prompt=prompt, question="What game would you like? Describe it in words.")
        _require_short(
            "the words for the game are", prompt, "Shorten them to what the game must have"
        )
        messages = load_prompt("designer_clarify").fill(brief=prompt, asked=asked)

        def accept(reply: ClarifyReply) -> Brief:
            question, assumed = reply.question, tuple(reply.assumptions)
            if question and _bare(question) in map(_bare, asked):
                question, assumed = None, (*assumed, f"It was asked and answered: {question}")
            return Brief(prompt=prompt, question=question, assumptions=assumed)

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
            asked=brief.asked,
            corrections=brief.corrections,
            fixed=[f"{name}={json.dumps(value)}" for name, value in fixed.items()],
            family=rulebook(brief.choices.family) if brief.choices.family else "",
            allowed=_allowed(brief.choices.family) if brief.choices.family else [],
            assumptions=brief.assumptions,
            mechanics=pieces,
        )
        first: list[Design] = []

        def accept(reply: DesignReply) -> Design:
            made = to_design(brief, reply)
            left = unquoted(brief.words, made.clauses)
            made = made.model_copy(update={"clauses": (*made.clauses, *left_out(left))})
            if left and not first:
                first.append(made)
                raise ReplyError(_UNQUOTED.format("; ".join(map(repr, left))))
            return made

        try:
            return ask_structured(self.model, messages, DesignReply, accept)
        except MalformedReplyError:
            if first:  # what was only asked to be made whole stands
                return first[0]
            raise

    def revise(self, design: Design, brief: Brief, talk: Talk) -> Revision:
        """See `Designer.revise`; rules that the reply does not name stay as they are.

        Raises:
            RoleError: If the message is longer than `LONGEST_PROMPT` characters.
        """
        _require_short("the message is", talk.message, "Say what to change in a few sentences")
        history = [said[:_SAID_LENGTH] for said in talk.history[-_SAID:]]
        untold = [said for said in brief.corrections if not any(said in one for one in history)]
        messages = load_prompt("designer_revise").fill(
            brief="\n".join((brief.prompt, *untold)),
            design=design_text(design),
            clauses=design.clauses,
            figures=talk.figures,
            history=history,
            message=talk.message,
        )
        return ask_structured(
            self.model, messages, RevisionReply, lambda reply: to_revision(design, talk, reply)
        )

    def rule_on(self, design: Design, parting: Parting) -> Ruling:
        """See `agents.protocols.Referee.rule_on`."""
        messages = load_prompt("designer_ruling").fill(
            design=design_text(design), parting=parting.model_dump()
        )
        return ask_structured(self.model, messages, Ruling, lambda reply: _ruled(design, reply))


def _require_short(said: str, text: str, advice: str) -> None:
    if len(text) > LONGEST_PROMPT:
        raise RoleError(
            f"{said} {len(text)} characters long; required: at most {LONGEST_PROMPT}. {advice}"
        )


def _ruled(design: Design, reply: Ruling) -> Ruling:
    known = [rule.id for rule in design.rules]
    if reply.rule not in known:
        raise ReplyError(f"there is no rule {reply.rule!r}; the rules are {', '.join(known)}")
    if not reply.text.strip():
        raise ReplyError("`text` is empty; write the whole rule as it reads from now on")
    return reply


def to_revision(design: Design, talk: Talk, reply: RevisionReply) -> Revision:
    """The reply as a revision of the design, held against it and against the message.

    Raises:
        ReplyError: Naming what contradicts what.
    """
    if reply.kind != "change":
        return Revision(reply=reply.reply, other=reply.kind == "other")
    rules = {rule.id: rule for rule in design.rules}
    strangers = sorted({*reply.dropped} - rules.keys())
    if strangers:
        raise ReplyError(f"it drops {', '.join(strangers)}; the rules are {', '.join(rules)}")
    _require_once("rule", [*(rule.id for rule in reply.rules), *reply.dropped])
    _require_parameters(reply.parameters)
    known = [*rules, *(rule.id for rule in reply.rules)]
    said = " ".join([talk.message, *(clause.text for clause in design.clauses)])
    clauses, told = quoted_clauses(said, reply.clauses, known)
    new = {rule.id: rule.model_dump() for rule in reply.rules}
    kept = [rule for name, rule in {**rules, **new}.items() if name not in reply.dropped]
    anew = {clause.text for clause in reply.clauses}
    old = [clause for clause in design.clauses if clause.text not in anew]
    changed = {r.id for r in reply.rules if r.id in rules and r.text != rules[r.id].text}
    stale = of_changed(old, {*changed, *reply.dropped})
    old = [clause for clause in old if clause not in stale]
    heard = {"clauses": (*old, *clauses), "assumptions": (*reply.assumptions, *told)}
    made = _made(reply, {**dict(design), **heard, "rules": kept})
    if not made.rules:
        raise ReplyError("it drops every rule")
    _require_bounded(made.rules)
    if made.model_copy(update={"clauses": design.clauses}) == design:
        raise ReplyError("it says change, and changes nothing; answer, or name what changes")
    return Revision(reply=" ".join([reply.reply, *_taken_off(stale)]), design=made)


def _taken_off(stale: Sequence[Clause]) -> list[str]:
    """A sentence on demands that are listed no more; none where all are."""
    quotes = ", ".join(f"“{clause.text}”" for clause in stale)
    told = f"No longer listed, as rules that honoured it read otherwise now: {quotes}."
    return [told] if stale else []


def to_design(brief: Brief, reply: DesignReply) -> Design:
    """The reply as a design, held against the brief and against itself.

    Raises:
        ReplyError: Naming what contradicts what.
    """
    _require_sound(reply)
    _require_choices(brief.choices, reply)
    parts = reply.model_dump(include={"rules", "mechanics"})
    nodes = {mechanic.id for mechanic in reply.mechanics}  # an edge of others shows nothing
    edges = [e.model_dump() for e in reply.edges if {e.source, e.target} <= nodes]
    made = _made(reply, {**parts, "edges": edges, "family": NEW_FAMILY})
    known = [rule.id for rule in made.rules]
    clauses, told = quoted_clauses(brief.words, reply.clauses, known)
    assumptions = (*reply.assumptions, *told)
    return made.model_copy(update={"clauses": clauses, "assumptions": assumptions})


def _made(reply: DesignReply | RevisionReply, others: Mapping[str, object]) -> Design:
    """The design of a reply's title, summary, seats and parameters, and of what is given beside.

    Raises:
        ReplyError: Naming the first field that no design can have.
    """
    said = reply.model_dump(include={"title", "summary", "num_players"})
    try:
        return Design.model_validate({**others, **said, "parameters": _settings(reply.parameters)})
    except ValidationError as error:
        problem = error.errors()[0]
        raise ReplyError(f"{problem['msg']}, got {problem['input']!r}") from error


def _allowed(game: str) -> list[str]:
    """The allowed numbers of players and parameters of a library game's family.

    >>> _allowed("kuhn_poker")[:2]
    ['num_players: 2 to 8', 'ranks: 0 to 13']
    """
    declared: dict[str, Any] = {**read_game(source(preset(game).family))}
    lines = [f"num_players: {declared['min_players']} to {declared['max_players']}"]
    for name, field in declared.get("parameters", {}).items():
        choices = ", ".join(map(json.dumps, field.get("choices", ())))
        among = " to ".join(map(json.dumps, field.get("range", ()))) or choices
        lines.append(f"{name}: {among or field.get('format', 'any')}")
    return lines


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


def _require_sound(reply: DesignReply) -> None:
    _require_once("rule", [rule.id for rule in reply.rules])
    _require_once("mechanic", [mechanic.id for mechanic in reply.mechanics])
    if not reply.rules:
        raise ReplyError("it has no rules")
    _require_bounded(reply.rules)
    _require_parameters(reply.parameters)


def _require_once(kind: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ReplyError(f"the {kind} ids {', '.join(twice)} are used more than once")


def _require_bounded(rules: Sequence[Rule | RuleReply]) -> None:
    length = sum(len(rule.text) for rule in rules)
    if length > _LONGEST_RULES:
        raise ReplyError(
            f"its rules have {length} characters together; required: at most {_LONGEST_RULES}"
        )


def _settings(parameters: Sequence[ParameterReply]) -> dict[str, JsonValue]:
    """The parameters by name; how many play is said once, beside them, and is none."""
    return {item.name: item.value for item in parameters if item.name != "num_players"}


def _require_parameters(parameters: Sequence[ParameterReply]) -> None:
    _require_once("parameter", [parameter.name for parameter in parameters])
    unnamed = [p.name for p in parameters if not p.name.isidentifier()]
    if unnamed:
        raise ReplyError(f"parameter names must be in snake_case, got {unnamed}")
