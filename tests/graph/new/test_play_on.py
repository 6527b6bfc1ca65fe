"""A finished game is played on: further, or with another number of players."""

import json

from agents.composer import composer_roles
from graph.new.context import RunContext
from graph.new.playing import play_on
from graph.new.requests import read_request, write_request
from graph.new.results import RunResult
from graph.new.state import PlayOn
from graph.run.folder import RunFolder
from tests.agents.model.endpoint import serving
from tests.graph.answering import PROMPT, answer
from tests.graph.conftest import MakeContext
from tests.graph.new.test_model_run import model_context
from tests.graph.running import resume_run, start_run


def played_on(folder: RunFolder, context: RunContext, wish: PlayOn) -> RunResult:
    write_request(read_request(folder).playing_on(wish), folder)
    return resume_run(folder, context)


def test_a_finished_game_is_played_on_and_its_report_renewed(
    make_context: MakeContext, folder: RunFolder
) -> None:
    context = make_context()
    first = start_run("noughts for two players", folder, context).state.evaluation
    assert first is not None
    assert first.fairness is not None
    assert first.fairness.looks == (6,)
    journal = folder.journals / "random.jsonl"
    before = journal.read_bytes().splitlines()
    more = played_on(folder, context, PlayOn(matches=20)).state
    assert more.evaluation is not None
    assert more.evaluation.fairness is not None
    assert more.evaluation.fairness.looks == (6, 20)
    assert more.evaluation.fairness.share.n == 20
    assert more.end == "made"
    # The journal holds what it held, and what was played beyond.
    assert {*before} <= {*journal.read_bytes().splitlines()}
    kept = json.loads((folder.path / "run.json").read_text())
    assert kept["evaluation"]["fairness"]["looks"] == [6, 20]
    assert "; 20 matches)" in (folder.path / "report.html").read_text()
    again = resume_run(folder, context).state
    assert again.evaluation == more.evaluation


def test_a_models_game_that_is_played_on_without_it_stays_the_models(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with serving(answer) as endpoint:
        start_run(PROMPT, folder, model_context(make_context, endpoint, folder))
    before = json.loads((folder.path / "run.json").read_text())
    assert before["usage"]["calls"] > 0
    played_on(folder, make_context(composer_roles()), PlayOn(matches=20))
    kept = json.loads((folder.path / "run.json").read_text())
    for name in ("roles", "model", "usage", "usage_by_role"):
        assert kept[name] == before[name]
    page = (folder.path / "report.html").read_text()
    assert "Made with the language model scripted." in page
    assert "without a language model" not in page


def test_who_names_no_number_has_as_many_matches_as_would_decide(
    make_context: MakeContext, folder: RunFolder
) -> None:
    state = start_run("noughts for two players", folder, make_context()).state
    assert state.evaluation is not None
    assert state.evaluation.fairness is not None
    asked = play_on(state.playing_on(PlayOn()), folder)
    assert asked == (2, (6, state.evaluation.fairness.needed), folder)
    assert state.evaluation.fairness.needed > 6


def test_another_number_of_players_has_matches_of_its_own(
    make_context: MakeContext, folder: RunFolder
) -> None:
    state = start_run("noughts for two players", folder, make_context()).state
    seats, more, place = play_on(state.playing_on(PlayOn(players=3, matches=50)), folder)
    assert (seats, more) == (3, (50,))
    assert place.journals.is_relative_to(folder.journals)
    assert place.journals.is_dir()
