"""Hearts and spades, set by parameters, against OpenSpiel's."""

import pyspiel
import pytest

from games import library
from games.values import Action, Json
from tests.games.library.lockstep import Pairing, SpielState, play_in_lockstep

HEARTS: dict[str, Json] = {
    "points_per_trick": 0,
    "heart_points": -1,
    "queen_of_spades_points": -13,
    "shoot_the_moon": True,
    "first_trick_safe": True,
    "hearts_broken": True,
    "queen_breaks_hearts": True,
    "passing": 3,
    "pass_direction": "random",
    "lead": "two_of_clubs",
}
SPADES: dict[str, Json] = {
    "trump": "spades",
    "trump_led": "broken",
    "bidding": "spades",
    "partnerships": True,
    "points_per_trick": 0,
}
RANKS = "23456789TJQKA"


def in_hearts(action: Action, _state: SpielState) -> int:
    """OpenSpiel numbers hearts' cards by rank and then suit, and the four directions from 0."""
    kind, _, word = action.partition(" ")
    if kind == "direction":
        return ["keep", "left", "across", "right"].index(word)
    return 4 * RANKS.index(word[0]) + "CDHS".index(word[1])


def in_spades(action: Action, _state: SpielState) -> int:
    """OpenSpiel numbers spades' cards by suit and then rank, and bids after them."""
    kind, _, word = action.partition(" ")
    if kind == "bid":
        return 52 + int(word)
    return 13 * "CDHS".index(word[1]) + RANKS.index(word[0])


def no_pass(state: SpielState) -> int | None:
    """Without passing OpenSpiel still draws the direction, from one."""
    outcomes = state.legal_actions()
    alone = len(outcomes) == 1 and state.action_to_string(-1, outcomes[0]) == "No Pass"
    return outcomes[0] if alone and state.current_player() == -1 else None


@pytest.mark.parametrize(
    ("parameters", "theirs", "matches"),
    [
        (HEARTS, {}, 250),
        ({**HEARTS, "passing": 0}, {"pass_cards": False}, 40),
        ({**HEARTS, "jack_of_diamonds_points": 10}, {"jd_bonus": True}, 40),
        ({**HEARTS, "queen_breaks_hearts": False}, {"qs_breaks_hearts": False}, 40),
        ({**HEARTS, "hearts_broken": False}, {"must_break_hearts": False}, 40),
        ({**HEARTS, "first_trick_safe": False}, {"no_pts_on_first_trick": False}, 40),
    ],
)
def test_hearts_agrees_with_openspiel_ply_by_ply(
    parameters: dict[str, Json], theirs: dict[str, bool], matches: int
) -> None:
    # OpenSpiel pays 26 - points; with the moon it counts 26 points for each other player.
    moons = 0

    def their_returns(ours: list[float]) -> list[float]:
        nonlocal moons
        moons += ours.count(-26) == 3
        return [26 + points for points in ours]

    play_in_lockstep(
        library.source("trick_taking"),
        parameters=parameters,
        num_players=4,
        spiel=pyspiel.load_game("hearts", theirs),
        pairing=Pairing(
            in_hearts,
            our_returns=their_returns,
            only_theirs=no_pass,
        ),
        matches=matches,
    )
    assert moons or matches < 250


def test_spades_agrees_with_openspiel_but_for_leading_broken_trumps() -> None:
    # OpenSpiel 2.0.2 never notes that spades were broken, which is our trump_led "never".
    play_in_lockstep(
        library.source("trick_taking"),
        parameters={**SPADES, "trump_led": "never"},
        num_players=4,
        spiel=pyspiel.load_game("spades"),
        pairing=Pairing(in_spades),
        matches=200,
    )
