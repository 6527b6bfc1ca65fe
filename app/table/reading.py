"""The parts of one seat's observation of any game: boards, hands, values a seat, facts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from app.table.boards import Board, Naming, grid_of, naming_of, placed_boards, size_of
from games.text import one_line
from games.values import Observation

_OWN = frozenset({"you", "me", "seat", "player", "to_move", "turn", "current_player", "players"})
_SEATS = _OWN | {"leader", "dealer", "winner", "winners", "starter", "first", "owner", "by", "to"}
_SEAT_ENDS = ("_by", "_player", "_seat", "_leader", "_dealer", "_winner", "_to_move")
_POINTS = ("score", "point", "chips", "money")
_PAIR = 2
SPECTATOR = -1

PartKind: TypeAlias = Literal["boards", "hand", "words", "open", "column", "lists", "fact"]


@dataclass(frozen=True)
class Setting:
    """Facts that stay the same through a match.

    Attributes:
        seats: How many play.
        zones: The module's `ZONES`.
        parameters: The game's parameters: they need no telling at every turn.
        is_unicode: Whether the terminal shows more than ASCII.
    """

    seats: int
    zones: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_unicode: bool = False

    @cached_property
    def owned(self) -> set[str]:
        """First names of the zones that each player has one of."""
        return {
            path.split(".")[0]
            for path, zone in self.zones.items()
            if isinstance(zone, dict) and zone.get("owner") == "each"
        }


@dataclass(frozen=True)
class SeatLook:
    """A seat's information state as its person needs it; a log would keep every observation.

    Attributes:
        count: Entries of its log: observations that were new to it, and its own actions.
        observation: The newest.
        words: All that it perceived.
    """

    count: int = 0
    observation: Observation | None = None
    words: tuple[str, ...] = ()

    def acted(self) -> "SeatLook":
        """The look after an action of its own."""
        return replace(self, count=self.count + 1)

    def seeing(self, observation: Observation, events: Sequence[str]) -> "SeatLook":
        """The look after a ply; the same where it is nothing new, as in `SeatLog`."""
        if not events and observation == self.observation:
            return self
        words = (*self.words, *map(one_line, events)) if events else self.words
        return SeatLook(self.count + 1, observation, words)


@dataclass(frozen=True)
class ViewPart:
    """One field of an observation, or several that tell one board.

    Attributes:
        kind: The way it is drawn: a board, the seat's own cards, a value in words, things on the
            table, a short value or a list for each seat, or a fact.
        key: The field; empty where boards are told by several fields.
        name: Its name in words.
        value: Its value: of a column or lists one entry a seat.
        boards: Its boards.
    """

    kind: PartKind
    key: str
    name: str
    value: Any = None
    boards: tuple[Board, ...] = ()


@dataclass
class SeatReading:
    """The reading of one seat's view, which remembers what the seat has seen before.

    Attributes:
        setting: The match.
        seat: Whose view it is; `SPECTATOR` for somebody who does not play.
        names: The seats' names, where they have some.
    """

    setting: Setting
    seat: int
    names: Sequence[str] = ()
    _told: set[str] = field(default_factory=set)  # fields that have ever said something
    _lengths: dict[str, set[int]] = field(default_factory=dict)
    _namings: dict[str, Naming] = field(default_factory=dict)
    _players: dict[str, set[int]] = field(default_factory=dict)  # numbers in lists of what was done

    def learn(self, observation: Mapping[str, Any]) -> None:
        """Note how the fields look over time."""
        for key, value in observation.items():
            if not _is_nothing(value) and not _is_zero(value):
                self._told.add(key)
            if isinstance(value, list):
                self._lengths.setdefault(key, set()).add(len(value))
                for entry in (item for item in value if isinstance(item, dict)):
                    seats = {n: x for n, x in entry.items() if _is_seat(n) and type(x) is int}
                    known = {0} if seats.keys() & observation.keys() else set[int]()
                    for seat in seats:
                        self._players.setdefault(seat, set()).update(seats.values(), known)

    def parts(self, observation: Mapping[str, Any], actions: Sequence[str]) -> Iterator[ViewPart]:
        """Everything that the seat sees and that matters now, in the observation's order.

        Args:
            observation: What the seat sees.
            actions: What it may do, from which the names of a board's cells are read.
        """
        self.learn(observation)
        size = size_of(self.setting.parameters) or (0, 0)
        placed, boards = placed_boards(observation, size, self.setting.seats, self.seat, self.name)
        if boards:
            yield ViewPart("boards", "", "", boards=tuple(boards))
        for key, value in observation.items():
            if key not in placed:
                yield from self._parts_of(key, value, actions)

    def _parts_of(self, key: str, value: Any, actions: Sequence[str]) -> Iterator[ViewPart]:  # noqa: ANN401 - any JSON
        name = one_line(key).replace("_", " ")
        if (hand := self._own_hand(key, value)) is not None:
            yield ViewPart("hand", key, name, hand)
        elif self._is_silent(key, value):
            return
        elif boards := self._boards(key, name, value, actions):
            yield from (ViewPart("boards", key, name, value, (board,)) for board in boards)
        elif (row := self._by_seat(key, value)) is not None:
            is_long = any(isinstance(item, list | dict) for item in row)
            yield ViewPart("lists" if is_long else "column", key, name, row)
        elif isinstance(value, dict):
            yield ViewPart("words", key, name, value)
        else:
            yield ViewPart("open" if isinstance(value, list) else "fact", key, name, value)

    def scores(self, observation: Mapping[str, Any]) -> list[float]:
        """Each seat's score, by the first field with a name of scores; empty without one.

        >>> SeatReading(Setting(2), 0).scores({"stake": 5, "points": [59, 32]})
        [59, 32]
        """
        named = (key for word in _POINTS for key in observation if word in key)
        rows = (self._by_seat(key, observation[key]) or [None] for key in named)
        return next((row for row in rows if all(isinstance(n, int | float) for n in row)), [])

    def name(self, seat: int) -> str:
        """The name of a seat; seats count from 1 for people.

        >>> [SeatReading(Setting(2), 0).name(seat) for seat in (0, 1)]
        ['you', 'Player 2']
        """
        if seat == self.seat:
            return "you"
        return self.names[seat] if seat < len(self.names) else f"Player {seat + 1}"

    def trick_seats(self, part: ViewPart, leader: object) -> list[int]:
        """The seats that played the cards of a trick, from its leader; empty for anything else."""
        many = len(part.value) if isinstance(part.value, list) else 0
        is_trick = part.key in self.setting.zones and 1 < many <= self.setting.seats
        if not is_trick or not isinstance(leader, int) or isinstance(leader, bool):
            return []
        return [(leader + place) % self.setting.seats for place in range(many)]

    def _is_silent(self, key: str, value: object) -> bool:
        """True for a field that tells nothing: a setting, the viewer, or a value always empty."""
        if isinstance(value, dict) and value:
            return 2 * len(self.setting.parameters.keys() & value.keys()) >= len(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if key == "num_players" or (key in _OWN and value in (self.seat, self.setting.seats)):
                return True
            if _is_seat(key):
                return value < 0
        if _is_zero(value):
            return key not in self._told and not any(word in key for word in _POINTS)
        return _is_nothing(value)

    def _own_hand(self, key: str, value: object) -> list[str] | None:
        """The seat's own cards: the field that is named after a zone which each player has."""
        each = self.setting.owned
        if key not in each | {name.removesuffix("s") for name in each} | {"hand"}:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return None
        hand = [one_line(str(item)) for item in value]
        return hand if hand or key == "hand" else None

    def _boards(self, key: str, name: str, value: object, actions: Sequence[str]) -> list[Board]:
        """A board with its labels, or one a seat; nothing where the field is no board."""
        if isinstance(value, list) and len(value) == self.setting.seats > 1:
            boards = [grid_of(key, one, is_zone=False) for one in value]
            if all(isinstance(one, list) for one in value) and all(boards):
                return [
                    board
                    for seat, one in enumerate(value)
                    for board in self._boards(key, f"{name} of {self.name(seat)}", one, actions)
                ]
        grid = grid_of(key, value, is_zone=key in self.setting.zones)
        if grid is None:
            return []
        is_flat = isinstance(value, list) and len(value) != len(grid)
        naming = naming_of(grid, actions, flat=is_flat)
        if naming.cells:
            self._namings[key] = naming
        return [Board(f"{name}:", grid, self._namings.get(key, naming))]

    def _by_seat(self, key: str, value: object) -> list[Any] | None:
        """A value with one entry a seat, as it always had; None where it is none."""
        seats = self.setting.seats
        if seats == 1 or key in self.setting.zones:
            return None
        if isinstance(value, dict):
            for form in ("{}", "Player {}"):
                names = [form.format(number + (form != "{}")) for number in range(seats)]
                if value.keys() == set(names):
                    return [value[name] for name in names]
            return None
        if not isinstance(value, list) or self._lengths.get(key, {len(value)}) != {seats}:
            return None
        some = [item for item in value if item is not None]
        kinds = {float if isinstance(item, int | float) else type(item) for item in some}
        inner = [part for item in some if isinstance(item, list) for part in item]
        is_deep = any(isinstance(part, list | dict) for part in inner)
        return value if len(kinds) <= 1 and not is_deep else None

    def inline(self, value: object, key: str = "") -> str:
        """A value in words.

        >>> layout = SeatReading(Setting(3), 0)
        >>> layout.inline({"leader": 2, "cards": ["3D", "8D"], "won": True})
        'leader Player 3, cards 3D 8D, won yes'
        >>> layout.inline([[1, "bet"], [0, "call"]])
        'Player 2 bet, you call'
        """
        if isinstance(value, dict):
            told = {name: item for name, item in value.items() if item not in (None, "", [], {})}
            parts = [f"{name.replace('_', ' ')} {self._nested(told[name], name)}" for name in told]
            return one_line(", ".join(parts)) or "none"
        if isinstance(value, list):
            if _is_deed(value) and 0 <= value[0] < self.setting.seats:
                return f"{self.name(value[0])} {one_line(value[1])}"
            return listed_words([self._nested(item, key) for item in value])
        if isinstance(value, bool):
            return "yes" if value else "no"
        if type(value) is int and self._counts_seats(key) and 0 <= value < self.setting.seats:
            return self.name(value)
        if isinstance(value, float):
            return f"{value:g}"
        return "-" if value is None or value == "" else one_line(str(value))

    def _counts_seats(self, key: str) -> bool:
        """True where a field counts seats from 0; a list without 0 may count from 1.

        A list that names a field of the whole view counts as that does.
        """
        seen = self._players.get(key, {0})
        return _is_seat(key) and 0 in seen and max(seen) < self.setting.seats

    def _nested(self, value: object, key: str = "") -> str:
        text = self.inline(value, key)
        is_row = isinstance(value, list) and any(isinstance(item, list | dict) for item in value)
        return f"({text})" if ", " in text and (is_row or isinstance(value, dict)) else text


