"""Players of learned models, with an environment as the referee."""

import random
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from agents.players.registry import PlayerRoster, parse_spec
from agents.players.specs import PlayerSpecError
from games.contract import Game
from games.environments.served import ServedRules
from games.information import SeatLog
from games.modules import LocalModule, bind
from games.streams import stream
from games.table import GameTable
from games.values import State
from tests.learned import model_file
from tools.playtest.runner import Workers
from tools.playtest.series import Series, SeriesSettings, play_series, series_summary
from tools.sandbox import Sandbox
from tools.sources import GameNotFoundError, environment_game

FEW = "simulations=30,rollouts=1"
LEARNED = ["tic_tac_toe", "kuhn_poker", "leduc_poker"]


def series(sandbox: Sandbox, game: str, *specs: str, matches: int = 4, jobs: int = 1) -> Series:
    return play_series(
        environment_game(f"openspiel:{game}"),
        specs,
        PlayerRoster(),
        SeriesSettings(matches=matches, seed=3),
        sandbox=sandbox,
        workers=Workers(jobs, "threads"),
    )


def used(played: Series, entrant: int) -> dict[str, Any]:
    found: Any = series_summary(played)["entrants"]
    total = {name: figure["total"] for name, figure in found[entrant]["used"]["figures"].items()}
    return {**total, **found[entrant]["used"]["words"]}


@pytest.mark.parametrize("name", LEARNED)
def test_the_models_written_by_hand_are_the_environments(tmp_path: Path, name: str) -> None:
    game = environment_game(f"openspiel:{name}")
    real = game.opened()
    table = GameTable(Game(LocalModule(model_file(tmp_path, name).read_text())))
    draw = random.Random(1)
    for _ in range(40):
        here, there = (one.open(2, game.parameters) for one in (real, table))
        while here.legal:
            action = draw.choice(here.legal)
            here, there = real.advance(here, action), table.advance(there, action)
            assert (here.state, here.player, here.legal) == (there.state, there.player, there.legal)
            assert (here.rewards, here.observations) == (there.rewards, there.observations)


def test_a_model_meets_the_game_itself_without_surprise(sandbox: Sandbox, tmp_path: Path) -> None:
    model = model_file(tmp_path, "leduc_poker")
    specs = f"cwm:model={model},{FEW}", f"gt:{FEW}"
    played = series(sandbox, "leduc_poker", *specs)
    assert played.endings["finished"] == 4
    assert played.replayed.matches == 4
    told = used(played, 0)
    assert (told["surprises"], told["failed_searches"]) == (0, 0)
    assert {*told["algorithm"]} == {*used(played, 1)["algorithm"]} == {"ismcts"}
    assert {*told["belief"]} == {"resample_history"}, "the model's own inference"
    assert {*used(played, 1)["belief"]} == {"exact"}
    side_by_side = series(sandbox, "leduc_poker", *specs, jobs=2)
    assert series_summary(side_by_side) == series_summary(played)


@pytest.mark.parametrize("name", ["twin:3:openspiel:kuhn_poker", "own:quadranto"])
def test_the_game_itself_is_searched_whatever_it_is(sandbox: Sandbox, name: str) -> None:
    specs = "gt:simulations=4,rollouts=1", "random"
    played = play_series(
        environment_game(name),
        specs,
        PlayerRoster(),
        SeriesSettings(matches=2, seed=3),
        sandbox=sandbox,
    )
    assert played.endings["finished"] == 2
    assert {*used(played, 0)["algorithm"]} == {"ismcts"}


def test_both_find_the_forced_draw_of_tic_tac_toe(sandbox: Sandbox, tmp_path: Path) -> None:
    model = model_file(tmp_path, "tic_tac_toe")
    specs = f"cwm:model={model},simulations=2000,rollouts=1", "gt:simulations=2000,rollouts=1"
    played = series(sandbox, "tic_tac_toe", *specs, matches=2)
    assert [entry.returns for entry in played.entries.values()] == [(0.0, 0.0)] * 2
    assert {*used(played, 0)["algorithm"]} == {*used(played, 1)["algorithm"]} == {"uct"}


RENAMED = ('{i // 3},{i % 3})"', '{i // 3};{i % 3})"')


