"""A game as a game of OpenSpiel, in Python: positions come from a sandboxed worker, and are kept.

Exported files import `registered` from here. Each position is asked of the worker once: states that
are cloned, replayed or searched share a tree of what was met.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any

import numpy as np
import pyspiel

from agents.encoding.protocol import Array
from app.export.exported import ExportError
from app.export.kit import GameKit, KitTable, kit_of
from games.information import Did, LogEntry, SeatLog, Seen, since_turn
from games.table import Position
from games.values import CHANCE, TERMINAL, Action, canonical_key

_KEPT = 50_000  # positions
_DIGEST = 16  # bytes
_MOST_NUMBERS = 2**12  # of an information state's tensor
_TREES: "dict[str, _Tree]" = {}  # of games that this process has registered


class _Tree:
    """The positions that were met."""

    def __init__(self, kit: GameKit) -> None:
        self.kit, self._table = kit, KitTable(kit)
        self._made = 0

    @cached_property
    def root(self) -> "_Node":
        """The first position."""
        return _Node(self, self._table.open(), None, 0)

    def after(self, node: "_Node", number: int) -> "_Node":
        """A position that is met for the first time."""
        self._made += 1
        if self._made > _KEPT:  # states that are in use hold on to what they have
            self._made = 0
            self.root.children.clear()
        return _Node(self, self._table.advance(node.position, node.numbers[number]), node, number)


class _Node:
    """A position, its place in the tree, and what led to it."""

    def __init__(
        self, tree: _Tree, position: Position, parent: "_Node | None", number: int
    ) -> None:
        self.tree, self.position, self.parent, self.number = tree, position, parent, number
        self.children: dict[int, _Node] = {}
        before = parent.paid if parent else (0.0,) * tree.kit.num_players
        self.paid: tuple[float, ...] = tuple(map(sum, zip(before, position.rewards, strict=True)))
        self._known: dict[int, _Known] = {}

    def __deepcopy__(self, memo: object) -> "_Node":
        """Itself: it does not change, and pyspiel clones states by copies."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """The way to it, as pyspiel keeps states by pickling what they hold."""
        path: list[int] = []
        node = self
        while node.parent is not None:
            path.append(node.number)
            node = node.parent
        return _node_at, (self.tree.kit.name, path[::-1])

    @cached_property
    def numbers(self) -> dict[int, Action]:
        """The legal actions or outcomes here, by number."""
        if self.position.player != CHANCE:
            return self.tree.kit.numbered(self.position.legal)
        if len(self.position.legal) > self.tree.kit.outcomes:
            raise ExportError(
                f"{self.tree.kit.title}: chance has {len(self.position.legal)} outcomes here, and "
                f"self-play showed {self.tree.kit.outcomes} at most; raise 'outcomes' in the "
                "exported file"
            )
        return dict(enumerate(self.position.legal))

    def after(self, number: int) -> "_Node":
        """The position after an action or outcome."""
        if number not in self.children:
            self.children[number] = self.tree.after(self, number)
        return self.children[number]

    def known(self, seat: int) -> "_Known":
        """The information state of a seat."""
        path: list[_Node] = []
        node: _Node | None = self
        while node is not None and seat not in node._known:
            path.append(node)
            node = node.parent
        known = node._known[seat] if node else _Known(SeatLog(seat), "", None, self.tree.kit)
        for step in reversed(path):
            if step.parent is not None and step.parent.position.player == seat:
                known = known.then(Did(step.parent.numbers[step.number]))
            seen, events = step.position.observations[seat], step.position.events[seat]
            known = step._known[seat] = known.then(Seen.of(seen, events))
        return known


@dataclass(frozen=True)
class _Known:
    """The information state of a seat, of which a match has one more after each ply.

    Attributes:
        log: Its log since its last turn; see `games.information.since_turn`.
        digest: Of all entries but the newest, by a chain of hashes; empty before the second one.
        earlier: The same when it acted last; None at its first turn.
        kit: The game's.
    """

    log: SeatLog
    digest: str
    earlier: "_Known | None"
    kit: GameKit

    def then(self, entry: LogEntry) -> "_Known":
        """The same with one more entry."""
        longer = SeatLog(self.log.seat, [*self.log.entries])
        if isinstance(entry, Did):
            longer.act(entry.action)
        else:
            longer.add(entry)
        if len(longer.entries) == len(self.log.entries):
            return self
        log = SeatLog(longer.seat, [*since_turn(longer.entries)])
        chained = blake2b(self.string.encode(), digest_size=_DIGEST) if self.log.entries else None
        earlier = self if isinstance(entry, Did) else self.earlier
        return _Known(log, chained.hexdigest() if chained else "", earlier, self.kit)

    @cached_property
    def string(self) -> str:
        """The newest entry, after the digest of all before it: so no log makes it long."""
        return canonical_key([self.log.seat, self.digest, self.log.entries[-1].row()])

    @cached_property
    def array(self) -> Array:
        """`[encoder.width]` of the newest turn."""
        return self.kit.encoded(self.log.seat, self.log.entries)[0]


def _node_at(name: str, path: Sequence[int]) -> _Node:
    node = _TREES[name].root
    for number in path:
        node = node.after(number)
    return node


class _State(pyspiel.State):  # type: ignore[misc]  # bindings without types
    """See `pyspiel.State`."""

    def __init__(self, game: Any, node: _Node) -> None:  # noqa: ANN401 - bindings without types
        super().__init__(game)
        self.node = node

    def current_player(self) -> int:
        """A seat, chance or the end: OpenSpiel's numbers are ours."""
        return self.node.position.player

    def _legal_actions(self, player: int) -> list[int]:
        return [*self.node.numbers] if player == self.node.position.player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Each outcome's number and probability."""
        return [*zip(self.node.numbers, self.node.position.probabilities, strict=True)]

    def _apply_action(self, action: int) -> None:
        self.node = self.node.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        here, kit = self.node, self.node.tree.kit
        if player == here.position.player and action in here.numbers:
            return here.numbers[action]
        return kit.actions[action] if 0 <= action < len(kit.actions) else f"spare {action}"

    def is_terminal(self) -> bool:
        """True at the end of the match."""
        return self.node.position.player == TERMINAL

    def returns(self) -> list[float]:
        """The sum of all rewards at the end; zeros before."""
        kit, paid = self.node.tree.kit, self.node.paid
        if not self.is_terminal():
            return [0.0] * kit.num_players
        low, high, total = kit.paid
        if min(paid) < low or max(paid) > high or (total is not None and _differ(sum(paid), total)):
            raise ExportError(
                f"{kit.title}: a match pays {[*paid]}, and self-play showed {low} to {high} with "
                f"the sum {total}; change 'paid' in the exported file (null: no fixed sum)"
            )
        return [*paid]

    def __str__(self) -> str:
        return canonical_key(self.node.position.state)


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > 1e-6  # noqa: PLR2004 - rounding of a sum


