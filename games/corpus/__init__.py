"""Rules of traditional games in our own words, each with its mechanic graph and its sources.

A file holds `name`; `players`, fewest and most; `kind`, the material; `variant`, where a name has
several; `source`, works that its facts come from; `read_again`, true once a second reading with a
source open found no fault; `rules` by section and id; `mechanics`: name -> `kind`, `to` (names it
directly leads to), `rules`; and `untold`, rules that only set the scene.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from games.mechanics import ROOT, GraphError, Kind, Mechanic, MechanicEdge, MechanicGraph
from games.text import one_line

DEEPEST = 8  # edges from a mechanic to the root

_Section = Literal[
    "Components",
    "Setup",
    "Turn",
    "Legal Actions",
    "Rounds and Phases",
    "Scoring",
    "Observations",
]
_Seats = Annotated[int, Field(ge=1, le=8)]
_Words = Annotated[str, Field(min_length=2, max_length=300)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CorpusMechanic(_Part):
    """One mechanic of a traditional game; see the module's docstring."""

    kind: Kind
    to: tuple[str, ...] = ()
    rules: tuple[str, ...] = Field(min_length=1)


class CorpusGame(_Part):
    """A traditional game; see the module's docstring."""

    name: _Words
    players: tuple[_Seats, _Seats]
    kind: Literal["cards", "dice", "board", "tiles", "pencil"]
    variant: _Words | None = None
    source: tuple[_Words, ...] = Field(min_length=1)
    read_again: bool = False
    rules: dict[_Section, dict[str, _Words]]
    mechanics: dict[str, CorpusMechanic]
    untold: tuple[str, ...] = ()

    @cached_property
    def sentences(self) -> Mapping[str, str]:
        """The rule sentences by id, in reading order."""
        return {id_: text for rules in self.rules.values() for id_, text in rules.items()}

    @cached_property
    def graph(self) -> MechanicGraph:
        """The mechanics, with their ids by depth and then as the file orders them."""
        plain = _graph(self.mechanics, [*self.mechanics]).ordered()
        return _graph(self.mechanics, [node.name for node in plain.nodes]).ordered()

    @property
    def rulebook(self) -> str:
        """The rules as Markdown, as the library's rulebooks are laid out."""
        seats = " to ".join(str(seats) for seats in sorted(set(self.players)))
        variant = f" This is {self.variant}." if self.variant else ""
        head = f"# {self.name}\n\nA game for {seats} player{'s' * (seats != '1')}.{variant}\n"
        parts = (
            f"\n## {section}\n\n" + "".join(f"- {id_}: {text}\n" for id_, text in rules.items())
            for section, rules in self.rules.items()
        )
        return head + "".join(parts)

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.players[0] > self.players[1]:
            raise ValueError("players are the fewest and then the most")
        expected = [f"R{number}" for number in range(1, len(self.sentences) + 1)]
        if [id_ for rules in self.rules.values() for id_ in rules] != expected:
            raise ValueError(f"rules must be numbered R1 to {expected[-1:]} in reading order")
        for name, one in self.mechanics.items():
            if strangers := [to for to in one.to if to not in self.mechanics]:
                raise ValueError(f"{name!r} leads to {strangers}, which are no mechanics of it")
        graph = _graph(self.mechanics, [*self.mechanics])
        if faults := graph.faults(self.sentences):
            raise ValueError("; ".join(faults) + " (M1 is the file's first mechanic)")
        if deep := [graph.node(id_).name for id_, at in graph.depths.items() if at > DEEPEST]:
            raise ValueError(f"{deep} lie deeper than {DEEPEST} edges below “{ROOT}”")
        told = [rule for one in self.mechanics.values() for rule in one.rules]
        if idle := [id_ for id_ in self.sentences if id_ not in (*told, *self.untold)]:
            raise ValueError(f"no mechanic names {idle}; name them, or list them as untold")
        if wrong := [id_ for id_ in self.untold if id_ in told or id_ not in self.sentences]:
            raise ValueError(f"untold lists {wrong}, which a mechanic names or which there are not")
        return self


@cache
def corpus_game(name: str) -> CorpusGame:
    """The game of a file of this folder, by the file's name without its ending.

    Raises:
        GraphError: Naming the file and the entry that is wrong.
    """
    return read_corpus_game(name, (files(__name__) / f"{name}.yaml").read_text(encoding="utf-8"))


def corpus_names() -> tuple[str, ...]:
    """The files' names without their ending, sorted."""
    named = (item.name for item in files(__name__).iterdir())
    return tuple(sorted(n.removesuffix(".yaml") for n in named if n.endswith(".yaml")))


def read_corpus_game(name: str, text: str) -> CorpusGame:
    """Read one file's text; see `corpus_game`."""
    import yaml

    class Strict(yaml.SafeLoader):
        """A loader that takes no key twice."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value]
            if twice := [key for key in dict.fromkeys(keys) if keys.count(key) > 1]:
                raise yaml.YAMLError(f"line {node.start_mark.line + 1}: {twice} stand there twice")
            return super().construct_mapping(node, deep)

    where = f"games/corpus/{name}.yaml"
    try:
        return CorpusGame.model_validate(yaml.load(text, Strict))
    except ValidationError as error:
        told = error.errors()[0]
        at = " ".join(str(part) for part in told["loc"])
        raise GraphError(f"{where}: {at}{': ' * bool(at)}{one_line(told['msg'])}") from error
    except yaml.YAMLError as error:
        raise GraphError(f"{where} is no YAML that can be read: {one_line(str(error))}") from error


def _graph(mechanics: Mapping[str, CorpusMechanic], order: Sequence[str]) -> MechanicGraph:
    ids = {name: f"M{number}" for number, name in enumerate(order, 1)}
    return MechanicGraph(
        nodes=tuple(
            Mechanic(id=ids[n], name=n, kind=mechanics[n].kind, rules=mechanics[n].rules)
            for n in order
        ),
        edges=tuple(
            MechanicEdge(source=ids[n], target=ids[to]) for n in order for to in mechanics[n].to
        ),
    )
