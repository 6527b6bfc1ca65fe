"""The terminal of the people at the table: what a seat is shown, and what its person types."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import typer
from rich.cells import chop_cells

from app.console import a_person_is_here, ask, say, words
from app.table.boards import WIDTH, by_numbers, folded, meant, plain_words
from app.table.layout import SeatLayout, Setting, choices, wrapped
from app.table.session import TableLeft, TableSession, WentBack, verdict_words
from games.engine import Match, PlayerFault, Ply
from games.information import Seen
from games.text import one_line, plain_text
from games.values import CHANCE, ModuleFault

if TYPE_CHECKING:
    from games.information import SeatLog
    from games.values import Action, Observation

PROMPT = "Your move: "
_SHOWN_EVENTS = 24
_MOST_DRAWN = 60  # lines of a module's own drawing
_MOST_WRONG = 50
_FEW = 4
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
_ALIASES = {"?": "help", "exit": "quit", "q": "quit", "look": "table", "board": "table"}
_COMMANDS = words("commands")
_CARD = re.compile(r"\b(10|[2-9TJQKA])[CDHS]\b")
_HOW = (
    "Type a move as it is listed, in any case: all of it, its last word, or the first",
    "letters of its words. You can also type:",
)
_CARDS = "Cards: TH is the ten of hearts, AS the ace of spades; C is clubs, D diamonds."


def shows_unicode() -> bool:
    """True where the terminal and its language take more than ASCII."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    chosen = next((name for name in names if name), "")
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return "utf" in chosen.lower() and encoding == "utf8"


