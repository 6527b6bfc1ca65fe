"""Random play from a state to the match's end, and the random numbers that searches draw.

Where states repeat, rollouts walk through a table of states, and the module is not asked again. A
state is known by its canonical key; its record keeps the legal actions, the rewards of entering it
and the record that each action led to. A rollout through known records makes no call of the module,
and gives what a rollout without the table gives for the same random numbers. Where states seldom
repeat, keys cost more than they save; so

- the `WINDOW` rollouts after the first `TRIAL` note their states; a table is kept from then on if
  at least `FIRST_SHARE` of them had been noted before;
- of every `TRIAL` rollouts after the first `TRIAL` with a table, `SHARE` of the plies must go where
  the same record went before; otherwise it is given up, as when it holds more than `MOST` states.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

import numpy as np

from agents.search.statistics import add
from games.engine import sample_index
from games.modules import Rules, canonical
from games.streams import BLOCK
from games.values import CHANCE, Action, State

SPAN = 2**30
TRIAL, SHARE = 1000, 0.3
WINDOW, FIRST_SHARE = 64, 0.05
MOST = 50_000  # states


class Integers:
    """An endless iterator of whole numbers uniform in [0, `SPAN`), drawn in blocks as `uniforms`.

    Their remainder by a number of actions picks one without a float: the bias, below one in a
    million for a thousand actions, buys two percent of a search's time.

    Attributes:
        numbers: The iterator.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        """Draw from `generator`, a block when the one before is used up."""
        self.generator = generator
        self.blocks = 0
        self.current: Iterator[int] = iter(())
        self.numbers: Iterator[int] = chain.from_iterable(iter(self._block, None))

    def _block(self) -> Iterator[int]:
        self.blocks += 1
        self.current = iter(array("q", self.generator.integers(SPAN, size=BLOCK).tobytes()))
        return self.current

    @property
    def used(self) -> int:
        """The number of numbers taken: known from the iterator, so that nothing counts them."""
        if not self.blocks:
            return 0
        # What an iterator of an array is made anew from: `iter`, the array and the position, which
        # is left out at the array's end.
        state = self.current.__reduce__()
        position = state[2] if isinstance(state, tuple) and len(state) > 2 else BLOCK  # noqa: PLR2004 - a third part is the position in the block
        return (self.blocks - 1) * BLOCK + position


class StateRecord:
    """One state of the table.

    Attributes:
        state: The state.
        actions: Its legal actions.
        rewards: Of entering it; None where they are all 0.
        next: The record each action led to; None where it was never played.
    """

    __slots__ = ("actions", "next", "rewards", "state")

    def __init__(self, state: State, actions: list[Action], rewards: list[float] | None) -> None:
        """A state none of whose actions were played yet."""
        self.state = state
        self.actions = actions
        self.rewards = rewards
        self.next: list[StateRecord | None] = [None] * len(actions)


class StateTable:
    """Records of states, for as long as they pay.

    Attributes:
        records: States by key.
        played: Rollouts played.
    """

    def __init__(self, rules: Rules) -> None:
        """An empty table; all chance must be uniform."""
        self.rules = rules
        self.records: dict[bytes, StateRecord] = {}
        self.played = 0
        self.plies = self.new = 0  # of the newest `TRIAL` rollouts

    def record(self, state: State) -> StateRecord:
        """The record of a state, a new one if it was never seen."""
        key = canonical(state)
        record = self.records.get(key)
        if record is None:
            rules = self.rules
            rewards = rules.rewards(state)
            known = rewards if any(rewards) else None
            record = self.records[key] = StateRecord(state, rules.legal_actions(state), known)
        return record

    def after(self, record: StateRecord, index: int) -> StateRecord:
        """Where an action leads that was not played from this record before."""
        after = self.record(self.rules.apply_action(record.state, record.actions[index]))
        record.next[index] = after
        return after

    def pays(self, plies: int, new: int) -> bool:
        """True if the table is worth keeping after one more rollout.

        Args:
            plies: The rollout's plies.
            new: Those that went from their record for the first time.
        """
        self.played += 1
        self.plies += plies
        self.new += new
        if self.played % TRIAL:
            return len(self.records) <= MOST
        is_worth_it = self.played == TRIAL or self.plies - self.new >= SHARE * self.plies
        self.plies = self.new = 0
        return is_worth_it


