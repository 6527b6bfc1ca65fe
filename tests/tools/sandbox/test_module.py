from typing import cast

import pytest

from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import play_match
from games.information import SeatLog, information_key
from games.modules import LocalModule
from games.table import GameTable
from games.values import ModuleFault
from tests.tools.sources import NIM, nim_with
from tools.sandbox import Sandbox, SandboxTable


def test_a_match_in_a_worker_equals_the_same_match_in_this_process(sandbox: Sandbox) -> None:
    here = GameTable(Game(LocalModule(NIM)))
    with sandbox.worker("referee") as worker:
        worker.load(NIM)
        for match in range(20):
            played = [
                play_match(
                    table, [UniformPlayer()] * 2, parameters={"most": 3}, seed=5, match=match
                )
                for table in (here, SandboxTable(worker))
            ]
            assert played[0] == played[1]
            assert played[0].ending == "finished"


@pytest.mark.parametrize("name", ["tic_tac_toe", "poker", "trick_taking"])
def test_library_games_play_alike_in_a_worker_and_here(sandbox: Sandbox, name: str) -> None:
    text = library.source(name)
    game = Game(LocalModule(text))
    players = [UniformPlayer()] * cast("int", game.info["min_players"])
    with sandbox.worker("referee") as worker:
        worker.load(text)
        for table in (GameTable(game), SandboxTable(worker)):
            match = play_match(table, players, parameters={}, seed=9)
            assert match.ending == "finished"
            assert match == play_match(GameTable(game), players, parameters={}, seed=9)


BROKEN = {
    "apply_action": ("return [1]", "required: a dict"),
    "get_current_player": ("return 2", "there are 2 players"),
    "get_legal_actions": ("return ['a', 'a']", "duplicates"),
    "get_rewards": ("return [1]", "2 finite numbers"),
    "get_observations": ("return [{}]", "one a player"),
    "get_events": ("return ['a', 'b']", "lists of str"),
    "get_chance_probabilities": ("return [0.5, 0.6]", "sum to 1"),
}
TOO_LARGE = {
    "get_rewards": ("return [1.7e308, -1.7e308]", r"at most 1e\+12"),
    "get_observations": ("x = []\nfor _ in range(900): x = [x]\nreturn x", "at most 64 levels"),
    "get_chance_probabilities": ("return [1e308, 1e308]", "sum to 1"),
}
UNWRITABLE = {
    "get_rewards": "return [10**5000, 0]",
    "get_legal_actions": "return ['take ' + chr(0xD800)]",
    "get_events": "return [[chr(0xD800)], []]",
}

NO_FLOATS = {
    "get_rewards": ("return [10**400, 0]", "2 finite numbers"),
    "get_chance_probabilities": ("return [10**400, 0.5]", "2 finite numbers"),
}


@pytest.mark.parametrize(("function", "how"), [*BROKEN.items(), *TOO_LARGE.items()])
def test_a_broken_value_is_the_fault_of_the_function_that_gave_it(
    sandbox: Sandbox, function: str, how: tuple[str, str]
) -> None:
    body, words = how
    source = nim_with(function, body)
    faults = []
    with sandbox.worker("referee") as worker:
        worker.load(source)
        for table in (GameTable(Game(LocalModule(source))), SandboxTable(worker)):
            with pytest.raises(ModuleFault, match=words) as caught:
                table.advance(table.open(2, {}), "pile 3")
            faults.append((caught.value.kind, caught.value.function))
    assert faults == [("bad_value", function)] * 2


@pytest.mark.parametrize("function", UNWRITABLE)
def test_a_value_that_cannot_be_written_is_laid_to_the_function_that_gave_it(
    sandbox: Sandbox, function: str
) -> None:
    with sandbox.worker("referee") as worker:
        worker.load(nim_with(function, UNWRITABLE[function]))
        table = SandboxTable(worker)
        with pytest.raises(ModuleFault, match="written as JSON") as caught:
            table.advance(table.open(2, {}), "pile 3")
    assert (caught.value.kind, caught.value.function) == ("bad_value", function)


def test_values_of_64_levels_and_rewards_of_a_trillion_are_the_contracts(sandbox: Sandbox) -> None:
    deep = "x = 1\nfor _ in range(62): x = [x]\nreturn [{'x': x}, {}]"
    source = (
        nim_with("get_observations", deep) + "\n\ndef get_rewards(state): return [1e12, -1e12]\n"
    )
    with sandbox.worker("referee") as worker:
        worker.load(source)
        table = SandboxTable(worker)
        position = table.advance(table.open(2, {}), "pile 3")
    assert position.rewards == (1e12, -1e12)
    log = SeatLog(0)
    log.see(position.observations[0], [])
    assert information_key(log).count("[") > 62


def test_a_refused_parameter_is_the_module_speaking(sandbox: Sandbox) -> None:
    with sandbox.worker("referee") as worker:
        worker.load(NIM)
        with pytest.raises(ModuleFault, match="nim is for two") as caught:
            SandboxTable(worker).open(3, {})
        assert caught.value.function == "initial_state"


def test_a_module_that_refuses_an_action_it_lists_is_at_fault(sandbox: Sandbox) -> None:
    with sandbox.worker("referee") as worker:
        worker.load(nim_with("apply_action", "raise ValueError('not now')"))
        match = play_match(SandboxTable(worker), [UniformPlayer()] * 2, parameters={}, seed=1)
    assert match.ending == "fault"
    assert "which is legal here: not now" in match.reason


def test_a_worker_that_dies_in_a_match_faults_the_match(sandbox: Sandbox) -> None:
    with sandbox.worker("referee") as worker:
        worker.load(nim_with("get_events", "import os\nos._exit(9)"))
        match = play_match(SandboxTable(worker), [UniformPlayer()] * 2, parameters={}, seed=1)
        again = play_match(SandboxTable(worker), [UniformPlayer()] * 2, parameters={}, seed=2)
    assert match.ending == again.ending == "fault"
    assert "killed" in match.reason
    cause = match.reason.removeprefix("advance: killed: ")
    assert again.reason == f"advance: killed: worker 'referee' ended before this call: {cause}"


@pytest.mark.parametrize("function", NO_FLOATS)
def test_a_whole_number_that_no_float_holds_is_not_finite(sandbox: Sandbox, function: str) -> None:
    body, words = NO_FLOATS[function]
    source = nim_with(function, body)
    with sandbox.worker("referee", source) as worker:
        worker.load(source)
        table = SandboxTable(worker)
        with pytest.raises(ModuleFault, match=words) as caught:
            table.advance(table.open(2, {}), "pile 3")
    assert caught.value.function == function
