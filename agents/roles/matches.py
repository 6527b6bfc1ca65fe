"""Recorded matches as prompts quote them: in full, around a ply, or shortened."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from games.trajectories import (
    OpenPosition,
    OpenTrajectory,
    SeenPosition,
    SeenTrajectory,
    Trajectory,
    phase_of,
)
from games.values import (
    CHANCE,
    TERMINAL,
    Json,
    canonical_key,
    type_of,
)
from tools.predicting import cut

_WHOLE = 40_000  # characters of the match that is shown in full
_OTHERS = 14_000
_POSITION = 2_600
_VIEWS = 4  # times that observations of one kind are shown
_AROUND = 16  # plies that are shown with a failing test
_LEGAL = 8  # outcomes of chance that are shown of each ply


def in_full(match: Trajectory) -> str:
    """A match, a line a ply; each line holds what is new since the one before."""
    return "\n".join(
        _both_ends(_lines(match), lambda step: f"{step}: {_whole_position(match, step)}")
    )


def _lines(match: Trajectory) -> list[str]:
    return [*(_seen_lines(match) if isinstance(match, SeenTrajectory) else _ply_lines(match))]


def around(match: OpenTrajectory, position: int) -> str:
    """Plies of a match from one before a position on, the first line whole."""
    first = max(position - 1, 0)
    lines = [*_ply_lines(match)][first : first + _AROUND]
    return cut("\n".join([f"{first}: {_whole_position(match, first)}", *lines[1:]]), _OTHERS)


def _both_ends(lines: Sequence[str], whole: Callable[[int], str]) -> list[str]:
    """The lines; where they are too long their beginning and, as half as much, their end.

    What the line after the gap does not say stands in none before it: it is told as a whole.
    """
    gap = _left_out(lines)
    if not gap:
        return list(lines)
    after = [whole(step) for step in range(len(lines))[gap.stop : gap.stop + 1]]
    told = f"... {len(gap)} plies left out ..."
    return [*lines[: gap.start], told, *after, *lines[gap.stop + 1 :]]


def _left_out(lines: Sequence[str]) -> range:
    """The lines in the middle that there is no room for."""
    if sum(map(len, lines)) <= _WHOLE:
        return range(0)
    first, last, room = 0, len(lines), _WHOLE * 2 // 3
    while first < last and room > len(lines[first]):
        room -= len(lines[first])
        first += 1
    room = _WHOLE // 3
    while first < last and room > len(lines[last - 1]):
        last -= 1
        room -= len(lines[last])
    return range(first, last)


def shortened(first: Trajectory, matches: Sequence[Trajectory]) -> str:
    """Of further matches the end, and the first ply of each kind that none before it has shown.

    What is left out of the first match, which is shown in full but for that, shows nothing.
    """
    told: list[str] = []
    hidden = _left_out(_lines(first))
    known = {kind for n, kind in enumerate(_kinds(first)) if n not in hidden}
    for match in matches:
        kinds = [*_kinds(match)]
        last = len(match.positions) - 1
        fresh = [n for n, kind in enumerate(kinds) if kind not in known and n != last]
        chosen: dict[object, int] = {}
        for n in fresh:
            chosen.setdefault(kinds[n], n)
        known |= {*kinds}
        told.append(f"match {match.match}, {len(match.actions)} actions")
        for n in (*sorted(chosen.values()), last):
            told.append(cut(f"{n}: {_whole_position(match, n)}", _POSITION))
    return cut("\n".join(told), _OTHERS)


def _kinds(match: Trajectory) -> Iterator[tuple[str, str]]:
    """Phase and type of action of every position."""
    positions: Sequence[OpenPosition | SeenPosition] = match.positions
    for step, here in enumerate(positions):
        action = match.actions[step] if step < len(match.actions) else None
        kind = "" if action is None else type_of(action)
        state = here.state if isinstance(here, OpenPosition) else here.observation
        yield phase_of(state, here.player or 0), kind


def _ply_lines(match: OpenTrajectory) -> Iterator[str]:
    """A line a ply: the state whole where one begins to decide, else what changed of it.

    Of several plies of chance in a row only the first shows more than its outcome.
    """
    shown: dict[str, Json] = {}
    views: Counter[str] = Counter()
    before: OpenPosition | None = None
    for step, here in enumerate(match.positions):
        action = _action(match, step) or ""
        alike = before is not None and before.player == CHANCE == here.player
        if alike and type_of(match.actions[step - 1]) == type_of(action):
            yield f"{step}: {canonical_key({'player': CHANCE, 'then': action})}"
            continue
        row = _row(here)
        row["then"] = action
        places = canonical_key([here.player, phase_of(here.state, here.player), _places(here)])
        views[places] += 1
        if views[places] > _VIEWS and here.player != TERMINAL:
            del row["observations"]
        if before is not None and here.player != TERMINAL and shown:
            row |= _new_in(here.state, shown)
            del row["state"]
        yield f"{step}: {canonical_key(row)}"
        shown, before = here.state, here


def _new_in(now: Mapping[str, Json], before: Mapping[str, Json]) -> dict[str, Json]:
    """New parts of a state or an observation, and the names of those that are gone."""
    gone: list[Json] = [*sorted(before.keys() - now.keys())]
    changed = {k: v for k, v in now.items() if k not in before or before[k] != v}
    return {"changed": changed, **({"gone": gone} if gone else {})}


def _places(here: OpenPosition) -> list[Json]:
    """The parts in which each seat's observation differs from the state."""
    return [
        [*sorted(k for k in {*seen, *here.state} if seen.get(k) != here.state.get(k))]
        for seen in here.observations
    ]


