"""Planted faults: recognised by play against the original, and found by the checks."""

import ast

import numpy as np
import pytest

from evals.mutants import GAMES, run
from evals.planting import Mutant, leak_kinds, leaking, leaks, places_of, variant_of
from evals.results import EvalOptions, find_eval
from tools.sandbox.reading import foreign_imports
from vectorstore.sources import ALLOWED_IMPORTS

LEDUC = next(game for game in GAMES if game.name == "leduc_poker")
NOUGHTS = next(game for game in GAMES if game.name == "tic_tac_toe")


def test_faults_of_every_kind_can_be_planted_and_parse() -> None:
    places = places_of(NOUGHTS, telling=False)
    assert {"dropped branch", "off by one", "swapped seats", "wrong comparison"} <= set(places)
    for kind, found in places.items():
        mutant = variant_of(NOUGHTS, kind, found[0])
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(NOUGHTS.source))
        assert mutant.about.startswith(found[0][0])


def test_what_reads_parameters_or_tells_seats_is_no_place_for_a_rule_bug() -> None:
    names = {name for places in places_of(LEDUC, telling=False).values() for name, _, _ in places}
    assert "apply_action" in names
    assert not names & {"_effective", "get_observations", "get_events", "resample_state"}


def test_a_leak_is_recognised_and_what_tells_nothing_hidden_is_none() -> None:
    assert not leaks(Mutant(LEDUC, "none", "", LEDUC.source), seed=1)
    open_note = (
        "\n\n_seen = get_observations\n\n\ndef get_observations(state):\n"
        '    return [{**each, "note": len(state["deck"])} for each in _seen(state)]\n'
    )
    assert not leaks(Mutant(LEDUC, "open", "", LEDUC.source + open_note), seed=1)
    told = open_note.replace('len(state["deck"])', 'state["hands"]')
    assert leaks(Mutant(LEDUC, "told", "", LEDUC.source + told), seed=1)


KINDS = [kind for kind in leak_kinds() if kind.partition(" ")[0] not in ("late", "key_order")]


@pytest.mark.parametrize("kind", [*KINDS, "late field"])
def test_every_kind_of_leak_plays_and_is_recognised_for_some_draw(kind: str) -> None:
    drawn = (leaking(LEDUC, kind, np.random.default_rng(n)) for n in range(12))
    assert any(leaks(mutant, seed=0) for mutant in drawn)


@pytest.mark.parametrize("kind", leak_kinds())
def test_a_planted_leak_imports_nothing_that_betrays_it(kind: str) -> None:
    """Imports that the contract does not allow once failed every leak before its audit did."""
    source = leaking(LEDUC, kind, np.random.default_rng(0)).source
    known = [name for name, _ in foreign_imports(LEDUC.source, ALLOWED_IMPORTS)]
    assert [name for name, _ in foreign_imports(source, ALLOWED_IMPORTS)] == known


def test_the_order_of_keys_tells_nothing() -> None:
    # A seat is given values as canonical JSON, with sorted keys.
    drawn = [leaking(LEDUC, "key_order", np.random.default_rng(n)) for n in range(4)]
    assert not any(leaks(mutant, seed=0) for mutant in drawn)


@pytest.mark.whole
def test_a_small_run_finds_its_faults_and_blames_no_sound_game() -> None:
    heard: list[str] = []
    result = run(EvalOptions(seed=1, tell=heard.append, quick=True), [LEDUC, NOUGHTS])
    scores = {score.name: score for score in result.scores}
    assert scores["sound games blamed"].value == 0
    assert scores["leaks that a check failed"].value >= 0.7
    shown = scores["rule bugs that a check failed or recorded matches show"].value
    assert shown >= scores["rule bugs that a check failed, knowing no rule"].value
    assert shown >= 0.7
    assert len(heard) == 16
    assert find_eval("mutants").takes == ("quick",)
