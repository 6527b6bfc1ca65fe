"""Kit of an exported game: its source, its actions and its arrays, as counted self-play shows them.

A file for another tool holds one kit and imports what plays it from here. The source in it is
text: a sandboxed worker plays it, and nothing imports it.
"""

import json
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pprint import pformat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from agents.encoding.paths import Encoder, encoder_of, fitted_encoder, turn_view
from agents.encoding.protocol import Array
from app.export.exported import Exported, ExportError, Files
from games.checks.sampling import UniformPlayer
from games.engine import Decision, Match, play_match
from games.information import LogEntry, SeatLog, newest_turn
from games.values import CHANCE, Action, Json
from tools.sandbox import Sandbox, SandboxTable, Worker

if TYPE_CHECKING:
    from games.table import Position

_MATCHES, _PLIES = 200, 10_000  # of self-play, whichever comes first
_LONGEST = 5_000  # plies of a match
_SPARE = 16  # at least
_WORKER_PLIES = 50_000  # that a worker plays before another one takes over
_FORMAT = 1
_NEW_ACTION = "share_of_decisions_with_an_action_not_met_before"
_NEW_VALUE = "share_of_arrays_with_a_value_not_met_before"


@dataclass(frozen=True)
class GameKit:
    """A game as an exported file holds it.

    Attributes:
        name: A word of small letters, digits and underlines.
        title: Its name for people.
        source: The module.
        num_players: Seats.
        parameters: All of them.
        actions: What self-play showed; an action's number is its place.
        spare: Numbers behind them, for actions that it did not show.
        outcomes: The most outcomes of one chance event; 0 where chance decided nothing.
        turns: The most turns of a seat, its last look included.
        plies: The most plies of a match.
        paid: Lowest and highest return of a seat, and the sum of all seats' where it is constant.
        is_open: Whether every seat saw all that there is.
        encoder: Makes the arrays.
        measured: Counts of the self-play.
    """

    name: str
    title: str
    source: str
    num_players: int
    parameters: Mapping[str, Json]
    actions: tuple[Action, ...]
    spare: int
    outcomes: int
    turns: int
    plies: int
    paid: tuple[float, float, float | None]
    is_open: bool
    encoder: Encoder
    measured: Mapping[str, Json]

    @property
    def size(self) -> int:
        """Numbers of actions, spare ones included."""
        return len(self.actions) + self.spare

    @cached_property
    def number(self) -> dict[Action, int]:
        """The number of each action that self-play showed."""
        return {action: number for number, action in enumerate(self.actions)}

    def numbered(self, legal: Sequence[Action]) -> dict[int, Action]:
        """The legal actions of one decision by their numbers, lowest first.

        Those that self-play did not show take the spare numbers, in the order of the alphabet: so
        the numbers of a decision depend on what is legal there and on nothing else.

        Raises:
            ExportError: If the spare numbers are too few.
        """
        new = sorted(action for action in legal if action not in self.number)
        if len(new) > self.spare:
            raise ExportError(
                f"{self.title}: {len(new)} legal actions are new here (such as {new[0]!r}), and "
                f"{self.spare} numbers are spare; raise 'spare' in the exported file"
            )
        first = len(self.actions)
        found = {self.number[action]: action for action in legal if action in self.number}
        found |= {first + place: action for place, action in enumerate(new)}
        return dict(sorted(found.items()))

    def encoded(self, seat: int, entries: Sequence[LogEntry]) -> tuple[Array, int]:
        """`[encoder.width]` of a seat's newest turn, and how many values of it are not known.

        Numbers stand within -1 and 1: a larger one than self-play showed is cut off there.
        """
        turn = turn_view(seat, newest_turn(entries), recurrent=True)
        array, unknown = self.encoder.encoded(turn)
        return np.clip(array, -1.0, 1.0), unknown

    def as_json(self) -> dict[str, Any]:
        """All of it, for a file."""
        told = {name: getattr(self, name) for name in _PLAIN}
        whole = {"format": _FORMAT, **told, "encoder": self.encoder.as_json()}
        plain: dict[str, Any] = json.loads(json.dumps(whole))  # no numpy number stays
        return plain


_PLAIN = (
    *("name", "title", "num_players", "parameters", "spare", "outcomes", "turns", "plies", "paid"),
    *("is_open", "measured", "actions", "source"),
)