def _row(here: OpenPosition) -> dict[str, Json]:
    """A position, its observations by how they differ from the state."""
    row = here.row()
    legal = list(here.legal)
    if here.player == CHANCE and here.count > _LEGAL:
        row["legal"] = [*legal[:_LEGAL], f"... {here.count} outcomes in all"]
    if not here.is_uneven:  # as most are; what is told of `legal` is told of its odds
        row.pop("odds", None)
    elif here.count > _LEGAL:
        row["odds"] = [*here.odds[:_LEGAL], "..."]
    views: list[Json] = []
    for seen in here.observations:
        other = {k: v for k, v in seen.items() if k not in here.state or here.state[k] != v}
        lacking: list[Json] = [*sorted(here.state.keys() - seen.keys())]
        shared = other != seen  # else it would stand there whole, and what it lacks besides
        differs: Json = {"as the state, but": other, "without": lacking} if shared else seen
        views.append("as the state" if not other and not lacking else differs)
    row["observations"] = views
    if not any(here.rewards):
        del row["rewards"]
    return row


def _whole_position(match: Trajectory, step: int) -> str:
    if isinstance(match, SeenTrajectory):
        return canonical_key(_seen_row(match, step))
    return canonical_key({**_row(match.positions[step]), "then": _action(match, step)})


def _action(match: Trajectory, step: int) -> str | None:
    """The action at a position, None if unseen; at the last one, the reason for none."""
    if step < len(match.actions):
        return match.actions[step]
    return "(the recording stops before the end)" if match.truncated else "the end"


def _seen_lines(match: SeenTrajectory) -> Iterator[str]:
    """A line a place: the observation whole where the match begins, then what changed of it."""
    for step, here in enumerate(match.positions):
        row = _seen_row(match, step)
        if step:
            row |= _new_in(here.observation, match.positions[step - 1].observation)
            del row["observation"]
        yield f"{step}: {canonical_key(row)}"


def _seen_row(match: SeenTrajectory, step: int) -> dict[str, Json]:
    """A seat's knowledge at one place; null values are left out."""
    row = {**match.positions[step].row(), "then": _action(match, step)}
    return {k: v for k, v in row.items() if v is not None and (v or k != "reward")}
