"""Fit, judged with the packaged MiniLM; the briefs are of no set that the bar was fixed on."""

from collections.abc import Sequence

import pytest

from agents.composer import composer_roles
from agents.protocols import Brief, Choices, Design, NoFitError
from games.values import Json
from vectorstore.client import EmbeddingCache
from vectorstore.documents import Example, Vectors
from vectorstore.minilm import MiniLM

_CACHE: list[EmbeddingCache] = []
_MODEL = MiniLM()


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    _CACHE.append(EmbeddingCache(tmp_path_factory.mktemp("cache") / "vectors"))


def embed(texts: Sequence[str]) -> Vectors:
    return _CACHE[-1].embed(_MODEL, texts)


def nothing(query: str) -> list[Example]:
    del query
    return []


def design_of(words: str, choices: Choices | None = None) -> Design:
    brief = Brief(prompt=words, choices=choices or Choices())
    return composer_roles(embed).designer.design(brief, nothing)


@pytest.mark.parametrize(
    "words",
    [
        "A co-op: we are all firefighters in a burning tower and win or lose together.",
        "Place your workers to gather wood and clay, build a farm, most victory points wins.",
        "Chess on a small board with two knights a side; checkmate wins.",
        "Each player starts with ten weak cards and buys better ones for the own deck.",
    ],
)
def test_a_game_of_another_kind_is_not_made_and_says_what_is_nearest(words: str) -> None:
    with pytest.raises(NoFitError, match="No family of the library") as refused:
        design_of(words)
    asked = f"without what it would lose: answer yes, or --family {refused.value.fit.family}"
    assert asked in str(refused.value)


def test_the_family_is_made_all_the_same_where_a_person_chose_it() -> None:
    words = "A co-op: we are all firefighters in a burning tower and win or lose together."
    design = design_of(words, Choices(family="placement"))
    assert design.family == "placement"
    assert any(clause.status == "not_honoured" for clause in design.clauses)


@pytest.mark.parametrize(
    ("words", "family"),
    [
        ("whist for four", "trick_taking"),
        ("noughts & crosses", "tic_tac_toe"),
        # No word names the family, but it keeps all that is asked for.
        (
            "Nine by nine board. We place our stones one at a time, and the first to get 4 in a "
            "row wins. I have three children who all want to play together.",
            "placement",
        ),
        ("Two fleets, a secret sea of 8 by 8; we call cells and answer hit or miss.", "battleship"),
    ],
)
def test_a_game_of_a_family_is_made(words: str, family: str) -> None:
    assert design_of(words).family == family


def test_a_number_that_only_sounds_like_seats_is_no_reason_to_refuse() -> None:
    words = "Battleships on a small sea, just boats of 3, 3 and 2, three shots every go."
    assert design_of(words).num_players == 2


def test_more_seats_than_the_family_has_are_not_changed_but_refused() -> None:
    with pytest.raises(NoFitError, match="not for 5 players"):
        design_of("battleship for five players")


def test_another_language_is_said_to_need_a_model() -> None:
    question = (
        composer_roles(embed)
        .designer.clarify("Ein Kartenspiel mit Stichen und Trumpf für vier Spieler")
        .question
    )
    assert question is not None
    assert "language model alone" in question


# Clauses that deny something, with the value of the setting that they must not be claimed for.
DENIED = [
    ("go_fish", "asking again after success is not allowed", "extra_turn_on_catch=true"),
    ("go_fish", "no extra turn when you catch", "extra_turn_on_catch=true"),
    ("shedding", "twos don't make the next one draw", "draw_two_rank=2"),
    ("shedding", "you never draw more than one card, twos do not make the next one draw",
     "draw_two_rank=2"),
    ("shedding", "you may not stack draw twos", "stacking=true"),
    ("poker", "never a second round of betting", "rounds=2"),
    ("push_your_luck", "rolling a one doesn't lose your turn's points", "bust_face=1"),
    ("trick_taking", "shooting the moon isn't allowed", "shoot_the_moon=true"),
    ("trick_taking", "partnerships are not allowed", "partnerships=true"),
    ("trick_taking", "no trump", "trump=spades"),
    ("rummy", "drawing from the discard pile is not allowed", "draw_from_discard=true"),
    ("rummy", "not counting the ace high", "ace=high"),
    ("placement", "gravity is not used", "gravity=true"),
    ("battleship", "ships touching is not allowed", "touching=true"),
    ("capture", "pieces never move backwards", "backward=true"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "clause", "wrong"), DENIED)
def test_a_clause_that_denies_something_is_not_claimed_by_what_it_denies(
    family: str, clause: str, wrong: str
) -> None:
    design = design_of(f"{family.replace('_', ' ')}: {clause}", Choices(family=family))
    assert [c.text for c in design.clauses if c.setting == wrong] == []
    name, _, value = wrong.partition("=")
    said = [c for c in design.clauses if c.setting.startswith(name)]
    assert str(design.parameters[name]).lower() != value or not said


# Words that claim a setting only with the number of another one, or with next to no words.
BARE = [
    (
        "Poker for five. Each person antes two chips and gets one card face down; then there's a "
        "single round of betting, in which every bet or raise is three chips.",
        {"ante": 2, "bets": "3"},
    ),
    ("Poker for four. Two rounds of betting, and a bet or raise is always five chips.",
     {"rounds": 2, "bets": "5"}),
    ("Crazy eights, except that the crazy card is the nine, not the eight.",
     {"wild_rank": "9"}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "settings"), BARE)
def test_no_setting_is_taken_from_another_ones_number_or_from_a_lone_plain_word(
    words: str, settings: dict[str, Json]
) -> None:
    design = design_of(words)
    told = " ".join(clause.setting for clause in design.clauses)
    assert {name: design.parameters[name] for name in settings} == settings
    assert "stacking" not in told
    assert "penalty_points" not in told


