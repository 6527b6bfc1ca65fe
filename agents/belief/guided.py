"""New actions for the choices of a play, by what is known of hidden components."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agents.belief.facts import Facts
from agents.belief.particles import Link
from agents.belief.proposals import AnyAction
from games.contract import Action

ZoneOf: TypeAlias = Callable[[Link], str | None]
ComponentOf: TypeAlias = Callable[[Link, str, Action], str | None]
Where: TypeAlias = tuple[str, int]
"""Path of a zone, and the entries of the log that were read when something came into it."""


@dataclass
class KnownToFit(AnyAction):
    """Proposes what facts allow where a choice deals a component to a hidden zone.

    An action is promising where no fact rules its component out, and the zone still holds what the
    log needs of it; where the component was dealt elsewhere, so that the two change places, the
    same must be true there.

    Attributes:
        facts: What is known.
        zone_of: The zone that a choice deals to; None where it deals to none.
        component_of: What an action of a choice puts into its zone; None where it puts nothing.
    """

    facts: Facts = field(kw_only=True)
    zone_of: ZoneOf = field(kw_only=True)
    component_of: ComponentOf = field(kw_only=True)
    _known: dict[Where, dict[Action, int | None]] = field(default_factory=dict)
    _components: dict[Action, str] = field(default_factory=dict)
    _witnesses: int = 0

    def is_known_to_fit(self, links: Sequence[Link], index: int, action: Action) -> bool:
        """Whether all that is known says that the play reproduces the log with another choice."""
        is_dealt = self.zone_of(links[index]) is not None
        return is_dealt and action in self._promising(links, index, [action])

    def _promising(
        self, links: Sequence[Link], index: int, legal: Sequence[Action]
    ) -> Sequence[Action]:
        link = links[index]
        zone = self.zone_of(link)
        if zone is None:
            return super()._promising(links, index, legal)
        play, known = _Dealt(self, links, index), self.known(zone, link.place.read)
        lacks, found = play.lacking(zone), []
        for action in legal:
            if action not in known:
                known[action] = self.supports(link, zone, action)
            supports = known[action]
            component = self._components.get(action)
            if component in play.holders:
                if play.may_swap(zone, component, supports):
                    found.append(action)
            elif supports is not None and not lacks & ~supports:
                found.append(action)
        return found

    def known(self, zone: str, since: int) -> dict[Action, int | None]:
        """The needs that each action's component satisfies; None for what is ruled out.

        What was ruled out stays so; the rest is asked again when something was learnt.
        """
        if self._witnesses != len(self.facts.witnesses):
            self._witnesses = len(self.facts.witnesses)
            self._known = {
                where: {action: None for action, supports in known.items() if supports is None}
                for where, known in self._known.items()
            }
        return self._known.setdefault((zone, since), {})

    def supports(self, link: Link, zone: str, action: Action) -> int | None:
        """The needs of a zone that an action's component satisfies; None where it is ruled out."""
        component = self.component_of(link, zone, action)
        if component is None:
            return 0
        self._components[action] = component
        is_out, supports = self.facts.about(zone, component, link.place.read)
        return None if is_out else supports


class _Dealt:
    """The components that a play deals, but for one choice's.

    Attributes:
        holders: Component dealt later -> its zone and when it was dealt there.
    """

    def __init__(self, known: KnownToFit, links: Sequence[Link], index: int) -> None:
        self.known = known
        self.since = links[index].place.read
        self.link = links[index]
        self.held: dict[str, list[tuple[str, int, int]]] = {}
        self.holders: dict[str | None, Where] = {}
        for depth, link in enumerate(links):
            zone = known.zone_of(link)
            component = None if zone is None else known.component_of(link, zone, link.action)
            if zone is None or component is None or depth == index:
                continue
            since = link.place.read
            table = known.known(zone, since)
            if link.action not in table:
                table[link.action] = known.supports(link, zone, link.action)
            supports = table[link.action] or 0
            self.held.setdefault(zone, []).append((component, supports, since))
            if depth > index:
                self.holders[component] = (zone, since)

    def may_swap(self, zone: str, component: str | None, supports: int | None) -> bool:
        """Whether a component dealt later may come here, and what came here may go there."""
        there, since = self.holders[component]
        if there == zone:
            return True
        if supports is None or self.lacking(zone) & ~supports:
            return False
        table = self.known.known(there, since)
        action = self.link.action
        own = table[action] if action in table else self._own(there, since)
        return own is not None and not self.lacking(there, component) & ~own

    def _own(self, zone: str, since: int) -> int | None:
        """What the component that came here would be worth in another zone."""
        here = self.known.zone_of(self.link) or ""
        component = self.known.component_of(self.link, here, self.link.action)
        if component is None:
            return 0
        is_out, supports = self.known.facts.about(zone, component, since)
        return None if is_out else supports

    def lacking(self, zone: str, without: str | None = None) -> int:
        """Needs of a zone that nothing dealt to it satisfies, were a component not there."""
        held = self.held.get(zone, [])
        first = min([self.since, *(since for _, _, since in held)])
        lacks = self.known.facts.needs(zone, first)
        for component, supports, _ in held:
            if component != without:
                lacks &= ~supports
        return lacks
