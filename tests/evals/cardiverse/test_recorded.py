"""What is read from the recordings of runs with a model."""

import json
from pathlib import Path

import pytest

from evals.cardiverse.recorded import (
    RECORDINGS,
    Generation,
    _modules,
    recorded_generation,
    recorded_heuristics,
)
from evals.results import EvalError


def test_a_recording_gives_its_brief_its_rules_and_its_module() -> None:
    made = recorded_generation(RECORDINGS / "kalah.json")
    assert made.brief.startswith("A sowing game in the manner of kalah for two players")
    assert made.players == 2
    assert made.rules.startswith("R1: ")
    assert all("def apply_action(" in source for source in made.sources)


def test_edits_of_a_recording_are_applied_in_their_order(tmp_path: Path) -> None:
    def said(place: str, content: str) -> dict[str, object]:
        message = {"message": {"content": content}}
        return {"place": place, "status": 200, "response": {"choices": [message]}}

    design = {"rules": [{"id": "R1", "text": "Go."}], "num_players": 3}
    first = said("intake/clarify", "{}")
    first["request"] = {"body": {"messages": [{"content": "<brief>\na race\n</brief>"}]}}
    edits = [{"edits": [{"search": a, "replace": b}]} for a, b in (("1", "2"), ("2", "3"))]
    path = tmp_path / "race.json"
    lines = [
        first,
        said("design", json.dumps(design)),
        said("code/draft", "```python\nx = 1\n```"),
        *(said(f"refine/{n}", json.dumps(edit)) for n, edit in enumerate(edits)),
    ]
    path.write_text(json.dumps({"exchanges": lines}))
    sources = ("x = 1\n", "x = 2\n", "x = 3\n")
    assert recorded_generation(path) == Generation(
        "race", "recorded", "a race", "R1: Go.", 3, sources
    )
    path.write_text(json.dumps({"exchanges": lines[:2]}))
    with pytest.raises(EvalError, match=r"race.json holds no brief.*record it anew"):
        recorded_generation(path)


def test_drafts_that_a_coder_named_edited_and_submitted_are_its_answers() -> None:
    def called(name: str, **given: object) -> dict[str, object]:
        return {"tool_calls": [{"function": {"name": name, "arguments": json.dumps(given)}}]}

    change = [{"search": "1", "replace": "2"}]
    answers = [
        ("code/draft", called("run_module", source="x = 1\n")),
        ("code/draft", called("edit_draft", draft="draft1", edits=change)),
        ("code/draft", called("edit_draft", draft="draft1", edits=[{"search": "7"}])),
        ("code/draft", called("submit", draft="draft2")),
        ("check/0/tests", {"content": "```python\nx = 9\n```"}),
        ("refine/0", called("edit_draft", draft="start", edits=[{"search": "2", "replace": "3"}])),
        ("refine/0", called("submit", draft="draft1")),
    ]
    assert _modules(answers) == (["x = 1\n", "x = 2\n", "x = 3\n"], ["x = 2\n", "x = 3\n"])
    assert _modules(answers[:2])[1] == ["x = 2\n"]  # never submitted: the newest draft


def test_heuristics_are_those_for_these_rules_and_a_repair_replaces_what_it_mends(
    tmp_path: Path,
) -> None:
    def said(place: str, rules: str, **sources: str) -> dict[str, object]:
        written = [{"name": name, "source": source} for name, source in sources.items()]
        message = {"message": {"content": json.dumps({"heuristics": written})}}
        body = {"messages": [{"content": "..."}, {"content": f"The rules:\n{rules}"}]}
        return {"place": place, "request": {"body": body}, "response": {"choices": [message]}}

    policies = said("strategize", "- Go. (R1)")
    policies["response"] = {"choices": [{"message": {"content": '{"policies": []}'}}]}
    lines = [
        policies,
        said("strategize", "- Go. (R1)", first="broken", other="x"),
        said("check/0/tests", "- Go. (R1)", stray="x"),
        said("strategize", "- Stop. (R1)", second="x"),
        said("strategize", "- Go. (R1)", first="mended"),
    ]
    path = tmp_path / "race.json"
    path.write_text(json.dumps({"exchanges": lines}))
    found = {one.name: one.source for one in recorded_heuristics(path, "R1: Go.")}
    assert found == {"first": "mended", "other": "x"}


@pytest.mark.parametrize("name", ["kalah", "lanterns", "orchard", "smugglers", "tides"])
def test_every_recorded_strategist_wrote_heuristics_for_the_recorded_game(name: str) -> None:
    path = RECORDINGS / f"{name}.json"
    found = recorded_heuristics(path, recorded_generation(path).rules)
    assert len(found) >= 8  # four policies and four metrics are asked for, and four of both
    assert all("def score(" in one.source for one in found)
