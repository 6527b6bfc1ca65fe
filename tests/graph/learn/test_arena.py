"""The arena of a run: the model's player in the environment, and what play shows of the model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from games.trajectories import TrajectoryError
from graph.learn.report import final_words
from graph.learn.runs import run_learning
from graph.run.folder import RunFolder
from tests.agents.model.endpoint import serving
from tests.graph.learn.conftest import Learn, learning, recorded, told_of
from tests.graph.learn.test_hidden import DRAWING, MODEL
from tests.graph.learn.test_learning import FILES, Killed, code, without_use
from tests.learned import model_file
from tests.tools.predicting.material import TIC_TAC_TOE, changed, matches_of
from tools.playtest.jobs import MatchEntry
from tools.predicting.arena import Paid, paid_together
from tools.sandbox import Sandbox

# Who folds loses, the first seat too: what its recorded matches never showed, the model has wrong.
UNSEEN = ["Pass", "Bet", "Pass"]
FAULTY = changed(MODEL, ("wins = len(betting) == 2", "wins = True"))
APART = changed(
    MODEL,
    (
        "wins = len(betting) == 2",
        "wins = True\n    if len(betting) == 3 and pot == 1:\n        wins = False",
    ),
)
PLAYS: dict[str, Any] = {"environment": "openspiel:kuhn_poker", "arena": 2}


@pytest.fixture(scope="session")
def partial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Matches none of which shows the betting that the model is wrong about."""
    matches = [m for m in matches_of("openspiel:kuhn_poker", 60) if [*m.actions[2:]] != UNSEEN]
    path = tmp_path_factory.mktemp("k") / "k.jsonl"
    return recorded(path, "openspiel:kuhn_poker", len(matches), of=matches)


def test_what_surprises_the_model_in_play_is_named_and_it_has_not_passed(
    learn: Learn, partial: Path
) -> None:
    events: list[dict[str, Any]] = []
    with serving(code(FAULTY), code(DRAWING)) as endpoint:
        done = learn(endpoint, tell=events.append, matches=partial, **PLAYS)
    told = told_of(done)
    assert [(e["against"], e["played"], e["of"]) for e in events if "against" in e] == [
        (opponent, played, 4) for opponent in ("random", "gt") for played in range(5)
    ]
    assert {"begins": "arena"} in events
    assert {"answered": "modeller"} in events
    assert (told["end"], told["accuracy"]) == ("incomplete", 1.0)
    assert "transitions of play were predicted wrong" in told["reason"]
    rows = told["arena"][0]["rows"]
    assert [(row["opponent"], row["matches"]) for row in rows] == [("random", 4), ("gt", 4)]
    assert min(row["transitions"] for row in rows) < 1
    first = next(row["first wrong"] for row in rows if "first wrong" in row)
    assert first.startswith("get_rewards, match ")
    assert "expected: " in first
    assert first.splitlines()[0] in told["reason"]
    assert [row["forfeits"] for row in rows] == [0, 0]
    page = (done.folder.path / "report.html").read_text()
    assert "finished: 4, unfinished: 0" in page
    assert "failed when held out: none" in page
    paid = rows[0]["paid over the others"]
    said = f"{paid['value']:+.3f} ({paid['low']:.3f} to {paid['high']:.3f}) paid over the others"
    assert said in final_words(done.report, done.folder)


def test_what_surprises_the_model_goes_back_into_refinement_and_its_draws_are_kept(
    learn: Learn, partial: Path
) -> None:
    events: list[dict[str, Any]] = []
    with serving(code(FAULTY), code(DRAWING), code(MODEL)) as endpoint:
        done = learn(endpoint, tell=events.append, matches=partial, keep_learning=True, **PLAYS)
        asked = [request["messages"][1]["content"] for request in endpoint.requests]
    told = told_of(done)
    assert told["calls"] == {"transition": 2, "inference": 1}
    assert len(told["arena"]) == 2
    assert [row["transitions"] for row in told["arena"][1]["rows"]] == [1, 1]
    assert told["inferred"]["accuracy"] == 1
    again = next(event for event in events if "tested again" in event)
    assert float(again["accuracy"]) < 1
    assert told["matches"]["asked_of_the_environment"] == 1
    assert "get_rewards" in asked[2].partition("What is wrong with it")[2]
    assert (done.folder.path / "model.py").read_text().count("def resample_history") == 1
    assert "Arena, round 2" in (done.folder.path / "report.html").read_text()


