"""Honoured settings: the rules that say them, and the plies that show them."""

import pytest

from agents.composer import composer_roles
from agents.evidence import with_plies
from agents.protocols import Clause, Design
from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import Match, play_match
from games.modules import LocalModule
from games.table import GameTable
from games.values import Json

ROLES = composer_roles()


def design(words: str) -> Design:
    return ROLES.designer.design(ROLES.designer.clarify(words), lambda _: ())


def played(made: Design, seed: int = 1, **instead: Json) -> Match:
    module = LocalModule(library.source(made.family))
    players = [UniformPlayer()] * made.num_players
    parameters = {**made.parameters, **instead}
    return play_match(GameTable(Game(module)), players, parameters=parameters, seed=seed)


def clause_of(made: Design, setting: str) -> Clause:
    return next(clause for clause in made.clauses if setting in clause.setting)


def test_the_rules_of_a_setting_are_those_that_read_otherwise_without_it() -> None:
    made = design("gomoku for two, connect=3, rows=5, columns=6 and gravity=true")
    texts = {rule.id: rule.text for rule in made.rules}
    sized = [texts[name] for name in clause_of(made, "rows=5").rules]
    assert sized
    assert all("5" in text or "6" in text for text in sized)
    (falls,) = [texts[name] for name in clause_of(made, "gravity=true").rules]
    without = library.rulebook("placement", {**made.parameters, "gravity": False}, 2)
    assert falls not in without


@pytest.mark.parametrize(
    ("words", "told", "status"),
    [
        ("hearts for four; bid_penalty=5", "bid_penalty=5", "not_honoured"),
        ("oh hell for four; bid_penalty=5", "bid_penalty=5", "honoured"),
        ("pig for three; highest_card=10", "highest_card=10", "not_honoured"),
        (
            "whist for four with bag_limit=0",
            "bag_limit=0",
            "honoured",
        ),  # where nobody bids none count
    ],
)
def test_a_setting_that_changes_nothing_beside_the_others_is_not_honoured(
    words: str, told: str, status: str
) -> None:
    assert clause_of(design(words), told).status == status


def test_a_setting_is_seen_where_another_value_would_have_been_played_otherwise() -> None:
    made = design("gomoku for two, connect=3, rows=5, columns=6 and gravity=true")
    seen = with_plies(made, [played(made)])
    # Where discs fall the first ply offers 6 columns; where they do not, 30 cells. People count
    # matches and plies from 1, as the texts of the records do.
    assert clause_of(seen, "gravity=true").seen == "match 1, ply 1"
    # Three stones in a line lie at the first player's third ply, and so at ply 5, at the soonest.
    assert int(clause_of(seen, "connect=3").seen.rsplit(" ", 1)[1]) >= 5


def test_a_setting_that_no_match_reached_is_not_said_to_be_seen() -> None:
    made = design("breakthrough, max_moves=300")
    assert clause_of(made, "max_moves=300").rules
    seen = with_plies(made, [played(made)])
    assert clause_of(seen, "max_moves=300").seen == ""


def test_a_match_of_another_value_shows_nothing_of_the_value_that_was_asked_for() -> None:
    made = design("tic tac toe, misere=true")
    right = [played(made, seed) for seed in range(8)]  # some of them end in a line
    other = [played(made, seed, misere=False) for seed in range(8)]
    assert clause_of(with_plies(made, right), "misere=true").seen
    # Played with the other value, the matches are what that value does at every ply.
    assert clause_of(with_plies(made, other), "misere=true").seen == ""


def test_what_is_no_library_familys_is_left_alone() -> None:
    made = design("tic tac toe").model_copy(update={"family": "new"})
    assert with_plies(made, []) is made


def test_seats_are_seen_in_any_match() -> None:
    made = design("goofspiel for three players, cards=4")
    assert clause_of(with_plies(made, [played(made)]), "num_players=3").seen == "3 seats"
