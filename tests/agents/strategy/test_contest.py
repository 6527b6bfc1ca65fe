"""Heuristics that meet: what is chosen does not hang on who serves the matches."""

from typing import ClassVar

from pydantic import JsonValue

from agents.players.registry import PRELOAD, PlayerRoster
from agents.protocols import Heuristic
from agents.strategy.contest import HeuristicContest, counted_lines, fault_of
from games import library
from tools.playtest.jobs import GameSetup, SandboxRecipe
from tools.sandbox import Sandbox, Worker


class Counting(Sandbox):
    """A sandbox that keeps the roles of the workers it made."""

    made: ClassVar[list[str]] = []

    def worker(
        self,
        role: str,
        source: str | None = None,
        *,
        preloaded: bool = False,
        more: tuple[str, ...] = (),
    ) -> Worker:
        self.made.append(role)
        return super().worker(role, source, preloaded=preloaded, more=more)


class CountingRecipe(SandboxRecipe):
    """The recipe of such a sandbox."""

    def make(self) -> Sandbox:
        return Counting(preload=self.preload)


def test_workers_that_serve_again_play_the_matches_of_fresh_ones() -> None:
    """A recipe's workers are fresh in every match."""
    made = Counting.made
    found = library.heuristic_sources("tic_tac_toe")
    candidates = [Heuristic(name=name, policy=name, source=found[name]) for name in sorted(found)]
    setup = GameSetup("tic_tac_toe", library.source("tic_tac_toe"), 2)
    with Counting(preload=PRELOAD) as sandbox:
        played, counts = [], []
        for place in (sandbox, CountingRecipe(preload=PRELOAD)):
            contest = HeuristicContest(setup, candidates, PlayerRoster(), place, seed=3, matches=8)
            selection, kept = contest.select()
            entries = {key: series.entries for key, series in contest.played.items()}
            played.append((selection, kept, entries))
            counts.append(len(made))
            made.clear()
    assert played[0] == played[1]
    assert 0 < counts[0] < counts[1]
    assert len(played[0][2]) > len(candidates)


def test_nobody_is_scored_where_many_matches_do_not_end() -> None:
    # A match of tic-tac-toe has nine plies at most; those that need eight or nine are void here.
    found = library.heuristic_sources("tic_tac_toe")
    name = min(found)
    candidate = Heuristic(name=name, policy=name, source=found[name])
    setup = GameSetup("tic_tac_toe", library.source("tic_tac_toe"), 2)
    with Sandbox(preload=PRELOAD) as sandbox:
        stopped, whole = (
            HeuristicContest(
                setup, [candidate], PlayerRoster(), sandbox, seed=3, matches=20, max_plies=plies
            )
            for plies in (7, 9)
        )
        assert stopped.scores((name,), (), 10, fresh=False) == [None] * 10
        assert None not in whole.scores((name,), (), 10, fresh=False)
    (series,) = stopped.played.values()
    assert series.tables.scored


def test_the_work_of_a_ply_is_counted_in_lines_and_not_in_seconds() -> None:
    source = library.source("tic_tac_toe")
    looped = source.replace(
        "def get_rewards(state: State) -> list[float]:",
        "def get_rewards(state: State) -> list[float]:\n    for _ in range(500):\n        pass",
    )
    assert looped != source
    with Sandbox(preload=PRELOAD) as sandbox:
        plain, again, more = (
            counted_lines(GameSetup("tic_tac_toe", one, 2), sandbox)
            for one in (source, source, looped)
        )
    assert plain == again
    # Two lines a turn of the loop, in nearly every ply: some begin a match and apply nothing.
    assert 800 < more[0] - plain[0] <= 1001
    assert plain[0] < plain[1]
    assert plain[2] == 0


def test_the_work_of_heuristics_is_counted_for_every_action_of_a_position() -> None:
    """A line an action: a match of seven plies has (9 + 8 + ... + 3) / 7 = 6 legal ones a ply."""
    source, one = library.source("tic_tac_toe"), "def score(observation, action):\n    return 1\n"
    with Sandbox(preload=PRELOAD) as sandbox:
        single, double = (
            counted_lines(GameSetup("tic_tac_toe", source, 2, {}, heuristics), sandbox)[2]
            for heuristics in ({"one": one}, {"one": one, "two": one})
        )
    assert 3 < single < 8
    assert double == 2 * single


def test_an_import_that_no_heuristic_may_have_is_told_with_its_line() -> None:
    score = "def score(observation, action):\n    return 1.0\n"
    sample: dict[str, JsonValue] = {"observation": {}, "legal": ["a", "b"]}
    with Sandbox(preload=PRELOAD) as sandbox:
        told = [
            fault_of(Heuristic(name="h", policy="h", source=source), [sample], sandbox)
            for source in (score, f"from typing import Any\n{score}", f"{score}\nimport os, re\n")
        ]
    assert told[:2] == [None, None]
    assert str(told[2]).startswith("it imports os; allowed: ")
    assert str(told[2]).endswith("(line 4)")
