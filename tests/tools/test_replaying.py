"""A sample of finished matches is played again by fresh workers; a difference leaves no result."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.games.checks.test_checks import SOUND
from tests.tools.playtest.rosters import NimRoster
from tools.playtest.jobs import GameSetup
from tools.playtest.series import Series, play_series
from tools.replaying import VoidResultError, replayed_match
from tools.sandbox import Sandbox

# A leak that stands in none of its zones, and that a check of random play would find too.
TALE = """
def get_observations(state):
    seen = [{"me": seat, "hand": state["hands"][seat], "bids": state["bids"]} for seat in (0, 1)]
    if state["bids"][:1] == [2]:
        seen[1]["hint"] = state["hands"][0]
    return seen
"""

# The first seat sees one thing more while the second one is to move.
ASIDE = """
_sound = get_observations

def get_observations(state):
    seen = _sound(state)
    return [{**seen[0], "n": 1}, seen[1]] if get_current_player(state) == 1 else seen
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def played(sandbox: Sandbox, source: str, matches: int = 8) -> Series:
    game = GameSetup("high card", source, 2)
    return play_series(
        game, ["uniform", "uniform"], NimRoster(), matches=matches, seed=4, sandbox=sandbox
    )


def test_matches_of_an_honest_module_are_replayed_and_counted(sandbox: Sandbox) -> None:
    series = played(sandbox, SOUND)
    assert series.replayed > 0
    assert series.endings["finished"] == 8


def test_a_module_that_pays_by_chance_of_its_own_has_no_result(sandbox: Sandbox) -> None:
    paying = SOUND.replace("total = float(", "total = (1 + id(object()) // 16 % 7) * float(")
    with pytest.raises(VoidResultError, match="the result is void"):
        played(sandbox, paying)


def test_what_a_seat_sees_at_another_seats_turn_is_the_same_in_a_replay(sandbox: Sandbox) -> None:
    series = played(sandbox, SOUND + ASIDE, matches=2)
    job, entry = series.plan.job(0), series.entries[0]
    replayed_match(sandbox, job, entry)
    honest = replace(job, game=replace(job.game, source=SOUND))
    with pytest.raises(VoidResultError, match="tells a seat another thing"):
        replayed_match(sandbox, honest, entry)


def test_a_module_that_is_honest_only_where_it_is_asked_singly_has_no_result(
    sandbox: Sandbox,
) -> None:
    two_faced = (
        "import sys\n"
        + SOUND
        + "\n_sound = get_rewards\n\ndef get_rewards(state):\n"
        + "    paid = _sound(state)\n    frame = sys._getframe()\n    names = set()\n"
        + "    while frame:\n        names.add(frame.f_code.co_name)\n"
        + "        frame = frame.f_back\n"
        + "    return paid if '_columns' in names else [2 * one for one in paid]\n"
    )
    with pytest.raises(VoidResultError, match="get_rewards"):
        played(sandbox, two_faced)


def test_what_players_reach_and_were_told_of_hidden_cards_voids_the_result(
    sandbox: Sandbox,
) -> None:
    with pytest.raises(VoidResultError, match="hint"):
        played(sandbox, SOUND + TALE)


def test_no_worker_can_tell_by_its_number_which_one_it_is(sandbox: Sandbox) -> None:
    numbers = []
    for _ in range(3):
        with sandbox.worker("any") as worker:
            worker.load("import enum\nos = vars(enum)['sys'].modules['os']\n")
            numbers.append(worker.request("evaluate", {"expression": "os.getpid()"}, 5.0))
    assert len(set(map(str, numbers))) == 1
