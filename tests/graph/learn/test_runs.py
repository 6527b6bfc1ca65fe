"""The machine of `learn`: its edges, and the folders that it goes on in."""

import json
from collections.abc import Callable

import pytest

from graph.learn.runs import build_learning, goes_on, open_learning
from graph.run.events import MatchesRead, Reported
from graph.run.folder import RunFolder, RunFolderError
from graph.run.handle import RunHandle
from tests.agents.model.endpoint import serving
from tests.graph.learn.conftest import learning
from tests.graph.learn.test_learning import code
from tests.tools.predicting.material import TIC_TAC_TOE
from tools.sandbox import Sandbox


def test_an_edge_is_drawn_to_each_node_that_may_come_next_and_to_no_other() -> None:
    drawn: dict[str, set[str]] = {}
    for edge in build_learning().get_graph().edges:
        drawn.setdefault(edge.source, set()).add(edge.target)
    assert drawn == {
        "__start__": {"intake"},
        "intake": {"synthesise"},
        "synthesise": {"synthesise", "check", "report"},
        "check": {"check", "refine", "active", "infer", "value", "report"},
        "refine": {"refine", "check", "report"},
        "active": {"check"},
        "infer": {"infer", "check", "report"},
        "value": {"arena"},
        "arena": {"check", "tensors"},
        "tensors": {"tensors", "check", "report"},
        "report": {"__end__"},
    }


def test_a_run_folder_of_another_version_is_refused_with_a_sentence(
    begun: Callable[..., RunFolder],
) -> None:
    folder = begun()
    path = folder.path / ".state" / "learning.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 1}))
    with pytest.raises(RunFolderError, match=r"of format 1, .* required: format 2.* start the run"):
        goes_on(folder, 0)


def test_a_run_that_its_handle_stopped_goes_on_to_its_end_and_takes_no_answer(
    begun: Callable[..., RunFolder], sandbox: Sandbox
) -> None:
    folder = begun()
    with serving(code(TIC_TAC_TOE)) as endpoint:
        with open_learning(folder, learning(folder, endpoint, sandbox)) as run:
            handle: RunHandle[object] = run
            told = []
            for event in handle.events():
                told.append(event)
                if isinstance(event, MatchesRead):
                    handle.stop()
            assert isinstance(told[-1], MatchesRead)
            with pytest.raises(RunFolderError, match=r"learn.json"):
                handle.result()
        with open_learning(folder, learning(folder, endpoint, sandbox)) as run:
            ends = [event for event in run.events() if isinstance(event, Reported)]
            assert [event.end for event in ends] == [run.result().report.end] == ["passed"]
            assert run.question is None
            with pytest.raises(RunFolderError, match="asks nothing"):
                run.answer("yes")
        assert len(endpoint.requests) == 1
