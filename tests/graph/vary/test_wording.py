"""The machine of `vary` with a model: its edges, what it proposes, ranks and refuses."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games.library import families
from graph.run.events import Reported, Tell
from graph.run.folder import RunFolder, RunFolderError
from graph.vary.breeding import keep_clusters
from graph.vary.report import MadeGame, VaryReport, remarks_of
from graph.vary.rulebooks import Rulebook, rulebook_named
from graph.vary.runs import make_varying, run_varying
from graph.vary.settings import VaryRequest, WordingSettings, write_variation
from graph.vary.wording import GameMaker, known_texts, options_of, variants_of
from tests.agents.model.endpoint import Answer, as_json, error, serving
from vectorstore.documents import StoreError
from vectorstore.embedders import LexicalEmbedder
from vectorstore.mechanics import BredMechanic, KnownMechanic, MechanicCluster, MechanicStore

EMBEDDER = LexicalEmbedder()
BASE = rulebook_named("go_fish")


def cluster(id_: str, name: str, depth: int, games: int = 5) -> MechanicCluster:
    new = (
        BredMechanic(name=f"{name} {kind}", text=f"It is {name} {kind}.", mutation="in time")
        for kind in ("later", "at a price")
    )
    members = tuple(KnownMechanic(game=f"g{n}", name=name, depth=depth) for n in range(games))
    return MechanicCluster(id=id_, depth=depth, name=name, members=members, bred=tuple(new))


DEPTHS = {node.name: node.depth or 0 for node in BASE.graph.nodes} if BASE.graph else {}
CLUSTERS = MechanicStore(
    embedder=EMBEDDER.identity,
    content="x",
    clusters=(
        cluster("C1", "most books win", DEPTHS["most books win"], games=9),
        cluster("C2", "hidden hands", DEPTHS["hidden hands"]),
        cluster("C3", "turns pass", DEPTHS["turns pass"], games=3),
    ),
)


def answer(request: dict[str, Any]) -> Answer:
    """A model's answer: a variant whose name and added rule tell what it replaced."""
    system, asked = (message["content"] for message in request["messages"][:2])
    if "A new game was made" in system:
        return as_json({"problems": [], "rules": [], "dropped": []})
    new = re.findall(r"gives way to “(.*?)”: (.*)", asked)
    texts = [*BASE.rules.values(), *(text for _, text in new)]
    if any("at a price" in name for name, _ in new):
        texts += ["Whoever sows a seed into a pit of the other player captures it at once."] * 2
    rules = [{"id": f"R{n}", "section": "Turn", "text": text} for n, text in enumerate(texts, 1)]
    title = " and ".join(name for name, _ in new)
    return as_json({"title": title, "summary": "New.", "num_players": 2, "rules": rules})


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """An endpoint that the environment names, with the words-only embedder."""

    @contextmanager
    def serve(*answers: Any) -> Iterator[Any]:  # noqa: ANN401
        with serving(*(answers or (answer,))) as endpoint:
            monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
            monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
            monkeypatch.setenv("OPENAI_API_KEY", "none")
            monkeypatch.setenv("RULEWRIGHT_RETRIES", "0")
            monkeypatch.setenv("RULEWRIGHT_EMBEDDINGS", "lexical")
            monkeypatch.setenv("RULEWRIGHT_HOME", str(tmp_path / "home"))
            yield endpoint

    return serve


def asked(
    path: Path, base: Rulebook = BASE, clusters: MechanicStore = CLUSTERS, **changes: object
) -> RunFolder:
    folder = RunFolder(path)
    folder.make()
    settings = WordingSettings.model_validate({"seed": 3, "n": 3, "make": 2, **changes})
    keep_clusters(clusters, folder)
    write_variation(VaryRequest(base=base, settings=settings), folder)
    return folder


def ran(folder: RunFolder, maker: GameMaker | None = None) -> VaryReport:
    with make_varying(folder, maker=maker) as context:
        return run_varying(folder, context).report


