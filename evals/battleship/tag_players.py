"""The five players of the thesis' tournaments in TAG as contestants, and their fields."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from pydantic import JsonValue

from evals.battleship.fields import Field
from evals.battleship.playing import Contestant, Shooter, numbers
from evals.battleship.sea import LENGTHS, SIDE
from evals.battleship.shooters import uniform
from evals.battleship.tag_agents import HillClimber, OneStep
from evals.battleship.tag_published import MAP_SAMPLES, NAMES
from evals.battleship.tag_scores import Heuristic
from evals.battleship.tag_tree import CALLS, TreeSearch
from evals.battleship.tag_worlds import Kind, Worlds, heat_of

HEURISTICS: dict[Kind, Heuristic] = {
    "random": "score",
    "constraint": "cluster",
    "heat map": "cluster",
}
"""Determinization -> the heuristic that the thesis' programs had with it."""

SAME = ("IS-MCTS", "MAST")
"""Two names for one player."""

_RULES: dict[str, JsonValue] = {"board": SIDE, "ships": list(LENGTHS), "version": 1}


@dataclass(frozen=True)
class Condition:
    """What all players of a tournament have in common.

    Attributes:
        kind: Determinization.
        heuristic: Values positions.
        heat: The one map of a tournament with heat maps: of an empty sea, never renewed.
        calls: Calls of the forward model that a decision may make.
    """

    kind: Kind
    heuristic: Heuristic
    heat: tuple[float, ...] | None = None
    calls: int = CALLS


def condition(kind: Kind, seed: int, calls: int = CALLS) -> Condition:
    """That of the thesis' tournament with a determinization."""
    heat = None
    if kind == "heat map":
        empty = Worlds("constraint", numbers(seed, "heat map of an empty sea", match=0), 1)
        heat = tuple(heat_of(empty, MAP_SAMPLES))
    return Condition(kind, HEURISTICS[kind], heat, calls)


def field_of(kind: Kind, seed: int, *, twice: bool = True, calls: int = CALLS) -> Field:
    """The tournament with a determinization; not `twice` leaves "MAST" out."""
    under = condition(kind, seed, calls)
    names = NAMES if twice else tuple(name for name in NAMES if name != "MAST")
    title = f"tag-{kind.replace(' ', '-')}" + ("" if twice else "-quick")
    return Field(title, seed, tuple(contestant(name, under) for name in names), _RULES)


def crossed_field(seed: int) -> Field:
    """OSLA in the two combinations that no tournament has, to be measured alone."""
    crossed = (Condition("random", "cluster"), Condition("constraint", "score"))
    players = tuple(contestant("OSLA", under, crossed_name(under)) for under in crossed)
    return Field("tag-confound", seed, players, _RULES)


def crossed_name(under: Condition) -> str:
    """OSLA's name where it stands beside itself under another condition."""
    return f"OSLA, {under.kind}, {under.heuristic}"


def contestant(name: str, under: Condition, title: str = "") -> Contestant:
    """One of the thesis' players as it executed; it is called by its name or by the title.

    RMHC is taken to look at the other player: its playouts last as long as what both have left
    allows, so that its budget of calls depends on the other's progress a little.

    Raises:
        ValueError: If there is none of that name.
    """
    if name == "random":
        return uniform()
    if name not in NAMES:
        raise ValueError(f"player {name!r}; required: one of {', '.join(NAMES)}")
    kind, heuristic = under.kind, under.heuristic
    make: Callable[[Random], Shooter]
    if name in SAME:
        make = partial(
            TreeSearch,
            kind=kind,
            heuristic=heuristic,
            calls=under.calls,
            map_samples=MAP_SAMPLES,
        )
    elif name == "RMHC":
        make = partial(
            HillClimber, kind=kind, heuristic=heuristic, heat=under.heat, calls=under.calls
        )
    else:
        make = partial(OneStep, kind=kind, heuristic=heuristic, heat=under.heat)
    looks = name != "OSLA"
    return Contestant(
        title or name, make, effective_of(name, under), looks=looks, slow=name in SAME
    )


def effective_of(name: str, under: Condition) -> dict[str, JsonValue]:
    """What a player effectively was, whatever had been asked for."""
    shared: dict[str, JsonValue] = {
        "determinization": under.kind,
        "heuristic": under.heuristic,
    }
    if under.kind == "heat map":
        shared["map"] = f"{MAP_SAMPLES} fleets"
    if name == "OSLA":
        return {"player": "OSLA", "worlds": 1, **shared}
    shared["calls"] = under.calls
    if name == "RMHC":
        return {"player": "RMHC", "worlds": 1, "horizon": 10, "effective_horizon": 1, **shared}
    return {
        "player": "IS-MCTS",
        "asked_for": name,
        "iterations_at_most": under.calls,
        "rollouts": "random, to the end",
        "tree": "one for both players",
        "choice": "highest mean",
        "selection": "normalised mean + sqrt(ln N / n), no constant, untried first",
        **shared,
    }
