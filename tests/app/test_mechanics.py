"""`mechanics` and `vary --with-model` on the command line: with a model, without one, and wrong."""

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.protocols import Design
from graph.run.folder import RunFolder
from tests.agents.model.endpoint import Answer, as_json, serving
from tests.app.conftest import Command
from tests.graph.scripted import DESIGN
from vectorstore.mechanics import LARGE, MechanicStore

Model = Callable[..., AbstractContextManager[Any]]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Model:
    """An endpoint that the environment names, with a store of its own that compares words."""
    monkeypatch.setenv("RULEWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RULEWRIGHT_EMBEDDINGS", "lexical")

    @contextmanager
    def serve(*answers: Any) -> Any:  # noqa: ANN401
        with serving(*answers) as endpoint:
            monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
            monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
            monkeypatch.setenv("OPENAI_API_KEY", "none")
            yield endpoint

    return serve


def bred(request: dict[str, Any]) -> Answer:
    members = re.findall(r"^- (.*)$", request["messages"][1]["content"], re.MULTILINE)
    names = [f"{members[0]} {word}" for word in ("sideways twice", "by an auction", "blindfold")]
    made = [{"name": name, "text": f"{name}."} for name in names]
    return as_json({"theme": "One theme.", "variation": "It varies.", "mechanics": made})


def test_all_known_mechanics_are_clustered_without_a_model(command: Command, model: Model) -> None:
    found = command("mechanics", "--json")
    assert found.code == 0, found.err
    store = MechanicStore.model_validate(found.json)
    assert store.embedder == "lexical-v1-512"
    sizes = [len(one.members) for one in store.clusters]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] >= LARGE
    assert not any(one.bred for one in store.clusters)
    assert command("mechanics").out.startswith("C1 (depth ")


def test_a_model_breeds_in_the_clusters_of_a_game_and_they_are_kept(
    command: Command, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with model(bred) as endpoint:
        found = command("mechanics", "tic_tac_toe", "--breed", 1, "--json")
        assert found.code == 0, found.err
    assert len(endpoint.requests) == 1
    store = MechanicStore.model_validate(found.json)
    (cluster,) = [one for one in store.clusters if one.bred]
    assert (cluster.theme, len(cluster.bred)) == ("One theme.", 3)
    monkeypatch.delenv("RULEWRIGHT_MODEL")
    again = MechanicStore.model_validate(command("mechanics", "--json").json)
    assert again == store
    path = tmp_path / "home" / "store" / "mechanics.json"
    path.write_text(path.read_text().replace("lexical-v1-512", "minilm-l6-v2-384"))
    other = command("mechanics")
    assert other.code == 2
    assert "was made with the embedder minilm-l6-v2-384" in " ".join(other.err.split())
    anew = MechanicStore.model_validate(command("mechanics", "--anew", "--json").json)
    assert not any(one.bred for one in anew.clusters)


def test_a_text_of_rules_is_taken_apart_by_the_model(
    command: Command, model: Model, tmp_path: Path
) -> None:
    rules = tmp_path / "war.md"
    rules.write_text("# War\n\nBoth turn a card. Who has all cards wins, and the game ends.\n")
    first: dict[str, Any] = {"name": "have all cards", "text": "All.", "kind": "goal"}
    first |= {"rules": ["R2"], "leads_to": ["M1"]}
    levels = [[first], []]
    answers = [as_json({"mechanics": level, "problems": ["Ties."]}) for level in levels]
    with model(*answers):
        found = command("mechanics", rules)
    assert found.code == 0, found.err
    assert "M2 have all cards (goal, depth 1, R2) → M1" in found.out
    assert "open in the rules: Ties." in found.out


def test_the_graph_of_a_run_is_kept_in_its_design_and_nothing_else_of_it(
    command: Command, model: Model, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "mine")
    folder.make()
    lone = DESIGN.model_copy(update={"edges": ()})  # no way leads from its mechanic to the end
    folder.write_text("design.json", lone.model_dump_json())
    found: dict[str, Any] = {"name": "mark a line", "text": "A line.", "kind": "goal"}
    found |= {"rules": ["R1"], "leads_to": ["M1"]}
    answers = [as_json({"mechanics": level, "problems": []}) for level in ([found], [])]
    with model(*answers) as endpoint:
        assert command("mechanics", folder.path).code == 0
        told = command("mechanics", folder.path, "--json")  # it is whole now: nobody is asked
    assert len(endpoint.requests) == 2
    kept = Design.model_validate(folder.read_json("design.json"))
    assert [node.name for node in kept.mechanics] == ["the game ends", "mark a line"]
    assert kept.model_copy(update={"mechanics": lone.mechanics, "edges": ()}) == lone
    assert told.json["graph"]["nodes"][1]["rules"] == ["R1"]
    assert folder.edited() == ()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["mechanics", "war.md"], "no model is configured"),
        (["mechanics", "--breed", 1], "no model is configured"),
        (["mechanics", "go_fish", "--anew"], "name none"),
        (["mechanics", "nosuch"], "is not the folder of a run"),
        (["mechanics", "long.md"], "200000 characters; required: at most 40000"),
        (["mechanics", "empty.md"], "the rules are empty"),
        (["vary", "go_fish", "--with-model"], "no model is configured"),
        (["vary", "go_fish", "--with-model", "--free-seats"], "--free-seats is of settings"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence_and_leaves_no_run(
    asked: list[object],
    said: str,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path / "runs"))
    Path("war.md").write_text("Both turn a card.")
    Path("long.md").write_text("A" * 200_000)
    Path("empty.md").write_text("# \n")
    found = command(*asked)
    assert found.code == 2
    assert said in " ".join(found.err.split())
    assert "Traceback" not in found.err
    assert not (tmp_path / "runs").exists()


def test_a_base_is_varied_in_words_and_nothing_is_made_of_none(
    command: Command, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    with model(bred):
        assert command("mechanics", "tic_tac_toe", "--breed", 1, "--json").code == 0

    def varied(request: dict[str, Any]) -> Answer:
        system, asked = (message["content"] for message in request["messages"][:2])
        if "A new game was made" in system:
            return as_json({"problems": [], "rules": [], "dropped": []})
        new = re.findall(r"gives way to “(.*?)”: (.*)", asked)
        texts = [f"Rule {n} of the game." for n in range(4)] + [text for _, text in new]
        rules = [{"id": f"R{n}", "section": "Turn", "text": t} for n, t in enumerate(texts, 1)]
        made = {"title": new[0][0], "summary": "Other.", "num_players": 2, "rules": rules}
        return as_json(made)

    asked = ["vary", "tic_tac_toe", "--with-model", "--n", 2, "--make", 0, "--seed", 1]
    with model(varied) as endpoint:
        found = command(*asked, "--out", tmp_path / "run", "--json")
        assert found.code == 0, found.err
    assert len(endpoint.requests) == 4
    told = json.loads((tmp_path / "run" / "vary.json").read_text())
    assert (found.json["end"], len(told["variants"])) == ("varied", 2)
    again = command("resume", tmp_path / "run")  # it has ended: nobody is asked
    assert again.code == 0
    assert "novelty" in again.out
    assert command("resume", tmp_path / "run", "--accept").code == 2
    (listed,) = command("runs", "--json").json["runs"]
    assert (listed["end"], listed["title"]) == ("varied", "tic tac toe")
    with model(varied):
        none = command("vary", "poker", "--with-model", "--seed", 1, "--json")
    assert (none.code, none.json["end"]) == (1, "none")
    assert "so it is not varied" in none.json["reason"]
