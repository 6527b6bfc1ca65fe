"""Matches in lockstep: the same as alone, whatever the batches, and each at its own cost."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.encoding.paths import fitted_encoder, turn_view
from agents.encoding.tensors import TensorSource
from agents.learning.policy import Codec, Policy, initial_weights, shapes
from agents.players.registry import PlayerRoster
from games import library
from games.contract import Game
from games.engine import Effort, RandomPlayer, play_match
from games.information import seat_turns
from games.modules import LocalModule
from games.table import GameTable
from games.values import Json
from tests.agents.learning.conftest import arrayed
from tests.tools.predicting.material import ARRAYS, changed
from tools.playtest.batches import play_batch
from tools.playtest.efforts import EffortSummary
from tools.playtest.jobs import GameSetup, MatchEntry, SandboxRecipe, play_job, sandbox_of_process
from tools.playtest.plan import MatchPlan
from tools.playtest.results import ResultTables
from tools.playtest.runner import Workers, held_bytes
from tools.playtest.schedule import TournamentSettings, one_line_up
from tools.playtest.series import Series, SeriesSettings, play_series, replayed_sample, with_records
from tools.playtest.tournament import Fold
from tools.replaying import VoidResultError
from tools.sandbox import Limits

ROSTER = PlayerRoster()
FORGERIES = Path(__file__).parents[3] / "evals/sandbox/forgeries"
RECIPE = SandboxRecipe(preload=ROSTER.preload, limits=Limits(call_s=2.0))
FATAL = ("left", "right", "left")
COUNTING = """
COUNT = [0]


def initial_state(num_players, **parameters):
    COUNT[0] += 1
    return {"moves": [], "number": COUNT[0] % 10}


def get_current_player(state):
    return -4 if len(state["moves"]) == 4 else len(state["moves"]) % 2


def get_legal_actions(state):
    return [] if len(state["moves"]) == 4 else ["left", "right"]


def apply_action(state, action):
    return {**state, "moves": [*state["moves"], action]}


def get_rewards(state):
    if len(state["moves"]) < 4:
        return [0.0, 0.0]
    won = state["moves"][0] == state["moves"][1] or CHEATS
    return [1.0, -1.0] if won else [-1.0, 1.0]


def get_observations(state):
    return [{"moves": state["moves"]}] * 2


def get_events(state, action):
    return [[action], [action]]
