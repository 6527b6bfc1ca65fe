"""Our players as shooters, held against the library's referee and an enumerated sea."""

from hashlib import sha256
from json import loads
from pathlib import Path
from random import Random

import numpy as np
import pytest

from agents.belief.belief import Belief, BeliefMemory, BeliefName, DecisionPoint
from agents.belief.follow import Entries
from agents.search.flat import OslaSettings
from agents.search.flat import decide_osla as osla
from agents.search.settings import SearchView
from evals.lechat2026.board import (
    BITS,
    CELLS,
    LENGTHS,
    Field,
    FieldResult,
    GameCounts,
    View,
    cells_of,
    play_duel,
    play_field,
    play_solo,
    random_fleet,
)
from evals.lechat2026.fixed import (
    ALONE,
    LOOKING,
    OSLA,
    alone_field,
    field_rows,
    fixed_scores,
    looking_field,
    shots_row,
)
from evals.lechat2026.players import (
    Seat,
    SpecShooter,
    cell_name,
    game,
    ship_name,
    ships_of,
    spec_contestant,
)
from evals.lechat2026.shooters import MapShooter
from evals.results import EvalError, EvalOptions
from games import library
from games.modules import Rules
from games.values import State
from tests.agents.belief.logs import logs_of
from tests.agents.belief.posteriors import exact, library_game, random_match
from tests.agents.belief.test_filter import explains
from tools.playtest.journal import Journal

CHEAP = "osla:passes=2,leaf=value,belief=module"


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seats_log_is_that_which_the_referee_writes(seat: int) -> None:
    rng = Random(5)
    fleets = [random_fleet(rng), random_fleet(rng)]
    here = game()
    placed = [f"ship {ship_name(ship)}" for fleet in fleets for ship in ships_of(fleet)]
    shots = [rng.sample(range(CELLS), 12) for _ in fleets]
    fired = [f"fire {cell_name(shots[who][turn])}" for turn in range(12) for who in (0, 1)]
    written = Seat(seat, fleets[seat])
    view = View(own=fleets[seat], seat=seat)
    for turn in range(12):
        if seat:
            view.taken |= BITS[shots[0][turn]]
        elif turn:
            view.taken |= BITS[shots[1][turn - 1]]
        written.read(view)
        truth = logs_of(here.rules, here.initial, [*placed, *fired[: 2 * turn + seat]])[seat]
        assert written.log.entries == truth.entries
        cell = shots[seat][turn]
        written.log.act(f"fire {cell_name(cell)}")
        if BITS[cell] & fleets[1 - seat]:
            view.hits |= BITS[cell]
        else:
            view.misses |= BITS[cell]


def test_a_view_of_another_seats_turn_is_refused() -> None:
    seat = Seat(1, random_fleet(Random(1)))
    with pytest.raises(ValueError, match="not the turn of seat 1"):
        seat.read(View())


def test_a_fleet_is_taken_apart_into_its_ships() -> None:
    for number in range(20):
        fleet = random_fleet(Random(number))
        ships = ships_of(fleet)
        assert tuple(ship.bit_count() for ship in ships) == LENGTHS
        assert sum(ships) == fleet
    with pytest.raises(ValueError, match="are no fleet"):
        ships_of(0b11)


@pytest.mark.parametrize("belief", ["module", "constraint", "particle"])
def test_the_density_player_fires_where_most_of_the_enumerated_fleets_lie(
    belief: BeliefName,
) -> None:
    rules, namespace, start = library_game("battleship", {"rows": 4, "columns": 4, "ships": "3,2"})
    for log, legal in random_match(rules, start, 0, seed=2)[:5]:
        chances = dict.fromkeys(legal, 0.0)
        for state, probability in exact_states(rules, log.entries, start):
            for action in legal:
                after = rules.apply_action(state, action)
                hit = after["shots"][0][-1].endswith("hit")  # type: ignore[index,union-attr]
                chances[action] += probability * hit
        here = DecisionPoint(rules, namespace, start, log, tuple(legal))
        generator = np.random.default_rng(0)
        sample = Belief(here, belief, 0, generator, memory=BeliefMemory()).sample
        settings = OslaSettings(leaf="value", passes=600)
        chosen = osla(SearchView(rules, 0, sample), settings, generator).best
        assert chances[chosen] >= max(chances.values()) - 0.06


def exact_states(rules: Rules, entries: Entries, start: State) -> list[tuple[State, float]]:
    """The enumerated posterior, states with probabilities."""
    found = exact(rules, 0, entries, start)
    return [(loads(key), probability) for key, probability in found.items()]


