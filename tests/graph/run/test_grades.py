"""A run that was played in more than one sandbox says so, and reports the weakest."""

import json
from dataclasses import replace

import pytest

from agents.players.registry import PRELOAD
from graph.run.folder import RunFolder, RunFolderError
from graph.run.sandboxes import grades_of, keep_grade
from tests.graph.conftest import MakeContext
from tests.graph.running import resume_run, start_run
from tests.graph.scripted import ScriptedRoles, role_set
from tools.sandbox import Grade, Sandbox
from tools.sandbox.local import backend_named

NONE = Grade(name="none", backend="process", layers=(), reason="")
STRONG = Grade(name="strong", backend="linux", layers=("seccomp",), reason="")


class Breaking(ScriptedRoles):
    def heuristics(self, *_: object) -> list[object]:  # type: ignore[override]
        raise KeyboardInterrupt


def test_a_run_begun_without_isolation_is_not_called_isolated(
    make_context: MakeContext, folder: RunFolder, sandbox: Sandbox
) -> None:
    process = backend_named("process", accept_no_isolation=True)
    with Sandbox(process, preload=PRELOAD) as open_house:
        context = replace(
            make_context(role_set(Breaking())), sandbox=open_house, passed={}, played={}
        )
        with pytest.raises(KeyboardInterrupt):
            start_run("noughts", folder, context)
    result = resume_run(folder, make_context())
    written = json.loads((folder.path / "run.json").read_text())
    assert result.sandbox.name == written["sandbox"]["name"] == "none"
    assert [one["backend"] for one in written["sandboxes"]] == ["process", sandbox.grade.backend]
    assert written["evaluation"]["sandbox"]["backend"] == sandbox.grade.backend


def test_the_weakest_grade_comes_first_and_each_once(folder: RunFolder) -> None:
    assert grades_of(folder, STRONG) == (STRONG,)
    for grade in (STRONG, NONE, STRONG):
        keep_grade(folder, grade)
    assert grades_of(folder, STRONG) == (NONE, STRONG)


@pytest.mark.parametrize("text", ["{", "7", '[{"name": "splendid"}]'])
def test_a_list_of_grades_that_cannot_be_read_is_no_grade(folder: RunFolder, text: str) -> None:
    (folder.state / "sandboxes.json").write_text(text)
    with pytest.raises(RunFolderError, match=r"sandboxes\.json"):
        grades_of(folder, STRONG)
