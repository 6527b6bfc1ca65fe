"""Revision of a library game: what a message sets in a design at hand, and what it is answered."""

import re
from collections.abc import Mapping, Sequence

from agents.composer.lexicon import word_list
from agents.composer.meaning.suggest import setting_text
from agents.composer.meaning.tokens import stems
from agents.composer.reader import Reading
from agents.protocols import Clause, Design, Talk
from games.library.settings import PLAYERS, game_of, value_text
from games.values import Json

_ANSWERS = ("no", "nope", "yes", "ok")  # before a wish, to the question that was asked
_LATER = "changed later: "
_ANSWERED = 4
_CANNOT = "That cannot be answered without a language model."
_CAUSE = "The cause cannot be told without a language model."
_CAN = " Ask for a rule by its number, how many can play, or about words of the rules."
_WHY = re.compile(r"\s*(?:and |but )?why\b", re.IGNORECASE)
_RULE = re.compile(r"\bR\d+\b", re.IGNORECASE)
_SEATS = re.compile(
    r"\bhow many (?:\w+ )?(?:can|may|could|play)\b|\bhow many (?:players|people|persons|of us)\b"
    r"|\b(?:\d+|two|three|four|five|six|seven|eight) (?:players|people|persons|of us)\b",
    re.IGNORECASE,
)
_SEAT = re.compile(
    r"\b(?:(?:first|second|third|last) (?:player|seat|one)|player \d+"
    r"|who(?:ever)? (?:begins|starts)|(?:go|goes|going|move|moves|moving) first)\b",
    re.IGNORECASE,
)
_WINS = re.compile(r"\b(?:w[io]n\w*|fair|unfair|advantages?|better|often)\b", re.IGNORECASE)
_BEGINS = re.compile(r"\b(?:first seat|second player|leads first|who begins)\b", re.IGNORECASE)
_OF_SEATS = ("Is it fair?", "When ")  # figures: the verdict, and the shares of wins
_ASKS = re.compile(
    r"\s*(?:and |but )?(?:why|how|what|who|which|when(?![^?]+,[^?]+$)|where|explain)\b",
    re.IGNORECASE,
)
_SHORTER = re.compile(r"\b(?:shorter|quicker|faster)\b", re.IGNORECASE)
_LONGER = re.compile(r"\blonger\b", re.IGNORECASE)
_LENGTHS = ("target_score", "deals", "cards", "rounds", "hand_size", "rows", "size")
"""Settings that say how long a match is; the first that a family has and uses is changed."""


def asks(text: str) -> bool:
    """True for words that ask about a game and want no change.

    >>> asks("Why does the first player win so often?"), asks("can it be for four?")
    (True, False)
    >>> asks("When does a deal end"), asks("when only five of us turn up, deal six cards")
    (True, False)
    """
    return _ASKS.match(text) is not None


def changes(design: Design, said: Reading, text: str) -> dict[str, Json]:
    """The settings, and `PLAYERS`, that a message gives other values than the design has."""
    settings = {**_another_length(text, design, said), **said.asked}
    changed = {name: v for name, v in settings.items() if design.parameters.get(name) != v}
    seats = said.num_players if said.seated else design.num_players
    return changed if seats == design.num_players else {**changed, PLAYERS: seats}


def _another_length(text: str, design: Design, said: Reading) -> dict[str, Json]:
    """Half or double of what says how long a match is, for "shorter" or "longer" alone."""
    factor = 0.5 if _SHORTER.search(text) else 2.0 if _LONGER.search(text) else 0.0
    if not factor or said.asked:
        return {}
    known = game_of(design.family).parameters
    usual = said.lexicon.usual(design.num_players, design.parameters)
    for name in _LENGTHS:
        value = design.parameters.get(name) or usual.get(name) or 0
        bounds = known[name].range if name in known else None
        if type(value) is not int or bounds is None or value <= 1:
            continue
        wanted = min(max(round(value * factor), bounds[0], 1), bounds[1])
        if wanted != value:
            return {name: wanted}
    return {}


def settled_later(said: Reading, changed: Mapping[str, Json]) -> tuple[Clause, ...]:
    """The demands of a message; "shorter" is met by the setting that was changed for it."""
    length = [f"{name}={changed[name]}" for name in _LENGTHS if name in changed]
    told = (clause for clause in said.clauses if not clause.setting.startswith("game="))
    return tuple(
        Clause(text=clause.text, status="honoured", setting=length[0])
        if length and (_SHORTER.search(clause.text) or _LONGER.search(clause.text))
        else clause
        for clause in told
    )


