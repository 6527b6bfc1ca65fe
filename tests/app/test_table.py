"""What a person at the table sees and may type: layouts of games known and unknown."""

import pytest

from app.table.boards import folded, grid_of, meant, naming_of
from app.table.layout import SeatLayout, Setting, choices
from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import play_match
from games.modules import LocalModule
from games.table import GameTable
from games.values import CHANCE, Json

WIDTH = 80


def drawn(observation: dict[str, Json], *, seats: int = 2, seat: int = 0, **zones: str) -> str:
    """What the layout makes of one observation; `zones` are names with their owners."""
    declared = {name: {"component": "card", "owner": owner} for name, owner in zones.items()}
    return "\n".join(SeatLayout(Setting(seats, declared), seat).draw(observation, ()))


@pytest.mark.parametrize("name", library.names())
def test_every_view_of_every_library_game_fits_80_columns(name: str) -> None:
    game = Game(LocalModule(library.source(name)))
    seats = library.preset(name).players
    zones = game.module.constant("ZONES")
    assert isinstance(zones, dict)
    layouts = [SeatLayout(Setting(seats, zones, is_unicode=True), seat) for seat in range(seats)]
    players = [UniformPlayer()] * seats
    match = play_match(GameTable(game), players, parameters={}, seed=5, max_plies=400)
    shown = 0
    for ply in match.plies:
        if ply.player != CHANCE and ply.observation is not None:
            lines = [*layouts[ply.player].draw(ply.observation, ply.legal), *choices(ply.legal)]
            assert max(map(len, lines)) < WIDTH, lines
            shown += 1
    assert shown > 0


def test_a_hidden_hand_is_never_drawn() -> None:
    game = Game(LocalModule(library.source("gin_rummy")))
    match = play_match(GameTable(game), [UniformPlayer()] * 2, parameters={}, seed=3, max_plies=60)
    zones = game.module.constant("ZONES")
    assert isinstance(zones, dict)
    layout = SeatLayout(Setting(2, zones), 0)
    for ply in match.plies:
        if ply.player == 0 and ply.observation is not None:
            hands = ply.state["hands"]
            assert isinstance(hands, list)
            assert isinstance(hands[1], list)
            open_cards = str(ply.observation["known"]) + str(ply.observation["discards"])
            text = "\n".join(layout.draw(ply.observation, ply.legal))
            assert [
                card for card in hands[1] if str(card) in text and str(card) not in open_cards
            ] == []


def test_a_field_of_thousands_of_rows_leaves_the_hand_in_sight() -> None:
    lines = drawn({"x": ["." * 9] * 30_000, "hand": ["KH"]}, hand="each").splitlines()
    assert len(lines) < 200
    assert any("more lines" in line for line in lines)
    assert "your hand" in "".join(lines[-4:])


def test_a_board_of_strings_is_labelled_as_the_actions_name_its_cells() -> None:
    rows = ["bbb", "...", "www"]
    up = naming_of([list(row) for row in rows], ["a1-a2", "c1-c2"], flat=False)
    assert (up.columns, up.rows) == (("a", "b", "c"), ("3", "2", "1"))
    down = naming_of([list(row) for row in rows], ["a3-a2", "c3-c2"], flat=False)
    # White, on the lowest row, moves from row 3 to 2 where rows count downwards.
    assert down.rows in (("1", "2", "3"), ("3", "2", "1"))


def test_rows_count_from_zero_where_an_action_says_so() -> None:
    grid = [["."] * 3 for _ in range(3)]
    assert naming_of(grid, ["place 0,2", "place 1,1"], flat=False).rows == ("0", "1", "2")


@pytest.mark.parametrize(
    "value",
    [
        ["TH", "2C", "3D"],
        ["a6-e6", "a2-a5", "b8-b9"],
        [1, 2, 3],
        {},
        [],
        {"score": 3},
        [[1, 2, 3], [1, 2]],
        [{"cards": []}] * 3,
        "xox",
        None,
    ],
)
def test_what_is_no_board_is_drawn_as_none(value: Json) -> None:
    assert grid_of("things", value, is_zone=False) is None


def test_a_flat_board_of_nine_is_a_square_whose_cells_show_their_numbers() -> None:
    board: list[Json] = ["X", "", "", "", "O", "", "", "", ""]
    layout = SeatLayout(Setting(2), 0)
    lines = layout.draw({"board": board}, [f"place {n}" for n in (1, 2, 3, 5, 6, 7, 8)])
    assert lines == ["board:", "    X 1 2", "    3 O 5", "    6 7 8"]


def test_seats_count_from_one_and_the_person_is_you() -> None:
    text = drawn({"leader": 1, "dealer": 0, "scores": [3, 5], "num_players": 2, "you": 0})
    assert "leader Player 2" in text
    assert "dealer you" in text
    assert "Player 1 (you)       3" in text
    assert "num" not in text


