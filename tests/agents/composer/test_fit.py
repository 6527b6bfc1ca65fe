"""Fit, judged with the packaged MiniLM; the briefs are of no set that the bar was fixed on."""

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from agents.composer import composer_roles
from agents.protocols import Brief, Choices, Design, NoFitError
from vectorstore.cache import EmbeddingCache
from vectorstore.documents import Example
from vectorstore.embedders.minilm import MiniLM
from vectorstore.settings import Vectors

_KNOWN: list[EmbeddingCache] = []


@pytest.fixture(autouse=True, scope="module")
def _known(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The vectors of all that the judge compares with, which a built store has."""
    copied = tmp_path_factory.mktemp("cache") / "embeddings.sqlite3"
    shutil.copy(built_home / "store" / copied.name, copied)
    _KNOWN.append(EmbeddingCache(copied))


@cache
def model() -> MiniLM:
    return MiniLM()


def embed(texts: Sequence[str]) -> Vectors:
    return _KNOWN[-1].embed(model(), texts)


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
    assert f"--family {refused.value.fit.family}" in str(refused.value)


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
