"""Rule sentences of rulebooks and of their templates, and the ids of a docstring."""

import pytest

from games.values import Json
from vectorstore.documents import StoreError
from vectorstore.sources import all_rules, read_rules, rule_ids

GAME: dict[str, Json] = {
    "name": "draws",
    "min_players": 2,
    "max_players": 4,
    "parameters": {
        "hand": {"default": 5, "range": [0, 9], "meaning": "Cards dealt."},
        "trump": {"default": "none", "choices": ["none", "hearts"], "meaning": "Trump suit."},
        "late": {"default": False, "choices": [True, False], "meaning": "Trump turned late."},
    },
}
TEMPLATE = """# Draws

## Setup

- R1: Each player is dealt {{ hand }} cards.
{% if players > 2 %}
- R2: With more than two players, the dealer is dealt none.
{% endif %}
{% if trump != "none" %}
- R4: {{ trump }} are trumps.
{% if late %}
- R5: {{ trump }} become trumps {% if hand %}late{% endif %}.
{% endif %}
{% endif %}

## Scoring

- R3: Each trick is worth a point.
"""
DEFAULTS: dict[str, Json] = {"hand": 5, "trump": "none", "late": False}


def test_sentences_come_with_their_section_and_prose_does_not() -> None:
    rules = read_rules("# T\nR9: not a rule\n\n## Setup\n- R2: Deal.\n- a note\n## Turn\n- R1: Go.")
    assert [(rule.id, rule.section, rule.text) for rule in rules] == [
        ("R2", "Setup", "Deal."),
        ("R1", "Turn", "Go."),
    ]


def test_every_sentence_of_a_template_is_found_once_with_the_setting_it_needs() -> None:
    rules = all_rules(TEMPLATE, GAME, DEFAULTS, players=2)
    assert [(rule.id, rule.section, rule.text, dict(rule.when)) for rule in rules] == [
        ("R1", "Setup", "Each player is dealt 5 cards.", {}),
        ("R2", "Setup", "With more than two players, the dealer is dealt none.", {"players": 4}),
        ("R3", "Scoring", "Each trick is worth a point.", {}),
        ("R4", "Setup", "hearts are trumps.", {"trump": "hearts"}),
        ("R5", "Setup", "trump become trumps late.", {}),  # needs two changes at once
    ]


def test_of_two_branches_that_need_two_changes_the_first_is_told() -> None:
    """Both once stood there, one after the other, as if they were a sentence."""
    line = "R5: {{ trump }} become trumps {% if hand %}late{% endif %}."
    assert line in TEMPLATE
    split = "R5: Whoever {% if hand %}must{% elif late %}will{% else %}may{% endif %} trump loses."
    rules = all_rules(TEMPLATE.replace(line, split), GAME, DEFAULTS, players=2)
    assert [rule.text for rule in rules if rule.id == "R5"] == ["Whoever must trump loses."]


@pytest.mark.parametrize("line", ["{{ hands }}", "{{ 1 // hand }}", "{% if %}", "{{ trump + 1 }}"])
def test_a_template_that_cannot_be_rendered_is_named(line: str) -> None:
    with pytest.raises(StoreError, match="rulebook of draws cannot be rendered with"):
        all_rules(f"- R1: {line}", GAME, DEFAULTS, players=2)


def test_the_rules_line_may_run_on() -> None:
    assert rule_ids("X.\n\nRules: R1, R22,\n    R3.\n") == ("R1", "R22", "R3")


@pytest.mark.parametrize("line", ["Rules: R1-R4.", "Rules: all.", "Rules: 3"])
def test_a_rules_line_that_lists_no_ids_is_an_error(line: str) -> None:
    with pytest.raises(StoreError, match="must read like 'Rules: R1, R14.'"):
        rule_ids(f"X.\n\n{line}")
