"""Trajectory files: what is written is read back; whatever cannot be so is refused by line."""

import json
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.checks.sampling import UniformPlayer
from games.engine import play_match
from games.environments import Environment
from games.environments.reading import read_trajectories
from games.environments.registry import environment_named
from games.table import Position
from games.trajectories import (
    MOST_OUTCOMES,
    OpenTrajectory,
    SeenTrajectory,
    Trajectory,
    TrajectoryError,
    TrajectoryHeader,
    header_line,
    match_line,
    trajectory_of,
)
from games.values import CHANCE, TERMINAL, Json

HEADER = TrajectoryHeader("library:kuhn_poker", 2, {"ante": 1}, "open", None, "random", 3, 2)


@dataclass
class Kept:
    """A table that keeps its positions, as a recorder does."""

    environment: Environment
    positions: list[Position] = field(default_factory=list)

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        return self._keep(self.environment.open(num_players, parameters))

    def advance(self, position: Position, action: str) -> Position:
        return self._keep(self.environment.advance(position, action))

    def _keep(self, position: Position) -> Position:
        self.positions.append(position)
        return position


def recorded(name: str, match: int, max_plies: int = 500) -> OpenTrajectory:
    environment = environment_named(name)
    table = Kept(environment)
    players = [UniformPlayer() for _ in range(environment.num_players)]
    played = play_match(
        table,
        players,
        parameters=environment.parameters,
        seed=3,
        match=match,
        max_plies=max_plies,
    )
    return trajectory_of(match, table.positions, [ply.action for ply in played.plies])


@pytest.fixture(scope="module")
def matches() -> list[OpenTrajectory]:
    return [recorded("kuhn_poker", match) for match in range(2)]


def written(path: Path, *matches: Trajectory, header: TrajectoryHeader = HEADER) -> Path:
    lines = [header_line(replace(header, matches=len(matches))), *map(match_line, matches)]
    path.write_text("".join(lines))
    return path


def test_what_is_written_is_read_back(tmp_path: Path, matches: list[OpenTrajectory]) -> None:
    header, found = read_trajectories(written(tmp_path / "t.jsonl", *matches))
    assert header == HEADER
    assert list(found) == matches


def test_odds_of_chance_are_read_back_and_files_without_them_too(
    tmp_path: Path, matches: list[OpenTrajectory]
) -> None:
    first = matches[0].positions[0]
    assert (first.odds, first.is_uneven) == ((1 / 3, 1 / 3, 1 / 3), False)
    for odds, kept in (((0.5, 0.3, 0.2), [0.5, 0.3, 0.2]), (first.odds, "equal"), ((), None)):
        rest = [replace(position, odds=()) for position in matches[0].positions[1:]]
        match = replace(matches[0], positions=(replace(first, odds=odds), *rest))
        file = written(tmp_path / "t.jsonl", match)
        row = json.loads(file.read_text().splitlines()[1])
        assert row["positions"][0].get("odds") == kept
        assert list(read_trajectories(file)[1]) == [match]


@pytest.mark.parametrize(
    ("position", "odds"),
    [(0, [0.5, 0.5]), (0, [1.0, 0.5, -0.5]), (0, [0.5, 0.3, 0.1]), (0, "even"), (2, "equal")],
)
def test_odds_that_are_none_are_refused(
    tmp_path: Path, matches: list[OpenTrajectory], position: int, odds: Json
) -> None:
    file = written(tmp_path / "t.jsonl", matches[0])
    header, line = file.read_text().splitlines()
    row = json.loads(line)
    row["positions"][position]["odds"] = odds
    file.write_text(f"{header}\n{json.dumps(row)}\n")
    with pytest.raises(TrajectoryError, match=r"line 2: .*odds"):
        list(read_trajectories(file)[1])


@pytest.mark.parametrize(("odds", "alike"), [((0.2, 0.3, 0.5), True), ((0.5, 0.3, 0.2), False)])
def test_odds_belong_to_their_outcomes_in_whatever_order_these_stand(
    tmp_path: Path, matches: list[OpenTrajectory], odds: tuple[float, ...], alike: bool
) -> None:
    first = replace(matches[0].positions[0], odds=(0.5, 0.3, 0.2))
    other = replace(first, legal=first.legal[::-1], odds=odds)
    one, two = (
        replace(matches[0], match=number, positions=(begun, *matches[0].positions[1:]))
        for number, begun in enumerate((first, other))
    )
    _, found = read_trajectories(written(tmp_path / "t.jsonl", one, two))
    if alike:
        assert list(found) == [one, two]
    else:
        with pytest.raises(TrajectoryError, match="line 3: .*the state of line 2, but another"):
            list(found)


