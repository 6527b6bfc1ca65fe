"""Mechanics of a library family, as its `mechanics.yaml` says them, and the graph of one design.

A file says for every mechanic: `kind`; `to`, what it directly leads to; `rules` of the family's
rulebook; `settings` that shape it; `code`, functions or "FUNCTION if TEXT"; `without`, the settings
that take it out; and `when`, settings without whose values it is not there. `untold` lists rules
that are no mechanic.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from games.library import in_reading_order, rulebook
from games.mechanics import ROOT, GraphError, Kind, Mechanic, MechanicEdge, MechanicGraph
from games.text import read_yaml
from games.values import Json

_UNTOLD = "untold"


class AnnotatedMechanic(BaseModel):
    """One mechanic of a family; see the module's docstring."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    to: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    without: dict[str, JsonValue] = {}
    when: dict[str, list[JsonValue]] = {}

    def is_there(self, parameters: Mapping[str, Json]) -> bool:
        """True where these parameters leave it in."""
        is_off = bool(self.without) and all(parameters.get(k) == v for k, v in self.without.items())
        return not is_off and all(parameters.get(k) in values for k, values in self.when.items())


class FamilyMechanics(BaseModel):
    """The mechanics of a family by name, the root first, and the rules that are none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mechanics: dict[str, AnnotatedMechanic]
    untold: tuple[str, ...] = ()


@cache
def family_mechanics(family: str) -> FamilyMechanics:
    """The annotations of a family.

    Raises:
        GraphError: Naming the file and the entry that is wrong.
    """
    path = files("games.library") / family / "mechanics.yaml"
    return read_mechanics(family, path.read_text(encoding="utf-8"))


def read_mechanics(family: str, text: str) -> FamilyMechanics:
    """Read a family's annotations; see `family_mechanics`."""
    import yaml

    where = f"games/library/{family}/mechanics.yaml"
    try:
        table: dict[str, Any] = dict(read_yaml(text))
        untold = table.pop(_UNTOLD, ())
        found = FamilyMechanics.model_validate({"mechanics": table, _UNTOLD: untold})
    except (yaml.YAMLError, ValidationError, TypeError, ValueError) as error:
        raise GraphError(f"{where} cannot be read: {error}") from error
    if next(iter(found.mechanics), "") != ROOT:
        raise GraphError(f"{where} must begin with “{ROOT}”")
    for name, one in found.mechanics.items():
        if strangers := [to for to in one.to if to not in found.mechanics]:
            raise GraphError(
                f"{where}: {name!r} leads to {strangers}, which are no mechanics of it"
            )
    return found


def family_graph(family: str, parameters: Mapping[str, Json], players: int) -> MechanicGraph:
    """The graph of a family's game, with its rules as a design numbers them.

    A mechanic is left out that a setting takes out, whose rules the rulebook does not print, or
    that leads to nothing but such mechanics.

    Args:
        family: The family's name.
        parameters: All of the game's parameters.
        players: Seats.

    Returns:
        The graph, its ids by depth and then as the file orders them.
    """
    annotated = family_mechanics(family)
    _, numbers = in_reading_order(rulebook(family, parameters, players))
    there = {
        name: one
        for name, one in annotated.mechanics.items()
        if one.is_there(parameters) and (not one.rules or numbers.keys() & one.rules)
    }
    edges = [(name, to) for name, one in there.items() for to in one.to if to in there]
    raw = MechanicGraph(
        nodes=tuple(Mechanic(id=f"M{n}", name=name) for n, name in enumerate(there, 1)),
        edges=tuple(
            MechanicEdge(source=f"M{[*there].index(a) + 1}", target=f"M{[*there].index(b) + 1}")
            for a, b in edges
        ),
    )
    reached = {node.name: node for node in raw.ordered().nodes if node.depth is not None}
    ids = {name: f"M{n}" for n, name in enumerate(reached, 1)}
    about = {name: there[name].model_dump(exclude={"to", "when", "rules"}) for name in reached}
    nodes = tuple(
        Mechanic(
            id=ids[name],
            name=name,
            depth=node.depth,
            rules=tuple(numbers[rule] for rule in there[name].rules if rule in numbers),
            **about[name],
        )
        for name, node in reached.items()
    )
    kept = (MechanicEdge(source=ids[a], target=ids[b]) for a, b in edges if {a, b} <= ids.keys())
    return MechanicGraph(nodes=nodes, edges=tuple(kept))
