import pytest

from agents.composer.meaning.tokens import stem, tokenise


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("twenty-one cards", ["21"]),
        ("half a dozen", ["6"]),
        ("a hundred and fifty points", ["150"]),
        ("two thousand", ["2000"]),
        ("1,500 points", ["1500"]),
        ("minus five", ["-5"]),
        ("a 7 by 9 board", ["7", "9"]),
        ("a 7x9 board", ["7", "9"]),
        ("3-player", ["3"]),
        ("2-4 players", ["2", "4"]),
        ("eights and sixes", ["8", "6"]),
        ("8s are wild", ["8"]),
        ("no one, the one who, each one", []),
        ("one card", ["1"]),
        ("a dozen eggs", ["12"]),
        ("three dozen", ["36"]),
    ],
)
def test_numbers_are_read_in_words_and_digits(words: str, numbers: list[str]) -> None:
    assert [t.norm for t in tokenise(words) if t.kind == "number"] == numbers


@pytest.mark.parametrize(
    "forms",
    [
        "take takes taking taken took",
        "win wins winning won",
        "draw draws drawing drew drawn",
        "carry carries carried carrying",
        "colour color colours colors",
        "centre center",
        "pass passes passing passed",
        "deal deals dealing dealt",
    ],
)
def test_the_forms_of_a_word_share_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


def test_every_token_keeps_its_place_in_the_text() -> None:
    text = "Players “peek” — at 7×9 boards!"
    said = [text[token.start : token.end] for token in tokenise(text)]
    assert said == ["Players", "peek", "—", "at", "7", "×", "9", "boards", "!"]


def test_an_accent_makes_no_other_word() -> None:
    assert [token.norm for token in tokenise("misère")] == [stem("misere")]


def test_who_attacks_is_another_than_who_is_attacked() -> None:
    assert stem("attacking") == stem("attacker") != stem("attacked")
