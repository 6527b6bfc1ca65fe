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

Known: TypeAlias = tuple[int, Observation]
"""A seat's information since the root, by number, and its newest observation."""
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

    def simulate(self, state: State) -> None:
        """Descend once through a determinization and back its returns up."""
        rules = self.rules
        require_seat(rules, state, self.observer)
        if not self.root_actions:
            self.root_actions = tuple(rules.legal_actions(state))
        path: Path = []
        plies: list[PlayedPly] = []
        seen = rules.observations(state)
        known = [self._known(view, seen[view]) for view in self.views]
        untried, rewards = False, None
        while not untried:
            player, legal = rules.current_player(state), rules.legal_actions(state)
            require_turn(player, len(legal), rules.num_players)
            if player == TERMINAL:
                break
            if player == CHANCE:
                edge, action = -1, sampled(rules, state, legal, self.draw())
            else:
                information = known[player if self.is_multiple else 0][0]
                node = information, player
                if self.splits and player != self.observer:
                    edge, other, action = self._choose_own(node, seen[player], legal)
                    path.append((other, player, None))
                else:
                    edge, action = self._choose(node, legal)
                untried = self.edges.visits[edge] == 0
            after = rules.apply_action(state, action)
            rewards = rules.rewards(after)
            path.append((edge, player, rewards if any(rewards) else None))
            plies.append((player, action, path[-1][2]))
            if not untried:
                seen = rules.observations(after)
                known = self._perceive(known, (state, action), seen)
            state = after
        self.applied += len(plies)
        returns = self.leaves.returns(state, rewards) if untried else [0.0] * rules.num_players
        self.edges.back_up(path, returns, self.range)
        if self.leaves.mast is not None:
            self.leaves.mast.learn(plies, returns)
        self.simulations += 1

    def _choose_own(
        self, node: Place, seen: Observation, legal: Sequence[Action]
    ) -> tuple[int, int, Action]:
        """An opponent's choice at a node by what it sees itself, once that was seen often enough.

        Returns:
            The edge that was chosen by, the other one that counts the descent, and the action.
        """
        own = self._extended(node[0], self._key_of({"seen": seen})), node[1]
        met = self.met[own] = self.met.get(own, 0) + 1
        if met <= len(legal):
            edge, action = self._choose(node, legal)
            return edge, self._rows(own, (action,))[0], action
        available = self.edges.availability
        if met == len(legal) + 1:
            for row in self._rows(own, legal):
                available[row] = met - 1
        edge, action = self._choose(own, legal)
        for row in self._rows(node, legal):
            available[row] += 1
        return edge, self.nodes[node][action], action

    def _choose(self, node: Place, legal: Sequence[Action]) -> tuple[int, Action]:
        rows = self._rows(node, legal)
        available, visits = self.edges.availability, self.edges.visits
        for row in rows:
            available[row] += 1
        untried = [index for index, row in enumerate(rows) if visits[row] == 0]
        if untried and self._widens(node, len(rows) - len(untried)):
            index = untried[int(self.draw() * len(untried))]
            return rows[index], legal[index]
        if untried:
            legal = [action for action, row in zip(legal, rows, strict=True) if visits[row]]
            rows = [row for row in rows if visits[row]]
        index = self.edges.best(rows, self.settings.exploration * self.range.spread[node[1]])
        return rows[index], legal[index]

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

    def _known(self, view: int, seen: Observation) -> Known:
        """A seat's knowledge at the root: to the observer all determinizations look the same."""
        if view == self.observer:
            return 0, seen
        return self._extended(0, self._key_of({"seat": view, "observation": seen})), seen

    def _perceive(
        self, known: list[Known], ply: tuple[State, Action], observations: list[Observation]
    ) -> list[Known]:
        """Every followed seat's information after a ply, and its newest observation.

        The partition is that of `games.information.information_key` of the seat's log, taken
        entry by entry: a ply without events that leaves the observation as it was adds nothing.
        """
        state, action = ply
        player = self.rules.current_player(state)
        perceived = self.rules.events(state, action)
        found = []
        for view, (information, seen) in zip(self.views, known, strict=True):
            if player == view:
                # The seat's own action comes first in its log.
                information = self._extended(information, self._key_of({"action": action}))
            events: list[Json] = [*perceived[view]]
            observation = observations[view]
            if events or observation != seen:
                entry = self._key_of({"observation": observation, "events": events})
                found.append((self._extended(information, entry), observation))
            else:
                found.append((information, observation))
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
