"""Environments in workers: play is the same there, and one that fails costs a match, no more."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agents.players.registry import make_player, parse_spec
from agents.players.search import PRELOAD
from agents.players.specs import Seating
from agents.recording import RecorderError, RecordPlan, record_matches
from games.contract import Game
from games.engine import RandomPlayer, play_match
from games.environments import Environment, ModuleEnvironment
from games.environments.registry import TwinEnvironment, environment_named
from games.information import SeatLog
from games.modules import LocalModule
from games.streams import stream
from games.table import GameTable, Position
from games.values import ModuleFault
from tests.agents.small_games import TIC_TAC_TOE
from tools.playtest.jobs import GameSetup
from tools.sandbox import Limits, Sandbox
from tools.sandbox.module import environment_in

STRANGE = {
    "sleeps": ("__import__('time').sleep(1e6)", "read the clock; a game has no clock"),
    "loops": ("while True: pass", "did not return within 0.3 s"),
    "raises": ("1 / 0", "ZeroDivisionError"),
    "exits": ("raise SystemExit", "SystemExit"),
    "dies": ("__import__('ctypes').string_at(0)", "SIGSEGV"),
    "grows": ("x = [0] * 10**10", "memory"),
}


@dataclass(frozen=True)
class Opened(GameSetup):
    """A game in an environment that has no name."""

    held: Environment = field(kw_only=True)

    def opened(self) -> Environment:
        return self.held


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    limits = Limits(memory_bytes=700 * 2**20, call_s=0.3, grace_s=0.2)
    with Sandbox(preload=PRELOAD, limits=limits) as shared:
        yield shared


def strange(does: str, *, is_twin: bool = False) -> Environment:
    """Tic-tac-toe that does something else when a square is taken."""
    head = "def apply_action(state, action):"
    source = TIC_TAC_TOE.replace(head, f"{head}\n    {does}")
    assert source != TIC_TAC_TOE
    table = GameTable(Game(LocalModule(source)))
    environment = ModuleEnvironment("own:strange", 2, {}, "", table)
    return TwinEnvironment(environment, 1) if is_twin else environment


@pytest.mark.parametrize(("does", "told"), STRANGE.values(), ids=STRANGE)
def test_a_strange_environment_ends_its_match_with_a_sentence(
    sandbox: Sandbox, does: str, told: str
) -> None:
    with environment_in(sandbox, strange(does)) as environment:
        match = play_match(environment, [RandomPlayer()] * 2, parameters={}, seed=1)
    assert (match.ending, len(match.plies)) == ("fault", 0)
    assert told in match.reason


@pytest.mark.parametrize("is_twin", [False, True])
def test_no_file_is_left_of_a_recording_that_hangs(
    sandbox: Sandbox, tmp_path: Path, *, is_twin: bool
) -> None:
    with (
        environment_in(sandbox, strange("while True: pass", is_twin=is_twin)) as environment,
        pytest.raises(RecorderError, match="match 0 ended after 0 plies.*did not return"),
    ):
        record_matches(environment, RecordPlan(2), tmp_path / "matches.jsonl")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("does", ["[0 for _ in iter(int, 1)]", "1 / 0"])
def test_a_search_in_an_environment_that_fails_ends_by_its_deadline(
    sandbox: Sandbox, does: str
) -> None:
    environment = strange(does, is_twin=True)
    seating = Seating(0, Opened("strange", "", 2, environment="strange", held=environment), sandbox)
    spec = parse_spec("gt:search=ismcts,simulations=2,rollouts=1,belief=exact,deadline=0.5")
    player = make_player(spec, seating)
    first = environment.open(2, {})
    log = SeatLog(0)
    log.see(first.observations[0], [])
    with pytest.raises(ModuleFault, match="did not return|ZeroDivisionError"):
        player.choose(log, first.legal, stream(1, "test"))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("openspiel:connect_four(rows=0)", "SIGSEGV"),
        ("openspiel:mnk(m=3000,n=3000)", "did not return within"),
    ],
)
def test_a_game_of_openspiel_that_crashes_or_is_too_slow_is_stopped(
    sandbox: Sandbox, name: str, told: str
) -> None:
    with environment_in(sandbox, environment_named(name)) as environment:
        match = play_match(
            environment, [RandomPlayer()] * 2, parameters=environment.parameters, seed=1
        )
    assert match.ending == "fault"
    assert told in match.reason


@pytest.mark.parametrize(
    "name",
    ["openspiel:backgammon", "openspiel:skat", "twin:3:openspiel:leduc_poker", "own:hand_of_war"],
)
def test_a_worker_plays_as_this_process_does(sandbox: Sandbox, name: str) -> None:
    here, draws = environment_named(name), random.Random(2)
    with environment_in(sandbox, here) as there:
        pair = [one.open(one.num_players, one.parameters) for one in (here, there)]
        for _ in range(60):
            assert shown(pair[0]) == shown(pair[1])
            if not pair[0].legal:
                break
            action = draws.choice(pair[0].legal)
            pair = [one.advance(at, action) for one, at in zip((here, there), pair, strict=True)]


def shown(position: Position) -> tuple[object, ...]:
    return (
        *(position.state, position.player, position.legal, position.probabilities),
        *(position.rewards, position.observations, position.events),
    )