def test_settings_of_the_game_are_not_told_again() -> None:
    setting = Setting(2, parameters={"rows": 3, "columns": 3})
    assert SeatLayout(setting, 0).draw({"rules": {"rows": 3, "columns": 3}}, ()) == []


def test_a_list_that_had_other_lengths_before_has_no_entry_a_seat() -> None:
    layout = SeatLayout(Setting(2), 0)
    layout.learn({"melds": [["2C", "2D", "2H"]]})
    lines = layout.draw({"melds": [["2C", "2D", "2H"], ["5S", "6S", "7S"]]}, ())
    assert lines == ["melds:", "  2C 2D 2H", "  5S 6S 7S"]


@pytest.mark.parametrize(
    "observation",
    [
        {},
        {"a": {"b": {"c": [{"d": [[[]]]}]}}},
        {"board": []},
        {"board": [[]]},
        {"board": ["", "", ""]},
        {"board": {"a0": "x", "z99": "y"}},
        {"hand": [1, None, {"suit": "C"}]},
        {"hands": [["7C"], None]},
        {"scores": [None, None], "leader": -1, "x" * 300: "y" * 3000},
        {"text": "two\nlines \x1b[31m red \u202e"},
        {"wide": [["." * 9] * 40] * 3, "tall": ["...."] * 200},
        {"trick": ["7C", "8C"], "leader": "nobody"},
        {"float": 1e300, "floats": [0.5, 2]},
    ],
)
def test_no_observation_breaks_the_layout(observation: dict[str, Json]) -> None:
    text = drawn(observation, trick="table", hands="each")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert all(len(line) < WIDTH for line in text.splitlines())


@pytest.mark.parametrize(("typed", "action"), [
    ("play 7c", "play 7C"), ("PLAY 7C", "play 7C"), ("7c", "play 7C"), ("7♣", "play 7C"),
    ("10h", "play TH"), ("t♥", "play TH"), ("1", "play 7C"), ("  dr ", "draw"), ("3", "draw"),
])  # fmt: skip
def test_a_card_is_chosen_by_words_codes_signs_and_numbers(typed: str, action: str) -> None:
    assert meant(typed, ["play 7C", "play TH", "draw"]) == [action]


@pytest.mark.parametrize(("typed", "action"), [
    ("b8-c7", "b8-c7"), ("B8C7", "b8-c7"), ("b8 c7", "b8-c7"), ("c4xb5", "c4xb5"),
])  # fmt: skip
def test_a_move_is_chosen_by_its_cells(typed: str, action: str) -> None:
    assert meant(typed, ["b8-c7", "b8-a7", "c4xb5"]) == [action]


@pytest.mark.parametrize(
    "typed", ["", "-1", "0", "4", "１", "x" * 1_000_000, "\x00", "9" * 5000, "♣"]
)
def test_what_names_no_action_means_none(typed: str) -> None:
    assert meant(typed, ["play 7C", "play TH", "draw"]) == []


def test_a_number_that_is_a_word_of_an_action_is_never_a_place_in_the_list() -> None:
    legal = ["drop 1", "drop 2", "drop 4"]  # column 3 is full
    assert meant("3", legal) == []
    assert meant("4", legal) == ["drop 4"]


def test_of_two_that_fit_none_is_chosen() -> None:
    assert meant("112", ["place 1,12", "place 11,2"]) == ["place 1,12", "place 11,2"]


def test_a_deal_is_one_line_a_seat() -> None:
    cards = ["7C", "9D", "TD"]
    events = [line for card in cards for line in (f"You are dealt {card}.",
              "Player 2 is dealt a card.", "Player 3 is dealt a card.")]  # fmt: skip
    assert folded(events) == [
        "You are dealt 7C 9D TD.",
        "Player 2 is dealt a card. (3 times)",
        "Player 3 is dealt a card. (3 times)",
    ]


def test_events_that_differ_in_two_places_stay_apart() -> None:
    events = ["3 beats 2.", "5 beats 4.", "9 beats 7."]
    assert folded(events) == events


@pytest.mark.parametrize("leader", [0, 2])
def test_a_seat_in_a_list_is_counted_as_those_of_the_whole_view_are(leader: int) -> None:
    seen = {"leader": 3, "tricks": [{"cards": ["3C", "TC"], "leader": leader, "winner": 3}]}
    (line,) = [x for x in SeatLayout(Setting(4), 0).draw(seen, ()) if "cards" in x]
    assert line.endswith("winner Player 4")


def test_players_that_a_game_counts_from_one_are_not_told_as_the_next_one() -> None:
    layout = SeatLayout(Setting(3), 0)
    said = [{"player": number, "number": 4} for number in (1, 2, 3)]
    for shown in (said[:1], said):
        text = "\n".join(layout.draw({"said": shown}, ()))
        assert "player 1" in text
        assert "Player 2" not in text
    from_zero = "\n".join(
        SeatLayout(Setting(2), 0).draw({"said": [{"player": 0, "number": 4}, {"player": 1}]}, ())
    )
    assert "Player 2" in from_zero
