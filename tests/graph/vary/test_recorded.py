"""Recorded answers of a person in a model's place: graphs, bred mechanics, and variants."""

from pathlib import Path

import pytest

from agents.model.chat import ChatModel
from agents.model.recording import Recording
from agents.model.settings import ModelSettings
from agents.roles.variation import WordedGame
from evals.cardiverse.recorded import written
from games.checks.run import CheckSettings
from graph.run.folder import RunFolder
from graph.run.opening import open_chat
from graph.vary.breeding import BRED, breed_clusters, keep_clusters
from graph.vary.rulebooks import Rulebook, rulebook_named
from graph.vary.runs import make_varying, open_varying
from graph.vary.settings import VaryRequest, WordingSettings, write_variation
from graph.vary.state import VaryState
from tools.checking import check_source
from tools.sandbox import Sandbox
from vectorstore.embedders import LexicalEmbedder
from vectorstore.mechanics import MechanicStore

FOLDER = Path(__file__).parents[2] / "recordings"
CLUSTERS = MechanicStore.model_validate_json(
    (FOLDER / "novelty" / "mechanics.json").read_text(encoding="utf-8")
)
GAMES = ("dots_and_boxes", "old_maid", "pig")
BRED_IN = {"C1", "C6", "C7"}


def replayed(name: str) -> ChatModel:
    path = FOLDER / "varied" / f"{name}.json"
    assert Recording.load(path).label.startswith("answered by hand")
    return open_chat(ModelSettings(model="answered-by-hand", replay=path))


def taken_apart(name: str) -> Rulebook:
    book = rulebook_named(str(FOLDER / "varied" / f"{name}.md"))
    return book.taken_apart(lambda: replayed(name))


@pytest.mark.parametrize("name", GAMES)
def test_a_recorded_graph_is_sound_and_each_mechanic_is_backed_by_rules(name: str) -> None:
    book = taken_apart(name)
    assert book.graph is not None
    assert book.graph.faults(book.rules) == ()
    assert 10 <= len(book.graph.nodes) <= 20
    assert max(book.graph.depths.values()) == 4


def test_a_rule_that_there_is_not_was_told_and_left_out() -> None:
    asked = Recording.load(FOLDER / "varied" / "pig.json").exchanges
    assert [one.unusable for one in asked].count("content") == 1
    graph = taken_apart("pig").graph
    assert graph is not None
    assert all("R16" not in node.rules for node in graph.nodes)


def test_what_was_bred_is_bred_again_from_the_recording() -> None:
    bare = MechanicStore(
        embedder=CLUSTERS.embedder,
        content=CLUSTERS.content,
        clusters=tuple(
            one.model_copy(update={"bred": (), "theme": ""}) for one in CLUSTERS.clusters
        ),
    )
    kept: list[MechanicStore] = []
    embed = LexicalEmbedder().embed
    made = breed_clusters(bare, replayed("breed"), embed, [*BRED_IN], kept.append)
    assert len(kept) == len(BRED_IN)
    bred = {one.id: one for one in made.clusters if one.bred}
    assert bred.keys() == BRED_IN
    assert all(len(one.bred) == BRED and one.theme for one in bred.values())
    assert len({part.mutation for one in bred.values() for part in one.bred}) == len(BRED_IN)


def test_a_recorded_base_is_varied_into_three_games_that_were_read_until_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_MODEL", "answered-by-hand")
    monkeypatch.setenv("RULEWRIGHT_REPLAY", str(FOLDER / "varied" / "vary.json"))
    monkeypatch.setenv("RULEWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RULEWRIGHT_EMBEDDINGS", "lexical")
    folder = RunFolder(tmp_path / "run")
    folder.make()
    settings = WordingSettings(seed=5, n=3, make=1, quick=True)
    request = VaryRequest(base=rulebook_named("tic_tac_toe"), settings=settings)
    by_words = CLUSTERS.model_copy(update={"embedder": LexicalEmbedder.identity})
    keep_clusters(by_words, folder)
    write_variation(request, folder)
    with make_varying(folder) as context, open_varying(folder, context) as run:
        for _ in run.events():
            pass
        state = VaryState(**run.graph.get_state(run.config).values)
        report = run.result().report
    games = [one.game for one in state.candidates]
    assert all(isinstance(game, WordedGame) and game.settled for game in games)
    assert {row.title for row in report.variants} == {
        "Veiled tic-tac-toe",
        "Runaway tic-tac-toe",
        "Screened tic-tac-toe",
    }
    assert all(len(one.replaced) == 2 for one in state.candidates)
    assert report.end == "varied"


def test_the_module_of_the_variant_that_went_on_passes_every_check(sandbox: Sandbox) -> None:
    path = FOLDER / "varied" / "vary.json"
    places = [one.place for one in Recording.load(path).exchanges]
    assert {"design", "code/draft", "check/0/tests", "strategize"} <= {*places}
    found = check_source(
        sandbox,
        written(path)[-1],
        settings=CheckSettings(seed=5),
        num_players=2,
        parameters={},
        records=0,
    ).findings
    assert {one.outcome for one in found} == {"passed"}