def test_a_number_for_which_a_setting_has_no_place_is_left_to_others() -> None:
    words = "Poker. There are only three cards: a king, a queen and a jack, one of each."
    design = design_of(words)
    assert design.parameters["ranks"] == 3
    assert design.parameters["suits"] == 1


CORRECTED = [
    ("a trick-taking game for 4... scratch that, 3 players", "num_players", 3),
    ("a trick-taking game for four players, no wait, three", "num_players", 3),
    ("hearts for four. Actually make that five players", "num_players", 5),
    ("rummy for three, ten cards each, actually make it seven cards each", "hand_size", 7),
    ("Hearts but for five of us, wait no, make it 4", "num_players", 4),
    ("pig to 100, I mean to 50", "target_score", 50),
    ("connect four on 6 by 7, no wait, 8 by 9", "rows", 8),
    ("goofspiel with 13 cards, or rather 10", "cards", 10),
    ("tic tac toe on a 4 by 4 board, no, 5 by 5", "size", 5),
    ("a trick-taking game for three, hearts trump. No wait, no trump at all", "trump", "none"),
]


@pytest.mark.parametrize(("words", "setting", "value"), CORRECTED)
def test_what_the_person_corrects_holds_and_what_was_taken_back_is_not_claimed(
    words: str, setting: str, value: int | str
) -> None:
    design = design_of(words)
    assert {**design.parameters, "num_players": design.num_players}[setting] == value
    claimed = [c for c in design.clauses if setting in c.setting and c.status == "honoured"]
    assert len(claimed) == 1
    assert f"{setting}={value}" in claimed[0].setting
    lost = [clause.reason for clause in design.clauses if clause.status == "not_honoured"]
    assert lost == ["the person corrected it afterwards"]


@pytest.mark.parametrize(
    ("words", "players"),
    [
        ("Hearts for three flatmates.", 3),
        ("Hearts with a pack of ghosts: five ghosts sit at the table.", 5),
        ("Hearts for six little scouts.", 6),
        ("My D&D group (5) wants a game of hearts.", 5),
        ("Hearts, between three and five knights.", 3),
        ("Hearts, six game-mad kids.", 6),
        ("Hearts with my three cousins.", 4),
        ("Hearts. Each hand ends when all five have led once.", 5),
        # Lists of persons, in small letters, of kin, of somebody known by meaning, and of pairs.
        ("Hearts for me, lu and wim.", 3),
        ("Hearts to 50. Bea, her dad and her uncle play it after dinner.", 3),
        ("Hearts for a couple and their landlord.", 3),
        ("Hearts for two pairs of friends and my gran.", 5),
        ("Hearts, and my triplets want to play it.", 3),
        ("Hearts to 50. My wife and I play it with our grandchild.", 3),
        # "All of us" stands for everybody told of before.
        ("My aunt and I look after her three boys on Mondays and we all want to play hearts.", 5),
        ("My cousins Ed and Flo are here. My wife and I play hearts to 50 with them.", 4),
        ("Hearts with my two late sisters, the three of us.", 3),
        # Groups that no phrase names, and numbers that play.
        ("A household of five wants hearts.", 5),
        ("Hearts. Six of us share a tent but only three play at a time.", 3),
        ("Hearts night, at least three turn up.", 3),
        ("Hearts. There is never less than 3 of us and never more than six.", 3),
        # Who does not play is not counted beside who does.
        ("My three kids hate hearts. I play hearts with my brother.", 2),
        # Nobody is counted here: hearts is for four.
        ("Hearts to 50, 13 cards each, as my aunt and her three boys taught it.", 4),
        ("Hearts, and a queen lets you skip the next two players.", 4),
        ("Hearts. The first three players to go out get a sweet.", 4),
        ("Hearts, the winner takes three points. One table only.", 4),
        ("Hearts. Everybody has two marshmallows a trick.", 4),
        ("Hearts. Play three rounds, then lights out.", 4),
        ("Hearts, best of five", 4),
    ],
)
def test_beings_that_a_brief_counts_are_its_players(words: str, players: int) -> None:
    assert design_of(words).num_players == players


def test_a_word_that_says_nothing_claims_nothing_for_the_words_beside_it() -> None:
    design = design_of("go fish for nana and the twins pls")
    assert design.num_players == 3
    assert not any("book_size" in clause.setting for clause in design.clauses)


def test_a_fleet_a_board_and_bets_are_read_as_lists() -> None:
    poker = design_of(
        "Poker for four, two hidden cards each. Stakes go 1, then 2, then 4. Bet, flip two in the "
        "middle, bet, flip one more, bet."
    )
    assert (poker.parameters["bets"], poker.parameters["board"]) == ("1,2,4", "0,2,1")
    assert all(clause.status == "honoured" for clause in poker.clauses)
    fleet = design_of("Sink the fleet, two players. One ship of 4, two of 3 and three of 2.")
    assert fleet.parameters["ships"] == "4,3,3,2,2,2"


def test_a_number_that_a_setting_has_no_place_for_is_told_as_not_honoured() -> None:
    design = design_of("Go fish for three; the first to five books wins.")
    lost = [clause.text for clause in design.clauses if clause.status == "not_honoured"]
    assert lost == ["five"]


def test_a_number_of_one_setting_is_no_other_settings() -> None:
    design = design_of(
        "Battleship where each of two players hides a fleet of lengths 4, 3 and 2 on a 10 by 10 sea"
    )
    read = {name: design.parameters[name] for name in ("rows", "columns", "ships")}
    assert read == {"rows": 10, "columns": 10, "ships": "4,3,2"}