def kit_of(told: Mapping[str, Any]) -> GameKit:
    """The kit that `GameKit.as_json` wrote.

    Raises:
        ExportError: If it is of another version, or was changed so that it is none.
    """
    if told.get("format") != _FORMAT:
        raise ExportError(
            f"the exported file has format {told.get('format')!r}; required: {_FORMAT}: export the "
            "game again with this version of Rulewright"
        )
    try:
        plain = {name: told[name] for name in _PLAIN}
        plain |= {"actions": tuple(told["actions"]), "paid": tuple(told["paid"])}
        return GameKit(**plain, encoder=encoder_of(told["encoder"]))
    except (LookupError, TypeError, ValueError) as error:
        raise ExportError(f"the exported file was changed ({error!r}); export it again") from error


class KitTable:
    """The table of a kit's game: `games.table.Table` in sandboxed workers of its own.

    A worker that has played for long is replaced, so that no match is the one too many for it.
    """

    def __init__(self, kit: GameKit) -> None:
        """Start nothing yet; the sandbox is the one that the settings choose."""
        from graph.run.sandboxes import chosen_backend

        self.kit = kit
        self._sandbox = Sandbox(chosen_backend())
        self.close = weakref.finalize(self, self._sandbox.close)
        self._worker: Worker | None = None
        self._plies = 0

    def open(self) -> "Position":
        """The first position."""
        return self._table().open(self.kit.num_players, self.kit.parameters)

    def advance(self, position: "Position", action: Action) -> "Position":
        """The position after a legal action or an outcome."""
        return self._table().advance(position, action)

    def _table(self) -> SandboxTable:
        self._plies += 1
        if self._worker is not None and self._plies > _WORKER_PLIES:
            self._worker.kill()
        if self._worker is None or not self._worker.alive:
            self._worker = self._sandbox.worker("exported", self.kit.source)
            self._worker.load(self.kit.source)
            self._plies = 0
        return SandboxTable(self._worker)  # a new one: what it weighs is of one match alone


@dataclass
class _Seen:
    """Everything that self-play showed."""

    legal: list[tuple[Action, ...]] = field(default_factory=list)
    views: list[dict[str, Json]] = field(default_factory=list)


class _WatchedPlayer(UniformPlayer):
    """Plays at random, and notes what each decision looked like."""

    def __init__(self, seen: _Seen) -> None:
        self._seen = seen

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        self._seen.legal.append(tuple(legal))
        self._seen.views.append(turn_view(log.seat, newest_turn(log.entries), recurrent=True))
        return super().choose(log, legal, generator)


def counted_kit(exported: Exported) -> GameKit:
    """The kit of a game, by random self-play of a counted number of matches.

    The first half of them is held against the other half, which tells how much is new in matches
    that were not counted; the kit is then made of all.

    Raises:
        ExportError: If a match did not finish.
    """
    played, setup = [*_self_play(exported)], exported.table.setup
    matches, every = [match for match, _ in played], _together(played)
    returns = [match.returns or () for match in matches]
    sums = {round(sum(one), 6) for one in returns}
    chances = [len(p.legal) for match in matches for p in match.plies if p.player == CHANCE]
    return GameKit(
        name=re.sub(r"\W+", "_", exported.title.lower(), flags=re.ASCII).strip("_") or "game",
        title=exported.title,
        source=setup.source,
        num_players=setup.num_players,
        parameters=dict(setup.parameters),
        actions=tuple(sorted({action for legal in every.legal for action in legal})),
        spare=max(_SPARE, *map(len, every.legal)),
        outcomes=max(chances, default=0),
        turns=max(map(_turns, matches)),
        plies=max(len(match.plies) for match in matches),
        paid=(*_bounds(returns), sums.pop() if len(sums) == 1 else None),
        is_open=_is_open(exported),
        encoder=fitted_encoder(every.views),
        measured={
            "matches": len(matches),
            "plies": sum(len(match.plies) for match in matches),
            "decisions": len(every.legal),
            **_news(_together(played[::2]), _together(played[1::2])),
        },
    )


def _together(played: Sequence[tuple[Match, _Seen]]) -> _Seen:
    parts = [seen for _, seen in played]
    return _Seen(
        [row for one in parts for row in one.legal], [v for one in parts for v in one.views]
    )