class _Observer:
    """See `PyObserver` of OpenSpiel: strings and tensors of what one seat knows.

    With perfect recall the tensor holds the newest turns, one a row, the last row the newest. The
    string holds all of them.
    """

    def __init__(self, kit: GameKit, *, is_whole: bool) -> None:
        self._kit, self._is_whole = kit, is_whole
        rows = min(kit.turns, max(1, _MOST_NUMBERS // kit.encoder.width)) if is_whole else 1
        self.tensor: Array = np.zeros(rows * kit.encoder.width, np.float32)
        self._rows = self.tensor.reshape(rows, kit.encoder.width)
        self.dict = {"turns" if is_whole else "turn": self._rows}

    def set_from(self, state: _State, player: int) -> None:
        """Fill the tensor."""
        self.tensor.fill(0)
        known: _Known | None = state.node.known(player)
        for row in self._rows[::-1]:
            if known is None:
                break
            row[:], known = known.array, known.earlier

    def string_from(self, state: _State, player: int) -> str:
        """The key of the information state, or of the newest observation."""
        known = state.node.known(player)
        return known.string if self._is_whole else canonical_key([player, known.log.latest()])


class _Game(pyspiel.Game):  # type: ignore[misc]  # bindings without types
    """See `pyspiel.Game`."""

    def __init__(self, name: str, params: Mapping[str, Any] | None = None) -> None:
        self.tree = _TREES[name]
        kit = self.tree.kit
        super().__init__(_type_of(kit), _info_of(kit), dict(params or {}))

    def new_initial_state(self) -> _State:
        """The first position."""
        return _State(self, self.tree.root)

    def make_py_observer(
        self,
        iig_obs_type: Any = None,  # noqa: ANN401 - bindings without types
        params: Mapping[str, Any] | None = None,
    ) -> _Observer | None:
        """Makes strings and tensors; None for other views than that of one seat."""
        if params:
            raise ExportError(f"an observer takes no parameters; given {dict(params)}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        is_own = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER and kind.public_info
        return _Observer(self.tree.kit, is_whole=bool(kind.perfect_recall)) if is_own else None


def registered(told: Mapping[str, Any]) -> Any:  # noqa: ANN401 - bindings without types
    """Register the game of a kit as `rulewright_NAME`, and return its `GameType`.

    Raises:
        ExportError: If it is no kit.
    """
    kit = kit_of(told)
    game_type = _type_of(kit)
    _TREES[kit.name] = _Tree(kit)
    make = partial(_Game, kit.name)
    setattr(make, "itself", make)  # noqa: B010 - pyspiel lets go of it when Python has ended: too late
    pyspiel.register_game(game_type, make)
    return game_type


def _type_of(kit: GameKit) -> Any:  # noqa: ANN401 - bindings without types
    kinds, total = pyspiel.GameType, kit.paid[2]
    utility = kinds.Utility.GENERAL_SUM if total is None else kinds.Utility.CONSTANT_SUM
    return kinds(
        short_name=f"rulewright_{kit.name}",
        long_name=kit.title,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC
        if kit.outcomes
        else kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.PERFECT_INFORMATION
        if kit.is_open
        else kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if total == 0 else utility,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=kit.num_players,
        min_num_players=kit.num_players,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
    )


_LONGER = 4  # times as many plies as self-play showed, at most


def _info_of(kit: GameKit) -> Any:  # noqa: ANN401 - bindings without types
    low, high, total = kit.paid
    return pyspiel.GameInfo(
        num_distinct_actions=kit.size,
        max_chance_outcomes=kit.outcomes,
        num_players=kit.num_players,
        min_utility=low,
        max_utility=high,
        utility_sum=total,
        max_game_length=_LONGER * kit.plies,
    )
