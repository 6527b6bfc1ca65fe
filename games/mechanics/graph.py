"""Mechanic graphs: short phrases as nodes, the root "the game ends", and edges to what they serve.

An edge leads from a mechanic to what it directly contributes to, as "empty the hand" to the root
(Cardiverse §3.1.1). A node's depth is the number of edges to the root on the shortest way.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from games.text import number_of, one_line

ROOT = "the game ends"
MOST_NODES, MOST_EDGES = 100, 400
_SHOWN = 8
Kind: TypeAlias = Literal[
    "end",
    "goal",
    "scoring",
    "turn",
    "action",
    "limit",
    "effect",
    "chance",
    "information",
    "setup",
    "components",
    "other",
]


class GraphError(ValueError):
    """A mechanic graph that cannot be used; the message says what is wrong with it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Mechanic(_Part):
    """A node of the mechanic graph.

    Attributes:
        text: What it is, in a sentence; empty where its rules say it.
        kind: "other" where nobody typed it.
        depth: Edges to the root; None where no way leads there, or nobody counted.
        rules: Ids of the rules that are it.
        settings: Names of the parameters that shape it.
        code: Functions that are it: a name, or "NAME if TEXT" for what a condition leads to.
        without: Parameters that take it out; empty where none can.
    """

    id: str = Field(pattern=r"^M[0-9]+$")
    name: str = Field(max_length=300)
    text: str = ""
    kind: Kind = "other"
    depth: int | None = None
    rules: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    without: dict[str, JsonValue] = Field(default_factory=dict)


class MechanicEdge(_Part):
    """A mechanic that contributes to another: `source` leads to `target`."""

    source: str
    target: str


class MechanicGraph(_Part):
    """Mechanics and what they lead to; built of anything, and `faults` says what is wrong."""

    nodes: tuple[Mechanic, ...]
    edges: tuple[MechanicEdge, ...]

    @cached_property
    def root(self) -> str:
        """The id of "the game ends"; of the first node where none is called so; "" without any."""
        named = (node.id for node in self.nodes if node.name.strip(". ").casefold() == ROOT)
        return next(named, self.nodes[0].id if self.nodes else "")

    @cached_property
    def depths(self) -> dict[str, int]:
        """Depth by id, in the order of a breadth-first search backward from the root."""
        leading: dict[str, list[str]] = {}
        for edge in self.edges:
            leading.setdefault(edge.target, []).append(edge.source)
        depths = {self.root: 0} if self.root else {}
        waiting = list(depths)
        for at in waiting:  # grows while it is walked
            for source in leading.get(at, ()):
                if source not in depths:
                    depths[source] = depths[at] + 1
                    waiting.append(source)
        return {node: depth for node, depth in depths.items() if node in self.by_id}

    @cached_property
    def by_id(self) -> Mapping[str, Mechanic]:
        """The nodes by id."""
        return {node.id: node for node in self.nodes}

    @property
    def fits(self) -> bool:
        """True where it has edges, and is not too large to be walked, drawn and compared."""
        return 0 < len(self.edges) <= MOST_EDGES and len(self.nodes) <= MOST_NODES

    def targets(self, id_: str) -> set[str]:
        """The ids of what a mechanic directly leads to."""
        return {edge.target for edge in self.edges if edge.source == id_}

    def node(self, id_: str) -> Mechanic:
        """The node of this id.

        Raises:
            GraphError: Naming those there are.
        """
        if id_ not in self.by_id:
            known = ", ".join(f"{node.id} {one_line(node.name)}" for node in self.nodes)
            raise GraphError(f"there is no mechanic {id_!r}; there are: {known or 'none'}")
        return self.by_id[id_]

    def ordered(self) -> "MechanicGraph":
        """The same graph with its depths told, and its nodes by depth."""
        nodes = [node.model_copy(update={"depth": self.depths.get(node.id)}) for node in self.nodes]
        nodes.sort(key=lambda node: MOST_NODES if node.depth is None else node.depth)
        return MechanicGraph(nodes=tuple(nodes), edges=self.edges)

    def cycle(self) -> tuple[str, ...]:
        """The ids of one cycle in the order of its edges; empty where there is none."""
        leads: dict[str, list[str]] = {}
        for edge in self.edges:
            leads.setdefault(edge.source, []).append(edge.target)
        done: set[str] = set()
        for start in leads:
            path: list[tuple[str, Iterator[str]]] = [(start, iter(leads[start]))]
            while path and start not in done:
                here = [at for at, _ in path]
                following = next(path[-1][1], None)
                if following is None:
                    done.add(path.pop()[0])
                elif following in here:
                    return tuple(here[here.index(following) :])
                elif following not in done:
                    path.append((following, iter(leads.get(following, ()))))
        return ()

    def faults(self, rules: Collection[str] = ()) -> tuple[str, ...]:
        """All that is wrong with it, a sentence each.

        Args:
            rules: Ids of the game's rules.
        """
        found = list(self._misnamed())
        if cycle := self.cycle():
            named = [f"{at} {one_line(self.by_id[at].name)}" for at in cycle if at in self.by_id]
            way = " → ".join([*named, *named[:1]])
            found.append(f"mechanics lead to each other in a circle: {way}")
        if lost := [node.id for node in self.nodes if node.id not in self.depths]:
            found.append(f"no way leads from {_few(lost)} to “{ROOT}”")
        for node in self.nodes:
            if unknown := [rule for rule in node.rules if rule not in rules]:
                found.append(f"{node.id} names rules that there are not: {_few(unknown)}")
        unbacked = [node.id for node in self.nodes if not node.rules and node.id != self.root]
        if unbacked and rules:
            found.append(f"no rule backs {_few(unbacked)}")
        return tuple(found)

    def _misnamed(self) -> Iterator[str]:
        if not self.nodes:
            yield "it has no mechanics"
        if all(node.name.strip(". ").casefold() != ROOT for node in self.nodes):
            yield f"no mechanic is called “{ROOT}”"
        ids = [node.id for node in self.nodes]
        if twice := sorted({one for one in ids if ids.count(one) > 1}):
            yield f"several mechanics are called {_few(twice)}"
        ends = dict.fromkeys(end for edge in self.edges for end in (edge.source, edge.target))
        if unknown := [end for end in ends if end not in self.by_id]:
            yield f"edges name mechanics that there are not: {_few(unknown)}"


def bounded(graph: MechanicGraph) -> MechanicGraph:
    """The graph, if it is not too large to be walked, drawn and compared.

    Raises:
        GraphError: If it is.
    """
    for count, most, noun in (
        (len(graph.nodes), MOST_NODES, "mechanic"),
        (len(graph.edges), MOST_EDGES, "edge"),
    ):
        if count > most:
            raise GraphError(f"the graph has {number_of(count, noun)}; required: at most {most}")
    return graph


def _few(names: list[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(one_line(name)[:40] for name in names[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
