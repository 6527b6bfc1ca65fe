"""A UCT tree that lives through a match: a decision begins from what the last ones left of it.

The tree is a function of the seat's log, the settings and the match's seed words alone: the
decision numbered `i`, from 0 and forced ones included, draws from the words and `i`. So a worker
that begins in the middle of a match searches the earlier decisions of the log once more, and then
holds the very tree of one that was there all along.

After a decision the tree's new root is the first node, level by level, that has the state of
the next one; where there is none, a new tree is begun.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.belief.exact import known_state
from agents.belief.follow import Follower
from agents.search.meter import Meter
from agents.search.rules import Heuristic, Rules, canonical
from agents.search.settings import SearchResult
from agents.search.tree import Node, UctSearch
from agents.search.uct import UctSettings, variation
from games.contract import Json, State

Entries = Sequence[Mapping[str, Json]]


@dataclass
class ReusedTree:
    """One seat's tree in one match.

    Attributes:
        rules: The module's functions.
        initial: The state before any ply.
        seat: The seat that decides.
        settings: What to do, with `reuse`.
        words: Seed words of the match.
        heuristics: The game's heuristics, for leaf="heuristic".
        entries: The log up to the newest decision.
        decisions: Decisions of the log that were searched, or passed by as forced.
        search: The tree; None before the first decision.
    """

    rules: Rules
    initial: State
    seat: int
    settings: UctSettings
    words: Sequence[int]
    heuristics: Sequence[Heuristic] = ()
    entries: list[Mapping[str, Json]] = field(default_factory=list, init=False)
    decisions: int = field(default=0, init=False)
    search: UctSearch | None = field(default=None, init=False)

    def continues(self, entries: Entries, words: Sequence[int]) -> bool:
        """Whether a log goes on from the newest decision, in the same match."""
        return [*words] == [*self.words] and list(entries[: len(self.entries)]) == self.entries

    def decide(self, entries: Entries) -> SearchResult:
        """Search the decision at the end of a log, and before it those not searched yet.

        Raises:
            HiddenInformationError: If the log leaves several states at a decision.
            ValueError: If the last decision is a forced one, or was decided before.
        """
        ends = [index for index, entry in enumerate(entries) if "action" in entry]
        found = None
        for end in [*ends, len(entries)][self.decisions :]:
            found = self._decided(entries[:end])
            self.decisions += 1
        self.entries = list(entries)
        if found is None:
            raise ValueError("the log ends in no decision that is left to search")
        return found

    def _decided(self, entries: Entries) -> SearchResult | None:
        """Search one decision; None where it is forced."""
        state = known_state(Follower(self.rules, self.seat, entries), self.initial)
        if len(self.rules.legal_actions(state)) == 1:
            return None
        key = np.random.SeedSequence([*self.words, self.decisions])
        generator = np.random.Generator(np.random.PCG64(key))
        node = None if self.search is None else _descendant(self.search.root, state)
        if self.search is None or node is None:
            kind = variation(self.settings)
            self.search = kind(self.rules, state, self.settings, generator, self.heuristics)
        else:
            self.search.go_on(node, generator, self.heuristics)
        meter = Meter(self.rules, self.settings)
        meter.run(self.search.simulate)
        return self.search.result(meter)


def _descendant(root: Node, state: State) -> Node | None:
    """The first node below `root`, level by level, with that state."""
    key, level = canonical(state), [root]
    while level:
        level = [c for node in level if node.is_open for c in node.children if c is not None]
        for node in level:
            if canonical(node.state) == key:
                return node
    return None