def test_a_match_left_early_is_read_back_as_such(tmp_path: Path) -> None:
    early = recorded("kuhn_poker", 0, max_plies=1)
    assert early.truncated
    assert list(read_trajectories(written(tmp_path / "t.jsonl", early))[1]) == [early]


def test_every_seat_of_a_closed_deck_is_read_back(
    tmp_path: Path, matches: list[OpenTrajectory]
) -> None:
    for seat in (0, 1):
        views = [match.seen_by(seat) for match in matches]
        header = replace(HEADER, deck="closed", seat=seat)
        _, found = read_trajectories(written(tmp_path / "t.jsonl", *views, header=header))
        assert list(found) == views


def test_a_closed_deck_tells_nothing_of_a_hand_that_was_never_shown(
    matches: list[OpenTrajectory],
) -> None:
    for match in matches:
        for seat in (0, 1):
            view = match.seen_by(seat)
            assert [p.player for p in view.positions if p.player not in (None, TERMINAL)] == [
                seat
            ] * sum(position.player == seat for position in match.positions)
            # What both seats hold is dealt by the first two chance plies, seat by seat.
            other = match.actions[1 - seat].split()[-1]
            before = [json.dumps(p.observation) for p in view.positions[:-1]]
            assert not any(f'"{other}"' in text for text in before)
            assert all(
                a is None or p.player == seat
                for p, a in zip(view.positions[:-1], view.actions, strict=True)
            )


def test_a_view_pays_what_the_match_pays(matches: list[OpenTrajectory]) -> None:
    for match in matches:
        for seat in (0, 1):
            paid = sum(position.rewards[seat] for position in match.positions)
            assert sum(position.reward for position in match.seen_by(seat).positions) == paid


@pytest.mark.parametrize("hidden", [1, 2, 5])
def test_a_view_does_not_tell_how_many_hidden_plies_passed(hidden: int) -> None:
    """Seat 0 acts; then others act so many times that it cannot see; then it is its turn."""
    saw: tuple[dict[str, Json], ...] = ({"hand": 3}, {"x": 0})

    def met(ply: int, player: int, options: tuple[str, ...] = ("go", "stay")) -> Position:
        return Position({"ply": ply}, player, options, (), (1.0, 0.0), saw, ((), ()))

    plies = [met(0, 0), *[met(ply + 1, 1) for ply in range(hidden)], met(hidden + 1, 0)]
    end = met(hidden + 2, TERMINAL, ())
    view = trajectory_of(0, [*plies, end], ["go"] * len(plies)).seen_by(0)
    assert [position.player for position in view.positions] == [0, 0, TERMINAL]
    assert view.actions == ("go", "go")
    assert view.positions[1].reward == hidden + 1


def test_only_the_number_of_many_outcomes_is_kept(tmp_path: Path) -> None:
    outcomes = tuple(f"draw {number}" for number in range(MOST_OUTCOMES + 1))
    start = Position({"n": 0}, CHANCE, outcomes, (), (0.0,), ({"n": 0},), ((),))
    end = Position({"n": 7}, TERMINAL, (), (), (1.0,), ({"n": 7},), ((),))
    match = trajectory_of(0, [start, end], ["draw 7"])
    header = replace(HEADER, num_players=1)
    path = written(tmp_path / "t.jsonl", match, header=header)
    assert json.loads(path.read_text().splitlines()[1])["positions"][0]["legal"] == {"count": 201}
    assert list(read_trajectories(path)[1]) == [match]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None)
@given(states=st.lists(st.dictionaries(st.text(max_size=3), json_values), min_size=1, max_size=4))
def test_any_json_state_survives_the_file(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, Json]]
) -> None:
    told = [{**state, "ply": ply} for ply, state in enumerate(states)]
    positions = [
        Position(state, 0, ("on", "off"), (), (0.5,), ({"seen": state},), ((),)) for state in told
    ]
    last = replace(positions[-1], player=TERMINAL, legal=())
    match = trajectory_of(0, [*positions[:-1], last], ["on"] * (len(told) - 1))
    path = tmp_path_factory.mktemp("any") / "t.jsonl"
    header = replace(HEADER, num_players=1)
    assert list(read_trajectories(written(path, match, header=header))[1]) == [match]
    seen = match.seen_by(0)
    header = replace(header, deck="closed", seat=0)
    assert list(read_trajectories(written(path, seen, header=header))[1]) == [seen]


