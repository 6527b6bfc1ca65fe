"""Heuristics without a model: features of observation and action, fitted to what play was worth.

Everything is a ridge regression over named features (`agents.encoding.features`), whose names with
their numbers are the fitted heuristic. First the worth of an observation, `V(o)`, is fitted to the
share of the win that its seat got in the end. An action's advantage is then fitted to

- "ahead": `V(o') - V(o)`, where o' is what the seat saw at its next turn (the outcome at the end);
- "outcome": the share of the win less `V(o)`;
- "searched": the mean return that a search gave the action, less the mean over the legal actions.

The features of an action are taken less their mean over the legal actions, so that only what tells
actions apart counts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pprint import pformat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, JsonValue

from agents.encoding.features import Look, parsed
from agents.protocols import Heuristic
from games.values import Action, Json, Observation
from tools.playtest.ratings import win_share

Named: TypeAlias = dict[str, float]
_FEWEST = 12  # rows that a feature must tell apart to be kept
_LEAST = 1e-6  # mean square of a feature that differs at all
_MOST = 700  # features of a fit
_COMPARED = 9  # legal actions that an action's features are held against
_PENALTY = 30.0
_LOOKED_AT = 300  # turns by which a board's reading is found
_SEAT_KEYS = ("you", "seat", "me", "self", "player_id", "own_seat")
_POLICIES = {
    "ahead": "Plays what led to the better situation at its next turn, in matches of its own.",
    "outcome": "Plays what more often led to a win in matches of its own.",
    "searched": "Plays what searches of sampled positions found to pay more.",
}


@dataclass(frozen=True)
class Turn:
    """One decision of a match: what was seen, chosen, and came of it."""

    observation: Observation
    legal: tuple[Action, ...]
    action: Action
    means: tuple[float | None, ...]
    after: Observation | None  # at the seat's next turn; None where it had no further one
    outcome: float


class TaughtTurn(BaseModel):
    """A decision as a worker tells it; see `agents.strategy.lessons`."""

    seat: int = Field(ge=0)
    observation: dict[str, JsonValue]
    legal: list[Action] = Field(min_length=1)
    action: Action
    means: list[float | None]


class TaughtMatch(BaseModel):
    """A match as a worker tells it."""

    decisions: list[TaughtTurn]
    returns: list[float]


def _turns_of(matches: Sequence[TaughtMatch], *, shared: bool) -> list[Turn]:
    """The decisions of taught matches; of a team the outcome is its return."""
    found: list[Turn] = []
    for match in matches:
        later: dict[int, Observation] = {}
        for turn in reversed(match.decisions):
            seat = turn.seat
            outcome = match.returns[seat] if shared else win_share(match.returns, seat)
            seen = turn.observation
            means, legal = tuple(turn.means), tuple(turn.legal)
            found.append(Turn(seen, legal, turn.action, means, later.get(seat), outcome))
            later[seat] = seen
    return found


@dataclass
class Rows:
    """Rows of named numbers with a target each."""

    rows: list[Named] = field(default_factory=list)
    targets: list[float] = field(default_factory=list)

    def add(self, row: Named, target: float) -> None:
        """One more."""
        self.rows.append(row)
        self.targets.append(target)

    def fitted(self) -> Named:
        """Ridge regression: weights w of `sum_i (y_i - w x_i)^2 + penalty |w|^2`, x scaled."""
        counts = Counter(name for row in self.rows for name, value in row.items() if value)
        frequent = [name for name, count in counts.most_common() if count >= _FEWEST]
        if not frequent:
            return {}
        columns = {name: index for index, name in enumerate(frequent)}
        square, cross = np.zeros(len(columns)), np.zeros(len(columns))
        y = np.array(self.targets)
        y = y - y.mean()
        for row, target in zip(self.rows, y, strict=True):
            for name, value in row.items():
                if (index := columns.get(name)) is not None:
                    square[index] += value * value
                    cross[index] += value * target
        scale = np.sqrt(square / len(y))
        told = np.flatnonzero(square > _LEAST * len(y))
        kept = told[np.argsort(-(cross**2 / square)[told], kind="stable")[:_MOST]]
        place = {frequent[index]: number for number, index in enumerate(kept)}
        gram, right = np.zeros((len(kept), len(kept))), np.zeros(len(kept))
        for first, x in self._blocks(place, scale[kept]):
            gram += x.T @ x.copy()  # of one array alone, it would be summed in another order
            right += x.T @ y[first : first + len(x)]
        gram[np.diag_indices_from(gram)] += _PENALTY
        solved = np.linalg.solve(gram, right) / scale[kept]
        return {name: float(f"{solved[i]:.4g}") for name, i in place.items()}

    def _blocks(
        self, place: Mapping[str, int], scale: NDArray[Any]
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        for first in range(0, len(self.rows), 4096):
            block = self.rows[first : first + 4096]
            x = np.zeros((len(block), len(place)))
            for number, row in enumerate(block):
                for name, value in row.items():
                    if name in place:
                        x[number, place[name]] = value
            yield first, x / scale


def reading_of(turns: Sequence[Turn], num_players: int) -> dict[str, Json]:
    """The settings of `Look` for the observations of a game."""
    first = turns[0].observation
    still: list[Json] = [
        key for key in sorted(first) if all(t.observation.get(key) == first[key] for t in turns)
    ]
    seat = next((key for key in _SEAT_KEYS if isinstance(first.get(key), int)), None)
    reading: dict[str, Json] = {
        "seat": seat,
        "players": num_players,
        "still": [key for key in still if key != seat],
        "flip": True,
        "blank": ".",
    }
    symbols = Counter(
        symbol
        for turn in turns[-_LOOKED_AT:]
        for row in Look(turn.observation, reading).board
        for symbol in row
    )
    if symbols:
        reading["blank"] = symbols.most_common(1)[0][0]
        reading["flip"] = min((True, False), key=lambda flip: _surprise(turns, reading, flip))
    return reading


def _surprise(turns: Sequence[Turn], reading: Mapping[str, Json], flip: bool) -> float:
    """The entropy of what stands where actions go, if row 1 is the board's last row, or first."""
    met: Counter[str] = Counter()
    for turn in turns[:_LOOKED_AT]:
        look = Look(turn.observation, {**reading, "flip": flip})
        arguments = parsed(turn.action)[1]
        at = look.place(arguments[:1])
        met[look.who(look.board[at[0]][at[1]]) if at else ""] += 1
    shares = np.array(list(met.values())) / met.total()
    return float(-(shares * np.log(shares)).sum())