def test_only_mechanics_of_more_than_three_other_games_are_replaced() -> None:
    assert BASE.graph is not None
    options = options_of(BASE.graph, "go_fish", CLUSTERS, EMBEDDER.embed)
    assert [(one.old, one.games) for one in options] == [
        *[("most books win", 9)] * 2,
        *[("hidden hands", 5)] * 2,
    ]
    # The base's own mechanics do not make a cluster large.
    own = CLUSTERS.model_copy(update={"clusters": (cluster("C1", "hidden hands", 4, games=4),)})
    named = own.clusters[0].members[0].game
    assert options_of(BASE.graph, named, own, EMBEDDER.embed) == []


def test_variants_replace_different_mechanics_and_no_two_the_same() -> None:
    assert BASE.graph is not None
    options = options_of(BASE.graph, "go_fish", CLUSTERS, EMBEDDER.embed)
    made = variants_of(options, WordingSettings(seed=1, n=64), np.random.default_rng(1))
    sets = [frozenset((part.old, part.new) for part in one.replaced) for one in made]
    # Two mechanics with two bred ones each: four pairs, and four alone.
    assert [len(one) for one in sets] == [2] * 4 + [1] * 4
    assert len(set(sets)) == 8
    assert variants_of([], WordingSettings(), np.random.default_rng(1)) == ()


def test_the_least_similar_are_chosen_and_written_down(
    tmp_path: Path, model: Callable[..., Any]
) -> None:
    with model() as endpoint:
        report = ran(asked(tmp_path / "run"))
    assert (report.end, len(report.variants)) == ("varied", 3)
    similar = [max(1 - row.novelty, row.within or 0.0) for row in report.variants]
    assert similar == sorted(similar)
    assert report.qms.keys() == {"store", "batch"}
    assert report.qms["store"]["0.5"] == pytest.approx(
        float(np.median([1 - row.novelty for row in report.variants]))
    )
    assert all(row.like != "go_fish" for row in report.variants)  # D without g
    assert len(endpoint.requests) == 6  # each worded once, and read once
    for row in report.variants:
        page = (tmp_path / "run" / row.folder / "rules.md").read_text()
        assert page.startswith(f"# {row.title}\n")
        assert "- R1: " in page


def test_a_base_without_a_large_cluster_is_not_varied_and_it_is_said(
    tmp_path: Path, model: Callable[..., Any]
) -> None:
    small = CLUSTERS.model_copy(update={"clusters": (CLUSTERS.clusters[2],)})
    with model() as endpoint:
        report = ran(asked(tmp_path / "run", clusters=small))
    assert (report.end, report.variants, endpoint.requests) == ("none", (), [])
    assert "is not varied" in " ".join(remarks_of(report))


def test_a_variant_of_which_the_model_gives_none_is_dropped_and_said(
    tmp_path: Path, model: Callable[..., Any]
) -> None:
    def parent(request: dict[str, Any]) -> Answer:
        if "most books win at a price" not in request["messages"][1]["content"]:
            return answer(request)
        rules = [
            {"id": f"R{n}", "section": "Turn", "text": text}
            for n, text in enumerate(BASE.rules.values(), 1)
        ]
        return as_json({"title": "Go", "summary": "", "num_players": 2, "rules": rules})

    with model(parent):
        report = ran(asked(tmp_path / "run"))
    assert report.end == "fewer"
    assert report.dropped
    assert all("it is the known game" in why for why in report.dropped)
    assert len(report.variants) + sum(report.dropped.values()) == 3


