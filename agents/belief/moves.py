"""Metropolis-Hastings moves of plays: one open choice is exchanged, the rest of the play kept.

A play is a chain of plies of chance and of other seats; those that the log leaves open are its
choices. A move exchanges one of its n choices for another, and plays on with the old choices:

- an old choice is kept where it is legal and reproduces the log;
- else it is kept with the two exchanged names changing places in it, so that a card that is dealt
  to one hand now is dealt to the other in its stead;
- else a new one is drawn among the plies that reproduce the log, by their probabilities; where
  there are many to try, the move is not made.

With P the probability of a play's plies, and Q that of the move being proposed, the new play is
accepted with probability `min(1, P' Q(old | new) / (P Q(new | old)))` (Metropolis-Hastings; of
single-site form as Wingate, Stuhlmueller & Goodman 2011), so that the posterior stays as it is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, isclose, log
from typing import Protocol, TypeAlias

from agents.belief.follow import CHECKED, SURE, Branch, Follower, Guide, LogPlace
from agents.belief.population import Link, Particle
from games.engine import sample_index
from games.values import TERMINAL, Action, Json


class ActionEvidence(Protocol):
    """Tells the actions of a choice that are worth a try."""

    def is_about(self, link: Link) -> bool:
        """True if anything is known of a choice."""

    def plausible(
        self, links: Sequence[Link], index: int, actions: Sequence[Action]
    ) -> Sequence[Action]:
        """Those of some actions of a play's choice that are worth a try; all if none is known."""


@dataclass
class ActionProposal:
    """Draws new actions for choices: plausible ones, but any legal one `CHECKED` of the time.

    Attributes:
        guide: The log.
        evidence: What is known of the actions; None for nothing.
    """

    guide: Guide
    evidence: ActionEvidence | None = None

    def draw(self, links: Sequence[Link], index: int) -> Action:
        """A new action for a choice of a play; it may be the old one."""
        uniform = self.guide.draw
        legal: Sequence[Action] = self._legal(links[index])
        if uniform() >= CHECKED:
            legal = self._plausible(links, index, legal)
        return legal[int(uniform() * len(legal))]

    def log_chance(self, links: Sequence[Link], index: int, action: Action) -> float:
        """Log of the probability of drawing an action."""
        legal = self._legal(links[index])
        plausible = self._plausible(links, index, legal)
        among = (1.0 - CHECKED) / len(plausible) if action in plausible else 0.0
        return log(among + CHECKED / len(legal))

    def is_known_to_fit(self, links: Sequence[Link], index: int, action: Action) -> bool:
        """True if all known facts say that the play reproduces the log with another choice."""
        if self.evidence is None or not self.evidence.is_about(links[index]):
            return False
        return action in self.evidence.plausible(links, index, [action])

    def _legal(self, link: Link) -> list[Action]:
        return self.guide.follower.rules.legal_actions(link.place.state)

    def _plausible(
        self, links: Sequence[Link], index: int, legal: Sequence[Action]
    ) -> Sequence[Action]:
        """The plausible actions; all that are legal where none is."""
        if self.evidence is None:
            return legal
        return self.evidence.plausible(links, index, legal) or legal


StatePath: TypeAlias = tuple[str | int, ...]
Change: TypeAlias = tuple[StatePath, Json, Json]
"""Where in a state, what was there, and what is there instead."""


@dataclass
class Splice:
    """Ends of plays whose hidden beginning was changed, without playing them again.

    Where a fleet is placed once and then shot at, a play in which one ship lies elsewhere ends in
    the old play's state with that ship exchanged. So what the change has done to the state by the
    last open choice is done to the old play's last state, wherever that still holds what it held
    then. Whether that is the truth depends on the game: the first `SURE` of a round, and a share
    `CHECKED` of the others, are played all the same, and once one of them ends otherwise none is
    believed any more.

    Attributes:
        is_off: Whether an end was wrong, so that no more are given.
        checked: Ends held against plays in this round.
    """

    is_off: bool = False
    checked: int = 0

    def end(self, new: Particle, last: Link, old: Particle) -> Particle | None:
        """The new play's end; None where it has to be played.

        Args:
            new: The new play after its last open choice.
            last: The old play's last open choice.
            old: The old play at its end.
        """
        if self.is_off:
            return None
        changes = list(differences(last.after.state, new.place.state))
        state = changed(old.place.state, changes)
        if not isinstance(state, dict):
            return None
        place = old.place._replace(state=state)
        log_prior = new.log_prior + old.log_prior - last.log_prior - log(last.chance)
        return Particle(place, new.weight, log_prior, new.last, new.fills)

    def is_due(self, draw: Callable[[], float]) -> bool:
        """True if the next end is to be compared with a play."""
        return self.checked < SURE or draw() < CHECKED

    def verify(self, end: Particle, played: Particle | None) -> None:
        """Hold an end against the play that it stands for; None for one that does not end."""
        self.checked += 1
        if (
            played is None
            or played.place != end.place
            or not isclose(played.log_prior, end.log_prior, abs_tol=1e-9)
        ):
            self.is_off = True