def fitted_heuristics(
    matches: Sequence[TaughtMatch], num_players: int, *, shared: bool, seed: int
) -> list[Heuristic]:
    """The three heuristics that matches teach; none where no match ended or nothing was chosen.

    Args:
        matches: What was played.
        num_players: Seats.
        shared: Whether all seats are paid alike.
        seed: Of the legal actions that others are held against.
    """
    turns = _turns_of(matches, shared=shared)
    if not turns:
        return []
    reading = reading_of(turns, num_players)
    looks = [Look(turn.observation, reading) for turn in turns]
    values = _values(turns, looks, reading)
    generator = np.random.default_rng(seed)
    rows = {name: Rows() for name in _POLICIES}
    for turn, look, (now, then) in zip(turns, looks, values, strict=True):
        named = _compared(turn, look, generator)
        if turn.means:
            tried = {a: m for a, m in zip(turn.legal, turn.means, strict=True) if m is not None}
            mean = sum(tried.values()) / max(len(tried), 1)
            for action, worth in tried.items():
                rows["searched"].add(named[action], worth - mean)
        rows["ahead"].add(named[turn.action], then - now)
        rows["outcome"].add(named[turn.action], turn.outcome - now)
    return [
        Heuristic(name=f"fitted_{name}", policy=_POLICIES[name], source=_source(reading, weights))
        for name, held in rows.items()
        if (weights := held.fitted())
    ]


def _values(
    turns: Sequence[Turn], looks: Sequence[Look], reading: Mapping[str, Json]
) -> list[tuple[float, float]]:
    """Of each turn, the worth of what was seen, and of what was seen at the next (or the end)."""
    rows = Rows()
    for turn, look in zip(turns, looks, strict=True):
        rows.add(dict(look.context), turn.outcome)
    weights = rows.fitted()

    def worth(look: Look) -> float:
        return sum(weights.get(name, 0.0) * value for name, value in look.context)

    now = [worth(look) for look in looks]
    offset = float(np.mean(rows.targets) - np.mean(now))
    return [
        (
            offset + before,
            turn.outcome if turn.after is None else offset + worth(Look(turn.after, dict(reading))),
        )
        for turn, before in zip(turns, now, strict=True)
    ]


def _source(reading: Mapping[str, Json], weights: Named) -> str:
    """A heuristic of its own: the text of the features, with these numbers."""
    text = (files("agents.encoding") / "features.py").read_text(encoding="utf-8")
    held: dict[str, Mapping[str, Any]] = {
        "SETTINGS: dict[str, Any]": reading,
        "WEIGHTS: dict[str, float]": weights,
    }
    for name, shown in held.items():
        text = text.replace(f"{name} = {{}}", f"{name} = {pformat(dict(shown), width=100)}")
    return text


def _of_action(look: Look, action: Action, *, alone: bool) -> Named:
    """The features of an action; where shapes differ, also the observation's under its shape."""
    shape, found = look.of(action)
    named = Named()
    for name, value in found:
        named[name] = named.get(name, 0.0) + value
    if not alone:
        named[shape] = 1.0
        for name, value in look.context:
            named[f"{shape}*{name}"] = float(value)
    return named


def _compared(turn: Turn, look: Look, generator: np.random.Generator) -> dict[Action, Named]:
    """The features of some legal actions, the chosen one among them, less their mean."""
    legal = turn.legal
    if len(legal) > _COMPARED and not turn.means:
        drawn = generator.choice(len(legal), _COMPARED - 1, replace=False)
        legal = tuple(dict.fromkeys((turn.action, *(legal[int(i)] for i in drawn))))
    alone = len({look.of(action)[0] for action in legal}) == 1
    found = {action: _of_action(look, action, alone=alone) for action in legal}
    mean = Named()
    for named in found.values():
        for name, value in named.items():
            mean[name] = mean.get(name, 0.0) + value / len(found)
    return {
        action: {
            name: value - mean[name] for name, value in ({n: 0.0 for n in mean} | named).items()
        }
        for action, named in found.items()
    }
