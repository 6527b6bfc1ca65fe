"""Fit, judged with the packaged MiniLM; the briefs are of no set that the bar was fixed on."""

from collections.abc import Sequence

import pytest

from agents.composer import composer_roles
from agents.evidence import standing
from agents.protocols import Brief, Choices, Design, NoFitError, RoleError
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
        "a worker placement game about bees",
    ],
)
def test_a_game_of_another_kind_is_not_made_and_says_what_is_nearest(words: str) -> None:
    with pytest.raises(NoFitError, match="No family of the library") as refused:
        design_of(words)
    asked = f"without what it would lose: answer yes, or --family {refused.value.fit.family}"
    assert asked in str(refused.value)
    assert ("None is near it" in str(refused.value)) == (not refused.value.fit.kept)
    assert ("Next to it: --family" in str(refused.value)) == bool(refused.value.fit.kept)


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
    ("placement", "gravity is not used", "gravity=true"),
    ("battleship", "ships touching is not allowed", "touching=true"),
    ("capture", "pieces never move backwards", "backward=true"),
    ("rummy", "runs wrap around, not counting the ace high", "ace=high"),
    ("shedding", "two cards are drawn for a two; please do not put it in", "draw_two_rank=2"),
    ("shedding", "Some make the next one draw two for a two. Not us.", "draw_two_rank=2"),
    ("trick_taking", "elsewhere three cards are passed to the left, but we do not", "passing=3"),
    ("trick_taking", "without bidding, partnerships or trumps", "partnerships=true"),
    ("placement", "pieces fall to the bottom, but not that here", "gravity=true"),
    ("push_your_luck", "the first to 50 is the loser", "target_score=50"),
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


@pytest.mark.parametrize(
    "words",
    [
        "two cards are drawn for a two; please do not put it in",
        "Some make the next one draw two for a two. Not us.",
        "without stacking, skips or drawing two",
    ],
)
def test_what_is_denied_leaves_the_family_as_it_is_and_is_listed_as_not_read(words: str) -> None:
    plain = design_of("crazy eights", Choices(family="shedding"))
    design = design_of(f"crazy eights: {words}", Choices(family="shedding"))
    wanted = {"stacking": False, "skip_rank": "none", "draw_two_rank": "none"}
    changed = {n: v for n, v in design.parameters.items() if plain.parameters[n] != v}
    assert changed.items() <= wanted.items()  # a "no" that is stated may be taken
    lost = " ".join(clause.text for clause in design.clauses if clause.status == "not_honoured")
    assert "two" in lost


# Words of an auction, of hands of cards and of a stake: no setting of the family has their sense.
OTHER_SENSE = [
    "if the first three pass, the fourth has to bid",
    "three passes in a row end the auction",
    "starting left of the dealer you pass or bid more than before",
    "aces and tens count 10 points, fives count 5 points",
    "the fifth trick gets 5 points",
    "you may double the score before the first card",
    "a king of a pair counts 20",
    "my uncle insists that the last trick counts double, but nobody else likes it so leave it out",
]


@pytest.mark.parametrize("words", OTHER_SENSE)
def test_words_of_another_sense_are_read_as_a_setting_at_most_and_never_honoured(
    words: str,
) -> None:
    design = design_of(f"for four players; {words}", Choices(family="trick_taking"))
    told = [(standing(c), c.setting) for c in design.clauses if c.text in words]
    assert told
    assert [setting for state, setting in told if state == "honoured"] == []


@pytest.mark.parametrize(
    "words", ["no trump", "seven cards each", "the last trick counts double", "spades are trumps"]
)
def test_words_that_say_a_setting_are_honoured(words: str) -> None:
    design = design_of(f"for four players; {words}", Choices(family="trick_taking"))
    assert "honoured" in [standing(clause) for clause in design.clauses if clause.text in words]


def test_betting_on_dice_asks_and_makes_no_card_game() -> None:
    words = "a game for two where you bet on dice"
    assert composer_roles(embed).designer.clarify(words).question
    with pytest.raises(RoleError, match="Which game do you want"):
        design_of(words)


def test_a_no_that_a_clause_states_is_read_and_its_neighbours_are() -> None:
    words = "a trick-taking game for four, no trump, seven cards each, the loser buys tea"
    design = design_of(words)
    assert (design.num_players, design.parameters["hand_size"]) == (4, 7)
    assert design.parameters["trump"] == "none"


def test_that_who_makes_the_line_loses_is_read_as_what_it_says() -> None:
    design = design_of("tic-tac-toe; whoever makes the row is the loser")
    assert design.parameters["misere"] is True


@pytest.mark.parametrize(
    ("words", "seats"), [("not for two players", 4), ("five players? Not us.", 4), ("for five", 5)]
)
def test_players_that_are_denied_are_not_counted(words: str, seats: int) -> None:
    design = design_of(f"a trick-taking game, {words}", Choices(family="trick_taking"))
    assert design.num_players == seats


def test_a_brief_that_names_a_family_and_then_plays_otherwise_is_not_that_family() -> None:
    words = (
        "Go fish, but nobody asks anybody: you lay square tiles with bits of river on so that the "
        "river joins up. Close a pond and you get a fish for every tile in it. The wind turns each "
        "boat one point clockwise. Whoever fences in the last heron may build a bridge."
    )
    with pytest.raises(NoFitError, match="go-fish game|No family"):
        design_of(words)


def test_a_fleet_and_a_board_are_read_and_shown() -> None:
    design = design_of("Battleships for two, no trump. The sea is 8 rows and 9 columns.")
    assert (design.parameters["rows"], design.parameters["columns"]) == (8, 9)
    assert any("was read as rows=8; say rows=" in told for told in design.assumptions)
