"""What the composer makes of a message on a game of its own."""

from functools import cache

import pytest

from agents.composer import composer_roles
from agents.composer.coder import verified_source
from agents.protocols import Design, Revision, Talk
from games.modules import LocalModule

FIGURES = (
    "Is it fair? no: Wins of player 1: 0.61 of the matches.",
    "How long is it? short: A match takes 12 decisions.",
)


@cache  # not while tests are collected: every process does that
def designed(prompt: str) -> Design:
    designer = composer_roles().designer
    return designer.design(designer.clarify(prompt), lambda _: ())


def revised(design: Design, message: str) -> Revision:
    designer = composer_roles().designer
    talk = Talk(message=message, figures=FIGURES)
    return designer.revise(design, designer.clarify("a game"), talk)


def hearts() -> Design:
    return designed("a trick-taking game for three players; each heart is minus one")


def test_a_message_sets_what_it_says_and_keeps_the_rest() -> None:
    found = revised(hearts(), "make it four players and let the last trick count double").design
    assert found is not None
    assert found.num_players == 4
    assert found.parameters == {**hearts().parameters, "last_trick_multiplier": 2}
    statuses = {clause.text: clause.status for clause in found.clauses}
    assert statuses["heart is minus one"] == "honoured"
    assert statuses["for three players"] == "not_honoured"
    assert next(v for k, v in statuses.items() if "last trick count double" in k) == "honoured"


@pytest.mark.parametrize("words", ["num_players=4, hand_size=4", "hand_size=4 and num_players=4."])
def test_several_settings_in_one_message_are_taken_all_or_none(words: str) -> None:
    found = revised(hearts(), words)
    assert found.design is not None
    assert found.design.num_players == 4
    assert found.design.parameters == {**hearts().parameters, "hand_size": 4}
    honoured = {clause.text for clause in found.design.clauses if clause.status == "honoured"}
    assert {"num_players=4", "hand_size=4", "heart is minus one"} <= honoured
    assert "Not done" not in found.reply
    for wrong in ("hand_size=99", "dragons=3", "num_players=many", "trump=fixed"):
        refused = revised(hearts(), f"{words.strip('.')}, {wrong}")
        assert refused.design is None
        assert wrong.partition("=")[0] in refused.reply


def test_a_handicap_is_given_and_taken_back_like_any_setting() -> None:
    found = revised(hearts(), "seat_points=2").design
    assert found is not None
    assert found.parameters == {**hearts().parameters, "seat_points": 2}
    added = {rule.text for rule in found.rules} - {rule.text for rule in hearts().rules}
    assert [text for text in added if "2 points for each player seated before" in text] == [*added]
    assert "seat_points=2" in {clause.text for clause in found.clauses if clause.rules}
    state = LocalModule(verified_source(found), "points").call("initial_state", 3)
    assert isinstance(state, dict)
    assert state["seat_points"] == 2
    back = revised(found, "seat_points=0").design
    assert back is not None
    assert (back.parameters, back.rules) == (hearts().parameters, hearts().rules)
    assert "seat_points can be 0 to 1000" in revised(hearts(), "seat_points=-1").reply


def test_a_demand_that_was_taken_back_is_honoured_again_where_it_holds_again() -> None:
    fours = revised(hearts(), "make it four players").design
    assert fours is not None
    threes = revised(fours, "make it three players").design
    assert threes is not None
    told = [
        {clause.text: (clause.status, clause.reason) for clause in design.clauses}
        for design in (hearts(), fours, threes)
    ]
    assert told[1]["for three players"][0] == "not_honoured"
    assert told[2]["for three players"] == told[0]["for three players"]
    assert told[2]["four players"][0] == "not_honoured"


@pytest.mark.parametrize(("word", "cards"), [("shorter", 5), ("Longer, please!", 13)])
def test_shorter_and_longer_move_the_setting_that_tells_the_length(word: str, cards: int) -> None:
    found = revised(designed("goofspiel for two, cards=10"), word)
    assert found.design is not None
    assert found.design.parameters["cards"] == cards
    assert "Not done" not in found.reply


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("why does player 1 win so often?", "Is it fair? no: Wins of player 1"),
        ("how long is a match?", "How long is it? short"),
        ("how is the first trick led?", "leads to the first trick"),
    ],
)
def test_a_question_is_answered_by_figures_and_rules(message: str, line: str) -> None:
    found = revised(hearts(), message)
    assert found.design is None
    assert line in found.reply.splitlines()[1] + found.reply.splitlines()[2]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("for five hundred players", "2 to 8 players, not 500"),
        ("a dragon flies over the table", "not read: no setting was taken from it"),
        ("four players " * 1_000, "At most 4000 characters"),
        ("make it four players", ""),
    ],
)
def test_what_cannot_be_changed_is_said(message: str, said: str) -> None:
    found = revised(hearts(), message)
    assert (found.design is None) is bool(said)
    assert said in found.reply


def test_settings_that_are_impossible_together_leave_the_game() -> None:
    partners = designed("a trick-taking game for four players, partnerships=true")
    assert partners.parameters["partnerships"] is True
    found = revised(partners, "make it five players")
    assert found.design is None
    assert "not possible together" in found.reply


