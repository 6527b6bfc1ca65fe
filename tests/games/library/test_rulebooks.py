"""The rulebooks of the families against their code."""

import random
import re
from typing import cast

import pytest

from games import library
from games.library import read_game, renumbered
from games.values import Json


@pytest.mark.parametrize("name", library.families())
def test_every_rule_that_a_function_names_is_in_the_rulebook(name: str) -> None:
    template = library.rulebook_template(name)
    written = set(re.findall(r"- (R\d+): ", template))
    named = set(re.findall(r"R\d+", " ".join(re.findall(r"Rules: (.*)", library.source(name)))))
    assert named <= written


def lines(name: str, players: int, **parameters: Json) -> dict[str, str]:
    text = library.rulebook(name, parameters, players)
    assert "{" not in text
    rules = re.findall(r"^- (R\d+): (.*)$", text, re.MULTILINE)
    assert len(rules) == len(dict(rules)) == text.count("- R")
    assert all(sentence.endswith(".") for _, sentence in rules)
    return dict(rules)


def test_one_twist_changes_only_the_sentences_that_tell_of_it() -> None:
    plain = lines("trick_taking", 3)
    twisted = lines("trick_taking", 3, heart_points=-1, last_trick_multiplier=2)
    assert {rule: text for rule, text in twisted.items() if plain.get(rule) != text} == {
        "R30": "Each heart taken costs 1 point.",
        "R34": "Cards that cost points are called penalty cards.",
        "R35": "Everything in the last trick of a deal counts double: the trick itself and every "
        "card in it.",
    }
    assert plain.keys() <= twisted.keys()


def test_the_trick_games_read_well_under_any_settings() -> None:
    game = read_game(library.source("trick_taking"))
    declared = cast("dict[str, dict[str, list[Json]]]", game["parameters"])
    rng = random.Random(2)
    for _ in range(25):
        chosen = {
            name: rng.choice(field.get("choices") or field["range"])
            for name, field in declared.items()
            if name != "hand_size"
        }
        told = lines("trick_taking", rng.randint(3, 6), **chosen)
        assert {"R1", "R2", "R15", "R21", "R25", "R27"} <= told.keys()


def test_leduc_reads_its_stakes_and_board() -> None:
    told = lines("poker", 2)
    assert told["R2"].startswith("The deck has 3 ranks, from the king downwards, with 2 cards")
    assert told["R12"].endswith("a bet is 2 in round 1, 4 in round 2.")
    assert told["R6"].endswith("0 in round 1, 1 in round 2.")


@pytest.mark.parametrize("name", library.names())
def test_a_person_reads_rules_without_gaps_in_the_order_of_play(name: str) -> None:
    told, numbers = library.in_reading_order(library.rulebook(name))
    assert re.findall(r"^- (R\d+): ", told, re.MULTILINE) == [
        f"R{n}" for n in range(1, len(numbers) + 1)
    ]
    headings = re.findall(r"^## (.+)$", told, re.MULTILINE)
    assert headings.index("Setup") < headings.index("Turn") < headings.index("Scoring")
    assert len(re.findall(r"\bR\d+\b", told)) >= len(numbers)


@pytest.mark.parametrize("name", library.families())
def test_the_code_s_rule_numbers_follow_the_rulebook_s(name: str) -> None:
    text = library.rulebook(name)
    told, numbers = library.in_reading_order(text)
    internal = dict(re.findall(r"^- (R\d+): (.*)$", text, re.MULTILINE))
    read = dict(re.findall(r"^- (R\d+): (.*)$", told, re.MULTILINE))
    assert all(read[numbers[old]] == sentence for old, sentence in internal.items())
    named = re.findall(r"Rules: (.*)\.", renumbered(library.source(name), numbers))
    assert named
    assert set(re.findall(r"R\d+", " ".join(named))) <= read.keys()
