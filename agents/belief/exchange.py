"""Markov moves over what is hidden: one open choice is exchanged, the rest of the play kept.

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
from dataclasses import replace
from itertools import count
from math import exp, log
from typing import TypeAlias

from agents.belief.follow import Follower, Place, Step
from agents.belief.guide import Guide
from agents.belief.particles import Link, Particle
from agents.belief.proposals import Proposals
from agents.belief.splice import Splice
from games.contract import TERMINAL, Action
from games.engine import sample_index

Goal: TypeAlias = Callable[[Place], bool]
MAX_PLIES = 2000
REDRAWN = 16  # choices with more actions are kept, or the move is not made


def exchanged(
    particle: Particle,
    guide: Guide,
    goal: Goal,
    proposals: Proposals,
    *,
    at: tuple[int, Action] | None = None,
    splice: Splice | None = None,
) -> Particle | None:
    """One move of a play that is at its goal.

    Args:
        particle: The play.
        guide: The log that it reproduces, with the source of randomness.
        goal: Whether a play is as far as it is to go.
        proposals: Gives the new action.
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
    action = proposals.draw(links, index) if at is None else at[1]
    if action == links[index].action:
        return None
    if splice is not None and not proposals.is_known_to_fit(links, index, action):
        splice = None
    replay = _Replay(guide, links, index, action)
    start = replay.started(particle)
    new = None if start is None else replay.ended(start, particle, goal, splice)
    if new is None or not new.choices:
        return None
    gain = new.mass - particle.mass + replay.gain + log(size / new.choices)
    if at is None:
        gain += proposals.log_chance(new.links(), index, links[index].action)
        gain -= proposals.log_chance(links, index, action)
    return new if guide.draw() < exp(min(0.0, gain)) else None


class _Replay:
    """The rest of a play after one of its choices was exchanged.

    Attributes:
        gain: Log of `Q(old | new) / Q(new | old)`, of the plies that were drawn anew.
        is_swapped: Whether a later choice is another than before.
    """

    def __init__(self, guide: Guide, links: Sequence[Link], index: int, action: Action) -> None:
        self.guide = guide
        self.follower: Follower = guide.follower
        self.link = links[index]
        self.action = action
        self.old = list(links[index + 1 :])
        self.last = links[-1]
        self.gain = 0.0
        self.is_swapped = False

    def started(self, particle: Particle) -> Particle | None:
        """The play after the exchanged choice."""
        link, place = self.link, self.link.place
        legal = self.follower.rules.legal_actions(place.state)
        after = self.follower.after(place, self.action) if self.action in legal else None
        if after is None:
            return None
        step = Step(self.action, self._weight(place, legal, self.action), after)
        origin = Particle(place, particle.weight, link.mass, link.before, link.fills)
        fills = (self.old[0].fills if self.old else particle.fills) - link.fills
        return origin.moved(step, share=1.0, is_open=True, fills=fills)

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
                left = all(self._is_drawn_back(old) for old in self.old)
                current = current if left else None
                break
            if splice is not None and end is None and not self.old:
                end = splice.end(current, self.last, particle)
                if end is not None and not splice.is_due(self.guide.draw):
                    return end
            current = self._played(current, particle)
        if splice is not None and end is not None:
            splice.tell(end, current)
        return current

    def _played(self, new: Particle, particle: Particle) -> Particle | None:
        """One ply later."""
        guide, place = self.guide, new.place
        player = self.follower.rules.current_player(place.state)
        if player == TERMINAL:
            return None
        legal = self.follower.rules.legal_actions(place.state)
        if not guide.is_open(place, player, legal):
            steps = guide.steps(place, player, legal)
            if len(steps) != 1:
                return None
            return new.moved(steps[0], share=1.0, is_open=False)
        old = self.old.pop(0) if self.old and self.old[0].place.read == place.read else None
        if old is None:
            return self._redrawn(new, player, legal, None)
        kept = self._kept(place, legal, old)
        if kept is None:
            return self._redrawn(new, player, legal, old)
        action, after = kept
        if action != old.action and not self._is_undone(old, action):
            return None
        step = Step(action, self._weight(place, legal, action), after)
        fills = (self.old[0].fills if self.old else particle.fills) - old.fills
        return new.moved(step, share=1.0, is_open=True, fills=fills)

    def _kept(
        self, place: Place, legal: Sequence[Action], old: Link
    ) -> tuple[Action, Place] | None:
        """The old choice or its counterpart, where one of them reproduces the log."""
        counterpart = renamed(old.action, self.action, self.link.action)
        for action in dict.fromkeys((old.action, counterpart)):
            after = self.follower.after(place, action) if action in legal else None
            if after is not None:
                self.is_swapped = self.is_swapped or action != old.action
                return action, after
        return None

    def _is_undone(self, old: Link, action: Action) -> bool:
        """Whether the move back would put the old choice in the place of this one."""
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
        steps = self.guide.steps(new.place, player, legal)
        if not steps:
            return None
        total = sum(step.weight for step in steps)
        step = steps[sample_index([step.weight / total for step in steps], self.guide.draw())]
        self.gain += log(total / step.weight)
        self.is_swapped = True
        if old is not None:
            back = (step.action, renamed(step.action, self.link.action, self.action))
            if any(self._fits(old.place, action) for action in back):
                return None
            if not self._is_drawn_back(old):
                return None
        fills = 0 if old is None or not self.old else self.old[0].fills - old.fills
        return new.moved(step, share=1.0, is_open=True, fills=fills)

    def _is_drawn_back(self, old: Link) -> bool:
        """Whether the move back may draw an old choice that has no counterpart; counts it."""
        if len(self.follower.rules.legal_actions(old.place.state)) > REDRAWN:
            return False
        steps = self.follower.steps(old.place)
        self.gain += log(old.chance / sum(step.weight for step in steps))
        return True

    def _fits(self, place: Place, action: Action) -> bool:
        legal = self.follower.rules.legal_actions(place.state)
        return action in legal and self.follower.after(place, action) is not None

    def _weight(self, place: Place, legal: Sequence[Action], action: Action) -> float:
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