def test_what_no_recorded_match_shows_is_put_to_the_test_by_play_that_is_predicted(
    learn: Learn, partial: Path
) -> None:
    plays = {**PLAYS, "arena": 10}
    with serving(code(APART), code(DRAWING), code(APART), code(DRAWING)) as endpoint:
        alone = told_of(learn(endpoint, name="alone", matches=partial))
        done = learn(endpoint, name="played", matches=partial, **plays)
    assert (alone["end"], alone["accuracy"]) == ("incomplete", 1.0)
    assert "no match went through" in alone["reason"]
    path = done.folder.journals / "arena" / "0" / "random.jsonl"
    assert json.dumps(UNSEEN, separators=(",", ":"))[1:-1] in path.read_text()
    assert (told_of(done)["end"], told_of(done)["never_exercised"]) == ("passed", [])


def test_a_run_killed_in_the_arena_goes_on_to_the_same_bytes(
    begun: Callable[..., RunFolder], sandbox: Sandbox, partial: Path
) -> None:
    folders = [begun(n, matches=partial, keep_learning=True, **PLAYS) for n in ("whole", "broken")]
    script = (code(FAULTY), code(DRAWING), code(MODEL))

    def kill(event: dict[str, Any]) -> None:
        if event.get("node") == "arena":
            raise Killed

    for folder in folders:
        with serving(*script) as endpoint:
            if folder is folders[1]:
                with pytest.raises(Killed):
                    run_learning(folder, learning(folder, endpoint, sandbox), tell=kill)
            run_learning(folder, learning(folder, endpoint, sandbox))
            assert len(endpoint.requests) == len(script)
    assert without_use(folders[0]) == without_use(folders[1])
    for name in FILES:
        assert len({(folder.path / name).read_bytes() for folder in folders}) == 1


def test_an_environment_that_cannot_play_leaves_the_run_incomplete(
    learn: Learn, partial: Path
) -> None:
    with serving(code(MODEL), code(DRAWING)) as endpoint:
        told = told_of(learn(endpoint, matches=partial, **{**PLAYS, "environment": "own:none"}))
    assert told["end"] == "incomplete"
    assert "the arena could not be played" in told["reason"]


def test_a_module_file_is_an_environment_that_is_asked_and_played_in_a_worker(
    learn: Learn, tmp_path: Path
) -> None:
    file = model_file(tmp_path, "tic_tac_toe")
    with serving(code(TIC_TAC_TOE)) as endpoint:
        told = told_of(learn(endpoint, environment=str(file), arena=1, active=1))
    assert told["end"] == "passed", told["reason"]
    assert told["matches"]["asked_of_the_environment"] == 1
    assert told["branch_fidelity"]["share"] == 1
    assert [row["transitions"] for row in told["arena"][0]["rows"]] == [1, 1]


def test_a_module_file_that_begins_otherwise_than_the_matches_is_refused(
    learn: Learn, tmp_path: Path
) -> None:
    file = model_file(tmp_path, "kuhn_poker")
    with serving() as endpoint:
        with pytest.raises(TrajectoryError, match=r"kuhn_poker\.py begins in another"):
            learn(endpoint, environment=str(file))
        assert not endpoint.requests


def test_a_module_file_that_fails_is_named_and_the_model_is_kept(
    learn: Learn, tmp_path: Path
) -> None:
    file = model_file(
        tmp_path,
        "tic_tac_toe",
        ("    mark, board = action[0]", "    1 / 0\n    mark, board = action[0]"),
    )
    with serving(code(TIC_TAC_TOE)) as endpoint:
        told = told_of(learn(endpoint, environment=str(file), arena=1, active=1))
    assert (told["end"], told["accuracy"]) == ("incomplete", 1.0)
    assert "ZeroDivisionError" in told["reason"]
    assert "the environment failed" in told["active"][0]


def test_in_cooperation_what_every_seat_was_paid_is_told_and_no_difference() -> None:
    def finished(*returns: float) -> MatchEntry:
        return MatchEntry(
            ending="finished",
            returns=returns,
            plies=1,
            actions=("go",),
            culprit=None,
            reason="",
            fault_line=None,
            used=(),
        )

    shared = [(finished(paid, paid), seat) for paid in (1.0, 2.0, 6.0) for seat in (0, 1)]
    assert paid_together(shared, 2) == Paid(
        value=3.0,
        low=-3.572,  # t(2) = 4.303
        high=9.572,
    )
    assert paid_together([(finished(1.0, -1.0), 0), (finished(-1.0, 1.0), 1)], 2) is None
