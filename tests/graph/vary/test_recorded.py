"""Recorded answers of a person in a model's place: graphs, bred mechanics, and variants."""

from pathlib import Path

import pytest
import yaml

from agents.model.chat import ChatModel
from agents.model.recording import Recording
from agents.model.settings import ModelSettings
from agents.roles.variation import WordedGame
from evals.cardiverse.recorded import written
from games.checks.run import CheckSettings
from games.mechanics.matching import match_graphs
from graph.run.folder import RunFolder
from graph.run.opening import open_chat
from graph.vary.breeding import BRED, breed_clusters, keep_clusters
from graph.vary.rulebooks import Rulebook, rulebook_named
from graph.vary.runs import make_varying, open_varying
from graph.vary.settings import VaryRequest, WordingSettings, write_variation
from graph.vary.state import VaryState
from tools.checking import check_source
from tools.playtest.intervals import wilson
from tools.sandbox import Sandbox
from vectorstore.embedders import LexicalEmbedder
from vectorstore.mechanics import MechanicStore

FOLDER = Path(__file__).parents[2] / "recordings"
CLUSTERS = MechanicStore.model_validate_json(
    (FOLDER / "varied" / "mechanics.json").read_text(encoding="utf-8")
)
BRED_IN = {"varied": {"C1", "C6", "C7"}, "novelty": {f"C{n}" for n in range(1, 7)}}
JUDGED = yaml.safe_load((FOLDER / "graphs" / "judged.yaml").read_text(encoding="utf-8"))
DOCS = Path(__file__).parents[3] / "docs" / "mechanics.md"


def replayed(name: str, folder: str = "varied") -> ChatModel:
    path = FOLDER / folder / f"{name}.json"
    assert Recording.load(path).label.startswith("answered by hand")
    return open_chat(ModelSettings(model="answered-by-hand", replay=path))


def taken_apart(name: str, folder: str = "varied", reading: str = "") -> Rulebook:
    book = rulebook_named(str(FOLDER / folder / f"{name}.md"))
    return book.taken_apart(lambda: replayed(name + reading, folder))


@pytest.mark.parametrize("name", JUDGED)
def test_a_recorded_graph_is_sound_and_each_of_its_parts_was_judged(name: str) -> None:
    judged = JUDGED[name]
    book = taken_apart(judged.get("game", name), judged["folder"])
    assert book.graph is not None
    assert judged["nodes"].keys() == {node.id for node in book.graph.nodes} - {book.graph.root}
    assert judged["edges"].keys() == {f"{e.source}-{e.target}" for e in book.graph.edges}
    faults = {id_ for part in ("nodes", "edges") for id_, so in judged[part].items() if "n" in so}
    assert (judged.get("why") or {}).keys() == faults
    assert book.graph.faults(book.rules) == ()
    assert 10 <= len(book.graph.nodes) <= 20
    assert max(book.graph.depths.values()) == 4


@pytest.mark.parametrize(("reader", "games"), [("other", 3), ("second", 5), ("same", 10)])
def test_the_shares_in_the_docs_are_those_of_the_second_reading(reader: str, games: int) -> None:
    read = [one for one in JUDGED.values() if one["reader"] == reader]
    nodes = [so for one in read for so in one["nodes"].values()]
    edges = [so for one in read for so in one["edges"].values()]
    shares = [[so[0] for so in nodes], [so[1] for so in nodes], edges]
    cells = [f"{so.count('y')} of {len(so)} ({_interval(so)})" for so in shares]
    assert f"| {games} | {' | '.join(cells)} |" in DOCS.read_text(encoding="utf-8")


def _interval(so: list[str]) -> str:
    found = wilson(so.count("y"), len(so), "pairs")
    return f"{100 * found.low:.0f} to {100 * found.high:.0f} %"


@pytest.mark.parametrize("name", ["farkle", "hex"])
def test_the_docs_say_how_alike_two_graphs_of_one_text_are(name: str) -> None:
    one, other = (taken_apart(name, "graphs", reading).graph for reading in ("", "-2"))
    assert one is not None
    assert other is not None
    found = match_graphs(one, other)
    said = f"| {name} | {len(one.nodes) - 1} and {len(other.nodes) - 1} | {len(found.pairs) - 1} "
    said += f"| {len(one.edges)} and {len(other.edges)} | {len(found.shared)} | "
    assert f"{said}{found.similarity:.2f} |" in DOCS.read_text(encoding="utf-8")


def test_a_rule_that_there_is_not_was_told_and_left_out() -> None:
    asked = Recording.load(FOLDER / "varied" / "pig.json").exchanges
    assert [one.unusable for one in asked].count("content") == 1
    graph = taken_apart("pig").graph
    assert graph is not None
    assert all("R16" not in node.rules for node in graph.nodes)


@pytest.mark.parametrize("folder", BRED_IN)
def test_what_was_bred_is_bred_again_from_the_recording(folder: str) -> None:
    store = MechanicStore.model_validate_json(
        (FOLDER / folder / "mechanics.json").read_text(encoding="utf-8")
    )
    bare = [one.model_copy(update={"bred": (), "theme": ""}) for one in store.clusters]
    kept: list[MechanicStore] = []
    made = breed_clusters(
        store.model_copy(update={"clusters": tuple(bare)}),
        replayed("breed", folder),
        LexicalEmbedder().embed,
        [*BRED_IN[folder]],
        kept.append,
    )
    assert made == store
    assert len(kept) == len(BRED_IN[folder])
    bred = {one.id: one for one in made.clusters if one.bred}
    assert bred.keys() == BRED_IN[folder]
    assert all(len(one.bred) == BRED and one.theme for one in bred.values())
    assert len({part.mutation for one in bred.values() for part in one.bred}) == len(bred)


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


@pytest.mark.parametrize("name", ["vary", "borrowed_turns", "contested_boxes", "fifteen_up"])
def test_the_module_of_a_variant_that_went_on_passes_every_check(
    sandbox: Sandbox, name: str
) -> None:
    path = FOLDER / "varied" / f"{name}.json"
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
