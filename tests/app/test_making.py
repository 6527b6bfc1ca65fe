"""Games that one machine has another make, and wishes of a conversation that are searched."""

import re
from pathlib import Path

import pytest

from app.making import invent, make_game
from graph.run.folder import RunFolder
from graph.run.traces import read_spans
from graph.vary.breeding import keep_clusters
from graph.vary.rulebooks import rulebook_named
from graph.vary.runs import make_varying, run_varying
from graph.vary.settings import VaryRequest, WordingSettings, write_variation
from tests.app.conftest import Command
from tools.balancing.wishes import Wish
from vectorstore.embedders import LexicalEmbedder
from vectorstore.mechanics import MechanicStore

VARIED = Path(__file__).parents[1] / "recordings" / "varied"
WEIGHTED = Path(__file__).parents[1] / "models" / "weighted.py"


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A folder with the module, whose first seat wins as many matches in 100 as `bias` says."""
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    folder = RunFolder(tmp_path / "weighted")
    folder.make()
    folder.write_text("game.py", WEIGHTED.read_text())
    folder.write_text("players/nod.py", "def score(observation, action):\n    return 0.0\n")
    return folder


def test_a_wish_for_a_fairer_game_is_answered_with_settings_and_the_command(
    game: RunFolder, tmp_path: Path
) -> None:
    told = invent(Wish(target="first seat 50±15 %"), game, 3, lambda _: None)
    assert "reached with bias=" in told
    assert "first seat 50±15 %: met" in told
    (page,) = tmp_path.glob("balanced/*/balance.html")
    assert str(page) in told


def test_a_wish_that_names_no_seat_of_the_game_is_told_so(game: RunFolder) -> None:
    assert "seats are 1 to 2" in invent(Wish(target="player 5 50±5 %"), game, 3, lambda _: None)


def test_where_no_setting_can_be_searched_a_rule_has_to_change(game: RunFolder) -> None:
    fixed = re.sub(r'"(range|choices)": \[.*?\], ', "", WEIGHTED.read_text())
    game.write_text("game.py", fixed)
    assert invent(Wish(target="first seat 50±15 %"), game, 3, lambda _: None) == ""
    assert "declares no parameter" in invent(Wish(variants=2), game, 3, lambda _: None)


def test_twists_that_a_talk_asks_for_are_a_run_beside_the_game(
    drawn: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    asked = ["new", "Pig to 20 points for two players", "--quick", "--seed", 3]
    assert drawn(*asked, "--out", tmp_path / "pig").code == 0
    told = drawn("revise", tmp_path / "pig", "Give me two twists of this.")
    assert told.code == 0
    assert "2 of 2 variants kept" in told.out
    (compared,) = re.findall(r"rule by rule: rulewright (compare .*)$", told.out, re.MULTILINE)
    assert drawn(*compared.split(), "--matches", 0).code == 0
    names = {row["name"] for row in drawn("runs", "--json").json["runs"]}
    assert names == {"pig", "pig-varied-2"}
    assert not (tmp_path / "pig" / "revisions").exists()


def test_a_recorded_variant_in_words_is_coded_checked_and_played_within_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures are those that `docs/vary.md` shows of this run."""
    monkeypatch.setenv("RULEWRIGHT_MODEL", "answered-by-hand")
    monkeypatch.setenv("RULEWRIGHT_REPLAY", str(VARIED / "vary.json"))
    monkeypatch.setenv("RULEWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RULEWRIGHT_EMBEDDINGS", "lexical")
    folder = RunFolder(tmp_path / "run")
    folder.make()
    known = MechanicStore.model_validate_json((VARIED / "mechanics.json").read_text())
    lexical = known.model_copy(update={"embedder": LexicalEmbedder.identity})
    keep_clusters(lexical, folder)
    settings = WordingSettings(seed=5, n=3, make=1, quick=True)
    write_variation(VaryRequest(base=rulebook_named("tic_tac_toe"), settings=settings), folder)
    with make_varying(folder, maker=make_game) as context:
        report = run_varying(folder, context).report
    first, *others = report.variants
    assert first.columns[0].startswith("first seat wins: 23 % (20 % to 27 %)")
    assert first.columns[1:] == ["14.7", "7.6", "-", "94 %"]
    assert all(one.made is None for one in others)
    assert (folder.path / first.place / "game.py").is_file()
    nodes = {span.name for root in read_spans(folder.trace) for span in root.children}
    assert {"base", "make", "report"} <= nodes  # its own trace goes on after the game's
