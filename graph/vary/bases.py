"""Game that is varied: its source and settings, its family where it has one, and how it is said."""

import ast
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from pprint import pformat
from typing import Self

from pydantic import BaseModel, JsonValue, model_validator

from agents.composer.lexicon import lexicon_of
from games import library
from games.library.settings import (
    PLAYERS,
    GameCard,
    GameParameter,
    game_of,
    impossible,
    value_text,
)
from games.values import Json, ModuleFault
from graph.run.folder import RunFolderError
from tools.checking import usual_players
from tools.playtest.jobs import GameSetup
from tools.sandbox.reading import foreign_game, foreign_tree
from tools.sources import GameNotFoundError, GameSource, find_rulebook, read_source
from tools.variation.proposing import Twist


class BaseGame(BaseModel, frozen=True, extra="forbid"):
    """A game that can be varied.

    Attributes:
        name: As the person named it.
        title: As a player says it.
        source: The module.
        heuristics: Sources by name.
        family: The library family whose code it is; empty for none.
        settings: All of its settings, `num_players` too.
        fields: Their declarations.
        rules: Its rulebook, where it is of no family.
    """

    name: str
    title: str
    source: str
    heuristics: dict[str, str]
    family: str
    settings: dict[str, JsonValue]
    fields: dict[str, GameParameter]
    rules: str = ""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Refuse what is no base: a run's folder may be somebody else's."""
        needed = {PLAYERS, *self.fields}
        if PLAYERS not in self.fields:
            raise ValueError("required: a field of the number of players")
        if self.family:
            if self.family not in library.families():
                raise ValueError("required: a family of the library, or none")
            needed |= game_of(self.family).parameters.keys()
        if not needed <= self.settings.keys() or type(self.settings[PLAYERS]) is not int:
            raise ValueError("required: a setting for each field, and a number of players")
        return self

    @property
    def presets(self) -> list[dict[str, Json]]:
        """The settings of its family's presets for as many players."""
        usual = game_of(self.family).defaults() if self.family else {}
        named = [one for one in library.presets().values() if one.family == self.family]
        return [
            {**usual, **one.parameters} for one in named if one.players == self.settings[PLAYERS]
        ]

    def setup(self, twist: Twist) -> GameSetup:
        """The game with changed settings, for the runner."""
        parameters = {**self.settings, **twist}
        players = int(str(parameters.pop(PLAYERS)))
        return GameSetup(self.name, self.source, players, parameters, self.heuristics)

    def rulebook(self, twist: Twist) -> str:
        """Its rulebook with changed settings; of no family, the base's with what is changed."""
        setup = self.setup(twist)
        if self.family:
            text = library.rulebook(self.family, setup.parameters, setup.num_players)
            return library.in_reading_order(text)[0]
        return f"{self.rules.rstrip()}\n\n## Changed\n\n{self.difference(twist)}\n"

    def titled(self, twist: Twist) -> str:
        """The variant's title: its rulebook's; of no family, the base's with what is changed."""
        if self.family:
            return self.rulebook(twist).splitlines()[0].removeprefix("#").strip()
        return f"{self.title} with {', '.join(sorted(twist))} changed"

    def module(self, twist: Twist) -> str:
        """The module of a variant, which needs no parameters."""
        setup, source = self.setup(twist), self.source
        if self.family:
            text = library.rulebook(self.family, setup.parameters, setup.num_players)
            source = library.renumbered(source, library.in_reading_order(text)[1])
        else:
            source = _filled_in(source, setup.parameters)
        return library.specialise(
            source,
            name=self.titled(twist),
            summary=self.difference(twist),
            num_players=setup.num_players,
            parameters=setup.parameters,
            parsed=None if self.family else (foreign_game(source), foreign_tree(source)),
        )

    def made(self, twist: Twist) -> GameSetup:
        """A variant as the game that a person is given."""
        setup = self.setup(twist)
        return replace(setup, source=self.module(twist), parameters={})

    def objection(self, twist: Twist) -> str:
        """Why these changes make no other game, as far as that is known without play."""
        setup, players = self.setup(twist), int(str(self.settings[PLAYERS]))
        if not self.family:
            return ""
        if problem := impossible(self.family, setup.num_players, setup.parameters):
            return problem
        if self.family in library.exemplars():
            vain = lexicon_of(self.family).vain(setup.num_players, setup.parameters)
            if vain:
                return vain
        idle = [
            n
            for n in twist
            if self.rulebook(twist) == self.rulebook({**twist, n: self.settings[n]})
        ]
        if idle and setup.num_players == players:
            return f"{', '.join(idle)} changes no rule beside the others"
        return ""

    def difference(self, twist: Twist) -> str:
        """The changes in one sentence, from the settings' meanings."""
        said = [self._said(name, value) for name, value in sorted(twist.items())]
        return f"Unlike {self.title}: {'; '.join(said)}."

    def _said(self, name: str, value: Json) -> str:
        meaning = self.fields[name].meaning.rstrip(". ") or name.replace("_", " ")
        plain = meaning[:1].lower() + meaning[1:]
        if isinstance(value, bool):
            return plain if value else f"not any more: {plain}"
        head = re.split("[:;]", plain)[0]
        return f"{head}: {value_text(value)} instead of {value_text(self.settings[name])}"

    def command(self, twist: Twist) -> str:
        """The command that makes it as a run of its own; empty where the library cannot."""
        if self.family not in library.exemplars():
            return ""
        setup, usual = self.setup(twist), game_of(self.family).defaults()
        sets = [
            f"--set {shlex.quote(f'{name}={value_text(value)}')}"
            for name, value in setup.parameters.items()
            if value != usual[name]
        ]
        return " ".join(
            [f"rulewright new --family {self.family} --players {setup.num_players}", *sets]
        )