def test_a_change_that_the_family_could_only_make_by_undoing_a_demand_leaves_the_family() -> None:
    prompt, designer = "tic tac toe on a 4x4 board", composer_roles().designer
    design, brief = designed(prompt), designer.clarify(prompt)
    found = designer.revise(design, brief, Talk(message="three in a row wins", figures=())).design
    assert found is not None
    wanted = {"rows": 4, "columns": 4, "connect": 3}
    assert {name: found.parameters.get(name) for name in wanted} == wanted
    lost = [clause.text for clause in found.clauses if clause.status != "honoured"]
    assert lost == ["tic tac toe"]
    assert designed(f"{prompt} where three in a row wins").parameters == found.parameters
    five = designer.revise(design, brief, Talk(message="make it 5 by 5", figures=())).design
    assert five is not None  # what is said of the same thing is a change, and no other game
    assert (five.family, five.parameters["size"]) == ("tic_tac_toe", 5)


@pytest.mark.parametrize("rows", [4, 5])
def test_another_size_of_the_board_is_a_change_of_the_size_alone(rows: int) -> None:
    """A tic-tac-toe of 5 by 5 was made of it: it has no rows and columns, and no falling discs."""
    prompt, designer = "connect four on a 5 by 6 board", composer_roles().designer
    talk = Talk(message=f"make the board {rows} by 5", figures=())
    found = designer.revise(designed(prompt), designer.clarify(prompt), talk).design
    assert found is not None
    assert found.parameters == {**designed(prompt).parameters, "rows": rows, "columns": 5}


def test_another_game_is_recognised() -> None:
    assert revised(hearts(), "goofspiel for two players with five cards").other


def five() -> Design:
    return designed("gomoku for two, connect=5, rows=9, columns=9, marks_per_turn=2")


@pytest.mark.parametrize(
    ("message", "setting", "value"),
    [
        ("I want four in a row", "connect", 4),
        ("please let us drop only one stone a turn", "marks_per_turn", 1),
    ],
)
def test_a_message_in_a_players_words_sets_the_setting_and_no_other(
    message: str, setting: str, value: int
) -> None:
    found = revised(five(), message)
    assert found.design is not None
    assert found.design.parameters == {**five().parameters, setting: value}
    clauses = [c for c in found.design.clauses if setting in c.setting and c.status == "honoured"]
    assert [clause.setting for clause in clauses] == [f"{setting}={value}"]
    assert "drop" not in found.reply


def test_the_reply_says_that_a_change_has_no_effect() -> None:
    assert "it changes no rule" in revised(designed("pig for three"), "highest_card=10").reply


def test_a_condition_is_a_change_and_its_reply_names_values_as_they_are_written() -> None:
    found = revised(
        designed("crazy eights for six"), "when a jack is played, the direction of play reverses"
    )
    assert found.design is not None
    assert "reverse_rank=J" in found.reply


def test_an_answer_before_a_wish_is_no_wish() -> None:
    found = revised(designed("kuhn poker for three"), "no, four players")
    assert found.reply == "Changed: num_players=4."


def test_what_no_play_test_said_is_not_told_as_from_one() -> None:
    designer, design = composer_roles().designer, designed("pig for three")
    talk = Talk(message="how does one win?")
    reply = designer.revise(design, designer.clarify("a game"), talk).reply
    assert "this is what the rules say of it" in reply


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("can we have 600 players?", "It takes 2 to 8 players; this game is made for 3."),
        ("how many can play?", "It takes 2 to 8 players; this game is made for 3."),
        ("explain rule R1", "- R1: "),
        ("what does R999 mean?", "- R999: no such rule; the rules are R1 to "),
        ("who painted the dragon?", "That cannot be answered without a language model."),
        ("why is it so short?", "The cause cannot be told without a language model."),
    ],
)
def test_a_question_gets_its_own_answer_or_is_said_to_have_none(message: str, answer: str) -> None:
    found = revised(hearts(), message)
    assert found.design is None
    assert answer in found.reply
    assert ("Is it fair?" in found.reply) is False


@pytest.mark.parametrize(
    ("prompt", "setting"),
    [("gomoku for two", "pie=false (The pie rule"), ("tic tac toe", "No setting of this game")],
)
def test_why_the_first_seat_wins_is_answered_by_its_share_and_what_changes_who_begins(
    prompt: str, setting: str
) -> None:
    reply = revised(designed(prompt), "why does the first seat win?").reply
    assert "Is it fair? no: Wins of player 1: 0.61 of the matches." in reply
    assert setting in reply


def test_what_was_assumed_of_a_setting_goes_once_it_is_said_and_the_rest_stays() -> None:
    made = designed("gomoku, but you need 4 in a row")
    read, seats = "was read as connect=4", "does not say how many play"
    assert [any(told in one for one in made.assumptions) for told in (read, seats)] == [True] * 2
    other = revised(made, "connect=3").design
    assert other is not None
    assert [any(told in one for one in other.assumptions) for told in (read, seats)] == [
        False,
        True,
    ]
    same = revised(made, "rows=9").design
    assert same is not None
    assert same.assumptions == made.assumptions