Change = Callable[[dict[str, Any]], object]


def position(index: int, name: str, value: object) -> Change:
    return lambda row: row["positions"][index].__setitem__(name, value)


BAD_HEADERS: dict[str, tuple[str, object]] = {
    "format": ("format", "something else"),
    "version": ("version", 2),
    "deck": ("deck", "half-open"),
    "seat": ("seat", 0),
    "num_players": ("num_players", 0),
    "matches": ("matches", 0),
    "seed": ("seed", "3"),
    "parameters": ("parameters", []),
    "policy": ("policy", 7),
    "odd": ("odd", 1),
}


@pytest.mark.parametrize("name", BAD_HEADERS)
def test_a_bad_header_is_refused_with_its_field(
    tmp_path: Path, matches: list[OpenTrajectory], name: str
) -> None:
    path = written(tmp_path / "t.jsonl", *matches)
    first, *rest = path.read_text().splitlines()
    field_name, value = BAD_HEADERS[name]
    path.write_text("\n".join([json.dumps({**json.loads(first), field_name: value}), *rest]))
    with pytest.raises(TrajectoryError, match=rf"t\.jsonl line 1: .*{name}"):
        read_trajectories(path)


def deep(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = [value]
    return value


BAD_MATCHES: dict[str, tuple[Change, str]] = {
    "another index": (lambda row: row.update(match=5), "match is 5"),
    "no positions": (lambda row: row.update(positions=[]), "positions is"),
    "an action too many": (lambda row: row["actions"].append("x"), "one action fewer"),
    "an illegal action": (lambda row: row["actions"].__setitem__(2, "fly"), "position 2.*'fly'"),
    "a field too many": (lambda row: row.update(odd=1), "odd is 1"),
    "truncated at its end": (lambda row: row.update(truncated=True), "not both"),
    "truncated in words": (lambda row: row.update(truncated="yes"), "truncated is 'yes'"),
    "a state that is none": (position(1, "state", [1]), "positions 1 state is"),
    "a seat that is none": (position(2, "player", 2), "position 2: player is 2"),
    "a seat as truth": (position(2, "player", True), "positions 2 player is True"),
    "an early end": (position(1, "player", TERMINAL), "position 1: legal"),
    "an action twice": (position(2, "legal", ["bet", "bet"]), "twice"),
    "a count that is small": (position(0, "legal", {"count": 3}), "positions 0 legal"),
    "a reward too few": (position(1, "rewards", [0]), "position 1: rewards.*one a seat, 2"),
    "a reward beyond the contract's": (
        position(1, "rewards", [1e13, 0]),
        "rewards 0 is 1.*less than or equal",
    ),
    "a reward in words": (position(1, "rewards", ["a", 0]), "positions 1 rewards 0 is 'a'"),
    "half a sign": (position(1, "state", {"n": ["\ud83d"]}), "positions 1 state n 0 holds half"),
    "half a sign as a key": (position(1, "state", {"\udca9": 1}), "positions 1 state a key holds"),
    "half a sign as an action": (lambda row: row["actions"].__setitem__(0, "\ud83d"), "actions 0"),
    "a state too deep": (position(1, "state", {"n": deep(64)}), "position 1: state.*64 levels"),
    "an observation too few": (position(1, "observations", [{}]), "one a seat, 2"),
}


@pytest.mark.parametrize("name", BAD_MATCHES)
def test_a_bad_match_is_refused_with_its_line_and_place(
    tmp_path: Path, matches: list[OpenTrajectory], name: str
) -> None:
    change, said = BAD_MATCHES[name]
    path = written(tmp_path / "t.jsonl", *matches)
    lines = path.read_text().splitlines()
    row = json.loads(lines[2])
    change(row)
    path.write_text("\n".join([*lines[:2], json.dumps(row)]) + "\n")
    _, found = read_trajectories(path)
    assert next(found) == matches[0]
    with pytest.raises(TrajectoryError, match=rf"t\.jsonl line 3: .*{said}"):
        next(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\x00\xff\n", "no JSON"),
        (b"[1, 2]\n", r"\[1, 2\]: .*dictionary"),
        (b'{"match": NaN}\n', "NaN"),
        (b'{"match": 1e999}\n', "1e999"),
        (b"[" * 100_000 + b"\n", "no JSON"),
        (b'{"match": 0, "posit', "no JSON"),
    ],
)
def test_a_damaged_line_is_refused(
    tmp_path: Path, matches: list[OpenTrajectory], text: bytes, said: str
) -> None:
    path = written(tmp_path / "t.jsonl", *matches)
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(first + text)
    with pytest.raises(TrajectoryError, match=rf"t\.jsonl line 2: .*{said}"):
        list(read_trajectories(path)[1])


