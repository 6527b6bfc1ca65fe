"""Compensation of seats in a balance: the game at hand, with handicaps that are searched too."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from games.library.handicaps import HANDICAPS, handicapped, with_handicap_rules
from games.library.settings import value_text
from games.values import Json
from tools.playtest.jobs import GameSetup
from tools.sandbox.reading import foreign_game, foreign_tree

_NUMBERED = "action number {} of those that the game lists for it"


def compensated(
    setup: GameSetup, most: Mapping[str, int], rulebook: str = ""
) -> tuple[GameSetup, str]:
    """The game with handicaps as settings, each 0, and its rulebook with their rules.

    Args:
        setup: The game, which nobody has to trust: it is not run here.
        most: Names of handicaps, with the ends of their ranges; none leaves the game as it is.
        rulebook: Its rules; empty where there are none.

    Raises:
        ModuleFault: If it cannot be read, its seats win together, or it has such a setting.
    """
    if not most:
        return setup, rulebook
    game = foreign_game(setup.source)
    source = handicapped(setup.source, most, rulebook, (game, foreign_tree(setup.source)))
    parameters = {**setup.parameters, **dict.fromkeys(most, 0)}
    names = {name: name for name in most}
    rules = with_handicap_rules(rulebook, names, game, _NUMBERED.format) if rulebook else ""
    return replace(setup, source=source, parameters=parameters), rules


def write_compensated(setup: GameSetup, rulebook: str, folder: Path) -> None:
    """Write the game into a folder, as `match` and `check` take it."""
    files = {"game.py": setup.source, "rulebook.md": rulebook}
    files |= {f"heuristics/{name}.py": text for name, text in setup.heuristics.items()}
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")


def words_of_change(changed: Mapping[str, Json], family: str) -> str:
    """The message that changes a game so: by settings of a family, else by the handicaps' rules."""
    said = [
        HANDICAPS[key].said(value, {}, _NUMBERED.format)
        if key in HANDICAPS and not family
        else f"{key}={value_text(value)}"
        for key, value in changed.items()
    ]
    return ", ".join(said)
