"""The eval of generated code: recordings are read, sources played, scores held by hand."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agents.players.registry import PRELOAD
from evals.cardiverse.code import Scorer, live, score_rows
from evals.cardiverse.recorded import Generation
from games import library
from graph.new.context import RunContext
from tests.agents.model.endpoint import as_json, serving
from tests.agents.model.talking import chat_with
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL
from tests.vectorstore.hashing import HashingEmbedder
from tools.retrieval import NothingRetrieved, Retrieval
from tools.sandbox import Sandbox
from vectorstore.documents import StoreSettings
from vectorstore.store import open_store

RULES = "R1: Two players take turns to mark the cells of a board; three in a row wins."


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scorer]:
    settings = StoreSettings(path=tmp_path_factory.mktemp("store"))
    with (
        Sandbox(preload=PRELOAD) as sandbox,
        open_store(settings, embedder=HashingEmbedder()) as store,
    ):
        context = RunContext(
            roles=role_set(ScriptedRoles()),
            retrieval=Retrieval(store),
            sandbox=sandbox,
            runs=tmp_path_factory.mktemp("runs"),
            settings=SMALL,
            store_snapshot="",
            embedding=store.embedder.identity,
            clock=time.monotonic,
        )
        yield Scorer(context, None, 20, 2)


def test_without_validation_the_first_candidate_that_plays_is_scored(scorer: Scorer) -> None:
    sound = library.source("tic_tac_toe")
    broken = sound.replace("def apply_action(", "def apply_no_action(")
    one = Generation("cells", "recorded", "", RULES, 2, (broken, sound, broken + "#"))
    ours, without = (scorer.row(one, validated=validated) for validated in (True, False))
    assert ours == {"task": "cells", "coder": "recorded", "Succ": False}
    assert (without["coder"], without["Succ"], without["Exec"]) == ("recorded -val", True, 1.0)
    assert -1 <= without["ECon"] <= 1
    assert "PCon" not in without
    failed = scorer.row(Generation("cells", "live", "", RULES, 2, (broken,)), validated=True)
    assert failed == {"task": "cells", "coder": "live", "Succ": False}
    nothing = scorer.row(Generation("cells", "live", "", RULES, 2, ()), validated=False)
    assert nothing == {"task": "cells", "coder": "live -val", "Succ": False}


def test_a_judge_scores_records_from_one_to_ten(scorer: Scorer) -> None:
    one = Generation("cells", "recorded", "", RULES, 2, (library.source("tic_tac_toe"),))
    replies = [as_json({"working": "turns alternate", "score": score}) for score in (11, 9, 6)]
    with serving(*replies) as endpoint:  # a score of 11 is asked for again
        row = replace(scorer, judge=chat_with(endpoint)).row(one, validated=True)
        asked = json.dumps(endpoint.requests[0])
    assert row["PCon"] == pytest.approx((9 + 6) / 2)
    assert RULES in asked
    assert "earlier plies are left out" in asked


def test_a_live_coder_is_given_the_brief_and_with_ret_off_nothing_else(scorer: Scorer) -> None:
    task = Generation("cells", "recorded", "noughts and crosses", RULES, 2, ())
    made = live(task, scorer.context, 3, retrieves=False)
    assert (made.coder, made.players) == ("live -ret", 2)
    assert scorer.row(made, validated=True)["Succ"]
    silent = NothingRetrieved(scorer.context.retrieval.store)
    assert silent.mechanics("bids") == silent.snippets("bids") == silent.examples("bids") == []


def test_a_task_succeeds_where_any_try_does_and_means_are_over_what_succeeded() -> None:
    good = {"task": "a", "coder": "live", "Succ": True, "Exec": 0.5, "ECon": 0.25, "PCon": 9.0}
    better = {**good, "task": "b", "Exec": 1.0, "ECon": 0.75}
    bad = {"task": "a", "coder": "live", "Succ": False}
    lost = {"task": "c", "coder": "live", "Succ": False}
    result = score_rows([bad, good, better, lost], {}, {})
    values = {score.name: score.value for score in result.scores}
    assert values == pytest.approx(
        {"live Succ": 2 / 3, "live Exec": 0.75, "live ECon": 0.5, "live PCon": 9.0}
    )
    assert result.unscored == {}
    assert not result.passed


def test_what_cannot_be_measured_is_said_and_fails() -> None:
    row = {"task": "a", "coder": "recorded", "Succ": True, "Exec": 1.0, "ECon": 0.5}
    result = score_rows([row], {}, {"b.json": "unreadable"})
    assert not result.passed
    assert set(result.unscored) == {"recorded PCon", "b.json"}
    assert "no model judges the records" in result.unscored["recorded PCon"]
    lost = score_rows([{"task": "a", "coder": "recorded", "Succ": False}], {}, {})
    assert "no try passed Succ" in lost.unscored["recorded Exec"]
