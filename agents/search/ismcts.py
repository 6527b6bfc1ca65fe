"""Single-observer information set MCTS: any number of players, chance, general sums.

Each simulation starts from a determinization, a full state the observer cannot tell from the true
one, and descends a tree of the *observer's* information sets (Cowling, Powley & Whitehouse 2012):

- a node is what the observer has seen since the root (observations, events and own actions, by the
  rule of its log) together with the seat to move; two hidden commits of an opponent that look
  the same to the observer therefore lead to one node;
- of the actions that are legal in the determinization, an untried one goes first, at random; then
  the one that maximises `mean + exploration * spread * sqrt(log(availability) / visits)`;
- chance is sampled in the determinization by its probabilities, and keeps no statistics;
- after an untried action a leaf estimate is backed up, to every edge the return of its own seat.

What an opponent does at a node is the same for all the hands it may hold there: the known price
of a single observer.
"""

from collections.abc import Callable, Sequence

import numpy as np

from agents.search.rollouts import Leaves, uniforms
from agents.search.rules import Rules
from agents.search.selection import FEW, best_available, ismcts_scores
from agents.search.settings import SearchResult, SearchSettings
from agents.search.tree import EdgeStatistics, Path, ReturnRange, require_turn
from games.contract import CHANCE, TERMINAL, Action, Json, Observation, State, canonical_key
from games.engine import sample_index


def ismcts(
    rules: Rules,
    observer: int,
    determinize: Callable[[], State],
    settings: SearchSettings,
    generator: np.random.Generator,
) -> SearchResult:
    """Search from what one seat knows.

    Args:
        rules: The module's functions.
        observer: The seat that decides.
        determinize: Gives a full state that the observer cannot tell from the true one; called
            once a simulation.
        settings: What to do.
        generator: The only source of randomness of the search itself.

    Raises:
        ValueError: If the observer is not to move in a determinization.
        ModuleFault: If a state's player and legal actions disagree, or `leaf` is "value" and the
            module has no `value_function`.
    """
    search = IsmctsSearch(rules, observer, settings, generator)
    for _ in range(settings.simulations):
        search.simulate(determinize())
    return search.result()


class IsmctsSearch:
    """One tree of the observer's information sets; `simulate` is one descent."""

    def __init__(
        self, rules: Rules, observer: int, settings: SearchSettings, generator: np.random.Generator
    ) -> None:
        """See `ismcts`."""
        self.rules = rules
        self.observer = observer
        self.settings = settings
        self.draw = uniforms(generator).__next__
        self.leaves = Leaves(rules, settings, generator)
        self.range = ReturnRange(rules.num_players, settings.value_range)
        self.edges = EdgeStatistics(capacity=8 * settings.simulations)
        self.simulations = 0
        self.root_actions: tuple[Action, ...] = ()
        self.nodes: dict[tuple[int, int], dict[Action, int]] = {}
        self.information: dict[tuple[int, str], int] = {}

    def simulate(self, state: State) -> None:
        """Descend once through a determinization and back its returns up."""
        rules = self.rules
        self._require_root(state)
        path: Path = []
        seen, information = rules.observations(state)[self.observer], 0
        untried, paid = False, None
        while not untried:
            player, legal = rules.current_player(state), rules.legal_actions(state)
            require_turn(player, len(legal), rules.num_players)
            if player == TERMINAL:
                break
            if player == CHANCE:
                edge, action = -1, self._outcome(state, legal)
            else:
                edge, action = self._choose((information, player), legal)
                untried = self.edges.visits_view[edge] == 0
            after = rules.apply_action(state, action)
            paid = rules.rewards(after)
            path.append((edge, player, paid if any(paid) else None))
            if not untried:
                information, seen = self._perceive(information, seen, (state, action, after))
            state = after
        nothing = [0.0] * rules.num_players
        returns = self.leaves.returns(state, paid) if untried else nothing
        self.edges.back_up(path, returns, self.range)
        self.simulations += 1

    def _require_root(self, state: State) -> None:
        player = self.rules.current_player(state)
        if player != self.observer:
            raise ValueError(
                f"the determinization has player {player} to move; required: the observer, "
                f"seat {self.observer}"
            )
        if not self.root_actions:
            self.root_actions = tuple(self.rules.legal_actions(state))

    def _outcome(self, state: State, legal: Sequence[Action]) -> Action:
        probabilities = self.rules.chance_probabilities
        if probabilities is None:
            return legal[int(self.draw() * len(legal))]
        return legal[sample_index(probabilities(state), self.draw())]

    def _choose(self, node: tuple[int, int], legal: Sequence[Action]) -> tuple[int, Action]:
        rows = self._rows(node, legal)
        available, visits = self.edges.availability_view, self.edges.visits_view
        for row in rows:
            available[row] += 1
        untried = [index for index, row in enumerate(rows) if visits[row] == 0]
        if untried:
            index = untried[int(self.draw() * len(untried))]
        else:
            index = self._best(rows, self.settings.exploration * self.range.spread[node[1]])
        return rows[index], legal[index]

    def _rows(self, node: tuple[int, int], legal: Sequence[Action]) -> list[int]:
        known = self.nodes.setdefault(node, {})
        for action in legal:
            if action not in known:
                known[action] = self.edges.take(1)
        return [known[action] for action in legal]

    def _best(self, rows: list[int], weight: float) -> int:
        edges = self.edges
        if len(rows) <= FEW:
            return best_available(
                edges.mean_view,
                edges.inverse_root_view,
                edges.availability_view,
                rows,
                exploration=weight,
            )
        scores = ismcts_scores(
            edges.mean[rows], edges.visits[rows], edges.availability[rows], exploration=weight
        )
        return int(scores.argmax())

    def _perceive(
        self, information: int, seen: Observation, ply: tuple[State, Action, State]
    ) -> tuple[int, Observation]:
        """The observer's information after a ply, and its newest observation.

        The partition is that of `games.information.information_key` of the observer's log, taken
        entry by entry: a ply without events that leaves the observation as it was adds nothing.
        """
        state, action, after = ply
        if self.rules.current_player(state) == self.observer:
            information = self._extended(information, canonical_key({"action": action}))
        events: list[Json] = [*self.rules.events(state, action)[self.observer]]
        observation = self.rules.observations(after)[self.observer]
        if events or observation != seen:
            entry = canonical_key({"observation": observation, "events": events})
            information = self._extended(information, entry)
        return information, observation

    def _extended(self, information: int, entry: str) -> int:
        return self.information.setdefault((information, entry), len(self.information) + 1)

    def result(self) -> SearchResult:
        """What the tree says of its root, in the module's order of actions."""
        known = self.nodes.get((0, self.observer), {})
        rows = [known[action] for action in self.root_actions]
        return SearchResult(
            actions=self.root_actions,
            visits=tuple(int(self.edges.visits[row]) for row in rows),
            means=tuple(self.edges.mean_of(row) for row in rows),
            simulations=self.simulations,
            nodes=len(self.nodes),
            cut_rollouts=self.leaves.rollouts.cut,
        )