@pytest.mark.parametrize("belief", ["constraint", "heatmap", "particle"])
def test_every_sample_on_the_whole_sea_explains_all_shots(belief: BeliefName) -> None:
    shooter = SpecShooter(f"osla:passes=1,leaf=value,belief={belief}", Random(3))
    fleet, view = random_fleet(Random(4)), View()
    here, memory = game(), BeliefMemory()
    for _ in range(12):
        cell = shooter.shoot(view)
        if BITS[cell] & fleet:
            view.hits |= BITS[cell]
        else:
            view.misses |= BITS[cell]
    shooter.shoot(view)
    seat = shooter.seat
    assert seat is not None
    log = seat.log
    log.entries.pop()  # the last shot, of which nothing is known yet
    legal = tuple(seat.legal)
    situation = DecisionPoint(here.rules, here.namespace, here.initial, log, legal)
    given = Belief(situation, belief, 0, np.random.default_rng(0), memory=memory)
    for _ in range(50):
        state = given.sample()
        assert explains(state, log.latest()["shots"])  # type: ignore[arg-type]
        assert sorted(here.rules.legal_actions(state)) == sorted(legal)


def test_every_player_of_the_evaluation_has_a_spec_that_is_read() -> None:
    for name, spec in {**ALONE, **LOOKING}.items():
        assert spec_contestant(name, spec).effective["spec"]


def test_a_solo_and_a_duel_end_with_all_cells_found() -> None:
    one = spec_contestant("one", CHEAP)
    alone = play_solo(one, seed=0, number=0)
    assert isinstance(alone, dict)
    assert 17 <= alone["shots"] <= 100  # type: ignore[operator]
    assert alone["used"]["decisions"] == alone["shots"]  # type: ignore[index,call-overload]
    game_ = play_duel(one, spec_contestant("other", CHEAP), seed=0, number=0)
    assert game_["health"][1 - game_["won"]] == 0  # type: ignore[index,call-overload,operator]


def test_the_same_numbers_give_the_same_game() -> None:
    one = spec_contestant("one", CHEAP)
    assert play_solo(one, seed=0, number=1) == play_solo(one, seed=0, number=1)


def test_a_stale_map_fires_in_one_order_whatever_it_hits() -> None:
    fired = []
    for hit in (False, True):
        shooter, view, order = MapShooter(50, Random(0)), View(), []
        for _ in range(CELLS):
            order.append(shooter.shoot(view))
            view.hits |= BITS[order[-1]] * hit
            view.misses |= BITS[order[-1]] * (not hit)
        fired.append(order)
    assert fired[0] == fired[1]
    assert sorted(fired[0]) == cells_of((1 << CELLS) - 1)


@pytest.mark.parametrize("field", [alone_field(0, ["1 fleet"]), looking_field(0, "1 fleet")])
def test_a_folder_of_another_source_of_the_game_is_refused(tmp_path: Path, field: Field) -> None:
    journal = tmp_path / f"{field.name}.jsonl"
    Journal(journal, field.identity()).close()
    source = library.source("battleship").encode()
    ours, other = (sha256(text).hexdigest() for text in (source, source + b"# changed since\n"))
    heading = journal.read_text()
    assert heading.count(ours) == 1
    journal.write_text(heading.replace(ours, other))
    with pytest.raises(EvalError, match="belongs to other work .effective "):
        play_field(field, GameCounts(2, 4), EvalOptions(tell=print, folder=tmp_path))
    assert journal.read_text() == heading.replace(ours, other)


def test_scores_hold_a_player_against_the_bounds_and_the_interval_of_a_small_run() -> None:
    field = alone_field(0, ["1 fleet"])
    games = {"random": [95, 96], "stale map": [90, 91], OSLA: [55, 57], "1 fleet": [48, 50]}
    played = FieldResult(
        {name: [{"shots": shots, "used": {}} for shots in taken] for name, taken in games.items()},
        {},
    )
    shots, rate = fixed_scores("1 fleet", played, EvalOptions())
    assert (shots.value, shots.at_most, shots.passed) == (49.0, 50.0, True)
    assert (rate.value, rate.at_least, rate.passed) == (1.0, 0.7, True)
    quick = fixed_scores("1 fleet", played, EvalOptions(quick=True))
    assert quick[0].at_most == 52.0  # two standard errors: 2 * sqrt(2) / sqrt(2)
    tables = [row["table"] for row in field_rows(field, played)]
    assert tables.count("pairs") == 6
    assert tables.count("shots") == 4
    assert shots_row("random", [95, 96])["published"] == 95.3