"""


def leduc(**heuristics: str) -> GameSetup:
    sources = heuristics or library.heuristic_sources("leduc_poker")
    return GameSetup("leduc", library.source("leduc_poker"), 2, {}, sources)


def counting(cheats: str) -> GameSetup:
    return GameSetup("counting", COUNTING.replace("CHEATS", cheats), 2)


def plan(game: GameSetup, specs: Sequence[str], deals: int, max_plies: int = 200) -> MatchPlan:
    players = tuple(map(ROSTER.effective, specs))
    schedule = one_line_up([player.name for player in players])
    settings = TournamentSettings(deals=deals, seed=5, max_plies=max_plies)
    return MatchPlan(game, players, settings, ROSTER, schedule, RECIPE)


def network(
    path: Path, game: GameSetup, *, recurrent: bool, tensors: TensorSource | None = None
) -> str:
    """The spec of an untrained network, whose choices differ widely between positions."""
    table, seen, actions = GameTable(Game(LocalModule(game.source))), [], set[str]()
    for number in range(20):
        match = play_match(table, [RandomPlayer()] * 2, parameters={}, seed=1, match=number)
        actions |= {action for ply in match.plies if ply.player >= 0 for action in ply.legal}
        for log in match.logs:
            for turn in seat_turns(log.entries):
                told = turn_view(log.seat, turn, recurrent=recurrent, whole=tensors is None)
                seen.append(told)
    codec = Codec(fitted_encoder(seen), tuple(sorted(actions)), recurrent, tensors)
    sizes = shapes(codec.width, len(actions), 37, recurrent=recurrent)
    weights = initial_weights(sizes, np.random.default_rng(0))
    weights["actor"] *= 100
    about = {"game": game.name, "num_players": 2, "parameters": {}, "settings": {"units": 37}}
    path.write_bytes(Policy(codec, weights, about).saved())
    return f"ppo:policy={path}"


def require_same_alone(played: MatchPlan) -> dict[int, Json]:
    together = in_batches(played, 500)
    assert together == in_batches(played, 1) == in_batches(played, 7)
    with sandbox_of_process(RECIPE):
        for match, entry in together.items():
            alone = play_job(played.job(match))
            assert isinstance(alone, dict)
            assert entry == {**alone, "told": ""}
    return together


def in_batches(of: MatchPlan, size: int) -> dict[int, Json]:
    rotations = of.schedule.rotations
    found: dict[int, Json] = {}
    with sandbox_of_process(RECIPE):
        for rotation in range(rotations):
            matches = range(rotation, of.settings.deals * rotations, rotations)
            for start in range(0, len(matches), size):
                found |= dict(play_batch(of.batch(matches[start : start + size])))
    return found


@pytest.mark.parametrize("specs", [("random", "random"), ("greedy", "random")])
def test_entries_are_the_same_for_all_sizes_of_batches_and_alone(specs: tuple[str, str]) -> None:
    played = plan(leduc(), specs, deals=20)
    assert len(require_same_alone(played)) >= 20


@pytest.mark.parametrize(
    ("name", "recurrent"), [("connect_four", False), ("leduc_poker", False), ("leduc_poker", True)]
)
@pytest.mark.parametrize("other", ["", "random"])
def test_a_network_plays_the_same_in_batches_of_all_sizes_and_alone(
    tmp_path: Path, name: str, other: str, *, recurrent: bool
) -> None:
    game = GameSetup(name, library.source(name), 2)
    spec = network(tmp_path / "policy", game, recurrent=recurrent)
    played = plan(game, (spec, other or f"{spec},temperature=0"), deals=8)
    assert played.job(0).in_lockstep
    together = require_same_alone(played)
    acted = {tuple(MatchEntry.model_validate(entry).actions) for entry in together.values()}
    assert len(acted) > len(together) / 2


def test_a_network_whose_file_fails_on_some_positions_costs_no_other_match(tmp_path: Path) -> None:
    """With a king its function ends the worker that makes the arrays of the whole batch."""
    ends = "    if observation['card'] == 'K':\n        __import__('os')._exit(3)\n    row = ["
    tensors = TensorSource(changed(ARRAYS, ("    row = [", ends)), 10)
    spec = network(tmp_path / "policy", arrayed(), recurrent=True, tensors=tensors)
    together = require_same_alone(plan(arrayed(), (spec, spec), deals=12))
    entries = [MatchEntry.model_validate(entry) for entry in together.values()]
    assert {entry.ending for entry in entries} == {"finished"}
    kings = [used.figures["unknown_values"].total > 0 for one in entries for used in one.used]
    assert 0 < sum(kings) < len(kings)


def test_a_network_that_reads_its_whole_log_is_asked_again_in_another_order(tmp_path: Path) -> None:
    spec = network(tmp_path / "policy", leduc(), recurrent=True)
    settings = SeriesSettings(matches=60, seed=5, record=False)
    with sandbox_of_process(RECIPE) as sandbox:
        series = play_series(leduc(), [spec, "random"], ROSTER, settings, sandbox=sandbox)
    assert (series.endings["finished"], series.replayed.matches) == (60, 44)


def test_a_match_that_meets_its_limit_of_plies_is_the_same_as_alone() -> None:
    played = plan(leduc(), ("random", "random"), deals=3, max_plies=3)
    together = in_batches(played, 3)
    with sandbox_of_process(RECIPE):
        alone = play_job(played.job(1))
    assert isinstance(alone, dict)
    assert together[1] == {**alone, "told": ""}
    assert MatchEntry.model_validate(together[1]).ending == "unfinished"


@pytest.mark.parametrize("fault", ["1 / 0", "[0] * 10**12", "any(iter(int, 1))"])
def test_a_match_that_fails_hangs_or_takes_all_memory_costs_itself_alone(fault: str) -> None:
    """One match of eight or so, whatever it does to its worker."""
    bad = f'(state["moves"][:3] == {[*FATAL]} and {fault})'
    played = plan(counting(bad), ("random", "random"), deals=40)
    together = in_batches(played, 40)
    entries = [MatchEntry.model_validate(together[match]) for match in sorted(together)]
    hit = [entry for entry in entries if entry.actions[:3] == FATAL]
    others = [entry for entry in entries if entry not in hit and "3 matches" not in entry.reason]
    assert len(entries) == 40
    assert hit
    assert {entry.ending for entry in hit} <= {"fault", "unfinished"}
    assert {entry.ending for entry in others} == {"finished"}


def test_a_module_that_hangs_again_and_again_is_given_up_after_three() -> None:
    hangs = "any(iter(int, 1))"
    played = plan(counting(hangs), ("random", "random"), deals=12)
    entries = [MatchEntry.model_validate(one) for one in in_batches(played, 12).values()]
    assert [entry.ending for entry in entries].count("unfinished") == 3
    given_up = [entry for entry in entries if "in time in 3 matches" in entry.reason]
    assert len(given_up) == [entry.ending for entry in entries].count("fault") > 3


def test_a_module_that_plays_the_same_in_all_matches_has_a_result() -> None:
    settings = SeriesSettings(matches=400, seed=5, record=False)
    with sandbox_of_process(RECIPE) as sandbox:
        game = counting("False")
        series = play_series(game, ["random", "random"], ROSTER, settings, sandbox=sandbox)
    assert (series.endings["finished"], series.replayed.matches) == (400, 44)


@pytest.mark.parametrize("cheats", ["COUNT[0] % 10 == 0", "state['number'] == 3"])
def test_a_module_that_cheats_in_every_tenth_match_has_no_result(cheats: str) -> None:
    """Its count is another one where matches are made again: 44 of 400 miss it with 1 %."""
    settings = SeriesSettings(matches=400, seed=5, record=False)
    with (
        sandbox_of_process(RECIPE) as sandbox,
        pytest.raises(VoidResultError, match="made again by a fresh worker, has returns"),
    ):
        play_series(counting(cheats), ["random", "random"], ROSTER, settings, sandbox=sandbox)


def test_a_heuristic_that_remembers_other_matches_is_void() -> None:
    """It scores by how often it was asked: asked again in another order, it chooses otherwise."""
    counts = """
