"""One conformance test for every game of the library, at its smallest and largest table."""

import contextlib
from typing import Any

import pytest

from games import library
from games.checks.run import CheckSettings, run_checks
from games.library import read_game
from games.modules import LocalModule
from games.values import ModuleFault
from tests.games.subjects import subject

SETTINGS = CheckSettings(matches=5, samples=16, seed=3)


def tables() -> list[tuple[str, int]]:
    """Every library name with the fewest and the most players it takes."""
    rows = []
    for name in library.names():
        info: dict[str, Any] = read_game(library.source(name))
        rows += [(name, count) for count in sorted({info["min_players"], _largest(name, info)})]
    return rows


def _largest(name: str, info: dict[str, Any]) -> int:
    """The largest table that the default parameters can serve (a pack has so many cards)."""
    game = subject(library.source(name), 2).game
    for count in range(info["max_players"], info["min_players"], -1):
        with contextlib.suppress(ModuleFault):
            game.initial_state(count, {})
            return count
    return int(info["min_players"])


@pytest.mark.parametrize(("name", "players"), tables())
def test_the_game_keeps_the_contract(name: str, players: int) -> None:
    findings = run_checks(subject(library.source(name), players), SETTINGS)
    assert [f for f in findings if f.outcome != "passed"] == []


@pytest.mark.parametrize("name", library.names())
def test_the_rulebook_renders_with_rule_ids(name: str) -> None:
    text = library.rulebook(name)
    assert text.startswith("# ")
    assert "- R1: " in text


@pytest.mark.parametrize("name", library.names())
def test_two_heuristics_score_what_a_player_sees(name: str) -> None:
    sources = library.heuristic_sources(name)
    assert len(sources) >= 2
    game = subject(library.source(name), library.preset(name).players)
    position = game.table.open(game.num_players, {})
    while position.player < 0:
        position = game.table.advance(position, position.legal[0])
    for text in sources.values():
        score = LocalModule(text).namespace["score"]
        assert callable(score)
        for action in position.legal:
            assert isinstance(score(position.observations[position.player], action), int | float)
