"""What a run works with: drawn once, a fifth held out, refused where it contradicts itself."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.roles.matches import in_full, shortened
from games.trajectories import TrajectoryError, match_line
from games.values import Json
from graph.learn.matches import MatchFiles, Material, shown_first, take_in
from graph.learn.settings import LearnSettings
from graph.run.folder import RunFolder
from tests.graph.learn.conftest import recorded
from tests.tools.predicting.material import matches_of
from tools.predicting.transition import RecordQuestions


def taken_in(path: Path, folder: RunFolder, settings: LearnSettings | None = None) -> Material:
    files = MatchFiles(folder)
    held, _ = take_in(path, files, settings or LearnSettings(seed=0))
    return files.material(held, 0)


def boards(found: Material) -> tuple[list[str], list[str]]:
    """The training and the held-out matches as lines, without their numbers."""
    both = found.training([]), found.heldout([])
    training, held = ([match_line(replace(m, match=0)) for m in part] for part in both)
    return training, held


def test_a_fifth_is_held_out_and_the_same_seed_draws_the_same(
    begun: Callable[..., RunFolder], tic_tac_toe: Path
) -> None:
    drawn = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        files = MatchFiles(begun(name))
        held, recorded_matches = take_in(tic_tac_toe, files, LearnSettings(seed=seed))
        assert (held, recorded_matches) == (6, 30)
        found = files.material(held, 0)
        assert len(found.matches) == 30
        drawn.append(boards(found))
    assert drawn[0] == drawn[1] != drawn[2]
    assert not set(drawn[0][0]) & set(drawn[0][1])


@pytest.mark.parametrize(("count", "held"), [(1, 0), (2, 1), (5, 1), (9, 1), (10, 2)])
def test_of_few_matches_one_is_held_out(
    begun: Callable[..., RunFolder], tmp_path: Path, count: int, held: int
) -> None:
    file = recorded(tmp_path / "few.jsonl", "openspiel:tic_tac_toe", count)
    assert taken_in(file, begun()).held == held


@pytest.mark.parametrize(
    ("name", "hides"),
    [
        ("library:goofspiel", True),  # a laid bid; the numbers are all seen elsewhere
        ("openspiel:kuhn_poker", True),
        ("openspiel:connect_four", False),
    ],
)
def test_what_is_hidden_shows_where_one_log_of_a_seat_fits_two_states(
    begun: Callable[..., RunFolder], tmp_path: Path, name: str, hides: bool
) -> None:
    file = recorded(tmp_path / "few.jsonl", name, 12)
    assert taken_in(file, begun()).hides == hides


def test_a_match_that_is_asked_for_again_takes_the_place_of_the_one_before(
    begun: Callable[..., RunFolder], tic_tac_toe: Path
) -> None:
    """As after a kill: the checkpoint does not know of the match, and its node asks anew."""
    files = MatchFiles(begun())
    held, _ = take_in(tic_tac_toe, files, LearnSettings(seed=0))
    first, second, third = matches_of("openspiel:tic_tac_toe", 3)
    for number, match in ((0, first), (1, second), (1, third)):
        files.add(number, match)
        assert files.material(held, number + 1).asked[number].actions == match.actions
    for again in (files, MatchFiles(files.folder)):
        asked = again.material(held, 2).asked
        assert [match.actions for match in asked] == [first.actions, third.actions]
        assert [match.match for match in asked] == [30, 31]  # behind the thirty of the file
        assert again.material(held, 1).asked == asked[:1]


def damaged(lines: list[str], how: str) -> str:
    if how == "cut off":
        return "".join(lines)[:-40]
    if how == "another start":
        row = json.loads(lines[2])
        row["positions"][0]["state"]["board"][0] = "o"
        lines[2] = json.dumps(row) + "\n"
    if how == "another successor":
        row = json.loads(lines[1]) | {"match": 1}
        row["positions"][1]["state"]["board"].reverse()
        lines[2] = json.dumps(row) + "\n"
    return "".join(lines)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("cut off", "cut off"),
        ("another start", "begins in another state than match 0"),
        ("another successor", "has the state of line 2, but another"),
    ],
)
def test_a_damaged_file_is_refused_wherever_the_damage_is(
    begun: Callable[..., RunFolder], tmp_path: Path, tic_tac_toe: Path, how: str, said: str
) -> None:
    file = tmp_path / "damaged.jsonl"
    file.write_text(damaged(tic_tac_toe.read_text().splitlines(keepends=True), how))
    settings = LearnSettings(training_matches=2, heldout_matches=1)  # few of them are kept
    with pytest.raises(TrajectoryError, match=said):
        taken_in(file, begun(), settings)


def test_the_match_shown_in_full_is_of_the_most_telling_the_shortest() -> None:
    poker = matches_of("openspiel:leduc_poker", 8)
    first = shown_first(poker)[0]
    assert {*map(id, shown_first(poker))} == {*map(id, poker)}
    words = {match.match: {a for a in match.actions if "Deal" not in a} for match in poker}
    assert len(words[first.match]) == max(map(len, words.values()))


def test_a_match_that_was_left_is_not_shown_as_one_that_ended() -> None:
    whole, other = matches_of("openspiel:tic_tac_toe", 2)
    left = replace(whole, positions=whole.positions[:-1], actions=whole.actions[:-1])
    left = replace(left, truncated=True)
    assert shown_first([left, other])[0] is other
    assert '"then":"the end"' in in_full(whole)
    assert '"then":"the end"' not in in_full(left)
    assert '"then":"the end"' not in shortened(other, [left])
    assert {row[2] for row in RecordQuestions.of([left]).records}.isdisjoint({"the end"})


def test_of_a_seat_s_view_each_line_shows_what_is_new_and_so_more_of_a_long_match_fits() -> None:
    (whole,) = matches_of("library:whist", 1)
    match = whole.seen_by(0)
    seen: dict[str, Json] = {}
    lines = in_full(match).splitlines()
    for step, (line, here) in enumerate(zip(lines, match.positions, strict=True)):
        row = json.loads(line.partition(": ")[2])
        seen = row.get("observation") or seen | row["changed"]
        seen = {name: value for name, value in seen.items() if name not in row.get("gone", [])}
        assert (seen, row.get("legal")) == (here.observation, here.row()["legal"]), step


def test_a_kind_that_only_the_gap_of_the_first_match_has_is_shown_of_another() -> None:
    (match,) = matches_of("openspiel:backgammon", 1)
    odd = replace(match.positions[100], state={**match.positions[100].state, "phase": "odd"})
    first = replace(match, positions=(*match.positions[:100], odd, *match.positions[101:]))
    assert '"phase":"odd"' not in in_full(first)
    assert '"phase":"odd"' in shortened(first, [first])


def test_an_observation_that_shares_nothing_with_the_state_is_shown_as_it_is() -> None:
    (match,) = matches_of("openspiel:kuhn_poker", 1)
    begun = match.positions[0]
    own = replace(begun, observations=({"I see": "a back"}, dict(begun.state)))
    line = in_full(replace(match, positions=(own, *match.positions[1:]))).splitlines()[0]
    row = json.loads(line.partition(": ")[2])
    assert row["observations"] == [{"I see": "a back"}, "as the state"]
