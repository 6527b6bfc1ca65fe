"""Zones that a module declares, and determinizations over them alone (Lechat 2026)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from agents.belief.follow import random_action
from agents.belief.population import Floats
from games.checks.zones import matches, read_path, with_path
from games.modules import Rules
from games.values import TERMINAL, Json, State


class Fill(NamedTuple):
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
        """The declaration of a concrete path; empty where no pattern fits."""
        if zone not in self._declarations:
            fitting = (d for pattern, d in self.patterns.items() if matches(pattern, zone))
            self._declarations[zone] = next(fitting, {})
        return self._declarations[zone]

    def hidden(self, state: State, seat: int) -> list[str]:
        """Paths of the zones whose contents the seat may not see."""
        return [
            zone
            for zone, how in self.visible(state, seat).items()
            if how != "contents" and (not self.patterns or self.declaration(zone))
        ]

    def is_bare(self, state: State, seat: int) -> bool:
        """True if the seat's view tells all components: at most a pack is hidden from it."""
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
        """True if the path holds one component, not a pile of them."""
        return isinstance(read_path(state, zone), str)

    def filled(self, before: State, after: State, seat: int) -> Fill | None:
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
            if gained and self.declaration(zone).get("ordered") and not self.is_single(after, zone):
                place = next(i for i, c in enumerate(new) if i >= len(old) or old[i] != c)
                found.append(Fill(f"{zone}.{place}", gained[0]))
            elif gained:
                found.append(Fill(zone, gained[0]))
        return found[0] if len(found) == 1 else None

    def is_open(self, state: State, zone: str, component: str, seat: int) -> bool:
        """True if a conserved component lies in sight of the seat: it is in no hidden zone."""
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
        """True if none of the zone's components comes or goes."""
        return self.kind(zone) in self.conserved

    def _with(self, state: State, zone: str, out: str, in_: str) -> State:
        contents = self.contents(state, zone)
        contents[contents.index(out)] = in_
        return self.holding(state, zone, contents)


def zones_of(namespace: Mapping[str, object]) -> Zones | None:
    """A module's zones; None where it does not declare them."""
    patterns, visible, about = (namespace.get(name) for name in ("ZONES", "visible", "GAME"))
    if not isinstance(patterns, dict) or not callable(visible):
        return None
    kinds = about.get("conserved", []) if isinstance(about, dict) else []
    return Zones(patterns, visible, frozenset(kinds))


MAX_PLIES = 500


@dataclass(frozen=True)
class RandomSampler:
    """Random determinization: hidden zones filled at random, whatever was seen of them.

    The lower bound of Lechat (2026), Improving Imperfect-Information Reasoning in Ludii, section
    3.4.1. Only what the rules themselves ask for is respected: the counts, the components that
    there are, and how chance deals them. Hits, misses and voids are not, so most states contradict
    the log. It is here to be compared with: what the other samplers gain over it is the worth of
    all that the log says.

    Attributes:
        rules: The module's functions.
        zones: Its declared zones.
        seat: The seat that may not see them.
        initial: The state before any ply.
        known: Gives a state that is right in all that the seat sees; None where there is none.
        draw: Gives the next uniform number in [0, 1).
    """

    rules: Rules
    zones: Zones
    seat: int
    initial: State
    known: Callable[[], State | None]
    draw: Callable[[], float]

    def sample(self) -> State | None:
        """A state with random hidden zones; None where none could be filled."""
        state = self.known()
        if state is None:
            return None
        hidden = self.zones.hidden(state, self.seat)
        piles = [zone for zone in hidden if self.zones.contents(state, zone)]
        conserved = [zone for zone in piles if self.zones.is_conserved(zone)]
        state = self._shuffled(state, conserved)
        dealt = [zone for zone in piles if zone not in conserved]
        return self._dealt(state, dealt) if dealt else state

    def _shuffled(self, state: State, piles: list[str]) -> State:
        """The state with the components of some piles dealt among them at random."""
        contents = {zone: self.zones.contents(state, zone) for zone in piles}
        for kind in dict.fromkeys(self.zones.kind(zone) for zone in piles):
            same = [zone for zone in piles if self.zones.kind(zone) == kind]
            pool = [component for zone in same for component in contents[zone]]
            keys = {index: self.draw() for index in range(len(pool))}
            order = iter(sorted(keys, key=keys.__getitem__))
            for zone in same:
                contents[zone] = [pool[next(order)] for _ in contents[zone]]
        for zone, pile in contents.items():
            state = self.zones.holding(state, zone, pile)
        return state

    def _dealt(self, state: State, zones: list[str]) -> State | None:
        """The state with other zones as the game's own chance would fill them from the start."""
        wanted = {zone: len(self.zones.contents(state, zone)) for zone in zones}
        fresh = self.initial
        for _ in range(MAX_PLIES):
            filled = {zone: self.zones.contents(fresh, zone) for zone in zones}
            if all(len(filled[zone]) == size for zone, size in wanted.items()):
                for zone, contents in filled.items():
                    state = self.zones.holding(state, zone, contents)
                return state
            player = self.rules.current_player(fresh)
            if player == TERMINAL:
                return None
            action = random_action(self.rules, fresh, player, self.draw)
            fresh = self.rules.apply_action(fresh, action)
        return None


def heat_map(
    zones: Zones, seat: int, states: Sequence[State], weights: Sequence[float]
) -> dict[tuple[str, str], float]:
    """The probability that each component is in each zone hidden from a seat, by the zone's path.

    `heat(z, c) = sum over states s of w_s [c in z in s]`, with weights that sum to 1.

    Args:
        zones: The module's declared zones.
        seat: The seat that may not see them.
        states: `[N]` consistent states.
        weights: `[N]`, summing to 1.
    """
    heat: dict[tuple[str, str], float] = {}
    for state, weight in zip(states, weights, strict=True):
        for place in _places(zones, seat, state):
            heat[place] = heat.get(place, 0.0) + weight
    return heat


def heated(zones: Zones, seat: int, states: Sequence[State], weights: Sequence[float]) -> Floats:
    """Weights that favour states whose components are where they most often are.

    Lechat (2026), section 3.4.3, counts how often consistent samples occupy a place, and draws
    states that occupy the places counted most. Here the samples are a population that reproduces
    the log, counted anew at every decision: a map made once and kept says nothing of what was seen
    since. It is a bias on purpose, no part of the posterior.

    Each weight is multiplied by the mean heat of its state's hidden components; a state without any
    keeps its weight.

    Returns:
        `[N]`, unnormalised.
    """
    heat = heat_map(zones, seat, states, weights)
    means = []
    for state in states:
        found = [heat[place] for place in _places(zones, seat, state)]
        means.append(sum(found) / len(found) if found else 1.0)
    favoured: Floats = np.asarray(weights) * np.array(means)
    return favoured


def _places(zones: Zones, seat: int, state: State) -> set[tuple[str, str]]:
    hidden = zones.hidden(state, seat)
    return {(zone, component) for zone in hidden for component in zones.contents(state, zone)}
