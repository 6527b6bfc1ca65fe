"""The machine of `learn`: its edges, and the folders that it goes on in."""

import json
from collections.abc import Callable

import pytest

from graph.learn.runs import build_learning, goes_on
from graph.run.folder import RunFolder, RunFolderError


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
