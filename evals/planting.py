"""Planted faults: variants of a game's source, made by a program.

A rule bug is one change of the syntax tree in what decides whose turn it is, what is legal, what
happens or what it pays. A leak is code appended to a game, from `evals/data/planted_leaks.yaml`, or
one condition taken out of what tells the seats. Whether a variant is a fault at all is decided by
play against the original: `differs` for rule bugs, `leaks` for leaks.
"""

import ast
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from evals.results import read_data
from games import library
from games.checks.sampling import Subject, played_matches, trusted_subject
from games.checks.zones import exchange_hidden
from games.text import syntax_tree
from games.values import (
    TERMINAL,
    IllegalActionError,
    Json,
    ModuleFault,
    State,
    as_object,
    canonical_key,
)

_PLAY = ("get_current_player", "get_legal_actions", "get_chance_probabilities", "apply_action")
_PAY = ("get_rewards",)
_TELL = ("get_observations", "get_events")
_LATE = 0.5  # of the shortest match, from when on a late leak tells
_ALL = 0.7  # of the leaks tell every seat, the others one
_MATCHES, _PLIES, _ACTIONS = 2, 40, 4  # that the oracle looks at, of a match, of a ply
_LONGEST = 300
_LEAKS = read_data("data/planted_leaks.yaml")


@dataclass(frozen=True)
class PlantedGame:
    """A library game as it is played here: family or preset, seats and parameters."""

    name: str
    players: int
    parameters: Mapping[str, Json] = field(default_factory=dict)
    hides: bool = True

    @property
    def source(self) -> str:
        """The module."""
        return library.source(self.name)


@dataclass(frozen=True)
class Mutant:
    """One planted fault.

    Attributes:
        game: Where it is planted.
        kind: Of fault.
        about: What was changed, and in which line of the original.
        source: The module with it.
    """

    game: PlantedGame
    kind: str
    about: str
    source: str


Place: TypeAlias = tuple[str, int, int]
"""Where a change can be made: function, number of the node in it, number of the change there."""


def places_of(game: PlantedGame, *, telling: bool) -> dict[str, list[Place]]:
    """Kind -> every place where the program can plant a fault of it.

    Args:
        game: The game.
        telling: Look at what tells the seats; else at play and pay.
    """
    functions = _functions(syntax_tree(game.source))
    playing = _reached(functions, (*_PLAY, *_PAY, "initial_state"))
    names = [n for n in _reached(functions, _TELL) if n not in playing] if telling else playing
    places: dict[str, list[Place]] = defaultdict(list)
    for name in names:
        for number, node in enumerate(ast.walk(functions[name])):
            for option, (kind, _) in enumerate(changes_of(node, name)):
                places["mask dropped" if telling else kind].append((name, number, option))
    return places


def variant_of(game: PlantedGame, kind: str, place: Place) -> Mutant:
    """The game with the change at one place."""
    tree = syntax_tree(game.source)
    name, number, option = place
    about = change([*ast.walk(_functions(tree)[name])][number], name, option)
    return Mutant(game, kind, f"{name}, {about}", ast.unparse(tree))


def change(node: ast.AST, function: str, option: int) -> str:
    """Make one of `changes_of` a node, in place; the line, and what stood and stands there."""
    before, line = ast.unparse(node).splitlines()[0][:80], getattr(node, "lineno", 0)
    changes_of(node, function)[option][1]()
    after = ast.unparse(ast.fix_missing_locations(node)).splitlines()[0][:80]
    return f"line {line}: {before} -> {after}"


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _reached(functions: Mapping[str, ast.FunctionDef], roots: Sequence[str]) -> list[str]:
    """The functions that these call, directly or not, without what reads parameters."""
    reached: list[str] = []
    waiting = [root for root in roots if root in functions]
    while waiting:
        name = waiting.pop(0)
        if name not in reached and not re.match(r"_effective|_settings|_require|_plain", name):
            reached.append(name)
            used = (n.id for n in ast.walk(functions[name]) if isinstance(n, ast.Name))
            waiting += [each for each in used if each in functions]
    return reached


_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_Change: TypeAlias = tuple[str, Callable[[], object]]


def changes_of(node: ast.AST, function: str) -> list[_Change]:
    """Changes that a node allows: the kind of fault, and a function that makes it in place."""
    pays = bool(re.search(r"score|reward|pay|paid|win|settle|point|worth|value", function))
    return [*_of_values(node, pays=pays), *_of_steps(node, pays=pays)]


