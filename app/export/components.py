"""The components of a game, counted from its module: zones, what is conserved, and some matches.

A kind of component that the module declares as conserved is counted at the start. Any other kind is
counted in some random matches, and a remark says that nobody could tell whether that is all.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING

from app.table.boards import Naming, grid_of, naming_of, size_of
from games.checks.zones import components, concrete_paths, matches, read_path
from games.text import number_of, one_line
from games.values import Json, ModuleFault, State, are_texts
from tools.playtest.of_run.played import random_match

if TYPE_CHECKING:
    from app.export.exported import Exported
    from games.engine import Match

_MATCHES = 4
_LONGEST_MATCH = 250  # plies
_MOST_KEPT = 5_000
_COUNTERS = frozenset(
    {
        *(
            "bead",
            "chip",
            "chit",
            "coin",
            "counter",
            "cube",
            "disc",
            "disk",
            "marble",
            "mark",
            "marker",
        ),
        *("meeple", "pawn", "peg", "piece", "ship", "stone", "tile", "token"),
    }
)
_DICE, _SIX = frozenset({"die", "dice"}), 6
_SHEET = 140  # counters that one sheet of paper holds
_FLAT = 9  # a string of as many characters holds a cell each


@dataclass(frozen=True)
class Component:
    """Equal things of a game.

    Attributes:
        kind: The module's word for it, such as "card".
        name: Of one of them, such as "QH"; empty where it could not be told.
        seat: Whose they are from the start, or None.
        count: Their number.
    """

    kind: str
    name: str
    seat: int | None
    count: int


@dataclass(frozen=True)
class GameBoard:
    """A board.

    Attributes:
        name: Of the zone or of the field that shows it.
        rows: Their number.
        columns: Their number.
        naming: Labels of its cells.
    """

    name: str
    rows: int
    columns: int
    naming: Naming


@dataclass(frozen=True)
class ComponentList:
    """All components of a game, as far as they could be told.

    Attributes:
        cards: Whose backs are alike.
        counters: Marks, pieces, and all that is laid on a board.
        dice: A row a number of faces.
        boards: Boards.
        hidden: Kinds that some seat may not see.
        doubts: Sentences on what could not be told.
    """

    cards: tuple[Component, ...] = ()
    counters: tuple[Component, ...] = ()
    dice: tuple[Component, ...] = ()
    boards: tuple[GameBoard, ...] = ()
    hidden: frozenset[str] = frozenset()
    doubts: tuple[str, ...] = ()

    def rows(self) -> list[str]:
        """A line for each kind of thing, for a reader."""
        lines = [f"{number_of(1, 'board')} of {one.rows} × {one.columns}" for one in self.boards]
        for group in (self.cards, self.counters, self.dice):
            kinds = Counter[str]()
            for one in group:
                kinds[one.kind] += one.count
            lines += [number_told(count, kind) for kind, count in kinds.items()]
        return lines


def number_told(count: int, kind: str) -> str:
    """A number of components.

    >>> number_told(1, "die"), number_told(2, "die"), number_told(2, "card")
    ('1 die', '2 dice', '2 cards')
    """
    return f"{count} dice" if kind == "die" and count != 1 else number_of(count, one_line(kind))


def listed_components(exported: "Exported") -> ComponentList:
    """The components of a game.

    Raises:
        ModuleFault: If the module does not load.
    """
    module, setup = exported.table.module.module, exported.table.setup
    zones = module.constant("ZONES") if exported.table.module.defines("ZONES") else None
    if not isinstance(zones, dict) or not zones:
        told = "could not tell the components: the module declares no zones where they lie"
        return ComponentList(doubts=(told,))
    played = [
        random_match(setup, exported.sandbox, seed=exported.seed, match=n, max_plies=_LONGEST_MATCH)
        for n in range(_MATCHES)
    ]
    doubts = [
        f"a random match broke off ({one_line(one.reason)[:200]}): components may be missing"
        for one in played
        if one.ending == "fault"
    ]
    start = module.call("initial_state", setup.num_players, **setup.parameters)
    states = [start, *(state for one in played for state in _states(one))]
    census = _Census(zones, [one for one in states if isinstance(one, dict)][:_MOST_KEPT])
    boards = _boards(exported, played, zones)
    declared = exported.table.module.info.get("conserved", [])
    found: list[Component] = []
    doubts += [
        f"board: only its size could be told, {one.rows} × {one.columns}; could not tell how many "
        "are needed, so one is printed"
        for one in boards
        if not one.name
    ]
    for kind in dict.fromkeys(map(_kind_of, zones.values())):
        conserved = are_texts(declared) and kind in declared
        some, unsure = census.of_kind(kind, boards, conserved=conserved)
        found += some
        doubts += unsure
    return ComponentList(
        cards=tuple(one for one in found if one.kind not in _COUNTERS | _DICE),
        counters=tuple(one for one in found if one.kind in _COUNTERS),
        dice=tuple(one for one in found if one.kind in _DICE),
        boards=tuple(boards),
        hidden=_hidden(exported, zones, census.states),
        doubts=tuple(doubts),
    )


def _kind_of(declared: Json) -> str:
    return str(declared.get("component", "thing")) if isinstance(declared, dict) else "thing"


def _states(match: "Match") -> Iterator[State]:
    yield from (ply.state for ply in match.plies)
    if match.final_state is not None:
        yield match.final_state


@dataclass(frozen=True)
class _Census:
    """Counts of what lies in the zones of some states, the first of which is the start."""

    zones: Mapping[str, Json]
    states: Sequence[State]

    def of_kind(
        self, kind: str, boards: Sequence[GameBoard], *, conserved: bool
    ) -> tuple[list[Component], list[str]]:
        """The components of a kind, and what could not be told of them."""
        patterns = [pattern for pattern, how in self.zones.items() if _kind_of(how) == kind]
        flat = kind in _COUNTERS
        counts = [self._counted(state, patterns, flat=flat) for state in self.states]
        start, word = counts[0], one_line(kind)
        same = all(one == start for one in counts)
        looked = f"in {_MATCHES} random matches"
        if start and same:
            doubt = f"{word}: none came or went {looked}, but the module does not say that so it is"
            return self._owned(kind, start, patterns), [] if conserved else [doubt]
        most = max(counts, key=Counter.total)
        if not most:
            return [], [f"{word}: none lay anywhere {looked}; could not tell whether any is needed"]
        cells = sum(board.rows * board.columns for board in boards if board.name in patterns)
        union = Counter[str]()
        for one in counts:
            union |= one
        if kind in _DICE:
            return _thrown(kind, most.total(), sorted(union))
        if cells and len(union) * cells <= _SHEET and union != start:
            return [Component(kind, name, None, cells) for name in sorted(union)], []
        doubt = (
            f"{word}: as many as lay there at once {looked}; could not tell whether all are there"
        )
        if conserved:
            doubt = (
                f"{word}: the module says that none comes or goes, but {looked} some did; {doubt}"
            )
        if 4 * union.total() > 5 * most.total():  # they are called differently from match to match
            return [Component(kind, "", None, most.total())], [f"{doubt}, nor their names"]
        return self._owned(kind, union, patterns), [doubt]

    def _counted(self, state: State, patterns: Sequence[str], *, flat: bool) -> Counter[str]:
        found: Counter[str] = Counter()
        for pattern in patterns:
            for path in concrete_paths(state, pattern):
                value = read_path(state, path)
                is_board = flat and isinstance(value, str) and len(value) >= _FLAT > len({*value})
                if isinstance(value, str) and is_board:  # a cell a character
                    found.update(mark for mark in value if mark.isalnum())
                else:
                    found.update(components(value))
        return found

    def _owned(self, kind: str, counts: Counter[str], patterns: Sequence[str]) -> list[Component]:
        """The components, by seat where each lies in a seat's own zone at the start."""
        by_seat: dict[tuple[int | None, str], int] = {}
        for pattern in patterns:
            for path in concrete_paths(self.states[0], pattern):
                seat = self._seat(pattern, path)
                for name in components(read_path(self.states[0], path)):
                    by_seat[seat, name] = by_seat.get((seat, name), 0) + 1
        if not by_seat or any(seat is None for seat, _ in by_seat):
            return [Component(kind, name, None, count) for name, count in counts.items()]
        return [Component(kind, name, seat, count) for (seat, name), count in by_seat.items()]

    def _seat(self, pattern: str, path: str) -> int | None:
        declared = self.zones[pattern]
        own = isinstance(declared, dict) and declared.get("owner") == "each"
        steps = zip(pattern.split("."), path.split("."), strict=True)
        found = next((step for star, step in steps if star == "*" and step.isdecimal()), None)
        return int(found) if own and found is not None else None


