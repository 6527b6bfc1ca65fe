"""The corpus: whole games that hold together, in words of its own, with facts from outside."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from games.corpus import DEEPEST, CorpusGame, corpus_game, corpus_names, read_corpus_game
from games.mechanics import ROOT, GraphError

REPOSITORY = Path(__file__).parents[2]
GAMES = {name: corpus_game(name) for name in corpus_names()}
RUN = 8  # words in a row that two texts may not share
WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
)

# Game -> rule -> numbers that the works named in the game's file give.
FACTS: dict[str, dict[str, tuple[int, ...]]] = {
    "backgammon": {"R1": (24,), "R2": (15, 2), "R5": (24, 13, 8, 6), "R21": (15,), "R23": (3,)},
    "blackjack": {"R2": (10, 1, 11), "R13": (16, 17), "R23": (3, 2), "R27": (2,)},
    "block_dominoes": {"R1": (28, 6), "R2": (7, 5), "R13": (100,)},
    "briscola": {"R1": (40,), "R3": (11, 10, 4, 3, 2), "R6": (3,), "R20": (61, 60)},
    "casino": {"R4": (4,), "R24": (21,), "R25": (3, 26), "R27": (2, 1)},
    "craps": {"R8": (7, 11), "R9": (2, 3, 12), "R11": (7,)},
    "crazy_eights": {"R2": (7, 5), "R16": (100,), "R18": (50, 10, 1)},
    "cribbage": {"R6": (6,), "R7": (2,), "R12": (15, 2), "R18": (31,), "R21": (121,)},
    "draughts": {"R2": (12,), "R17": (40,)},
    "durak": {"R1": (36,), "R3": (6,), "R16": (6,)},
    "euchre": {"R1": (24,), "R7": (5, 2, 3), "R21": (10,), "R24": (4, 1), "R25": (2,)},
    "farkle": {"R1": (6,), "R12": (10_000,), "R14": (100, 50), "R15": (100, 1_000)},
    "fox_and_geese": {"R1": (33,), "R2": (17,)},
    "gin_rummy": {"R5": (10,), "R15": (10,), "R18": (2,), "R19": (100,), "R21": (25,)},
    "go_fish": {"R1": (52,), "R3": (7, 5), "R18": (13,)},
    "halma": {"R1": (16,), "R2": (19, 13)},
    "hearts": {"R3": (13,), "R4": (3,), "R16": (100,), "R17": (1, 13), "R18": (26,)},
    "kalah": {"R1": (6,), "R3": (48,), "R4": (4,)},
    "liars_dice": {"R1": (5,)},
    "nine_mens_morris": {"R1": (24, 3), "R4": (9,), "R14": (3,)},
    "oh_hell": {"R3": (10, 8, 7), "R18": (10,)},
    "old_maid": {"R1": (52, 1), "R2": (51,)},
    "oware": {"R2": (48,), "R3": (4,), "R7": (2, 3), "R13": (25,)},
    "pig": {"R7": (1,), "R12": (100,)},
    "piquet": {"R4": (12, 8), "R6": (5,), "R18": (11, 10), "R28": (10, 40), "R29": (30, 60)},
    "president": {"R18": (11,), "R19": (2, 1)},
    "rummy_500": {"R4": (13, 7), "R18": (500,), "R20": (10, 15), "R21": (1,)},
    "schnapsen": {"R1": (20,), "R19": (66,), "R21": (7,), "R23": (20, 40), "R24": (33,)},
    "shut_the_box": {"R1": (2, 1, 9), "R12": (7, 8, 9)},
    "spades": {"R5": (13,), "R16": (500, 200), "R17": (10,), "R19": (10, 100), "R21": (100,)},
    "whist": {"R1": (52,), "R5": (13,), "R17": (7,), "R19": (6, 1)},
    "yacht": {"R1": (5, 12), "R6": (3,), "R15": (30,), "R17": (50,)},
}


def numbers(sentence: str) -> set[int]:
    """Numbers of a sentence, in figures or in words."""
    words = re.findall(r"\d[\d,]*\d|\d|[a-z]+", sentence.casefold())
    figures = {int(word.replace(",", "")) for word in words if word[0].isdigit()}
    return figures | {WORDS.index(word) for word in words if word in WORDS}


def runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[\w']+", text.casefold())
    return (tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))


def test_there_are_forty_games_of_every_material_for_one_to_eight_players() -> None:
    assert len(GAMES) >= 40
    assert {game.kind for game in GAMES.values()} == {"cards", "dice", "board", "tiles", "pencil"}
    ranges = [game.players for game in GAMES.values()]
    assert {n for least, most in ranges for n in range(least, most + 1)} == set(range(1, 9))
    assert len({game.name for game in GAMES.values()}) == len(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_whole_and_its_graph_is_rooted_and_backed_by_its_rules(name: str) -> None:
    game = GAMES[name]
    graph, told = game.graph, {rule for node in game.graph.nodes for rule in node.rules}
    assert graph.faults(game.sentences) == ()
    assert graph.nodes[0].name == ROOT
    assert max(graph.depths.values()) <= DEEPEST
    assert all(node.rules and node.kind != "other" for node in graph.nodes)
    assert told | set(game.untold) == set(game.sentences)
    assert 15 <= len(game.sentences) <= 40
    assert {"Components", "Turn", "Rounds and Phases", "Observations"} <= game.rules.keys()
    assert {"action", "turn", "end"} <= {node.kind for node in graph.nodes}


def test_sentences_are_short_and_name_no_address() -> None:
    said = {f"{n} {id_}": s for n, game in GAMES.items() for id_, s in game.sentences.items()}
    assert [at for at, sentence in said.items() if len(sentence.split()) > 25] == []
    texts = [*said.values(), *(one for game in GAMES.values() for one in game.source)]
    assert [one for one in texts if re.search(r"://|www\.|\.(?:org|net|html?)\b", one)] == []


def test_no_sentence_shares_eight_words_in_a_row_with_another_text_of_the_repository() -> None:
    texts = [*REPOSITORY.glob("games/library/*/rulebook.md"), *REPOSITORY.glob("agents/**/*.md")]
    texts += [*REPOSITORY.glob("evals/**/*.md"), *REPOSITORY.glob("evals/cardiverse/**/*.py")]
    known = {run for path in texts for run in runs(path.read_text(encoding="utf-8"))}
    assert len(known) > 10_000
    shared = {
        (name, id_): " ".join(run)
        for name, game in GAMES.items()
        for id_, sentence in game.sentences.items()
        for run in runs(sentence)
        if run in known
    }
    assert shared == {}


@pytest.mark.parametrize("name", FACTS)
def test_numbers_are_those_of_the_sources(name: str) -> None:
    said = GAMES[name].sentences
    assert {rule: set(facts) - numbers(said[rule]) for rule, facts in FACTS[name].items()} == {
        rule: set() for rule in FACTS[name]
    }


@pytest.mark.parametrize(
    ("name", "rule", "total"),
    [
        ("schnapsen", "R1", 4 * 5),  # five ranks in four suits
        ("piquet", "R1", 4 * 8),
        ("euchre", "R1", 4 * 6),
        ("durak", "R1", 4 * 9),
        ("briscola", "R19", 4 * (11 + 10 + 4 + 3 + 2)),
        ("oh_hell", "R3", (52 - 1) // 7),  # one card is turned up
        ("klondike", "R4", 52 - sum(range(1, 8))),
        ("golf", "R4", 52 - 7 * 5 - 1),
        ("kalah", "R3", 2 * 6 * 4),
        ("oware", "R13", 2 * 6 * 4 // 2 + 1),
        ("dots_and_boxes", "R11", 2 * 6 * 5),
        ("block_dominoes", "R1", 7 * 8 // 2),
        ("halma", "R2", 5 + 5 + 4 + 3 + 2),
        ("halma", "R2", 4 + 4 + 3 + 2),
        ("fox_and_geese", "R1", 3 + 3 + 7 + 7 + 7 + 3 + 3),
        ("fox_and_geese", "R2", 3 + 3 + 7 + 2 * 2),
        ("hearts", "R18", 13 * 1 + 13),
        ("go_9x9", "R1", 9 * 9),
        ("draughts", "R1", 8 * 8 // 2),
        ("go_fish", "R18", 52 // 4),
        ("backgammon", "R2", 2 + 5 + 3 + 5),
    ],
)
def test_totals_come_out(name: str, rule: str, total: int) -> None:
    assert total in numbers(GAMES[name].sentences[rule])


def test_a_rulebook_is_laid_out_as_the_library_s() -> None:
    assert GAMES["pig"].rulebook.startswith(
        "# Pig\n\nA game for 2 to 8 players. This is one-die Pig to 100.\n\n## Components\n\n- R1: "
    )
    assert GAMES["golf"].rulebook.startswith("# Golf\n\nA game for 1 player. ")


def test_the_guide_shows_a_file_that_is_read_and_says_how_many_there_are() -> None:
    guide = (REPOSITORY / "docs/corpus.md").read_text(encoding="utf-8")
    shown = next(part for part in guide.split("```\n") if part.startswith("name: "))
    assert read_corpus_game("shown", shown).name == "Pig"
    assert f"the rules of {len(GAMES)} traditional games" in " ".join(guide.split())


GOOD = """\
name: Race
players: [2, 4]
kind: dice
source: ['A book']
rules:
  Components:
    R1: There is one die.
  Turn:
    R2: A player rolls the die.
    R3: The game ends when a six is rolled.