def _of_values(node: ast.AST, *, pays: bool) -> Iterator[_Change]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            swap = partial(setattr, node, "ops", [_OTHER[type(op)]()])
            yield "wrong winner" if pays else "wrong comparison", swap
        case ast.Name(id=("max" | "min") as name):
            swap = partial(setattr, node, "id", "min" if name == "max" else "max")
            yield "wrong winner" if pays else "wrong comparison", swap
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            yield (
                "wrong score" if pays else "off by one",
                partial(setattr, node, "value", number + 1),
            )
        case ast.BinOp(left=ast.Constant(value=1), op=ast.Sub()):
            yield "swapped seats", partial(setattr, node, "op", ast.Mult())
        case ast.BinOp(op=ast.Mod(), left=ast.BinOp(op=ast.Add()) as sum_):
            yield "swapped seats", partial(setattr, sum_, "op", ast.Sub())
        case ast.BinOp(op=(ast.Add() | ast.Sub()) as op):
            swap = partial(setattr, node, "op", ast.Sub() if isinstance(op, ast.Add) else ast.Add())
            yield "wrong score" if pays else "wrong arithmetic", swap
        case ast.BoolOp(op=op):
            swap = partial(setattr, node, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
            yield "wrong condition", swap


def _of_steps(node: ast.AST, *, pays: bool) -> Iterator[_Change]:
    if isinstance(node, ast.If | ast.IfExp):
        yield "dropped branch", partial(setattr, node, "test", ast.Constant(False))
    if isinstance(node, ast.Dict) and None in node.keys:
        for number, key in enumerate(node.keys):
            if key is not None:
                yield "skipped update", partial(_without, node, number)
    for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
        for number, statement in enumerate(block if isinstance(block, list) else ()):
            target = getattr(statement, "target", (getattr(statement, "targets", None) or [0])[0])
            if isinstance(statement, ast.AugAssign) or isinstance(target, ast.Subscript):
                drop = partial(operator.setitem, block, number, ast.Pass())
                yield "wrong score" if pays else "skipped update", drop


def _without(pairs: ast.Dict, number: int) -> None:
    del pairs.keys[number], pairs.values[number]


def leak_kinds() -> list[str]:
    """The kinds of leaks that are appended, each early and late, and dropped masks."""
    kinds = _LEAKS["kinds"]
    return [*kinds, *(f"late {kind}" for kind in kinds), "mask dropped"]


def leaking(game: PlantedGame, kind: str, generator: Generator) -> Mutant:
    """A game with a leak of one kind: zone, what of it, who is told and from when on are drawn."""
    if kind == "mask dropped":
        (places,) = [*places_of(game, telling=True).values()] or [[]]
        return variant_of(game, kind, places[int(generator.integers(len(places)))])
    subject = trusted_subject(game.source, game.players, game.parameters)
    zones = [*as_object(subject.game.module.constant("ZONES"))]
    seats = [*range(game.players)]
    drawn = {
        "PATTERN": zones[int(generator.integers(len(zones)))],
        "FORM": ("whole", "first", "bit")[int(generator.integers(3))],
        "SEATS": seats if generator.random() < _ALL else [int(generator.integers(game.players))],
        "FIRST": _late(subject) if kind.startswith("late ") else 0,
    }
    code = _LEAKS["kinds"][kind.removeprefix("late ")]
    settings = "".join(f"{name} = {value!r}\n" for name, value in drawn.items())
    about = ", ".join(f"{name.lower()} {value}" for name, value in drawn.items())
    source = f"{game.source}\n\n{settings}\n{_LEAKS['common']}\n\n{code}"
    return Mutant(game, kind, about, source)


def _late(subject: Subject) -> int:
    matches = played_matches(subject, matches=3, seed=1, max_plies=_LONGEST)
    return max(1, int(_LATE * min(len(match.plies) for match in matches)))


def leaks(mutant: Mutant, *, seed: int) -> bool:
    """True where a seat is told of something that the original hides from it.

    Two positions that the original tells a seat alike of are compared as the mutant tells of them:
    one state with what is hidden exchanged, and two actions in one state. One step deep, with full
    states in hand: no way of finding leaks, but of recognising one that was planted.
    """
    game = mutant.game
    honest = trusted_subject(game.source, game.players, game.parameters)
    subject = trusted_subject(mutant.source, game.players, game.parameters)
    zones = {p: as_object(z) for p, z in as_object(honest.game.module.constant("ZONES")).items()}
    generator = np.random.default_rng(seed)
    played = played_matches(subject, matches=_MATCHES, seed=seed, max_plies=_LONGEST)
    if any(match.match.ending in ("fault", "forfeit") for match in played):
        return False  # what does not play is found without looking for leaks
    for match in played:
        plies = [*zip(match.plies, match.positions, strict=False)]
        for ply, position in plies[:: len(plies) // _PLIES + 1]:
            for seat in range(game.players):
                seen = honest.game.visible(position.state, seat)
                twin = exchange_hidden(position.state, zones, seen, generator)
                pairs = [((position.state, ply.action), (twin, ply.action))]
                if position.player != seat:
                    pairs += [
                        ((position.state, ply.action), (position.state, other))
                        for other in ply.legal[:_ACTIONS]
                    ]
                for pair in pairs:
                    told = [[_told(each, *one, seat) for one in pair] for each in (honest, subject)]
                    if (
                        None not in told[0]
                        and told[0][0] == told[0][1]
                        and told[1][0] != told[1][1]
                    ):
                        return True
    return False


def _told(subject: Subject, state: State, action: str, seat: int) -> str | None:
    """The words a seat is told in a state and by an action; None for an illegal action."""
    game, seats = subject.game, subject.num_players
    try:
        parts: list[Json] = [{**game.observations(state, seats)[seat]}]
        legal = game.legal_actions(state)
        action = next((a for a in legal if a.rstrip("!") == action.rstrip("!")), action)
        for now in (state, game.apply_action(state, action)):
            player = game.current_player(now)
            parts += [player if player in (seat, TERMINAL) else None]
            parts += [[*game.legal_actions(now)] if player == seat else None]
            parts += [{**game.observations(now, seats)[seat]}]
        parts += [[*game.events(state, action, seats)[seat]]]
    except (ModuleFault, IllegalActionError, KeyError, TypeError):
        return None
    return canonical_key(parts)