def _thrown(kind: str, dice: int, faces: Sequence[str]) -> tuple[list[Component], list[str]]:
    """Dice, where six is the highest face; else chits with all faces, to draw from."""
    numbers = [int(face) for face in faces if face.isdecimal() and len(face) < _FLAT]
    seen = f"{dice} lay on the table at once in {_MATCHES} random matches, with {', '.join(faces)}"
    doubt = (
        f"{one_line(kind)}: {one_line(seen)}; could not tell whether there are more, or more faces"
    )
    if numbers and max(numbers) == _SIX:
        return [Component(kind, str(_SIX), None, dice)], [doubt]
    chits = (
        [str(n + 1) for n in range(min(max(numbers), _SHEET))]
        if len(numbers) == len(faces)
        else faces
    )
    told = "; it is no die of six, so chits are printed to draw from"
    return [Component("chit", face, None, dice) for face in chits[:_SHEET]], [doubt + told]


def _boards(
    exported: "Exported", played: Sequence["Match"], zones: Mapping[str, Json]
) -> list[GameBoard]:
    """Boards that a seat sees, by the names of their zones."""
    heads = {p.partition(".")[0] for p, how in zones.items() if _kind_of(how) in _COUNTERS}
    decisions = [ply for one in played for ply in one.plies if ply.observation is not None]
    for ply in decisions[:1]:
        found = []
        for key, value in (ply.observation or {}).items():
            grid = (
                grid_of(key, value, is_zone=key in heads)
                if key in heads or key == "board"
                else None
            )
            if grid is not None:
                flat = isinstance(value, list) and len(value) != len(grid)
                naming = naming_of(grid, ply.legal, flat=flat)
                found.append(GameBoard(key, len(grid), len(grid[0]), naming))
        if found:
            return found
    size = size_of(exported.table.setup.parameters) if heads else None
    if size is None:
        return []
    letters = tuple(ascii_lowercase[: size[1]])
    return [GameBoard("", *size, Naming(letters, tuple(map(str, range(size[0], 0, -1)))))]


def _hidden(
    exported: "Exported", zones: Mapping[str, Json], states: Sequence[State]
) -> frozenset[str]:
    """Kinds of which some seat may not see all, in a few positions."""
    module, found = exported.table.module.module, set[str]()
    for state in states[:: max(1, len(states) // 8)]:
        for seat in range(exported.table.setup.num_players):
            try:
                seen = module.call("visible", state, seat)
            except ModuleFault:
                continue  # `check` says so; here its components then have a back
            paths = seen.items() if isinstance(seen, dict) else ()
            closed = [path for path, how in paths if how != "contents"]
            found |= {
                _kind_of(how)
                for pattern, how in zones.items()
                if any(matches(pattern, path) for path in closed)
            }
    return frozenset(found)
