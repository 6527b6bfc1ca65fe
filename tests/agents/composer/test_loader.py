"""The loader of `words.yaml`: what it refuses, and that it says where."""

from types import ModuleType

import pytest

from agents.composer.lexicon import Lexicon
from agents.composer.loader import (
    WordsError,
    check_settings,
    common,
    lexicons,
    read_common,
    read_lexicon,
)
from agents.composer.patterns import Capture
from games.library import families

GOOD = """\
title: rummy game
players: 2
macros:
  dead: (deadwood|unmatched)
names:
  - phrase: gin (rummy)?
    preset: gin_rummy
  - {phrase: melding game, weight: 11}
hints: {meld: 6, "@dead": 8}
about: [Players collect melds.]
phrases:
  - use: hand_size
  - use: full_pack
    sets: {deck: standard}
  - sets: {knock_limit: <n>}
    denied: {knock_limit: 0}
    say:
      - knock at <n> @dead?
      - <n> @points? to knock
  - always: melds are laid down
    say: [lay (down)? meld]
"""


def read(text: str, hooks: ModuleType | None = None) -> Lexicon:
    lexicon = read_lexicon("rummy", "words.yaml", text, hooks)
    check_settings(lexicon)
    return lexicon


def means(lexicon: Lexicon, pattern: str, *numbers: int) -> object:
    (phrase,) = (one for one in lexicon.phrases if one.pattern == pattern)
    return phrase.means(Capture((), numbers, (), ()))


def test_a_good_file_is_read_with_its_macros_groups_and_captured_numbers() -> None:
    lexicon = read(GOOD)
    assert (lexicon.title, lexicon.players) == ("rummy game", 2)
    assert [(name.preset, name.weight) for name in lexicon.names] == [("gin_rummy", 20), ("", 11)]
    assert lexicon.hints == {"meld": 6, "(deadwood|unmatched)": 8}
    assert means(lexicon, "knock at <n> (deadwood|unmatched)?", 7) == {"knock_limit": 7}
    assert lexicon.phrases[-1].always == "melds are laid down"
    packs = [phrase for phrase in lexicon.phrases if phrase.sets == {"deck": "standard"}]
    assert len(packs) > 1


@pytest.mark.parametrize(
    ("bad", "line", "said"),
    [
        ("colour: red", 22, "unknown key 'colour'"),
        ("phrases: []", 22, "'phrases' stands here twice"),
        ("  - {say: [a b], sets: {deck: short}, meaning: x}", 22, "unknown key 'meaning'"),
        ("  - {sets: {deck: short}}", 22, "lacks say"),
        ("  - {say: [a b]}", 22, "no meaning"),
        ("  - {say: [a b], always: so, refused: not so}", 22, "required: one of"),
        ("  - {say: a b, always: so}", 22, "not a list"),
        ("  - {say: [], always: so}", 22, "not a list"),
        ("  - always: so\n    say:\n      - a b\n      - c\n      - a b", 26, "stands here twice"),
        ("  - {say: [a (b], always: so}", 22, "parentheses that do not match"),
        ("  - {say: [a b)], always: so}", 22, "parentheses that do not match"),
        ("  - {say: ['? a'], always: so}", 22, "question mark after nothing"),
        ("  - {say: ['@deadly a'], always: so}", 22, "unknown macro @deadly"),
        ("  - {say: [a <number>], always: so}", 22, "unknown mark <number>"),
        ("  - {say: [a <n], always: so}", 22, "unknown mark <n"),
        ("  - {say: [''], always: so}", 22, "no text"),
        ("  - {say: [lay (down)? meld], always: so}", 22, "stands here twice"),
        ("  - {say: [a b], sets: {deck: [1]}}", 22, "wrong type"),
        ("  - {say: [a b], sets: {deck: 1.5}}", 22, "wrong type"),
        ("  - {say: [a b], sets: deck}", 22, "not a mapping"),
        ("  - {say: [a b], sets: {deck: <number>}}", 22, "unknown value '<number>'"),
        ("  - {say: [a b], sets: {deck: a, deck: b}}", 22, "'deck' stands here twice"),
        ("  - {say: [a b], sets: {dreck: short}}", 22, "no parameter 'dreck'"),
        ("  - {say: [a b], always: so, own_negation: 1}", 22, "wrong type; required: bool"),
        ("  - {say: [a b], reads: nothing}", 22, "unknown function 'nothing'"),
        ("  - {use: no_such_group}", 22, "unknown group 'no_such_group'"),
        ("  - {use: short_pack}", 22, "needs 'sets'"),
        ("  - {use: deals, sets: {deals: 2}}", 22, "settings of its own"),
        ("  - {use: rectangle}", 22, "no parameter"),
        ("  - {use: deals, say: [a b]}", 22, "unknown key 'say'"),
        ("  - [a", 23, "not YAML"),
    ],
)
def test_a_bad_entry_is_refused_with_its_file_and_line(bad: str, line: int, said: str) -> None:
    with pytest.raises(WordsError) as refusal:
        read(f"{GOOD}{bad}\n")
    message = str(refusal.value)
    assert message.startswith(f"words.yaml:{line}: ")
    assert said in message


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("players: 2", "players: two", 2, "wrong type; required: int"),
        ("title: rummy game\n", "", 1, "lacks title"),
        ("dead: (deadwood|unmatched)", "dead: (deadwood|unmatched", 4, "do not match"),
        ("dead: (deadwood|unmatched)", "dead: '@dead'", 4, "names itself"),
        ("dead: (deadwood", "points: (deadwood", 4, "stands in the common words"),
        ("preset: gin_rummy", "preset: hearts", 7, "rummy has no preset 'hearts'"),
        ("weight: 11", "weight: much", 8, "wrong type"),
        ("hints: {meld: 6", "hints: {meld: six", 9, "wrong type"),
    ],
)
def test_a_bad_head_is_refused_with_its_file_and_line(
    old: str, new: str, line: int, said: str
) -> None:
    assert old in GOOD
    with pytest.raises(WordsError) as refusal:
        read(GOOD.replace(old, new))
    assert str(refusal.value).startswith(f"words.yaml:{line}: ")
    assert said in str(refusal.value)


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(WordsError, match="words.yaml:1: not a mapping"):
        read("")


def test_the_common_words_are_refused_with_their_line_too() -> None:
    with pytest.raises(WordsError, match=r"^common.yaml:1: lacks words"):
        read_common("common.yaml", "macros: {}\n")
    with pytest.raises(WordsError, match=r"^common.yaml:2: the unknown key 'more'"):
        read_common("common.yaml", "macros: {}\nmore: 1\n")


def test_a_function_of_the_family_reads_the_numbers() -> None:
    hooks = ModuleType("words")
    vars(hooks)["total"] = lambda numbers: {"hand_size": sum(numbers)}
    lexicon = read(f"{GOOD}  - {{say: [<n> and <n> more], reads: total}}\n", hooks)
    assert means(lexicon, "<n> and <n> more", 3, 4) == {"hand_size": 7}


def test_every_family_s_words_name_settings_that_its_game_has() -> None:
    assert [lexicon.family for lexicon in lexicons()] == list(families())
    for lexicon in lexicons():
        check_settings(lexicon)
    assert "not" in common().negators