def _news(known: _Seen, other: _Seen) -> dict[str, Json]:
    """Shares of what is new in some matches to a kit that is made of others."""
    actions, encoder = {a for legal in known.legal for a in legal}, fitted_encoder(known.views)
    return {
        _NEW_ACTION: _share(not actions.issuperset(legal) for legal in other.legal),
        _NEW_VALUE: _share(encoder.encoded(view)[1] > 0 for view in other.views),
    }


def _self_play(exported: Exported) -> Iterator[tuple[Match, _Seen]]:
    setup, plies = exported.table.setup, 0
    with setup.refereed(exported.sandbox) as table:
        for number in range(_MATCHES):
            seen = _Seen()
            match = play_match(
                table,
                [_WatchedPlayer(seen)] * setup.num_players,
                parameters=setup.parameters,
                seed=exported.seed,
                match=number,
                max_plies=_LONGEST,
            )
            if match.ending != "finished":
                raise ExportError(f"match {number} of self-play did not finish: {match.reason}")
            seen.views += [
                turn_view(log.seat, newest_turn(log.entries), recurrent=True) for log in match.logs
            ]
            yield match, seen
            plies += len(match.plies)
            if plies >= _PLIES and number:
                return


def _turns(match: Match) -> int:
    seats = [ply.player for ply in match.plies]
    return 1 + max(seats.count(seat) for seat in range(len(match.logs)))


_FEW_RESULTS = 8


def _bounds(returns: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Lowest and highest return; of games with many results twice as wide, as more may come."""
    paid = {number for one in returns for number in one}
    low, high = min(paid), max(paid)
    more = high - low if len(paid) > _FEW_RESULTS else 0.0
    return low - more / 2, high + more / 2


def _is_open(exported: Exported) -> bool:
    from agents.players.registry import PlayerRoster
    from agents.players.search import PRELOAD

    with Sandbox(exported.sandbox.backend, preload=PRELOAD) as own:
        return PlayerRoster().can_play("uct:simulations=1", exported.table.setup, own)


def _share(flags: Iterable[bool]) -> float:
    told = [*flags]
    return round(sum(told) / len(told), 4) if told else 0.0


_LATEST: list[tuple[Exported, GameKit]] = []  # two tools may be asked for at once
_IMPORTS = {
    "pettingzoo": "from app.export.pettingzoo import GameEnv, with_wrappers",
    "openspiel": "from app.export.openspiel import registered",
}
_HEAD = """\
\"\"\"{title} for {tool}, written by Rulewright {version}.

It plays in Rulewright's sandbox: the module in `KIT` is text, and nothing here imports it.
\"\"\"

{imports}

KIT = {kit}
"""
_BODIES = {
    "pettingzoo": """

class raw_env(GameEnv):
    \"\"\"The environment without wrappers: `step` refuses an illegal action.\"\"\"

    kit_told = KIT


def env(**options):
    \"\"\"The environment with PettingZoo's wrappers: an illegal action loses the match.\"\"\"
    return with_wrappers(raw_env(**options))
""",
    "openspiel": """
GAME_TYPE = registered(KIT)  # pyspiel.load_game("rulewright_{name}")
""",
}


def file_for(exported: Exported, tool: str) -> Files:
    """The file by which another tool plays a game.

    Args:
        exported: The game.
        tool: "pettingzoo" or "openspiel".

    Raises:
        ExportError: If self-play does not finish.
    """
    if not _LATEST or _LATEST[0][0] is not exported:
        _LATEST[:] = [(exported, counted_kit(exported))]
    kit = _LATEST[0][1]
    text = _HEAD.format(
        title=kit.title.replace("\\", "").replace('"', "'"),
        tool=tool,
        version=version("rulewright"),
        imports=_IMPORTS[tool],
        kit=pformat(kit.as_json(), width=100, sort_dicts=False, compact=True),
    ) + _BODIES[tool].replace("{name}", kit.name)
    counts = kit.measured
    remark = (
        f"{tool}: {counts['matches']} matches of random play show {len(kit.actions)} actions; "
        f"{kit.spare} numbers are spare; a decision of a new match has an action not met before "
        f"in {100 * float(str(counts[_NEW_ACTION])):.2f} % of cases"
    )
    return Files({f"{tool}_{kit.name}.py": text.encode()}, [remark])
