"""`compare`, and `explain` of a mechanic: of runs and of the library, and what they refuse."""

import json
from pathlib import Path

import pytest

from agents.composer.coder import verified_source
from agents.composer.designer import library_design
from agents.protocols import Design
from games.mechanics import Mechanic, MechanicEdge
from tests.app.conftest import Command


def kept(folder: Path, design: Design) -> Path:
    """The folder of a run that made this game, as far as these commands read it."""
    (folder / ".state").mkdir(parents=True)
    (folder / "design.json").write_text(design.model_dump_json())
    (folder / "game.py").write_text(verified_source(design))
    return folder


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return kept(tmp_path / "made", library_design("tic_tac_toe"))


def misere(tmp_path: Path) -> Path:
    usual = library_design("tic_tac_toe")
    changed = usual.model_copy(update={"parameters": {**usual.parameters, "misere": True}})
    return kept(tmp_path / "misere", changed)


def test_games_are_compared_and_the_page_holds_both_graphs(
    command: Command, made: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    asked = ("compare", made, misere(tmp_path), "connect_four", "--page", page)
    outcome = command(*asked, "--matches", 4, "--json")
    assert outcome.code == 0, outcome.err
    turned, other = outcome.json["comparisons"]
    assert [(one["name"], one["after"]) for one in turned["settings"]] == [("misere", "true")]
    wins = {one["key"]: one for one in turned["played"][0]["figures"]}
    assert wins["wins_player_1"]["after"]["value"] == wins["wins_player_2"]["before"]["value"]
    assert other["similarity"] > 0.4  # both complete a line of marks on a board
    assert page.read_text().count("<svg") == 4
    again = command(*asked)
    assert again.code == 2
    assert "is there already" in again.err
    shown = command(*asked[:3], "--matches", 4)
    assert "changed misere: false | true" in shown.out
    assert "random at every seat, 4 and 4 matches finished" in shown.out


def test_without_matches_nothing_is_played(command: Command) -> None:
    outcome = command("compare", "goofspiel", "poker", "--matches", 0, "--json")
    assert outcome.code == 0
    assert outcome.json["comparisons"][0]["played"] == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("goofspiel",), "one game is named"),
        (("goofspiel", "goofspiel"), "named twice"),
        (("goofspiel", "nosuch"), "is not the folder of a run"),
        (("goofspiel", "poker", "--player", "nobody"), "nobody"),
        (("goofspiel", "poker", "--page", "/nosuch/page.html"), "is no folder"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    command: Command, asked: tuple[str, ...], said: str
) -> None:
    outcome = command("compare", *asked)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())


def test_a_run_that_was_not_made_and_one_named_twice_are_refused(
    command: Command, made: Path, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    (begun / ".state").mkdir(parents=True)
    outcome = command("compare", made, begun)
    assert outcome.code == 2
    assert "has no design yet" in outcome.err
    outcome = command("compare", made, f"{made}/../made")
    assert outcome.code == 2
    assert "named twice" in outcome.err


def test_a_mechanic_is_explained_by_rules_code_and_the_plies_of_new_matches(
    command: Command, made: Path
) -> None:
    graph = library_design("tic_tac_toe").graph
    line = next(node for node in graph.nodes if node.name == "complete a line")
    without = command("explain", made, line.id, "--json").json
    assert (without["fired"], without["followed"], without["never_fired"]) == ([], 0, [])
    outcome = command("explain", made, line.id.lower(), "--follow", 20, "--seed", 1, "--json")
    found = outcome.json
    assert [rule["id"] for rule in found["rules"]] == [*line.rules]
    assert found["followed"] == 20
    assert {row["ply"] for row in found["fired"]} <= {4, 5, 6, 7, 8}  # five marks make a line
    assert "board[line] == full" in found["lines"][0]["code"]
    assert found["faults"] == []
    shown = command("explain", made, line.id, "--follow", 20, "--seed", 1).out
    assert "complete a line" in shown
    assert "Leads to:\n  M1: the game ends" in shown


def test_a_mechanic_is_taken_out_by_its_setting_and_both_are_played(
    command: Command, tmp_path: Path
) -> None:
    folder = misere(tmp_path)
    node = next(n for n in library_design("tic_tac_toe").graph.nodes if n.name == "place a mark")
    refused = command("explain", folder, node.id, "--ablate")
    assert refused.code == 2
    assert "no setting takes" in refused.err
    design = json.loads((folder / "design.json").read_text())
    design["mechanics"].append({"id": "M99", "name": "loses", "without": {"misere": False}})
    (folder / "design.json").write_text(json.dumps(design))
    asked = ("explain", folder, "M99", "--ablate", "--matches", 20, "--seed", 3)
    found = command(*asked, "--json").json
    wins = {one["key"]: one for one in found["played"][0]["figures"]}
    assert wins["wins_player_1"]["after"]["value"] == wins["wins_player_2"]["before"]["value"]
    one = command("explain", folder, "M99", "--ablate", "--matches", 1, "--seed", 3, "--json")
    figures = one.json["played"][0]["figures"]
    assert {row["difference"]["value"] for row in figures} == {None}  # one pair has no variance
    assert "after: misere=False" in command(*asked).out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("M99",), "there is no mechanic 'M99'; there are: M1 the game ends"),
        (("R99",), "has no rule 'R99'"),
        (("R1", "--ablate"), "take a mechanic"),
        (("R1", "--follow", 3), "take a mechanic"),
    ],
)
def test_what_cannot_be_explained_is_refused(
    command: Command, made: Path, asked: tuple[str, ...], said: str
) -> None:
    outcome = command("explain", made, *asked)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())


def test_a_strangers_graph_is_read_with_what_is_wrong_told_and_a_large_one_refused(
    command: Command, tmp_path: Path
) -> None:
    usual = library_design("tic_tac_toe")
    nodes = (
        Mechanic(id="M1", name="The game ends."),
        Mechanic(id="M2", name="bluff", rules=("R77",)),
        Mechanic(id="M3", name="raise", text="Rule R5 says it."),
    )
    edges = tuple(MechanicEdge(source=a, target=b) for a, b in (("M2", "M3"), ("M3", "M2")))
    odd = kept(tmp_path / "odd", usual.model_copy(update={"mechanics": nodes, "edges": edges}))
    found = command("explain", odd, "M3", "--json").json
    assert [rule["id"] for rule in found["rules"]] == ["R5"]
    assert "in a circle: M2 bluff → M3 raise → M2 bluff" in found["faults"][0]
    assert "M2 names rules that there are not: R77" in found["faults"]
    many = tuple(Mechanic(id=f"M{n}", name=str(n)) for n in range(1, 501))
    large = kept(tmp_path / "large", usual.model_copy(update={"mechanics": many}))
    for asked in (("explain", large, "M2"), ("compare", large, "goofspiel")):
        outcome = command(*asked)
        assert outcome.code == 2
        assert "500 mechanics; required: at most 100" in outcome.err