def test_an_illegal_action_forfeits_and_is_quoted_where_none_is_told(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    model = model_file(tmp_path, "tic_tac_toe", RENAMED)
    hidden = series(sandbox, "tic_tac_toe", f"cwm:model={model},{FEW}", "random", matches=2)
    assert hidden.endings["forfeit"] == 2
    assert all("which is not a legal action" in one.reason for one in hidden.entries.values())
    assert all(";" in one.reason for one in hidden.entries.values())
    told = f"cwm:model={model},{FEW},protocol=ours"
    open_ = series(sandbox, "tic_tac_toe", told, "random", matches=2)
    assert open_.endings["finished"] == 2
    mine = used(open_, 0)
    assert mine["surprises"] == sum(mine["fallback"].values()) > 0


def test_what_the_model_did_not_foresee_is_a_surprise_and_no_end(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    # The model turns what o takes into another square, so no play explains what is seen.
    wrong = ("board[3 * int(action[2]) + int(action[4])] = mark", "board[board.index('.')] = mark")
    model = model_file(tmp_path, "tic_tac_toe", wrong)
    played = series(sandbox, "tic_tac_toe", f"cwm:model={model},{FEW}", "random", matches=6)
    told = used(played, 0)
    assert played.endings["finished"] == 6
    assert told["belief"]["observed"] == told["surprises"] > 0


def test_a_search_that_fails_leaves_an_action_of_the_model(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    # It does not know what the end of a match pays, so that every search fails (App. H.6).
    wrong = ('return [float(money - STAKE) for money in state["money"]]', "raise KeyError('money')")
    model = model_file(tmp_path, "leduc_poker", wrong)
    played = series(sandbox, "leduc_poker", f"cwm:model={model},{FEW}", "random", matches=2)
    told = used(played, 0)
    assert told["failed_searches"] == told["surprises"] > 0
    assert {*told["fallback"]} == {"random_in_model"}


def test_a_model_that_does_not_load_costs_its_seat_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    broken = model_file(tmp_path, "leduc_poker")
    broken.write_text(f"{broken.read_text()}\nimport nothing_of_this_name\n")
    played = series(sandbox, "leduc_poker", f"cwm:model={broken},{FEW}", "random", matches=2)
    assert played.endings["forfeit"] == 2
    entries = played.entries
    assert all(played.seated(m)[entries[m].culprit or 0] == 0 for m in entries)
    assert "nothing_of_this_name" in entries[0].reason


def test_what_the_seat_is_told_beyond_observations_stays_away_from_a_learned_model(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    model = model_file(tmp_path, "tic_tac_toe")
    game = environment_game("openspiel:tic_tac_toe")
    spec = PlayerRoster().effective(f"cwm:model={model},{FEW}")
    player = PlayerRoster().seat(spec, seat=0, match=0, game=game, sandbox=sandbox)
    start = game.opened().open(2, {})
    log = SeatLog(0)
    log.see(start.observations[0], ["the match begins"])
    decision = player.choose(log, ["x(0,0)"], stream(1, "player"))
    player.close()
    assert decision.action in start.legal
    assert decision.effort.row()["surprises"] == 0


def test_a_model_is_named_once_and_by_what_it_says(tmp_path: Path) -> None:
    model = model_file(tmp_path, "kuhn_poker", stem="model")
    spec = parse_spec(f"cwm:run={tmp_path}")
    assert spec.settings["model"] == str(model)
    assert parse_spec(spec.name) == spec
    model.write_text(model.read_text() + "# changed\n")
    with pytest.raises(PlayerSpecError, match="has changed"):
        parse_spec(spec.name)
    model.write_text("def get_current_player(state):\n    return 0\n")
    with pytest.raises(PlayerSpecError, match="no game module.*rulewright learn"):
        parse_spec(f"cwm:model={model}")
    with pytest.raises(PlayerSpecError, match="one of them"):
        parse_spec("cwm")
    with pytest.raises(PlayerSpecError, match="one of them"):
        parse_spec(f"cwm:run={tmp_path},model={model}")
    with pytest.raises(GameNotFoundError, match="a model must be a file"):
        parse_spec(f"cwm:run={tmp_path / 'nowhere'}")


def test_two_ways_to_one_position_of_an_environment_are_one_state() -> None:
    # x and o may take their squares in either order: a log that does not tell is followed once.
    rules = ServedRules(environment_game("openspiel:tic_tac_toe").opened())
    bound = bind(rules.functions(), 2)
    ways = (("x(0,0)", "o(1,1)", "x(2,2)"), ("x(2,2)", "o(1,1)", "x(0,0)"))
    start: State = {"h": []}
    reached = [reduce(bound.apply_action, way, start) for way in ways]
    assert reached[0] != reached[1]
    assert bound.key(reached[0]) == bound.key(reached[1])
    assert bound.key(reached[0]) != bound.key(start)
