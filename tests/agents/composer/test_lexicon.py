"""The files of words: what is refused, and that it says where."""

import pytest

from agents.composer.lexicon import Lexicon, WordsError, common, lexicons, read_lexicon

GOOD = "title: rummy game\nplayers: 2\nnames:\n- match: 'gin(?: rummy)?'\n  preset: gin_rummy\n"


def test_a_family_is_read_with_the_arithmetic_of_its_own() -> None:
    lexicon = read_lexicon("rummy", GOOD, {"vain": lambda players, _: f"{players} are in vain"})
    assert isinstance(lexicon, Lexicon)
    assert (lexicon.one, lexicon.vain(3, {})) == ("a rummy game", "3 are in vain")
    assert lexicon.start("gin_rummy")[1]["hand_size"] == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("title", "titel"), "titel"),
        (GOOD.replace("players: 2", "players: two"), "players"),
        (GOOD.replace("gin(?:", "gin(("), "unterminated"),
        (GOOD.replace("gin_rummy", "gin_tonic"), "no preset 'gin_tonic'"),
        (GOOD.replace("gin_rummy", "hearts"), "no preset 'hearts'"),
        ("title: [", "words.yaml"),
        ("just words", "words.yaml"),
    ],
)
def test_a_bad_entry_is_refused_with_its_file(text: str, said: str) -> None:
    with pytest.raises(WordsError, match="games/library/rummy/words.yaml") as refused:
        read_lexicon("rummy", text)
    assert said in str(refused.value)


def test_values_that_stand_beside_each_other_are_the_value_that_is_both() -> None:
    (shedding,) = (one for one in lexicons() if one.family == "shedding")
    assert shedding.joined([{"match": "suit"}, {"match": "rank"}, {"deals": 2}]) == [
        {"match": "suit_or_rank"},
        {"match": "suit_or_rank"},
        {"deals": 2},
    ]


def test_the_words_of_every_game_are_read() -> None:
    assert common().groups["trio"] == 3
