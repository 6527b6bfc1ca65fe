"""Numbers of players in plain English: what tells who plays, and what does not."""

import pytest

from agents.composer.meaning.brief import Parsed
from agents.composer.meaning.seats import seats


def told(words: str) -> list[object]:
    return [value for said in seats(Parsed.of(words)) for value in said.sets.values()]


@pytest.mark.parametrize(
    ("words", "players"),
    [
        ("hearts for four players", 4),
        ("a 5-player trick-taking game", 5),
        ("go fish for half a dozen people", 6),
        ("whist for two", 2),
        ("hearts for a trio", 3),
        ("hearts, heads-up", 2),
        ("four-handed whist", 4),
        ("pig for 3 to 5 of us", 3),
        ("hearts for 2-10", 2),
        ("hearts. Players: 3", 3),
        ("| players | 3 |", 3),
        ("A trick-taking game.\n- **Players:** 3\n", 3),
        ("A trick-taking game. How many? Six.", 6),
        ("there are three of us; whist", 3),
        ("a game for me and three friends", 4),
        ("goofspiel against two opponents", 3),
        ("whist that seats four", 4),
        ("hearts for six little scouts", 6),
        ("hearts for three flatmates", 3),
        ("two players each hide a fleet", 2),
        ("a household of five wants hearts", 5),
        ("rummy, 2p", 2),
        ("make it four players", 4),
        ("Three friends play poker", 3),
        ("crazy eights for three, seven cards each", 3),
    ],
)
def test_a_number_of_those_who_play_is_read(words: str, players: int) -> None:
    assert told(words)[:1] == [players]


@pytest.mark.parametrize(
    "words",
    [
        "skip the next two players",
        "a queen lets you skip the next two players",
        "two players swap hands",
        "the last two players share the pot",
        "the other three players pay",
        "play until 3 or more players remain",
        "until two players are left",
        "if two players tie, nobody scores",
        "two players who bid the same lose",
        "no more than two players may bet",
        "every two players compare",
        "the first three players to go out get a sweet",
        "when only five of us turn up, deal six cards",
        "one of the players",
        "seven cards each player",
        "the winner takes three points for two cards",
        "for three tricks you get a point",
        "play for fifty points",
        "play three rounds",
        "best of five",
        "13 cards each",
    ],
)
def test_a_number_of_something_else_or_of_some_of_the_players_is_not(words: str) -> None:
    assert told(words) == []


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("a trick-taking game for four players, no wait, three", [4, 3]),
        ("hearts for four. Actually make that five players", [4, 5]),
        ("hearts for four. No wait, seven cards each", [4]),
    ],
)
def test_a_number_alone_beside_a_correction_is_of_the_players(
    words: str, numbers: list[int]
) -> None:
    assert told(words) == numbers
