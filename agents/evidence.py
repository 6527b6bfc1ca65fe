"""Evidence that a setting holds: the rules that say it, and the first ply of a match that shows it.

A setting shows at a ply where the family, played with another value and the same actions, would do
something else: another seat's turn, other legal actions, events or rewards, or an end.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from agents.protocols import GUESSED, UNREAD, Clause, Design, Rule
from games.contract import Game
from games.engine import Match
from games.library import families, own_and_handicaps
from games.library.settings import PLAYERS, game_of, impossible, reference
from games.table import GameTable, Position
from games.values import TERMINAL, Json, ModuleFault

_SETTING = re.compile(r"(\w+)=")
_RULE = re.compile(r"R\d+")
_MOST_VALUES = 5
_COUNTED = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7"}
_COUNTED |= {"eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12"}
_IDLE = "beside the other settings it changes no rule"

RulesOf = Callable[[str, Mapping[str, Json], int], Sequence[Rule]]


def with_rules(design: Design, rules_of: RulesOf) -> Design:
    """The design, each honoured clause with the rules that would read otherwise without it.

    A clause whose settings change no rule beside the others, and switch nothing off, is not
    honoured: a penalty for missed bids where nobody bids.

    Args:
        design: Of a library family.
        rules_of: The family's rules for parameters and a number of players.
    """
    clauses = []
    for clause in design.clauses:
        names = _names(design, clause)
        said = [_rules_that_say(design, name, rules_of) for name in names]
        rules = tuple(dict.fromkeys(chain.from_iterable(rules or () for rules in said)))
        update: dict[str, object] = {"rules": rules}
        if names and all(_is_idle(design, *item) for item in zip(names, said, strict=True)):
            update |= {"status": "not_honoured", "reason": _IDLE}
        clauses.append(clause.model_copy(update=update))
    return design.model_copy(update={"clauses": tuple(clauses)})


def _is_idle(design: Design, name: str, rules: Sequence[str] | None) -> bool:
    """True for a setting that asks for something, though no rule tells its values apart."""
    return rules == [] and name != PLAYERS and design.parameters[name] not in (0, False, "none")


def _rules_that_say(design: Design, name: str, rules_of: RulesOf) -> list[str] | None:
    """The rules that say a setting; None where it can have no other value."""
    found: list[str] | None = None
    for players, parameters in _otherwise(design, name):
        texts = {rule.text for rule in rules_of(design.family, parameters, players)}
        said = [rule.id for rule in design.rules if rule.text not in texts]
        if said:
            return said
        found = []
    return found


def with_plies(design: Design, matches: Sequence[Match]) -> Design:
    """The design, each honoured clause with where these matches show its settings.

    Args:
        design: Any; what is no library family's stays as it is.
        matches: Matches of its game, which the family's own rules were found to allow.
    """
    if design.family not in families():
        return design
    clauses = []
    for clause in design.clauses:
        places = [_shown_by(design, name, matches) for name in _names(design, clause)]
        seen = "; ".join(dict.fromkeys(places)) if places and all(places) else ""
        clauses.append(clause.model_copy(update={"seen": seen}))
    return design.model_copy(update={"clauses": tuple(clauses)})


def standing(clause: Clause, wrong: str = "") -> str:
    """The state of a demand: honoured where a rule or a ply shows it, else read as its setting.

    Of words that may mean something else it is never more than what they were read as.

    Of code with something wrong, no more is said than that the rules ask for it. Of words that were
    not read it is not known if the rules have it by themselves.

    >>> named = Clause(text="whist", status="honoured", setting="game=whist")
    >>> standing(named), standing(named.model_copy(update={"seen": "match 1, ply 4"}))
    ('read_as', 'honoured')
    >>> standing(Clause(text="a boat", status="not_honoured", reason="not read: no setting"))
    'not_read'
    """
    if wrong and clause.status == "honoured":
        return "in_the_rules"
    if clause.reason.startswith(UNREAD):
        return "not_read"
    if clause.status != "honoured":
        return clause.status
    shown = clause.rules or clause.seen or _RULE.search(clause.setting)
    return "honoured" if shown and not clause.reason.startswith(GUESSED) else "read_as"


def numbers_not_cited(
    clauses: Sequence[Clause], rules: Mapping[str, str], players: int
) -> list[str]:
    """Honoured demands with a number that neither the rules they rest on nor the seats have.

    >>> fine = Clause(text="a fine of 2", status="honoured", setting="R1")
    >>> numbers_not_cited([fine], {"R1": "A fine."}, 3), numbers_not_cited([fine], {"R1": "2"}, 3)
    (['“a fine of 2” has 2, R1 not'], [])
    >>> numbers_not_cited([fine], {"R1": "A fine of two coins."}, 3)
    []
    """
    found = []
    for clause in clauses:
        cited = [rule for rule in _RULE.findall(clause.setting) if rule in rules]
        said = {*_numbers_in(" ".join(rules[rule] for rule in cited)), str(players)}
        lost = ", ".join(n for n in _numbers_in(clause.text) if n not in said)
        if clause.status == "honoured" and cited and lost:
            found.append(f"“{clause.text}” has {lost}, {' and '.join(cited)} not")
    return found


def _numbers_in(text: str) -> list[str]:
    """Its numbers in digits, those in words too; "one" may be no number."""
    found = [_COUNTED.get(word, word) for word in re.findall(r"\d+|[a-z]+", text.lower())]
    return [number for number in found if number.isdigit()]


def ground_of(clause: Clause) -> str:
    """Why a clause counts as honoured (setting, rules, where play shows it), or why it does not.

    >>> ground_of(Clause(text="no trumps", status="honoured", setting="trump=none", rules=("R9",)))
    'trump=none; rule R9'
    """
    if clause.status != "honoured":
        return clause.reason.removeprefix(UNREAD)
    rules = f"rule{'s' * (len(clause.rules) > 1)} {', '.join(clause.rules)}" if clause.rules else ""
    seen = f"seen in play: {clause.seen}" if clause.seen else ""
    told = clause.reason.removeprefix(GUESSED) if clause.reason.startswith(GUESSED) else ""
    return "; ".join(filter(None, (clause.setting, rules, seen, told)))


def _shown_by(design: Design, name: str, matches: Sequence[Match]) -> str:
    """The first place at which no other value would do; "" where the matches cannot tell."""
    if name == PLAYERS:
        return f"{design.num_players} seats"
    more = own_and_handicaps(design.parameters)[1]
    table = GameTable(Game(reference(design.family, (*more,))))
    places = []
    for _, parameters in _otherwise(design, name):
        plies = [_first_difference(table, design, parameters, match) for match in matches]
        shown = [(number, ply) for number, ply in enumerate(plies) if ply is not None]
        places.append(min(shown, default=None))
    if not places or None in places:
        return ""
    number, ply = max(place for place in places if place is not None)
    return f"match {number + 1}, ply {ply + 1}"


def _first_difference(
    table: GameTable, design: Design, parameters: Mapping[str, Json], match: Match
) -> int | None:
    """The first ply of a match that would be another with these parameters."""
    try:
        position = table.open(design.num_players, parameters)
        for number, ply in enumerate(match.plies):
            if (position.player, sorted(position.legal)) != (ply.player, sorted(ply.legal)):
                return number
            position = table.advance(position, ply.action)
            if _told(position) != (list(map(float, ply.rewards)), [list(s) for s in ply.events]):
                return number
    except ModuleFault:
        return None  # the other value cannot be judged by these actions
    over = position.player == TERMINAL
    return None if over == (match.ending == "finished") else len(match.plies) - 1


def _told(position: Position) -> tuple[list[float], list[list[str]]]:
    return list(map(float, position.rewards)), [list(seat) for seat in position.events]


def _names(design: Design, clause: Clause) -> list[str]:
    """The settings that a clause is honoured by."""
    if clause.status != "honoured":
        return []
    known = {PLAYERS, *design.parameters}
    return [name for name in _SETTING.findall(clause.setting) if name in known]


def _otherwise(design: Design, name: str) -> Iterator[tuple[int, dict[str, Json]]]:
    """Seats and parameters with other values of one setting, where the family can be so."""
    game, players, found = game_of(design.family), design.num_players, 0
    if name == PLAYERS:
        near = (players - 1, players + 1, game.min_players, game.max_players)
        tried = [
            (other, dict(design.parameters))
            for other in dict.fromkeys(near)
            if other != players and game.min_players <= other <= game.max_players
        ]
    else:
        tried = [
            (players, {**design.parameters, name: other})
            for other in game.every[name].others(design.parameters[name])
        ]
    for seats, parameters in tried:
        if not impossible(design.family, seats, parameters):
            yield seats, parameters
            found += 1
        if found == _MOST_VALUES:
            return