def differences(first: Json, second: Json, path: StatePath = ()) -> Iterator[Change]:
    """The smallest parts in which two values of the same shape differ.

    >>> list(differences({"a": [1, 2], "b": 3}, {"a": [1, 4], "b": 3}))
    [(('a', 1), 2, 4)]
    """
    if first is second or first == second:
        return
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        for key, value in first.items():
            yield from differences(value, second[key], (*path, key))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from differences(one, other, (*path, index))
    else:
        yield path, first, second


def changed(value: Json, changes: Sequence[Change]) -> Json | None:
    """A value with some of its parts changed; None where it holds something else there.

    >>> changed({"a": [1, 2]}, [(("a", 1), 2, 4)])
    {'a': [1, 4]}
    """
    for path, before, after in changes:
        found = _with(value, path, before, after)
        if found is None:
            return None
        value = found
    return value


def _with(value: Json, path: StatePath, before: Json, after: Json) -> Json | None:
    if not path:
        return after if value == before else None
    key = path[0]
    if isinstance(value, dict) and isinstance(key, str) and key in value:
        inner = _with(value[key], path[1:], before, after)
        return None if inner is None else {**value, key: inner}
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        inner = _with(value[key], path[1:], before, after)
        return None if inner is None else [*value[:key], inner, *value[key + 1 :]]
    return None


Goal: TypeAlias = Callable[[LogPlace], bool]
MAX_PLIES = 2000
REDRAWN = 16  # choices with more actions are kept, or the move is not made


def metropolis_hastings_step(
    particle: Particle,
    guide: Guide,
    goal: Goal,
    proposal: ActionProposal,
    *,
    at: tuple[int, Action] | None = None,
    splice: Splice | None = None,
) -> Particle | None:
    """One move of a play that is at its goal.

    Args:
        particle: The play.
        guide: The log that it reproduces, with the source of randomness.
        goal: Whether a play is as far as it is to go.
        proposal: Gives the new action.
        at: The choice, by its depth, and the new action, where that is not to be drawn.
        splice: Gives the end of the play without playing it, where it can.

    Returns:
        The new play, with the old one's importance; None where it was not accepted.
    """
    size = particle.choices
    if not size:
        return None
    links = particle.links()
    index = int(guide.draw() * size) if at is None else min(at[0], size - 1)
    action = proposal.draw(links, index) if at is None else at[1]
    if action == links[index].action:
        return None
    if splice is not None and not proposal.is_known_to_fit(links, index, action):
        splice = None
    replay = _Replay(guide, links, index, action)
    start = replay.started(particle)
    new = None if start is None else replay.ended(start, particle, goal, splice)
    if new is None or not new.choices:
        return None
    gain = new.log_prior - particle.log_prior + replay.gain + log(size / new.choices)
    if at is None:
        gain += proposal.log_chance(new.links(), index, links[index].action)
        gain -= proposal.log_chance(links, index, action)
    return new if guide.draw() < exp(min(0.0, gain)) else None


