"""The zones that a module declares: which are hidden from a seat, and what a ply put into one."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from games.checks.zones import matches, read_path, with_path
from games.contract import Json, State


class Filled(NamedTuple):
    """One component that came into a hidden zone.

    Attributes:
        zone: Path of the zone; of the place in it where the zone is ordered.
        component: What came in.
    """

    zone: str
    component: str


@dataclass
class Zones:
    """A module's `ZONES`, `visible` and the kinds of component that it says are conserved.

    Attributes:
        patterns: Path pattern -> declaration.
        visible: What the rules let a seat see of a state, by concrete path.
        conserved: Kinds of component of which none comes or goes.
    """

    patterns: Mapping[str, Mapping[str, Json]]
    visible: Callable[[State, int], Mapping[str, str]]
    conserved: frozenset[str]
    _declarations: dict[str, Mapping[str, Json]] = field(default_factory=dict)

    def declaration(self, zone: str) -> Mapping[str, Json]:
        """What is declared of a concrete path; nothing where no pattern fits."""
        if zone not in self._declarations:
            fitting = (d for pattern, d in self.patterns.items() if matches(pattern, zone))
            self._declarations[zone] = next(fitting, {})
        return self._declarations[zone]

    def hidden(self, state: State, seat: int) -> list[str]:
        """Paths of the zones whose contents the seat may not see."""
        return [zone for zone, how in self.visible(state, seat).items() if how != "contents"]

    def is_bare(self, state: State, seat: int) -> bool:
        """Whether what the seat sees tells all components: at the most a pack is hidden from it."""
        filled = [zone for zone in self.hidden(state, seat) if self.contents(state, zone)]
        packs = [zone for zone in filled if self.is_conserved(zone)]
        is_pack = len(packs) == 1 and not self.declaration(packs[0]).get("ordered")
        return not filled or (len(filled) == 1 and is_pack)

    def contents(self, state: State, zone: str) -> list[str]:
        """The components in a zone, or at a place of an ordered one; none where it is missing."""
        try:
            value = read_path(state, zone)
        except KeyError:
            return []
        if isinstance(value, str):
            return [value]
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def is_single(self, state: State, zone: str) -> bool:
        """Whether the path holds one component, not a pile of them."""
        return isinstance(read_path(state, zone), str)

    def filled(self, before: State, after: State, seat: int) -> Filled | None:
        """The one component that a ply put into a zone hidden from the seat.

        Returns:
            None where it put none, or several, into hidden zones.
        """
        found = []
        for zone in self.hidden(after, seat):
            old, new = self.contents(before, zone), self.contents(after, zone)
            if old == new:
                continue
            gained = list((Counter(new) - Counter(old)).elements())
            if len(gained) > 1:
                return None
            if gained and self.declaration(zone).get("ordered") and not _is_text(after, zone):
                place = next(i for i, c in enumerate(new) if i >= len(old) or old[i] != c)
                found.append(Filled(f"{zone}.{place}", gained[0]))
            elif gained:
                found.append(Filled(zone, gained[0]))
        return found[0] if len(found) == 1 else None

    def is_open(self, state: State, zone: str, component: str, seat: int) -> bool:
        """Whether a conserved component lies where the seat sees it: it is in no hidden zone."""
        if not self.is_conserved(zone):
            return False
        return any(
            component in self.contents(state, other)
            for other, how in self.visible(state, seat).items()
            if how == "contents"
        )

    def holding(self, state: State, zone: str, contents: Sequence[str]) -> State:
        """The state with other contents in a zone, whatever that means for the other zones."""
        if self.is_single(state, zone):
            return with_path(state, zone, contents[0])
        return with_path(state, zone, [*contents])

    def exchanged(self, state: State, zone: str, out: str, in_: str, *, seat: int) -> State | None:
        """The state with one component of a zone exchanged for another.

        A conserved component changes places with the one that it is exchanged for.

        Args:
            state: A state.
            zone: Where to exchange.
            out: What leaves.
            in_: What comes in.
            seat: A component is never taken from where this seat sees it.

        Returns:
            None where the component lies open to the seat, so that it cannot be in the zone.
        """
        if self.is_conserved(zone):
            if self.is_open(state, zone, in_, seat):
                return None
            hidden = self.hidden(state, seat)
            source = next((z for z in hidden if z != zone and in_ in self.contents(state, z)), None)
            if source is not None:
                state = self._with(state, source, in_, out)
        return self._with(state, zone, out, in_)

    def kind(self, zone: str) -> str:
        """The kind of component that a zone holds; empty where nothing is declared of it."""
        whole = zone if self.declaration(zone) else zone.rpartition(".")[0]
        return str(self.declaration(whole).get("component", ""))

    def is_conserved(self, zone: str) -> bool:
        """Whether none of the zone's components comes or goes."""
        return self.kind(zone) in self.conserved

    def _with(self, state: State, zone: str, out: str, in_: str) -> State:
        contents = self.contents(state, zone)
        contents[contents.index(out)] = in_
        return self.holding(state, zone, contents)


def _is_text(state: State, zone: str) -> bool:
    return isinstance(read_path(state, zone), str)


def zones_of(namespace: Mapping[str, object]) -> Zones | None:
    """A module's zones; None where it does not declare them."""
    patterns, visible, about = (namespace.get(name) for name in ("ZONES", "visible", "GAME"))
    if not isinstance(patterns, dict) or not callable(visible):
        return None
    kinds = about.get("conserved", []) if isinstance(about, dict) else []
    return Zones(patterns, visible, frozenset(kinds))
