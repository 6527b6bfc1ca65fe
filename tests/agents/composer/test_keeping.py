"""The settings that stay, by a person's words."""

import pytest

from agents.composer.keeping import kept_settings
from games.library.settings import GameParameter, game_of


@pytest.mark.parametrize(
    ("family", "words", "held"),
    [
        ("placement", "gravity", {"gravity"}),
        ("placement", "four in a row", {"connect"}),
        ("placement", "keep the board as it is", {"rows", "columns"}),
        ("placement", "rows=6; the pie rule", {"rows", "pie"}),
        ("trick_taking", "hearts cost points", {"heart_points"}),
        ("trick_taking", "the deck and bidding", {"deck", "bidding"}),
    ],
)
def test_words_hold_the_settings_that_they_name(family: str, words: str, held: set[str]) -> None:
    found = kept_settings(words, family, game_of(family).parameters)
    assert found.held.keys() == held
    assert found.unread == ()


def test_words_that_name_no_setting_are_said_and_hold_nothing() -> None:
    found = kept_settings("the zebra, gravity", "placement", game_of("placement").parameters)
    assert (found.held, found.unread) == ({"gravity": "gravity"}, ("the zebra",))
    assert kept_settings(" ", "placement", {}).held == {}


def test_a_game_of_no_family_is_read_by_its_own_names_and_meanings() -> None:
    fields = {"fuel": GameParameter(default=3, range=(1, 9), meaning="Tanks of each rocket.")}
    assert kept_settings("the tanks", "", fields).held == {"fuel": "the tanks"}
    assert kept_settings("five players", "", fields).unread == ("five players",)
