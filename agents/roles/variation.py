"""The mechanic designer, asked of a chat model to vary a game (Cardiverse §3.1.3)."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import BaseModel, Field, ValidationError

from agents.model.chat import ChatModel, Message
from agents.model.errors import ReplyError
from agents.model.recording import current_place, place
from agents.model.replies import ask_structured
from agents.prompting import load_prompt
from agents.protocols import Rule
from agents.roles.designer import RuleReply
from games.text import bare_words

_MOST_RULES, _LONGEST_RULE = 60, 1_000


class VariationReply(BaseModel, extra="forbid"):
    """A whole new game."""

    title: str
    summary: str = Field(description="How it differs, in one sentence.")
    num_players: int
    rules: list[RuleReply]


class SettlingReply(BaseModel, extra="forbid"):
    """What two readers would play differently, and the rules that mend it."""

    problems: list[str]
    rules: list[RuleReply] = Field(description="Only those that are new, or read otherwise now.")
    dropped: list[str] = Field(description="Ids of rules that go.")


class WordedGame(BaseModel, frozen=True, extra="forbid"):
    """A game in words: a varied one, before its design.

    Attributes:
        problems: Found in it and mended, in order.
        settled: True once a reading found nothing more.
    """

    title: str = Field(min_length=1, max_length=120)
    summary: str
    num_players: int = Field(ge=1, le=8)
    rules: tuple[Rule, ...] = Field(min_length=3, max_length=_MOST_RULES)
    problems: tuple[str, ...] = ()
    settled: bool = False

    @property
    def text(self) -> str:
        """Its rules, a line each, below its title."""
        rules = "\n".join(f"{rule.id}: {rule.text}" for rule in self.rules)
        return f"{self.title}\n{rules}"


def reword_rules(
    model: ChatModel,
    *,
    title: str,
    players: str,
    rules: Mapping[str, str],
    replaced: Sequence[str],
    keep: str = "",
) -> WordedGame:
    """The game with mechanics replaced, as the model first words it.

    Args:
        model: Whom to ask.
        title: Of the known game.
        players: How many play it, in words; empty where nobody says.
        rules: Of the known game by id.
        replaced: A line for each replacement.
        keep: What a person wants to stay.

    Raises:
        MalformedReplyError: If no reply was another game.
    """
    about = {"title": title, "players": players, "rules": _lines(rules)}
    messages = load_prompt("designer_vary").fill(**about, replaced=replaced, keep=keep)
    return _another(model, messages, rules)


def twist_by_prompt(
    model: ChatModel, *, title: str, players: str, rules: Mapping[str, str], instruction: str
) -> WordedGame:
    """Another game by an instruction alone, as the paper's methods that ours is compared with.

    Raises:
        MalformedReplyError: If no reply was another game.
    """
    about = {"title": title, "players": players, "rules": _lines(rules)}
    messages = load_prompt("designer_twist").fill(**about, instruction=instruction)
    return _another(model, messages, rules)


def _another(model: ChatModel, messages: Sequence[Message], rules: Mapping[str, str]) -> WordedGame:
    known = {bare_words(text) for text in rules.values()}

    def accept(reply: VariationReply) -> WordedGame:
        made = _worded({**reply.model_dump(), "rules": _in_order(reply.rules)})
        if {bare_words(rule.text) for rule in made.rules} <= known:
            raise ReplyError("it is the known game: no rule reads otherwise; put in what is new")
        return made

    return ask_structured(model, messages, VariationReply, accept)


def settle_rules(
    model: ChatModel, game: WordedGame, replaced: Sequence[str], *, rounds: int
) -> WordedGame:
    """The game, read again and mended until nothing is found or the rounds are used up.

    Raises:
        MalformedReplyError: If a reading could not be used.
    """
    where = current_place()
    for number in range(1, rounds + 1):
        messages = load_prompt("designer_settle").fill(
            title=game.title,
            rules="\n".join(f"{r.id} ({r.section}): {r.text}" for r in game.rules),
            replaced=replaced,
            before=game.problems,
        )
        with place(f"{where}/{number}"):
            game = ask_structured(model, messages, SettlingReply, partial(settled, game))
        if game.settled:
            break
    return game


def settled(game: WordedGame, reply: SettlingReply) -> WordedGame:
    """The game after one reading of it.

    Raises:
        ReplyError: If the reply mends what is no problem, or leaves one as it is.
    """
    if not reply.problems:
        if reply.rules or reply.dropped:
            raise ReplyError("it changes rules and names no problem; say what was wrong")
        return game.model_copy(update={"settled": True})
    old = {rule.id: rule for rule in game.rules}
    if strangers := sorted({*reply.dropped} - old.keys()):
        raise ReplyError(f"it drops {', '.join(strangers)}; the rules are {', '.join(old)}")
    new = old | {rule.id: Rule(**rule.model_dump()) for rule in _in_order(reply.rules)}
    kept = tuple(rule for id_, rule in new.items() if id_ not in reply.dropped)
    if kept == game.rules:
        raise ReplyError("it names problems and mends none; reword the rules, or drop some")
    problems = (*game.problems, *reply.problems)
    return _worded({**dict(game), "rules": [dict(rule) for rule in kept], "problems": problems})


def _in_order(rules: Sequence[RuleReply]) -> list[RuleReply]:
    ids = [rule.id for rule in rules]
    if twice := sorted({id_ for id_ in ids if ids.count(id_) > 1}):
        raise ReplyError(f"the ids {', '.join(twice)} stand there twice")
    if wrong := [r.id for r in rules if not re.fullmatch("R[0-9]+", r.id) or not r.text.strip()]:
        raise ReplyError(f"{', '.join(wrong)}: a rule has an id like R7, and a text")
    if long := [r.id for r in rules if len(r.text) > _LONGEST_RULE]:
        raise ReplyError(f"{', '.join(long)}: longer than {_LONGEST_RULE} characters; split it")
    return sorted(rules, key=lambda rule: int(rule.id[1:]))


def _worded(fields: Mapping[str, object]) -> WordedGame:
    plain = {
        name: [dict(rule) for rule in value] if isinstance(value, list) else value
        for name, value in fields.items()
    }
    try:
        return WordedGame.model_validate(plain)
    except ValidationError as error:
        told = error.errors()[0]
        where = ".".join(map(str, told["loc"]))
        raise ReplyError(f"{where}: {told['msg']}, got {str(told['input'])[:80]!r}") from error


def _lines(rules: Mapping[str, str]) -> str:
    return "\n".join(f"{id_}: {text}" for id_, text in rules.items())
