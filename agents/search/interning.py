"""A table of states that rollouts walk through: where states repeat, no module is asked again.

A state is known by its canonical key; its record keeps the legal actions, what entering it paid
and the record that each action led to. A rollout through known records makes no call of the module,
and gives what a rollout without the table gives for the same random numbers. Where states
seldom repeat, keys cost more than they save; so

- the `WINDOW` rollouts after the first `TRIAL` note their states; a table is kept from then on if
  at least `FIRST_SHARE` of them had been noted before;
- of every `TRIAL` rollouts after the first `TRIAL` with a table, `SHARE` of the plies must go where
  the same record went before; otherwise it is given up, as when it holds more than `MOST` states.
"""

import marshal

from agents.search.rules import Rules
from games.contract import Action, Json, State, canonical_key

TRIAL, SHARE = 1000, 0.3
WINDOW, FIRST_SHARE = 64, 0.05
MOST = 50_000  # states
VERSION = 2  # of marshal: later ones encode which objects are the same, besides their values


def canonical(state: State) -> bytes:
    """A key of a state: equal keys mean equal values, in equal order and of equal types.

    >>> canonical({"a": [1]}) == canonical({"a": [1.0]})
    False
    """
    return marshal.dumps(state, VERSION)


class Keys:
    """Canonical keys of what comes again and again: a text is written once a value.

    Attributes:
        written: Texts by `canonical` of the value; values that differ there may share a text.
    """

    def __init__(self) -> None:
        """Nothing written yet."""
        self.written: dict[bytes, str] = {}

    def of(self, value: dict[str, Json]) -> str:
        """`games.contract.canonical_key` of a value."""
        known = canonical(value)
        text = self.written.get(known)
        if text is None:
            text = self.written[known] = canonical_key(value)
        return text


class Record:
    """One state of the table.

    Attributes:
        state: The state.
        actions: Its legal actions.
        paid: What entering it paid; None for nothing.
        next: The record each action led to; None where it was never played.
    """

    __slots__ = ("actions", "next", "paid", "state")

    def __init__(self, state: State, actions: list[Action], paid: list[float] | None) -> None:
        """A state none of whose actions were played yet."""
        self.state = state
        self.actions = actions
        self.paid = paid
        self.next: list[Record | None] = [None] * len(actions)


class Table:
    """Records of states, for as long as they pay.

    Attributes:
        records: States by key.
        played: Rollouts played.
    """

    def __init__(self, rules: Rules) -> None:
        """An empty table; all chance must be uniform."""
        self.rules = rules
        self.records: dict[bytes, Record] = {}
        self.played = 0
        self.plies = self.new = 0  # of the newest `TRIAL` rollouts

    def record(self, state: State) -> Record:
        """The record of a state, a new one if it was never seen."""
        key = canonical(state)
        record = self.records.get(key)
        if record is None:
            rules = self.rules
            paid = rules.rewards(state)
            known = paid if any(paid) else None
            record = self.records[key] = Record(state, rules.legal_actions(state), known)
        return record

    def after(self, record: Record, index: int) -> Record:
        """Where an action leads that was not played from this record before."""
        after = self.record(self.rules.apply_action(record.state, record.actions[index]))
        record.next[index] = after
        return after

    def pays(self, plies: int, new: int) -> bool:
        """Whether the table is worth keeping after one more rollout.

        Args:
            plies: The rollout's plies.
            new: Those that went from their record for the first time.
        """
        self.played += 1
        self.plies += plies
        self.new += new
        if self.played % TRIAL:
            return len(self.records) <= MOST
        paid = self.played == TRIAL or self.plies - self.new >= SHARE * self.plies
        self.plies = self.new = 0
        return paid


class Noted:
    """Whether states repeat, from the keys of a few rollouts."""

    def __init__(self) -> None:
        """Nothing noted yet."""
        self.keys: set[bytes] = set()
        self.states = 0

    def note(self, state: State) -> None:
        """Count one state."""
        self.keys.add(canonical(state))
        self.states += 1

    @property
    def repeat(self) -> bool:
        """Whether enough of the states had been noted before."""
        return self.states - len(self.keys) >= FIRST_SHARE * self.states