def test_reading_holds_one_match_at_a_time(tmp_path: Path, matches: list[OpenTrajectory]) -> None:
    views = [replace(matches[n % 2].seen_by(0), match=n) for n in range(600)]
    header = replace(HEADER, deck="closed", seat=0)
    path = written(tmp_path / "t.jsonl", *views, header=header)
    tracemalloc.start()
    assert sum(1 for _ in read_trajectories(path)[1]) == 600
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 3


def test_a_file_cut_off_between_lines_is_refused(
    tmp_path: Path, matches: list[OpenTrajectory]
) -> None:
    path = written(tmp_path / "t.jsonl", *matches)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(TrajectoryError, match="after 1 of 2 matches"):
        list(read_trajectories(path)[1])


def test_a_line_too_many_an_empty_file_and_none_are_refused(
    tmp_path: Path, matches: list[OpenTrajectory]
) -> None:
    path = written(tmp_path / "t.jsonl", *matches)
    path.write_text(path.read_text() + match_line(replace(matches[1], match=2)))
    with pytest.raises(TrajectoryError, match="line 4: follows the last match"):
        list(read_trajectories(path)[1])
    path.write_text("")
    with pytest.raises(TrajectoryError, match=r"t\.jsonl is empty"):
        read_trajectories(path)
    with pytest.raises(TrajectoryError, match="cannot be read"):
        read_trajectories(tmp_path / "none.jsonl")


def test_lines_that_contradict_each_other_are_refused(
    tmp_path: Path, matches: list[OpenTrajectory]
) -> None:
    start = matches[0].positions[0]
    told_otherwise = replace(start, observations=({"a": 1}, {"b": 2}))
    later = replace(matches[1], positions=(told_otherwise, *matches[1].positions[1:]))
    path = written(tmp_path / "t.jsonl", matches[0], later)
    with pytest.raises(TrajectoryError, match=r"line 3: position 0: has the state of line 2"):
        list(read_trajectories(path)[1])
    # The same first card, but another state after it.
    odd = replace(matches[0].positions[1], state={"odd": 1})
    same = replace(matches[0], match=1, positions=(start, odd, *matches[0].positions[2:]))
    written(path, matches[0], same)
    with pytest.raises(TrajectoryError, match=r"line 3: position 0: .*same action"):
        list(read_trajectories(path)[1])


def test_a_closed_deck_that_holds_what_the_seat_cannot_know_is_refused(
    tmp_path: Path, matches: list[OpenTrajectory]
) -> None:
    view = matches[0].seen_by(0)
    header = replace(HEADER, deck="closed", seat=0)
    own = next(n for n, p in enumerate(view.positions) if p.player == 0)
    other = next(n for n, p in enumerate(view.positions) if p.player is None)

    def with_position(index: int, **fields: object) -> SeenTrajectory:
        changed = replace(view.positions[index], **fields)  # type: ignore[arg-type]
        return replace(
            view, positions=(*view.positions[:index], changed, *view.positions[index + 1 :])
        )

    bad = {
        "player is 1": with_position(other, player=1),
        "own turns only": with_position(other, legal=("bet",)),
        "action is": replace(view, actions=tuple("peek" for _ in view.actions)),
        "legal is": with_position(own, legal=None),
    }
    for said, match in bad.items():
        path = written(tmp_path / "t.jsonl", match, header=header)
        with pytest.raises(TrajectoryError, match=f"line 2: .*{said}"):
            list(read_trajectories(path)[1])
