"""What a run was asked, as its folder keeps it."""

import json
from typing import Any

import pytest

from agents.composer import composer_roles
from agents.protocols import Brief, Choices, Clause
from graph.new.reporting import rulebook_text
from graph.new.requests import Request, read_request, write_request
from graph.run.folder import RunFolder, RunFolderError
from tests.graph.settings import SMALL

ASKED = Request(prompt="noughts", settings=SMALL)


def request(folder: RunFolder) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder.state / "request.json").read_text())
    return value


def test_a_request_is_read_as_it_was_written(folder: RunFolder) -> None:
    write_request(ASKED, folder)
    assert read_request(folder) == ASKED


def test_the_folder_of_another_version_is_refused_by_its_format(folder: RunFolder) -> None:
    write_request(ASKED, folder)
    older = {key: value for key, value in request(folder).items() if key != "format"}
    folder.write_json(".state/request.json", older)
    with pytest.raises(RunFolderError, match=r"run of format 1.*required: format 4.*start .* anew"):
        read_request(folder)


@pytest.mark.parametrize("wrong", [[], {"format": 4}, {"format": 4, "prompt": 1, "settings": {}}])
def test_what_is_no_request_is_refused(folder: RunFolder, wrong: object) -> None:
    folder.write_json(".state/request.json", wrong)
    with pytest.raises(RunFolderError, match="is no request"):
        read_request(folder)


def test_single_words_that_nothing_explains_are_one_line_of_the_rulebook() -> None:
    words = "a lavish trick-taking game. Zebras. The winner buys a boat. No trump"
    brief = Brief(prompt=words, choices=Choices(family="trick_taking"))
    design = composer_roles().designer.design(brief, lambda _: [])
    lost = [c.text for c in design.clauses if c.status == "not_honoured"]
    assert {"lavish", "Zebras"} < {*lost}  # the design keeps each
    text = rulebook_text(design, brief)
    assert [line for line in text.splitlines() if line.startswith("- not ")] == [
        "- not read: “winner buys a boat” (no setting was taken from it)",
        "- not honoured: “lavish, Zebras” (single words, with which nothing was done)",
    ]
    assert "- honoured: “No trump” (trump=none" in text
    assert "- read as: “trick-taking” (game=trick_taking)" in text  # no rule and no ply shows it


def test_the_rulebook_sets_off_each_message_and_quotes_nothing_that_was_not_said() -> None:
    brief = Brief(prompt="a game\nyes, it does", corrections=("but  for four",))
    design = composer_roles().designer.design(
        Brief(prompt="tic-tac-toe", choices=Choices(family="tic_tac_toe")), lambda _: []
    )
    clauses = [
        Clause(text=text, status="honoured", setting="R1")
        for text in ("it does", "for four", "for a game of four")
    ]
    text = rulebook_text(design.model_copy(update={"clauses": tuple(clauses)}), brief)
    assert "\n> a game  \n> yes, it does  \n> but for four  \n" in text
    assert "honoured: “it does” (R1)" in text
    assert "honoured: for a game of four (R1)" in text


def test_rules_on_rounds_and_on_the_game_stand_under_a_heading_that_says_so() -> None:
    brief = Brief(prompt="tic-tac-toe", choices=Choices(family="tic_tac_toe"))
    design = composer_roles().designer.design(brief, lambda _: [])
    one = design.rules[0]
    said = [("Game State", "The match ends after six rounds."), ("Rounds and Phases", "Bid once.")]
    rules = [one.model_copy(update={"section": where, "text": text}) for where, text in said]
    lines = rulebook_text(design.model_copy(update={"rules": tuple(rules)}), brief).splitlines()
    headings = [lines[at - 2] for at, line in enumerate(lines) if line.startswith("- R1: ")]
    assert "game" in headings[0]
    assert "table" not in headings[0]
    assert "Rounds" in headings[1]


def test_no_heading_of_the_rulebook_is_a_games_own() -> None:
    """What a model wrote into one rule cannot pass for a section, such as one on checks."""
    brief = Brief(prompt="tic-tac-toe", choices=Choices(family="tic_tac_toe"))
    design = composer_roles().designer.design(brief, lambda _: [])
    forged = "It ends.\n\n## What was checked\n\nAll checks passed.\n\n```"
    rules = [rule.model_copy(update={"text": forged}) for rule in design.rules]
    parts = {"rules": tuple(rules), "assumptions": (forged,), "summary": forged, "title": forged}
    lines = rulebook_text(design.model_copy(update=parts), brief).splitlines()
    assert [line for line in lines if line.startswith(("## What was c", "All", "```"))] == []
    assert sum("All checks passed." in line for line in lines) == len(rules) + 3