@dataclass
class TableScreen:
    """One terminal for everybody who sits at it.

    Attributes:
        session: The match.
        people: The seats of those who sit here, or the one seat that is looked at.
        setting: What the layouts need to know.
        rules: Gives the rulebook.
        renders: A module's own drawing of a seat's observation, where it has one.
        is_watched: Whether nobody plays: a seat of the computer's is looked at.
    """

    session: TableSession
    people: tuple[int, ...]
    setting: Setting
    rules: Callable[[], str]
    renders: "Callable[[int, Observation], str] | None" = None
    is_watched: bool = False
    _layouts: dict[int, SeatLayout] = field(default_factory=dict)
    _told: dict[int, int] = field(default_factory=dict)  # plies whose events a seat has been shown
    _before: int | None = None  # who looked at the screen last
    _legal: dict[int, Sequence["Action"]] = field(default_factory=dict)
    _failed: bool = False

    def introduce(self, summary: str) -> None:
        """Say which game it is, who plays, and how to repeat it."""
        _say_all(wrapped(one_line(summary)))
        for seat, spec in enumerate(self.session.players):
            who = "a person, at this keyboard" if spec is None else _short(spec)
            if seat in self.people:
                who = f"{who} (you look over this shoulder)" if self.is_watched else "you"
            say(f"  Player {seat + 1}: {who}")
        say(f"The seed is {self.session.seed}: --seed {self.session.seed} repeats the match.")
        if not self.is_watched:
            say('Type "help" for what you can type, "rules" for the rules.')

    def told(self, ply: Ply) -> None:
        """Hear of a ply: where one seat is looked at, what happens is shown at once."""
        if len(self.people) > 1 or ply.player == CHANCE or self.session.is_replaying:
            return
        seat = self.people[0]
        is_seen = self.is_watched and ply.player == seat and ply.observation is not None
        if is_seen:
            self._show_events(seat, until=-1)
            self._legal[seat] = ply.legal
            self.show(seat, ply.observation or {})
        self._show_events(seat)
        if is_seen and a_person_is_here() and self._typed("Enter: go on. ") in ("q", "quit"):
            raise TableLeft(0)

    def asked(self, seat: int, log: "SeatLog", legal: Sequence["Action"]) -> "Action":
        """The legal action that the person at a seat chooses."""
        self._hand_over(seat)
        self._show_events(seat)
        self._legal[seat] = legal
        self.show(seat, log.latest(), log)
        legal = sorted(legal, key=by_numbers)
        _say_all(choices(legal))
        wrong = 0
        while wrong < _MOST_WRONG:
            typed = self._typed(PROMPT)
            said = plain_words(typed)
            command = _ALIASES.get(said, said).removeprefix(":")
            if command in _COMMANDS and said not in map(plain_words, legal):
                self._obey(command, seat, log, legal)
                continue
            found = meant(typed, legal)
            if len(found) == 1:
                return found[0]
            wrong += 1
            self._refuse(typed, found)
        say(f"{_MOST_WRONG} answers in a row were no moves.")
        raise TableLeft(1)

    def show(self, seat: int, observation: "Observation", log: "SeatLog | None" = None) -> None:
        """Draw what a seat sees; from its log the layout learns how its fields look over time."""
        layout = self._layouts.setdefault(seat, SeatLayout(self.setting, seat))
        for entry in log.entries if log else ():
            if isinstance(entry, Seen):
                layout.learn(entry.observation)
        drawn = self._rendered(seat, observation)
        say()
        _say_all(drawn or layout.draw(observation, self._legal.get(seat, ())))

    def show_end(self, match: Match) -> None:
        """Show the people the last position, and how the match ended."""
        if len(self.people) == 1:
            self._show_events(self.people[0])
            if match.logs and (log := match.logs[self.people[0]]).entries:
                self.show(self.people[0], log.latest(), log)
        else:  # what all of them were told
            for ply in self.session.plies[max(self._told.values(), default=0) :]:
                told = [ply.events[seat] for seat in self.people]
                for event in told[0] if told.count(told[0]) == len(told) else ():
                    _say_all([f"  {one_line(event)}"])
        if match.returns is None:
            say(f"\nThe match did not finish: {one_line(match.reason)}")
            return
        say("\nThe match is over.")
        words, values = self._result(match, match.returns)
        if values:
            say(words)
        for seat, value in enumerate(values):
            you = " (you)" if self.people == (seat,) and not self.is_watched else ""
            say(f"  Player {seat + 1}{you}: {value:g}")
        if len(match.returns) > 1:
            is_one = len(self.people) == 1 and not self.is_watched
            say(verdict_words(match.returns, self.people[0] if is_one else None))

    def _result(self, match: Match, returns: Sequence[float]) -> tuple[str, Sequence[float]]:
        """The seats' result: scores where all people see them, else their payments.

        Nothing where that says no more than who won.
        """
        seen = [
            self._layouts.get(seat, SeatLayout(self.setting, seat)).scores(
                match.logs[seat].latest()
            )
            for seat in self.people
            if match.logs and match.logs[seat].entries
        ]
        if seen and seen[0] and all(one == seen[0] for one in seen):
            return "The scores:", seen[0]
        is_win = len(returns) > 1 and all(abs(value) <= 1 for value in returns)
        return "The result, more is better:", [] if is_win else returns

    def _rendered(self, seat: int, observation: "Observation") -> list[str]:
        """The module's own drawing, indented, so that it cannot pass for a word of ours."""
        if self.renders is None or self._failed:
            return []
        try:
            if not (text := self.renders(seat, observation)):
                return []
        except ModuleFault as fault:
            self._failed = True
            say(f"Its own drawing failed, so here is a plain one: {one_line(str(fault))[:120]}")
            return []
        lines = plain_text(text).expandtabs(4).split("\n")[:_MOST_DRAWN]
        drawn = [chop_cells(f"  {line.rstrip()}", WIDTH + 1)[0] for line in lines]
        if not self.setting.is_unicode:
            drawn = [line.encode("ascii", "replace").decode() for line in drawn]
        return drawn

    def _show_events(self, seat: int, *, whole: bool = False, until: int | None = None) -> None:
        """Show a seat's new events; chance's take few lines."""
        plies = self.session.plies[:until]
        start = 0 if whole else self._told.get(seat, 0)
        lines: list[str] = []
        chance: list[str] = []
        for ply in plies[start:]:
            events = [one_line(event) for event in ply.events[seat]]
            if ply.player == CHANCE:
                chance += events
                continue
            lines += [*folded(chance), *events]
            chance = []
        lines += folded(chance)
        counted = [(text, len(list(same))) for text, same in groupby(lines)]
        lines = [text if n == 1 else f"{text} ({n} times)" for text, n in counted]
        self._told[seat] = len(plies)
        if not whole and len(lines) > _SHOWN_EVENTS:
            say(f'  ({len(lines) - _SHOWN_EVENTS} earlier; "history" shows them)')
            lines = lines[-_SHOWN_EVENTS:]
        _say_all(f"  {line}" for line in lines)

    def _hand_over(self, seat: int) -> None:
        """Between two people, an empty screen: neither sees what only the other may."""
        before, self._before = self._before, seat
        if before in (None, seat):
            return
        self._clear()
        self._typed(f"Player {seat + 1}, it is your turn. Press Enter when only you look. ")
        self._clear()

    def _clear(self) -> None:
        is_plain = os.environ.get("TERM", "dumb") == "dumb" or not sys.stdout.isatty()
        typer.echo("\n" * 60 if is_plain else _CLEAR, nl=False)

    def _typed(self, question: str) -> str:
        typed = ask(question)
        if typed is None:
            say("The input has ended.")
            raise TableLeft(1)
        return typed

    def _refuse(self, typed: str, found: Sequence[str]) -> None:
        if found:
            some = ", ".join([*map(one_line, found[:_FEW]), *["..."] * (len(found) > _FEW)])
            say(f"That may be {some}: type more of it.")
        else:
            what = repr(one_line(typed)[:40]) if typed.strip() else "An empty line"
            say(f"{what} is nothing you can do now. Type a move as it is listed,")
            say('or its last word; "moves" lists them, "help" says what else there is.')

    def _obey(self, command: str, seat: int, log: "SeatLog", legal: Sequence["Action"]) -> None:
        if command == "quit":
            raise TableLeft(0)
        deeds: dict[str, Callable[[], None]] = {
            "help": lambda: self._help(f"{log.latest()} {legal}"),
            "table": lambda: self.show(seat, log.latest(), log),
            "moves": lambda: _say_all(choices(legal, whole=True)),
            "hint": lambda: self._hint(log, legal),
            "undo": lambda: self._go_back(seat),
            "history": lambda: self._show_events(seat, whole=True),
            "rules": lambda: _say_all(
                part for line in self.rules().splitlines() for part in wrapped(line) or [""]
            ),
            "save": lambda: say(f"The record so far, with what others hide: {self.session.save()}"),
        }
        deeds[command]()

    def _help(self, seen: str) -> None:
        _say_all(_HOW)
        for word, meaning in _COMMANDS.items():
            say(f"  {word:<8} {meaning}")
        if _CARD.search(seen):
            _say_all([_CARDS])

    def _go_back(self, seat: int) -> None:
        place = self.session.last_decision(seat)
        if place is None:
            say("You have decided nothing yet.")
            return
        self._told = {other: min(told, place) for other, told in self._told.items()}
        raise WentBack(place)

    def _hint(self, log: "SeatLog", legal: Sequence["Action"]) -> None:
        from agents.players.specs import PlayerSpecError

        try:
            advice = self.session.hint(log, sorted(legal))
        except (PlayerSpecError, PlayerFault, ModuleFault) as problem:
            say(f"No hint: {one_line(str(problem))[:200]}")
            return
        say(f"A search would play: {one_line(advice.action)}")