ASKED = []


def score(observation, action):
    ASKED.append(action)
    return (len(ASKED) * 7919) % 13
"""
    settings = SeriesSettings(matches=40, seed=5, record=False)
    with (
        sandbox_of_process(RECIPE) as sandbox,
        pytest.raises(
            VoidResultError, match="played again beside others, came out with other actions"
        ),
    ):
        play_series(leduc(counts=counts), ["greedy", "random"], ROSTER, settings, sandbox=sandbox)


def test_a_batch_holds_no_two_matches_of_one_deal() -> None:
    """So a heuristic cannot have seen the other hand of a deal from the other seat."""
    batches = [batch for _, batch in Fold(plan(leduc(), ("greedy", "random"), deals=300)).wanted()]
    for batch in batches:
        assert len({deal for _, deal, _ in batch.matches}) == len(batch.matches)
    assert max(len(batch.matches) for batch in batches) > 100
    assert sum(len(batch.matches) for batch in batches) == 600


def test_a_journal_of_two_processes_is_that_of_one(tmp_path: Path) -> None:
    journals = []
    for name, workers in (("one", Workers()), ("two", Workers(2))):
        journal = tmp_path / name
        with workers.opened() as opened:
            play_series(
                leduc(),
                ["greedy", "random"],
                ROSTER,
                SeriesSettings(matches=200, seed=5, record=False),
                sandbox=RECIPE,
                journal=journal,
                workers=opened,
            )
        journals.append(journal.read_bytes())
    assert journals[0] == journals[1]


def test_a_module_that_says_true_for_a_seat_has_its_matches_void() -> None:
    """`True` is 1 to Python, and no seat: JSON tells them apart, and so does the contract."""
    source = COUNTING.replace("CHEATS", "False").replace(
        'else len(state["moves"]) % 2', 'else len(state["moves"]) % 2 == 1'
    )
    played = plan(GameSetup("counting", source, 2), ("random", "random"), deals=4)
    entries = [MatchEntry.model_validate(one) for one in in_batches(played, 4).values()]
    assert {entry.ending for entry in entries} == {"fault"}


def test_matches_made_again_in_full_have_the_records_of_matches_played_with_records() -> None:
    """The two ways of a record: kept while one match is played, or made from the actions."""
    specs, few = ["greedy", "random"], 6

    def series(*, record: bool) -> Series:
        settings = SeriesSettings(matches=few, seed=5, record=record)
        return play_series(leduc(), specs, ROSTER, settings, sandbox=sandbox)

    with sandbox_of_process(RECIPE) as sandbox:
        full, made = series(record=True), with_records(series(record=False), few, sandbox)
    assert len(made.records) == few
    for one, other in zip(full.records, made.records, strict=True):
        silent = [replace(ply, effort=Effort()) for ply in one.match.plies]
        assert tuple(silent) == other.match.plies
        assert one.match.final_observations == other.match.final_observations


@pytest.mark.parametrize(
    ("forgery", "matches", "told"),
    [
        ("asked_once", 40, "match [0-9]+"),
        ("neighbours", 40, "match [0-9]+, played again by a fresh worker, has returns"),
        ("fails_for_seat_1", 400, "match [0-9]+"),
    ],
)
def test_a_module_that_answers_otherwise_in_other_company_has_no_result(
    forgery: str, matches: int, told: str
) -> None:
    """It cheats the first who asks or in company, or fails in a worker's first match and late."""
    module = (FORGERIES / f"{forgery}.py").read_text(encoding="utf-8")
    module = module.replace("if OPENED[0] == 1 and", "if not 1 < OPENED[0] < 40 and")
    game, settings = GameSetup("forged", module, 2), SeriesSettings(matches, seed=5, record=False)
    with sandbox_of_process(RECIPE) as sandbox, pytest.raises(VoidResultError, match=told):
        play_series(game, ["random"] * 2, ROSTER, settings, sandbox=sandbox)


