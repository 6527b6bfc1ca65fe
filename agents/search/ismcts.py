"""Information set MCTS (Cowling, Powley & Whitehouse 2012), of one observer or of every seat.

Each simulation starts from a determinization, a full state the observer cannot tell from the true
one, and descends a tree of the *observer's* information sets:

- a node is what the observer has seen since the root (observations, events and own actions, by the
  rule of its log) together with the seat to move; two hidden commits of an opponent that look
  the same to the observer therefore lead to one node;
- of the actions that are legal in the determinization, an untried one goes first, at random; then
  the one that maximises `mean + exploration * spread * sqrt(log(availability) / visits)`;
- with progressive widening a node visited `n` times considers `ceil(C * n^power)` of the actions
  that are legal in the determinization, tried ones first (Coulom 2007; Chaslot et al. 2008);
- chance is sampled in the determinization by its probabilities, and keeps no statistics;
- after an untried action a leaf estimate is backed up, to every edge the return of its own seat.

What an opponent does at a node would be the same for all the hands it may hold there: the known
price of a single observer, and a high one where opponents decide by what they hold (poker). With
`opponents="own"` a node therefore keeps, beside its statistics, others for every observation that
its seat may have there in the determinizations. A seat that was seen there with the same
observation at least as often as it has actions chooses by those; until then, and in games whose
hidden states hardly ever repeat always, by the node's own. `opponents="observer"` is the search of
Cowling et al. without this.

With multiple observers (algorithm MO-ISMCTS) there is a tree a seat, of what that seat can tell
apart, and every seat chooses by its *own* information: what an opponent does depends on the hand it
holds in the determinization and on what it perceived. All trees are descended together; a seat's
tree holds statistics of its own decisions. Of another seat's past only its newest observation at
the root is known, so its nodes begin from that.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from pydantic import Field

from agents.search.leaves import Leaves, PlayedPly, sampled
from agents.search.meter import Meter
from agents.search.settings import ExplorationWeight, SearchResult, SearchView, TreeSettings
from agents.search.statistics import EdgeStatistics, Path, ReturnRange, widened
from games.modules import Heuristic, Rules, canonical, require_seat, require_turn
from games.streams import uniforms
from games.values import CHANCE, TERMINAL, Action, Json, Observation, State, canonical_key

_ROOM = 4 * 2**20  # bytes of states as keys that are kept; in memory they take a few times as many
Place: TypeAlias = tuple[int, int]
"""A node: whose information it stands for, by number, and the seat to move."""


class IsmctsSettings(TreeSettings):
    """Settings of single-observer information set search."""

    exploration: ExplorationWeight = 0.5
    opponents: Literal["own", "observer"] = Field(
        default="own",
        description="By what other seats choose in the tree: what they see themselves, where "
        "that repeats (own), or what the searching player sees alone (observer).",
    )


class MoismctsSettings(TreeSettings):
    """Settings of multiple-observer information set search."""

    exploration: ExplorationWeight = 0.7


def decide(
    view: SearchView, settings: TreeSettings, generator: np.random.Generator
) -> SearchResult:
    """Search from what one seat knows; `view.determinize` is called once a simulation.

    Raises:
        ValueError: If the observer is not to move in a determinization, or the settings ask for
            heuristics or a clock that is not given.
        ModuleFault: If a state's player and legal actions disagree, or `leaf` is "value" and the
            module has no `value_function`.
    """
    meter = Meter(view.rules, settings, view.clock)
    search = IsmctsSearch(meter.rules, view.seat, settings, generator, view.heuristics)
    meter.run(lambda: search.simulate(view.determinize()))
    return search.result(meter)


class _Met:
    """A state that simulations come through, and what the module said of it.

    Attributes:
        state: The state.
        player: To move.
        legal: Its legal actions.
        rewards: Of entering it; None where they are all 0.
        size: Bytes of the determinization that it comes from, as its key; 0 where none is kept.
        observations: By seat; None until they are asked for.
        sights: By seat, its observation as a text.
        next: Where actions led.
        told: What they told the followed seats.
        rows: Of the legal actions, by node.
        tried: The nodes where all of them were tried.
    """

    __slots__ = (
        *("legal", "next", "observations", "player", "rewards", "rows", "sights", "size", "state"),
        *("told", "tried"),
    )

    def __init__(
        self, state: State, player: int, legal: list[Action], rewards: list[float] | None, size: int
    ) -> None:
        self.state, self.player, self.legal, self.rewards = state, player, legal, rewards
        self.size = size
        self.observations: list[Observation] | None = None
        self.sights: dict[int, str] = {}
        self.next: dict[Action, _Met] = {}
        self.told: dict[Action, list[str]] = {}
        self.rows: dict[Place, list[int]] = {}
        self.tried: set[Place] = set()


class IsmctsSearch:
    """One tree of the observer's information sets; `simulate` is one descent.

    Attributes:
        views: The seats whose information is followed: the observer, or all.
    """

    def __init__(
        self,
        rules: Rules,
        observer: int,
        settings: TreeSettings,
        generator: np.random.Generator,
        heuristics: Sequence[Heuristic] = (),
    ) -> None:
        """Begin a tree.

        Args:
            rules: The module's functions.
            observer: The seat that decides.
            settings: What to do; `MoismctsSettings` ask for multiple observers.
            generator: The only source of randomness.
            heuristics: The game's heuristics, for leaf="heuristic".
        """
        self.rules = rules
        self.observer = observer
        self.is_multiple = isinstance(settings, MoismctsSettings)
        self.views = tuple(range(rules.num_players)) if self.is_multiple else (observer,)
        self.settings = settings
        self.draw = uniforms(generator).__next__
        self.leaves = Leaves(rules, settings, generator, heuristics)
        self.range = ReturnRange(rules.num_players)
        self.edges = EdgeStatistics()
        self.simulations = 0
        self.applied = 0
        self.root_actions: tuple[Action, ...] = ()
        self.nodes: dict[Place, dict[Action, int]] = {}
        self.visits: dict[Place, int] = {}
        self.splits = isinstance(settings, IsmctsSettings) and settings.opponents == "own"
        self.met: dict[Place, int] = {}  # how often an opponent was seen where it may split a node
        self.information: dict[tuple[int, str], int] = {}
        self.keys: dict[bytes, str] = {}  # a text is written once a value
        self.states: dict[bytes, _Met] = {}
        self.roots: dict[int, _Met] = {}  # the same by identity, each of a state that it holds
        # A budget of calls counts the calls made, which known states would spare.
        self.room = 0 if settings.budget == "calls" else _ROOM

    def simulate(self, state: State) -> None:
        """Descend once through a determinization and back its returns up."""
        here = self.roots.get(id(state)) or self._root(state)
        self.root_actions = self.root_actions or tuple(here.legal)
        path: Path = []
        plies: list[PlayedPly] = []
        known = [self._known(view, here) for view in self.views]
        untried, rewards = False, None
        while not untried and here.player != TERMINAL:
            player, legal = here.player, here.legal
            if player == CHANCE:
                edge, action = -1, sampled(self.rules, here.state, legal, self.draw())
            else:
                node = known[player if self.is_multiple else 0], player
                if self.splits and player != self.observer:
                    edge, other, action = self._choose_own(node, here)
                    path.append((other, player, None))
                else:
                    edge, action = self._choose(node, here)
                untried = self.edges.visits[edge] == 0
            after = here.next.get(action) or self._after(here, action)
            rewards = after.rewards
            path.append((edge, player, rewards))
            plies.append((player, action, rewards))
            if not untried:
                told = here.told.get(action) or self._told(here, action, after)
                known = [
                    self._extended(information, entry) if entry else information
                    for information, entry in zip(known, told, strict=True)
                ]
            here = after
        returns = [0.0] * self.rules.num_players
        if untried:
            returns = self.leaves.returns(here.state, rewards or returns)
        self.edges.back_up(path, returns, self.range)
        if self.leaves.mast is not None:
            self.leaves.mast.learn(plies, returns)
        self.simulations += 1

    def _choose_own(self, node: Place, here: "_Met") -> tuple[int, int, Action]:
        """An opponent's choice at a node by what it sees itself, once that was seen often enough.

        Returns:
            The edge that was chosen by, the other one that counts the descent, and the action.
        """
        legal = here.legal
        own = self._extended(node[0], self._sight(here, here.player)), here.player
        met = self.met[own] = self.met.get(own, 0) + 1
        if met <= len(legal):
            edge, action = self._choose(node, here)
            return edge, self._rows(own, (action,))[0], action
        available = self.edges.availability
        if met == len(legal) + 1:
            for row in self._rows(own, legal):
                available[row] = met - 1
        edge, action = self._choose(own, here)
        for row in here.rows.get(node) or self._rows_here(node, here):
            available[row] += 1
        return edge, self.nodes[node][action], action

    def _choose(self, node: Place, here: "_Met") -> tuple[int, Action]:
        legal, rows = here.legal, here.rows.get(node) or self._rows_here(node, here)
        available, visits = self.edges.availability, self.edges.visits
        for row in rows:
            available[row] += 1
        if node not in here.tried:
            untried = [index for index, row in enumerate(rows) if visits[row] == 0]
            if untried and self._widens(node, len(rows) - len(untried)):
                index = untried[int(self.draw() * len(untried))]
                return rows[index], legal[index]
            if untried:
                legal = [action for action, row in zip(legal, rows, strict=True) if visits[row]]
                rows = [row for row in rows if visits[row]]
            else:
                here.tried.add(node)
        index = self.edges.best(rows, self.settings.exploration * self.range.spread[node[1]])
        return rows[index], legal[index]

    def _rows_here(self, node: Place, here: "_Met") -> list[int]:
        """The rows of all legal actions, kept for the next descent."""
        rows = here.rows[node] = self._rows(node, here.legal)
        return rows

    def _widens(self, node: Place, tried: int) -> bool:
        """True if one more action may be tried; always, without progressive widening."""
        settings = self.settings
        if not settings.widening:
            return True
        visits = self.visits[node] = self.visits.get(node, 0) + 1
        return tried < widened(settings.widening, settings.power, visits)

    def _rows(self, node: Place, legal: Sequence[Action]) -> list[int]:
        known = self.nodes.setdefault(node, {})
        for action in legal:
            if action not in known:
                known[action] = self.edges.take()
        return [known[action] for action in legal]

    def _root(self, state: State) -> "_Met":
        """The record of a determinization; the one that is there, if it was drawn before.

        Raises:
            ValueError: If the observer is not to move there.
        """
        key = canonical(state) if self.room else b""
        found = self.states.get(key)
        if found is None:
            require_seat(self.rules, state, self.observer)
            found = self._met(state, len(key))
            if self._keeps(found):
                self.states[key] = self.roots[id(state)] = found
        return found

    def _keeps(self, met: "_Met") -> bool:
        """True if there is room for one more record, which is then taken."""
        if not 0 < met.size <= self.room:
            return False
        self.room -= met.size
        return True

    def _met(self, state: State, size: int) -> "_Met":
        rules = self.rules
        player, legal = rules.current_player(state), rules.legal_actions(state)
        require_turn(player, len(legal), rules.num_players)
        rewards = rules.rewards(state)
        return _Met(state, player, legal, rewards if any(rewards) else None, size)

    def _after(self, here: "_Met", action: Action) -> "_Met":
        self.applied += 1
        after = self._met(self.rules.apply_action(here.state, action), here.size)
        if self._keeps(after):
            here.next[action] = after
        return after

    def _seen(self, here: "_Met") -> list[Observation]:
        if here.observations is None:
            here.observations = self.rules.observations(here.state)
        return here.observations

    def _sight(self, here: "_Met", seat: int) -> str:
        """A seat's observation, as a text."""
        text = here.sights.get(seat)
        if text is None:
            text = here.sights[seat] = self._key_of({"seen": self._seen(here)[seat]})
        return text

    def _known(self, view: int, here: "_Met") -> int:
        """A seat's knowledge at the root: to the observer all determinizations look the same."""
        if view == self.observer:
            return 0
        return self._extended(0, f"{view} {self._sight(here, view)}")

    def _told(self, here: "_Met", action: Action, after: "_Met") -> list[str]:
        """By followed seat, what a ply adds to its information, as a text; "" for nothing.

        The partition is that of `games.information.information_key` of the seat's log, taken
        entry by entry: a ply without events that leaves the observation as it was adds nothing.
        """
        before, seen = self._seen(here), self._seen(after)
        perceived = self.rules.events(here.state, action)
        found = []
        for view in self.views:
            # The seat's own action comes first in its log.
            told = self._key_of({"action": action}) if here.player == view else ""
            events: list[Json] = [*perceived[view]]
            if events or seen[view] != before[view]:
                told += self._key_of({"observation": seen[view], "events": events})
            found.append(told)
        here.told[action] = found
        return found

    def _key_of(self, value: dict[str, Json]) -> str:
        """`games.values.canonical_key` of a value."""
        known = canonical(value)
        text = self.keys.get(known)
        if text is None:
            text = self.keys[known] = canonical_key(value)
        return text

    def _extended(self, information: int, entry: str) -> int:
        return self.information.setdefault((information, entry), len(self.information) + 1)

    def result(self, meter: Meter | None = None) -> SearchResult:
        """The tree's figures of its root, in the module's order of actions."""
        known = self.nodes.get((0, self.observer), {})
        rows = [known.get(action, -1) for action in self.root_actions]
        calls = self.applied + self.leaves.rollouts.calls
        return SearchResult(
            actions=self.root_actions,
            visits=tuple(self.edges.visits[row] if row >= 0 else 0 for row in rows),
            means=tuple(self.edges.mean_of(row) if row >= 0 else None for row in rows),
            simulations=self.simulations,
            nodes=len(self.nodes),
            cut_rollouts=self.leaves.rollouts.cut,
            calls=meter.made if meter is not None and meter.counts else calls,
            seconds=None if meter is None else meter.seconds,
        )