class Rollouts:
    """Plays uniformly random actions (chance by its probabilities) and sums the rewards.

    Attributes:
        cut: Rollouts that reached the limit before the end.
        table: Of states, where they repeat ; None elsewhere.
    """

    def __init__(
        self, rules: Rules, generator: np.random.Generator, limit: int, *, interns: bool = True
    ) -> None:
        """Prepare rollouts.

        Args:
            rules: The module's functions.
            generator: The only source of randomness.
            limit: Plies after which a rollout is cut, at least 1.
            interns: Whether a table of states may be kept.
        """
        self.rules = rules
        self.integers = Integers(generator)
        self.numbers = self.integers.numbers
        # The list that was last all zeros: many modules share one between all such states.
        self.zeros: list[float] = []
        self.limit = limit
        self.cut = 0
        self.ended = 0  # rollouts that took a number after their last ply
        self.saved = 0  # calls of apply_action that the table spared
        self.table: StateTable | None = None
        # Rollouts until the next look at whether states repeat; below 0 there is none.
        self.wait = TRIAL if interns and rules.chance_probabilities is None else -1
        self.noted: list[bytes] | None = None  # keys of the states of some rollouts
        self.apply = rules.apply_action
        # What plays a rollout where it is not the loop of `play`.
        self.instead: Callable[[State], list[float]] | None = None
        if rules.chance_probabilities is not None:
            self.instead = self._weighted

    @property
    def calls(self) -> int:
        """Calls of `apply_action` made: a number each, but for the one that met the end."""
        return self.integers.used - self.ended - self.saved

    def play(self, state: State, actions: Sequence[Action] | None = None) -> list[float]:
        """Play one rollout.

        Args:
            state: Where it begins.
            actions: The legal actions there, if the caller has them.

        Returns:
            `[num_players]` rewards *after* entering `state`.
        """
        if self.wait > 0:
            self.wait -= 1
        elif self.wait == 0:
            self._look()
        if self.instead is not None:
            return self.instead(state)
        rules, zeros = self.rules, self.zeros
        legal_actions, apply_action, get_rewards = rules.legal_actions, self.apply, rules.rewards
        returns = None
        if actions is None:
            actions = legal_actions(state)
        for number in islice(self.numbers, self.limit):
            if not actions:
                self.ended += 1
                break
            state = apply_action(state, actions[number % len(actions)])
            rewards = get_rewards(state)
            if rewards is not zeros:
                if any(rewards):
                    returns = rewards if returns is None else add(returns, rewards)
                else:
                    zeros = self.zeros = rewards
            actions = legal_actions(state)
        else:
            self.cut += bool(actions)
        return [0.0] * rules.num_players if returns is None else returns

    def _look(self) -> None:
        """Begin to note states, or to keep a table if those noted repeat."""
        if self.noted is None:
            self.noted, self.apply, self.wait = [], self._noting, WINDOW - 1
            return
        if len(self.noted) - len({*self.noted}) >= FIRST_SHARE * len(self.noted):
            self.table = StateTable(self.rules)
            self.instead = partial(self._through, self.table)
        self.noted, self.apply, self.wait = None, self.rules.apply_action, -1

    def _noting(self, state: State, action: Action) -> State:
        after = self.rules.apply_action(state, action)
        if self.noted is not None:
            self.noted.append(canonical(after))
        return after

    def _through(self, table: StateTable, state: State) -> list[float]:
        """`play` by the table's records."""
        record, returns, plies, made = table.record(state), None, 0, 0
        for number in islice(self.numbers, self.limit):
            following = record.next
            if not following:
                self.ended += 1
                break
            index = number % len(following)
            after = following[index]
            if after is None:
                after = table.after(record, index)
                made += 1
            record = after
            plies += 1
            if record.rewards is not None:
                returns = record.rewards if returns is None else add(returns, record.rewards)
        else:
            self.cut += bool(record.actions)
        self.saved += plies - made
        if not table.pays(plies, made):
            self.table = self.instead = None
        return [0.0] * self.rules.num_players if returns is None else returns

    def _weighted(self, state: State) -> list[float]:
        """`play` where some chance is not uniform."""
        rules = self.rules
        returns = [0.0] * rules.num_players
        for number in islice(self.numbers, self.limit):
            actions = rules.legal_actions(state)
            if not actions:
                self.ended += 1
                return returns
            at_chance = rules.current_player(state) == CHANCE
            index = self._outcome(state, number) if at_chance else number % len(actions)
            state = rules.apply_action(state, actions[index])
            rewards = rules.rewards(state)
            if any(rewards):
                returns = add(returns, rewards)
        if rules.legal_actions(state):
            self.cut += 1
        return returns

    def _outcome(self, state: State, number: int) -> int:
        probabilities = self.rules.chance_probabilities
        if probabilities is None:
            raise ValueError("weighted chance needs the module's get_chance_probabilities")
        return sample_index(probabilities(state), number / SPAN)
