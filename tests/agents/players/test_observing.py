"""Players by a model of what their seat sees: they play, tell what they did, and refuse others."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.observing.model import ObservationSettings
from agents.observing.population import SelfPlayTraining
from agents.players.registry import PRELOAD, PlayerRoster
from agents.players.specs import PlayerSpecError
from games import library
from games.information import SeatLog, Seen
from games.streams import stream
from games.values import Json
from tests.agents.players.test_model import used
from tools.playtest.jobs import GameSetup
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.sandbox import Sandbox

KUHN = GameSetup("kuhn_poker", library.source("kuhn_poker"), 2)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as opened:
        yield opened


@pytest.fixture(scope="module")
def model(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    settings = ObservationSettings(iterations=1, batch=512)
    trained = SelfPlayTraining(sandbox, KUHN, settings, 15_000, 7, folder).train({})
    path = folder / "kuhn.model"
    path.write_bytes(trained.saved())
    return path


def played(sandbox: Sandbox, *specs: str, matches: int, game: GameSetup = KUHN) -> Series:
    asked = SeriesSettings(matches=matches, seed=5, record=False)
    return play_series(game, specs, PlayerRoster(), asked, sandbox=sandbox)


@pytest.mark.parametrize("settings", ["", ",protocol=paper", ",runs=0", ",together=1"])
def test_a_search_plays_whole_matches_and_tells_what_it_did(
    sandbox: Sandbox, model: Path, settings: str
) -> None:
    runs = "" if "runs" in settings else ",runs=12"
    series = played(sandbox, f"gomcts:model={model}{runs}{settings}", "random", matches=4)
    assert series.endings["finished"] == 4
    assert {*used(series, 0)["algorithm"]} == {"gomcts"}
    told = series.tables.used(0).figures
    assert {"runs", "impossible", "nodes", "passes", "spelled"} <= told.keys()
    if settings == ",runs=0":
        assert told["nodes"].total == told["nodes"].count  # the root alone


def test_the_best_value_is_played_alike_alone_and_beside_others(
    sandbox: Sandbox, model: Path
) -> None:
    many = played(sandbox, f"argmaxval:model={model}", "random", matches=40)
    few = played(sandbox, f"argmaxval:model={model}", "random", matches=4)
    assert many.plan.in_lockstep
    assert [many.entries[n].actions for n in range(4)] == [few.entries[n].actions for n in range(4)]
    assert many.replayed.matches == 40  # made again in full, the players asked again


@pytest.mark.parametrize("name", ["argmaxval", "gomcts"])
@pytest.mark.parametrize(
    ("seen", "legal", "why"),
    [({}, ["leap", "hop"], "uniform"), ({"text": "x" * 5000}, ["bet", "check"], "context")],
    ids=["actions that it never met", "a log that is too long"],
)
def test_what_cannot_be_judged_is_drawn_and_counted(
    sandbox: Sandbox, model: Path, name: str, seen: dict[str, Json], legal: list[str], why: str
) -> None:
    spec = PlayerRoster().effective(f"{name}:model={model}")
    player = PlayerRoster().seat(spec, seat=0, match=0, game=KUHN, sandbox=sandbox)
    chosen = player.choose(SeatLog(0, [Seen.of(seen)]), legal, stream(0, "player"))
    assert chosen.action in legal
    assert chosen.effort.fallback == why


def test_a_model_of_another_game_is_refused(sandbox: Sandbox, model: Path) -> None:
    other = GameSetup("leduc_poker", library.source("leduc_poker"), 2)
    with pytest.raises(PlayerSpecError, match="was trained on kuhn_poker, and this is leduc_poker"):
        played(sandbox, f"gomcts:model={model}", "random", matches=2, game=other)


def test_a_model_that_has_changed_is_refused(model: Path) -> None:
    spec = PlayerRoster().effective(f"gomcts:model={model}")
    digest = spec.settings["sha256"]
    assert spec.name.count(str(digest)) == 1
    with pytest.raises(PlayerSpecError, match="has changed"):
        PlayerRoster().effective(f"gomcts:model={model},sha256=0000000000000000")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("gomcts", "required: model=FILE"),
        ("argmaxval:model=nowhere.model", "'rulewright train' writes one"),
        ("gomcts:model=x,runs=-1", "runs is '-1'"),
    ],
)
def test_what_is_no_model_is_refused_with_a_sentence(spec: str, said: str) -> None:
    with pytest.raises(PlayerSpecError, match=said):
        PlayerRoster().effective(spec)