def revived(
    chains: list[Particle],
    guides: tuple[Guide, Follower],
    goal: Goal,
    proposals: Proposals,
    stepped: Callable[[Particle], Particle | None],
) -> Iterator[Particle]:
    """Particles beyond a ply that none of a population outlived, until the calls are spent.

    Moves leave the posterior before the ply as it is; of the plays that outlive it, those are
    found that one exchange leads to, or a random end from one of the choices on. What led beyond
    the ply in one play is tried in others first. What is found is only near the posterior; the
    moves that follow bring it nearer.

    Args:
        chains: The population before the ply, all at `goal`; moved on.
        guides: The guide, and the log as far as the ply.
        goal: Whether a play is where the population died.
        proposals: Gives new actions.
        stepped: A play a random ply later in the log that the guide follows.
    """
    guide, before = guides
    hints: list[tuple[int, Action]] = []
    for turn in count():
        if not any(chain.choices for chain in chains):
            return
        for index, chain in enumerate(chains):
            at = hints[int(guide.draw() * len(hints))] if hints and turn % 2 else None
            with_ply, guide.follower = guide.follower, before
            try:
                if turn % 3 == 2:  # noqa: PLR2004
                    moved = _replayed(chain, guide, goal, stepped)
                else:
                    moved = exchanged(chain, guide, goal, proposals, at=at)
            finally:
                guide.follower = with_ply
            if moved is None:
                continue
            chains[index] = moved
            after = stepped(replace(moved, weight=1.0))
            if after is not None:
                if at is None:
                    hints.append(_difference(chain, moved))
                yield after


def _replayed(
    particle: Particle, guide: Guide, goal: Goal, stepped: Callable[[Particle], Particle | None]
) -> Particle | None:
    """A play with a random end from one of its choices on; None where it does not get there."""
    if not particle.choices:
        return None
    link = particle.links()[int(guide.draw() * particle.choices)]
    new: Particle | None = Particle(link.place, 1.0, link.mass, link.before, link.fills)
    for _ in range(MAX_PLIES):
        if new is None or goal(new.place):
            return new
        new = stepped(new)
    return None


def _difference(old: Particle, new: Particle) -> tuple[int, Action]:
    """The first choice in which two plays differ, by its depth, and what the new one chose."""
    pairs = zip(old.links(), new.links(), strict=False)
    found = ((b.depth, b.action) for a, b in pairs if a.action != b.action)
    return next(found, (new.choices - 1, ""))