def test_a_module_that_leaks_in_lean_play_alone_has_no_result() -> None:
    """Its heuristic sees the other's card as long as nobody asks for events: as matches count."""
    module = (FORGERIES / "leak_when_lean.py").read_text(encoding="utf-8")
    folder = FORGERIES / "leak_when_lean_heuristics"
    heuristics = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    game, settings = GameSetup("forged", module, 2, {}, heuristics), SeriesSettings(40, seed=5)
    with (
        sandbox_of_process(RECIPE) as sandbox,
        pytest.raises(VoidResultError, match="where it was asked again"),
    ):
        play_series(
            game, ["greedy", "random"], ROSTER, replace(settings, record=False), sandbox=sandbox
        )


def test_matches_of_several_numbers_of_players_are_made_again_each_with_its_own() -> None:
    """The play-test of a game for two to four plays all of these numbers."""
    settings = SeriesSettings(matches=12, seed=5, record=False, replay=False)
    with sandbox_of_process(RECIPE) as sandbox:
        series = [
            play_series(
                GameSetup("goofspiel", library.source("goofspiel"), seats),
                ["random"] * seats,
                ROSTER,
                settings,
                sandbox=sandbox,
            )
            for seats in (2, 3)
        ]
        assert replayed_sample(series, 24).matches == 24


def test_matches_without_end_fill_no_more_than_their_memory() -> None:
    """Deals count up to the one that is too much, in whatever order their matches arrive."""
    asked = plan(leduc(), ("greedy", "random"), deals=10**30)
    entry = MatchEntry(
        ending="finished",
        returns=(1.0, -1.0),
        plies=2,
        actions=("Call", "Fold"),
        culprit=None,
        reason="",
        fault_line=None,
        used=(EffortSummary(), EffortSummary()),
    ).model_dump(mode="json")
    for order in (range(40), [*range(20, 40), *range(20)]):
        fold = Fold(asked, most_held=10 * held_bytes(entry))
        for index in order:
            fold.add(index, entry)
        assert [*fold.wanted()] == []
        fold.end()
        assert [*fold.counted()] == [*range(10)]  # the eleventh match is too much
        assert fold.unheld == 2 * 10**30 - 10


def test_a_series_says_that_it_was_not_played_whole() -> None:
    setup = plan(leduc(), ("greedy", "random"), deals=10)
    for unheld, told in ((5, ["memory"]), (0, [])):
        tables = ResultTables(setup.schedule, setup.settings, setup.players, {}, {}, unheld=unheld)
        assert [*tables.cautions] == told