mechanics:
  the game ends: {kind: end, rules: [R3]}
  roll the die: {kind: chance, to: [the game ends], rules: [R2]}
untold: [R1]
"""
BAD = {
    "unknown key": ("kind: dice", "kind: dice\ncolour: red", "colour: Extra inputs"),
    "unknown key of a mechanic": ("kind: chance,", "kind: chance, x: 1,", "roll the die x: Extra"),
    "unknown material": ("kind: dice", "kind: stones", "kind: Input should be 'cards'"),
    "unknown section": ("  Turn:", "  Moves:", "rules Moves"),
    "no source": ("source: ['A book']", "source: []", "source: "),
    "nine players": ("[2, 4]", "[2, 9]", "players 1: "),
    "players the wrong way round": ("[2, 4]", "[4, 2]", "the fewest and then the most"),
    "a rule with another number": ("R3: The", "R4: The", "numbered R1 to"),
    "the same rule twice": ("R3: The", "R2: The", "['R2'] stand there twice"),
    "a node that no rule backs": (", rules: [R2]}", "}", "roll the die rules: Field required"),
    "a rule that there is not": ("rules: [R2]", "rules: [R2, R9]", "rules that there are not: R9"),
    "a rule that no node names": ("untold: [R1]\n", "", "no mechanic names ['R1']"),
    "an untold rule that is told": ("untold: [R1]", "untold: [R1, R2]", "untold lists ['R2']"),
    "an edge to nowhere": ("to: [the game ends]", "to: [the moon]", "leads to ['the moon']"),
    "no root": ("the game ends: {", "the end: {", "no mechanics of it"),
    "a cycle": (
        "the game ends: {kind: end, rules",
        "the game ends: {kind: end, to: [roll the die], rules",
        "in a circle",
    ),
    "a lost node": (", to: [the game ends]", "", "no way leads from M2"),
    "no YAML": ("players: [2, 4]", "players: [2, 4", "no YAML that can be read"),
    "no table": (GOOD, "just words", "valid dictionary"),
    "nothing": (GOOD, "", "valid dictionary"),
}


def read(text: str) -> CorpusGame:
    return read_corpus_game("race", text)


@pytest.mark.parametrize(("old", "new", "told"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_with_a_sentence_beside_a_good_one(
    old: str, new: str, told: str
) -> None:
    assert read(GOOD).graph.depths == {"M1": 0, "M2": 1}
    assert old in GOOD
    with pytest.raises(GraphError, match=r"^games/corpus/race\.yaml") as refused:
        read(GOOD.replace(old, new))
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_graph_deeper_than_the_limit_is_refused() -> None:
    chain = "".join(
        f"  step {n}: {{kind: action, to: [{f'step {n - 1}' if n else 'roll the die'}], "
        "rules: [R2]}\n"
        for n in range(DEEPEST)
    )
    text = GOOD.replace("untold", f"{chain}untold")
    with pytest.raises(GraphError, match="'step 7'] lie deeper than 8 edges"):
        read(text)
    assert read(text.replace(chain.splitlines(keepends=True)[-1], "")).graph.nodes