def overridden(
    clause: Clause, changed: Mapping[str, Json], now: Mapping[str, Json], talk: Talk
) -> Clause:
    """A demand that a later message takes back is not honoured any more, until it holds again.

    Args:
        clause: The demand.
        changed: What the message changes.
        now: All settings, with `PLAYERS`, as they are then.
        talk: The message.

    >>> talk = Talk(message="six cards")
    >>> five = Clause(text="five cards", status="honoured", setting="hand_size=5")
    >>> six = overridden(five, {"hand_size": 6}, {"hand_size": 6}, talk)
    >>> six.status, overridden(six, {"hand_size": 5}, {"hand_size": 5}, talk) == five
    ('not_honoured', True)
    """
    settings = [pair.partition("=") for pair in clause.setting.split(", ") if "=" in pair]
    if not {name for name, *_ in settings} & changed.keys():
        return clause
    if all(value_text(now[name]) == value for name, _, value in settings if name in now):
        back = clause.status == "not_honoured" and clause.reason.startswith(_LATER)
        return clause.model_copy(update={"status": "honoured", "reason": ""}) if back else clause
    if clause.status != "honoured":
        return clause
    reason = f"{_LATER}{talk.message!r}"
    return Clause(text=clause.text, status="not_honoured", reason=reason, setting=clause.setting)


def reply_on(changed: Mapping[str, Json], clauses: Sequence[Clause]) -> str:
    """A reply that tells the changes, and the demands that could not be met."""
    missed = [c for c in clauses if c.status != "honoured" and c.text.lower() not in _ANSWERS]
    lost = [f"Not done: {c.text!r} ({c.reason})." for c in missed]
    return " ".join([f"Changed: {setting_text(changed)}.", *lost])


def nothing_changed(said: Reading) -> str:
    """Why a message changes nothing, and what could be said."""
    lost = [f"{c.text!r}: {c.reason}." for c in said.clauses if c.status != "honoured"]
    known = ", ".join(game_of(said.lexicon.family).parameters)
    by = f"a {said.lexicon.title} changes by its seats and settings alone: {known}"
    return " ".join(["Nothing was changed.", *lost, f"Without a language model {by}."])


def known_of(design: Design, talk: Talk) -> str:
    """The answer to a question, from settings, rules and figures; else that there is none."""
    told = _of_rules(design, talk.message) or _of_seats(design, talk.message)
    told = told or _of_beginning(design, talk)
    if told:
        return "\n".join(told)
    asked = stems(_ASKS.sub("", talk.message)) - word_list("function")
    lines = [*talk.figures, *(f"{rule.id}: {rule.text}" for rule in design.rules)]
    shared = {line: len(asked & stems(line)) for line in lines}
    enough = 2 * max(shared.values(), default=0) >= max(len(asked), 1)
    shared |= {line: 2 * shared[line] for line in talk.figures}
    best = sorted((line for line in lines if shared[line]), key=lambda line: -shared[line])
    who = "the play-test and the rules" if talk.figures else "the rules"
    head = f"Without a language model, this is what {who} say of it:"
    if not enough:
        head = _CANNOT + (f" The nearest that {who} say:" if best else _CAN)
    elif _WHY.match(talk.message):
        head = f"{_CAUSE} This is what {who} say of it:"
    return "\n".join([head, *(f"- {line}" for line in best[:_ANSWERED])])


def _of_rules(design: Design, question: str) -> list[str]:
    """The rules that a question names by their numbers."""
    texts = {rule.id: rule.text for rule in design.rules}
    named = dict.fromkeys(found.upper() for found in _RULE.findall(question))
    ids = list(texts)
    missing = f"no such rule; the rules are {ids[0]} to {ids[-1]}"
    lines = [f"- {one}: {texts.get(one, missing)}" for one in named]
    return ["The rules say:", *lines] if lines else []


def _of_seats(design: Design, question: str) -> list[str]:
    """The numbers of players that the family takes."""
    if _SEATS.search(question) is None:
        return []
    card = game_of(design.family)
    takes = f"{card.min_players} to {card.max_players} players"
    if card.min_players == card.max_players:
        takes = f"{card.min_players} players only"
    return [f"It takes {takes}; this game is made for {design.num_players}."]


def _of_beginning(design: Design, talk: Talk) -> list[str]:
    """Figures of the seats, and the settings that change who begins."""
    if not (_SEAT.search(talk.message) and _WINS.search(talk.message)):
        return []
    known = [
        f"{name}={value_text(design.parameters[name])} ({field.meaning})"
        for name, field in game_of(design.family).parameters.items()
        if _BEGINS.search(field.meaning)
    ]
    settings = f"Settings that change who begins: {'; '.join(known)}" if known else ""
    measured = [line for line in talk.figures if line.startswith(_OF_SEATS)]
    lines = [*measured, settings or "No setting of this game changes who begins."]
    return [f"{_CAUSE} What is known:", *(f"- {line}" for line in lines)]