def _is_nothing(value: object) -> bool:
    """True for an empty value, or a list of empty values.

    >>> [_is_nothing(value) for value in (None, "", [[], []], {}, False, 0, [0], ["x"])]
    [True, True, True, True, True, False, False, False]
    """
    if isinstance(value, list):
        return all(map(_is_nothing, value))
    return value is None or value is False or value in ("", {})


def _is_zero(value: object) -> bool:
    """True for zero, or a list of zeros and empty values."""
    if isinstance(value, list):
        return any(map(_is_zero, value)) and all(_is_zero(one) or _is_nothing(one) for one in value)
    return type(value) is int and value == 0


def _is_deed(value: list[Any]) -> bool:
    """True for a list of a seat and its action.

    >>> _is_deed([1, "bet"]), _is_deed([1, "7"]), _is_deed([1, 7])
    (True, False, False)
    """
    if len(value) != _PAIR or type(value[0]) is not int or type(value[1]) is not str:
        return False
    return not value[1].isdigit()


def _is_seat(key: str) -> bool:
    return key in _SEATS or key.endswith(_SEAT_ENDS)


def listed_words(words: Sequence[str]) -> str:
    """Words with blanks between them, or commas where a word has a blank."""
    return (", " if any(" " in word for word in words) else " ").join(words) or "none"
