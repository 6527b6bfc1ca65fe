"""Heuristics that meet: what is chosen does not hang on who serves the matches."""

import pytest

from agents.players.registry import PRELOAD, PlayerRoster
from agents.protocols import Heuristic
from agents.strategy.contest import HeuristicContest
from games import library
from tools.playtest.jobs import GameSetup, SandboxRecipe
from tools.sandbox import Sandbox, Worker


def test_workers_that_serve_again_play_the_matches_of_fresh_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A recipe's workers are fresh in every match."""
    made: list[str] = []
    fresh = Sandbox.worker

    def counted(
        self: Sandbox, role: str, source: str | None = None, *, preloaded: bool = False
    ) -> Worker:
        made.append(role)
        return fresh(self, role, source, preloaded=preloaded)

    monkeypatch.setattr(Sandbox, "worker", counted)
    found = library.heuristic_sources("tic_tac_toe")
    candidates = [Heuristic(name=name, policy=name, source=found[name]) for name in sorted(found)]
    setup = GameSetup("tic_tac_toe", library.source("tic_tac_toe"), 2)
    with Sandbox(preload=PRELOAD) as sandbox:
        played, counts = [], []
        for place in (sandbox, SandboxRecipe(preload=PRELOAD)):
            contest = HeuristicContest(setup, candidates, PlayerRoster(), place, seed=3, matches=8)
            selection, kept = contest.select()
            entries = {key: series.entries for key, series in contest.played.items()}
            played.append((selection, kept, entries))
            counts.append(len(made))
            made.clear()
    assert played[0] == played[1]
    assert 0 < 4 * counts[0] < counts[1]
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