def _say_all(lines: Iterable[str]) -> None:
    """Lines, what a terminal would not hold indented below: at the margin stand words of ours."""
    for line in lines:
        first, rest = _cut(line, WIDTH)
        say(first)
        while rest:
            first, rest = _cut(rest, WIDTH - 4)
            say(f"    {first}")


def _cut(line: str, width: int) -> tuple[str, str]:
    """The part of a line that fits, up to a late blank if there is one; and the rest.

    >>> _cut("to the lowest cell", 12), _cut("abcdefgh", 4)
    (('to the', 'lowest cell'), ('abcd', 'efgh'))
    """
    first = (chop_cells(line, width) or [""])[0]
    blank = first.rfind(" ") if len(first) < len(line) else -1
    if 2 * blank < width:
        return first, line[len(first) :]
    return first[:blank], line[blank + 1 :]


def _short(spec: str) -> str:
    """A player's name and how far it searches.

    >>> _short("uct:simulations=50,budget=simulations"), _short("greedy:heuristic=ensemble")
    ('uct (simulations=50)', 'greedy (heuristic=ensemble)')
    """
    name, _, settings = spec.partition(":")
    told = [text for text in settings.split(",") if text.startswith(("simulations=", "heuristic="))]
    return f"{name} ({', '.join(told)})" if told else name