def test_a_run_that_stops_at_any_call_goes_on_to_the_same_bytes(
    tmp_path: Path, model: Callable[..., Any]
) -> None:
    with model():
        whole = asked(tmp_path / "whole")
        ran(whole)
    told = {path.relative_to(whole.path): path.read_bytes() for path in written(whole)}
    for stop in range(6):
        folder = asked(tmp_path / f"stopped-{stop}")
        steps = [answer] * stop
        with model(*steps, error(400, "gone")), pytest.raises(Exception, match="gone"):
            ran(folder)
        with model() as endpoint:
            ran(folder)
        assert len(endpoint.requests) == 6 - stop  # what was paid for is not asked again
        assert {
            path.relative_to(folder.path): path.read_bytes() for path in written(folder)
        } == told


def test_a_run_of_another_embedder_does_not_go_on(
    tmp_path: Path, model: Callable[..., Any]
) -> None:
    other = CLUSTERS.model_copy(update={"embedder": "minilm-l6-v2-384"})
    folder = asked(tmp_path / "run", clusters=other)
    with model(), pytest.raises(StoreError, match="by minilm-l6-v2-384, and this embedder is lex"):
        ran(folder)


def written(folder: RunFolder) -> list[Path]:
    names = [folder.path / "report.html", folder.path / "vary.json"]
    return [*names, *sorted(folder.path.glob("variants/*/*"))]


def test_known_texts_leave_the_base_out() -> None:
    texts = known_texts(but="go_fish")
    assert "go_fish" not in texts
    assert {*families()} - {"go_fish"} <= texts.keys()


def test_rules_say_where_they_come_from(tmp_path: Path) -> None:
    path = tmp_path / "war.md"
    path.write_text("# War\n\nBoth turn a card. The higher takes both.\n")
    book = rulebook_named(str(path))
    assert (book.title, book.players, book.graph) == ("War", "", None)
    assert book.rules == {"R1": "Both turn a card.", "R2": "The higher takes both."}
    whist = rulebook_named("kuhn_poker")
    assert whist.graph is not None
    assert not whist.graph.faults(whist.rules)


def test_what_a_model_wrote_opens_no_tag_on_the_page(
    tmp_path: Path, model: Callable[..., Any]
) -> None:
    def hostile(request: dict[str, Any]) -> Answer:
        made = json.loads(json.loads(answer(request).body)["choices"][0]["message"]["content"])
        if "title" in made:
            made |= {"title": "<script>x", "summary": "\x1b[2J<img src=x>"}
        return as_json(made)

    with model(hostile):
        report = ran(asked(tmp_path / "run"))
    page = (tmp_path / "run" / "report.html").read_text()
    assert report.variants
    assert "<script" not in page
    assert "<img" not in page
    rules = tmp_path / "run" / report.variants[0].folder / "rules.md"
    assert "\x1b" not in rules.read_text()


def test_the_least_similar_are_made_each_in_a_folder_of_its_own_and_once(
    tmp_path: Path, model: Callable[..., Any]
) -> None:
    calls: list[tuple[Path, str]] = []

    def make(folder: RunFolder, prompt: str, settings: WordingSettings, tell: Tell) -> MadeGame:
        calls.append((folder.path, prompt))
        if len(calls) == 2:
            raise RunFolderError("stopped")
        tell(Reported(end="passed", folder=str(folder.path)))
        return MadeGame(end="passed", passed=True, reason="", length=12.0, skill=0.9)

    folder = asked(tmp_path / "run")
    with model():
        with pytest.raises(RunFolderError, match="stopped"):
            ran(folder, make)
        report = ran(folder, make)
    first, second, third = report.variants
    assert first.made is not None
    assert second.made is not None
    assert third.made is None  # two are to be made
    made = [folder.path / one.folder for one in (first.made, second.made)]
    assert [path for path, _ in calls] == [made[0], made[1], made[1]]  # what is made stays
    assert all("\n## " not in prompt and "- R1: " in prompt for _, prompt in calls)
    assert first.columns == ["-", "12.0", "-", "-", "90 %"]
    page = (folder.path / "report.html").read_text()
    assert f'href="{first.made.folder}/report.html"' in page