class _Replay:
    """The rest of a play after one of its choices was exchanged.

    Attributes:
        gain: Log of `Q(old | new) / Q(new | old)`, of the plies that were drawn anew.
    """

    def __init__(self, guide: Guide, links: Sequence[Link], index: int, action: Action) -> None:
        self.guide = guide
        self.follower: Follower = guide.follower
        self.link = links[index]
        self.action = action
        self.old = list(links[index + 1 :])
        self.last = links[-1]
        self.gain = 0.0

    def started(self, particle: Particle) -> Particle | None:
        """The play after the exchanged choice."""
        link, place = self.link, self.link.place
        legal = self.follower.rules.legal_actions(place.state)
        after = self.follower.after(place, self.action) if self.action in legal else None
        if after is None:
            return None
        branch = Branch(self.action, self._weight(place, legal, self.action), after)
        origin = Particle(place, particle.weight, link.log_prior, link.before, link.fills)
        fills = (self.old[0].fills if self.old else particle.fills) - link.fills
        return origin.moved(branch, share=1.0, is_open=True, fills=fills)

    def ended(
        self, new: Particle, particle: Particle, goal: Goal, splice: Splice | None
    ) -> Particle | None:
        """The play at its goal; None where it cannot get there."""
        end: Particle | None = None
        current: Particle | None = new
        for _ in range(MAX_PLIES):
            if current is None:
                break
            if goal(current.place):
                left = all(self._is_redrawn_back(old) for old in self.old)
                current = current if left else None
                break
            if splice is not None and end is None and not self.old:
                end = splice.end(current, self.last, particle)
                if end is not None and not splice.is_due(self.guide.draw):
                    return end
            current = self._played(current, particle)
        if splice is not None and end is not None:
            splice.verify(end, current)
        return current

    def _played(self, new: Particle, particle: Particle) -> Particle | None:
        """One ply later."""
        guide, place = self.guide, new.place
        player = self.follower.rules.current_player(place.state)
        if player == TERMINAL:
            return None
        legal = self.follower.rules.legal_actions(place.state)
        if not guide.is_open(place, player, legal):
            found = guide.branches(place, player, legal)
            if len(found) != 1:
                return None
            return new.moved(found[0], share=1.0, is_open=False)
        old = self.old.pop(0) if self.old and self.old[0].place.read == place.read else None
        if old is None:
            return self._redrawn(new, player, legal, None)
        kept = self._kept(place, legal, old)
        if kept is None:
            return self._redrawn(new, player, legal, old)
        action, after = kept
        if action != old.action and not self._is_reversible(old, action):
            return None
        branch = Branch(action, self._weight(place, legal, action), after)
        fills = (self.old[0].fills if self.old else particle.fills) - old.fills
        return new.moved(branch, share=1.0, is_open=True, fills=fills)

    def _kept(
        self, place: LogPlace, legal: Sequence[Action], old: Link
    ) -> tuple[Action, LogPlace] | None:
        """The old choice or its counterpart, where one of them reproduces the log."""
        counterpart = renamed(old.action, self.action, self.link.action)
        for action in dict.fromkeys((old.action, counterpart)):
            after = self.follower.after(place, action) if action in legal else None
            if after is not None:
                return action, after
        return None

    def _is_reversible(self, old: Link, action: Action) -> bool:
        """True if the move back would restore the old choice."""
        return (
            not self._fits(old.place, action)
            and renamed(action, self.link.action, self.action) == old.action
        )

    def _redrawn(
        self, new: Particle, player: int, legal: Sequence[Action], old: Link | None
    ) -> Particle | None:
        """The play after a choice drawn anew; None where there are too many to try."""
        if len(legal) > REDRAWN:
            return None
        found = self.guide.branches(new.place, player, legal)
        if not found:
            return None
        total = sum(branch.weight for branch in found)
        branch = found[sample_index([branch.weight / total for branch in found], self.guide.draw())]
        self.gain += log(total / branch.weight)
        if old is not None:
            back = (branch.action, renamed(branch.action, self.link.action, self.action))
            if any(self._fits(old.place, action) for action in back):
                return None
            if not self._is_redrawn_back(old):
                return None
        fills = 0 if old is None or not self.old else self.old[0].fills - old.fills
        return new.moved(branch, share=1.0, is_open=True, fills=fills)

    def _is_redrawn_back(self, old: Link) -> bool:
        """True if the move back may draw an old choice that has no counterpart; counts it."""
        if len(self.follower.rules.legal_actions(old.place.state)) > REDRAWN:
            return False
        found = self.follower.branches(old.place)
        self.gain += log(old.chance / sum(branch.weight for branch in found))
        return True

    def _fits(self, place: LogPlace, action: Action) -> bool:
        legal = self.follower.rules.legal_actions(place.state)
        return action in legal and self.follower.after(place, action) is not None

    def _weight(self, place: LogPlace, legal: Sequence[Action], action: Action) -> float:
        player = self.follower.rules.current_player(place.state)
        return self.follower.weights(place.state, player, legal)[list(legal).index(action)]


def renamed(action: Action, old: Action, new: Action) -> Action:
    """An action with the words of one that differ from those of another put in their place.

    >>> renamed("put 6 on b1", "put 6 on a1", "put 4 on a1")
    'put 4 on b1'
    """
    words, others = old.split(), new.split()
    if len(words) != len(others):
        return action
    names = {word: other for word, other in zip(words, others, strict=True) if word != other}
    return " ".join(names.get(word, word) for word in action.split())