def base_of(found: GameSource) -> BaseGame:
    """A game that a person named, as one that is varied.

    Raises:
        RunFolderError: If it declares no settings that could be varied, or cannot be read.
    """
    try:
        card = GameCard.model_validate(foreign_game(found.source))
        players = usual_players(foreign_game(found.source))
    except (ModuleFault, ValueError) as error:
        check = "check it first: rulewright check"
        words = "rules in words are varied by a model: --with-model"
        raise RunFolderError(
            f"{found.name} cannot be varied, as its GAME cannot be read: {error}; "
            f"{check if found.name.endswith('.py') else words}"
        ) from error
    family = family_of(found)
    if found.name in library.names():
        players = library.preset(found.name).players
        title = found.name.replace("_", " ")
    else:
        title = str(foreign_game(found.source).get("name"))
    rules = "" if family else find_rulebook(found.name, {}, players) or f"# {found.name}\n"
    most = game_of(family) if family else card
    seats = GameParameter(
        default=players, range=(most.min_players, most.max_players), meaning="Players at the table."
    )
    source = library.source(family) if family else found.source
    fields = {**most.parameters, PLAYERS: seats}
    base = BaseGame(
        name=found.name,
        title=title,
        source=source,
        heuristics=found.heuristics,
        family=family,
        settings={**most.defaults(), **card.defaults(), PLAYERS: players},
        fields=fields,
        rules=rules,
    )
    if all(one.choices is None and one.range is None for one in most.parameters.values()):
        raise RunFolderError(
            f"{found.name} cannot be varied: its GAME declares no parameter with choices or a "
            "range. Declare some (see docs/module.md), or change its rules in words: "
            "rulewright revise"
        )
    return base


def family_of(found: GameSource) -> str:
    """The library family whose code a game is; empty for none.

    A preset has its own. Of a run the design beside the game says it, and the code must agree.
    """
    if found.name in library.names():
        return library.preset(found.name).family
    try:
        # Of somebody else's folder: a pipe would never be read to its end.
        design = json.loads(read_source(Path(found.name).parent / "design.json", "a design"))
    except (GameNotFoundError, ValueError, RecursionError):
        return ""
    family = design.get("family") if isinstance(design, dict) else None
    if not isinstance(family, str) or family not in library.families():
        return ""
    own = library.source(family)
    try:
        return family if _code(own) == _code(found.source) else ""
    except (SyntaxError, RecursionError):
        return ""


def _filled_in(source: str, parameters: Mapping[str, Json]) -> str:
    """A module of a person's whose `initial_state` takes these settings where none is given.

    It may name the defaults itself, and not only in `GAME`.
    """
    before = "_initial_state"
    while before in source:
        before = f"_{before}"
    return (
        f"{source.rstrip()}\n\n\n{before} = initial_state\n"
        f"{before}_settings = {pformat(dict(parameters), width=80, sort_dicts=False)}\n\n\n"
        "def initial_state(num_players, **parameters):\n"
        '    """The first state, with the settings of this variant where none is given."""\n'
        f"    return {before}(num_players, **{{**{before}_settings, **parameters}})\n"
    )


def _code(source: str) -> list[str]:
    """A module's statements without its GAME, docstrings and comments."""
    tree = foreign_tree(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if body and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            del body[0]
    return [ast.dump(one) for one in tree.body if not _is_game(one)]


def _is_game(node: ast.stmt) -> bool:
    target = getattr(node, "target", None) or (getattr(node, "targets", None) or [None])[0]
    return isinstance(target, ast.Name) and target.id == "GAME"
