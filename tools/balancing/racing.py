"""Search for settings that reach targets: suggested by TPE, raced by intervals, confirmed afresh.

Each setting is tried alone at some values. Then come, in turns, the suggestions of the
tree-structured Parzen estimator (Bergstra et al. 2011, as Optuna has it) and steps from the best.
A candidate plays a short series. It plays a longer one while its intervals leave open that it comes
nearer to the targets than the best one known (a race: Maron and Moore 1993), and than two thirds of
those that played as long (successive halving: Jamieson and Talwalkar 2016). Long series are for
those that may reach the targets, the last for one that does, and better than all before it. All
play the same deals. The best one is then confirmed on deals that chose nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from numpy.random import Generator

from games.streams import stream
from games.values import Json, canonical_key
from tools.balancing.playing import BalanceTable
from tools.balancing.space import SettingsSpace, is_wide, other_values
from tools.balancing.tallies import Tally
from tools.balancing.targets import Target, require_possible
from tools.playtest.intervals import CONFIDENCE, Estimate
from tools.playtest.ratings import ONE_IN

RUNGS = (32, 96, 384, 1536)
"""Matches of a candidate's series, one after the other."""
_WIDTH = 0.01  # of a confirmed share, to either side, or half the tolerance where that is less
_PART = 1024  # matches of a confirmation that are kept at a time
_INSIDE, _KEPT = -0.5, -0.25  # losses of what ends the search, and of what may be made simpler
_RACE = 0.95  # confidence of the intervals that a race goes by
_REPEATS = 60  # suggestions in a row that were tried before: nothing is left
_RESERVED = 8  # a part of the budget, for what comes after the suggestions
_ALIVE = 3  # of so many that played as long, one plays on
_SHORTER = 0.75  # of a confirmation, where changes are taken back for it
_CROSSED = 0.5  # of the steps, while no target is reached
_ALONE = 2  # a part of the search for settings that are tried alone
_CONFIRMED = 5  # candidates that are confirmed at most
_STEADY = 2  # series whose figures others are held against
_TELLING = 3  # series that tell what a setting moves
_NONE = 1e9


def loss_of(targets: Sequence[Target], values: Sequence[float]) -> float:
    """The distances beyond the ranges together; where there are none, the largest, below 0."""
    apart = [target.outside(value) for target, value in zip(targets, values, strict=True)]
    return math.fsum(one for one in apart if one > 0) or max(apart)


@dataclass
class TriedSettings:
    """A candidate.

    Attributes:
        settings: All of them.
        tally: Of the search's deals.
        why: Why it is none: refused by the game, or without an end; empty else.
        rungs: Series it played.
    """

    settings: Mapping[str, Json]
    tally: Tally
    why: str = ""
    rungs: int = 0
    _known: tuple[int, float] = field(default=(0, _NONE), init=False, repr=False)

    def estimates(self, targets: Sequence[Target], confidence: float = _RACE) -> list[Estimate]:
        """The figures of the targets."""
        return [self.tally.estimate(target, confidence) for target in targets]

    def loss(self, targets: Sequence[Target]) -> float:
        """As the figures are; of no candidate the largest."""
        if self.why or not self.rungs:
            return _NONE
        if self._known[0] != self.rungs:  # it is asked for again and again
            values = [one.value for one in self.estimates(targets)]
            self._known = self.rungs, loss_of(targets, values)
        return self._known[1]

    def hope(self, targets: Sequence[Target]) -> float:
        """The least loss that the intervals leave open."""
        found = zip(targets, self.estimates(targets), strict=True)
        return loss_of(targets, [target.nearest(one) for target, one in found])


@dataclass(frozen=True)
class Confirmed:
    """A candidate on deals that chose nothing.

    Attributes:
        tried: The candidate.
        tally: Of the fresh deals.
        confidence: Of its intervals.
    """

    tried: TriedSettings
    tally: Tally
    confidence: float

    def estimate(self, target: Target) -> Estimate:
        """The figure of a target."""
        return self.tally.estimate(target, self.confidence)

    def reaches(self, targets: Sequence[Target]) -> bool:
        """True where the intervals of all figures lie in their ranges, and few matches are void."""
        if self.tally.void * ONE_IN > self.tally.void + self.tally.matches:
            return False
        return all(target.met(self.estimate(target)) == "met" for target in targets)

    def loss(self, targets: Sequence[Target]) -> float:
        """As its figures are."""
        return loss_of(targets, [self.estimate(target).value for target in targets])


@dataclass
class BalanceSearch:
    """One search.

    Attributes:
        table: Plays.
        space: The settings.
        targets: What is to be reached.
        budget: Matches that may be played, confirmations among them.
        tell: Takes lines of progress.
        tried: Candidates in order, by their settings.
        confirmed: Those that were confirmed, in order.
        levels: Losses after so many series.
        start: The candidate of the settings at the start.
        simple: The best candidate without changes that it does not need.
        share: Of a confirmation, that the search leaves.
    """

    table: BalanceTable
    space: SettingsSpace
    targets: Sequence[Target]
    budget: int
    tell: Callable[[str], None] = lambda _: None
    tried: dict[str, TriedSettings] = field(default_factory=dict)
    confirmed: list[Confirmed] = field(default_factory=list)
    levels: dict[int, list[float]] = field(default_factory=dict, init=False)
    start: TriedSettings = field(init=False)
    simple: TriedSettings | None = field(default=None, init=False)
    share: float = field(default=1.0, init=False)

    @property
    def confirming(self) -> int:
        """Matches of a confirmation.

        They make the interval of a share 0.01 wide to either side, or half as wide as the narrowest
        tolerance; half the budget at most.
        """
        widths = [one.tolerance / 2 for one in self.targets if one.is_share]
        width = max(1e-4, min([_WIDTH, *widths]))
        return min(self.budget // 2, math.ceil((1.96 * 0.5 / width) ** 2))

    @property
    def left(self) -> int:
        """Matches that the search may still play; more while nothing is near the targets."""
        best, kept = self.best, self.confirming
        is_near = best is None or best.hope(self.targets) <= 0
        kept = int(kept * (self.share if is_near else 0.5))
        return self.budget - self.table.matches - kept

    @property
    def best(self) -> TriedSettings | None:
        """The candidate with the least loss, of those that played more than the shortest series.

        One that reaches the targets after all series goes before others: these may be lucky.
        """
        alive = [one for one in self.tried.values() if not one.why and one.rungs]
        able = [one for one in alive if one.rungs >= _STEADY] or alive
        sure = [one for one in able if one.rungs == len(RUNGS) and one.loss(self.targets) <= 0]
        return min(sure or able, key=lambda one: one.loss(self.targets), default=None)

    def run(self) -> None:
        """Search, make the best one simpler, and confirm.

        Raises:
            TargetError: If the shares of wins that are asked for do not add up.
        """
        self.start = self._raced(self.space.start, _STEADY)
        if not self.start.why:
            require_possible(self.targets, self.start.tally.sides)
        if self._start_does():
            self.simple = self.start
            self._confirm()
            return
        alone = (self.budget - self.confirming) // _ALONE
        for settings in self.space.alone():
            if self._is_reached or self.table.matches > alone:
                break
            self._raced(settings, _STEADY)
        self._suggested()
        self._played_out()
        self._simplified()
        self._confirm()
        self._told_apart()

    @property
    def _is_reached(self) -> bool:
        best = self.best
        return bool(best and best.rungs == len(RUNGS) and best.loss(self.targets) <= _INSIDE)

    def _start_does(self) -> bool:
        """True where the start reaches the targets after all series: then nothing is changed."""
        start = self.start
        while start.loss(self.targets) <= _KEPT and start.rungs < len(RUNGS):
            if RUNGS[start.rungs] > self.left:
                break
            self._series(start)
        return start.loss(self.targets) <= _KEPT

    def _played_out(self) -> None:
        """Have the best ones play on: to the end while they reach the targets, else for longer."""
        for _ in range(_CONFIRMED):
            best = self.best
            if best is None or best.rungs == len(RUNGS) or RUNGS[best.rungs] > self.left:
                return
            if best.rungs >= _TELLING and best.loss(self.targets) > 0:
                return
            self._series(best)

    def _raced(self, settings: Mapping[str, Json], most: int = len(RUNGS)) -> TriedSettings:
        """A candidate, which plays on for as long as it may come nearer than the best one."""
        key = canonical_key({**settings})
        if key in self.tried:
            return self.tried[key]
        best, found = self.best, TriedSettings(dict(settings), Tally(self.table.game.num_players))
        found.why = self.table.refusal(settings)
        self.tried[key] = found
        while not found.why and found.rungs < most and RUNGS[found.rungs] <= self.left:
            self._series(found)
            if found.why or (best and found.hope(self.targets) >= best.loss(self.targets)):
                break
            level = sorted(self.levels.setdefault(found.rungs, []))
            self.levels[found.rungs].append(loss := found.loss(self.targets))
            least, hope = level[len(level) // _ALIVE] if level else _NONE, found.hope(self.targets)
            is_steady, is_last = found.rungs >= _STEADY, found.rungs == len(RUNGS) - 1
            as_start = level and loss == self.levels[found.rungs][0]  # paired: it changes nothing
            if hope >= least or (is_steady and hope > 0) or as_start:
                break
            if is_last and loss >= min([0.0, *level[:1]]):
                break
        self._say(found)
        return found

    def _series(self, one: TriedSettings) -> None:
        """Play the next series of a candidate."""
        played = self.table.tally(one.settings, "search", one.rungs, RUNGS[one.rungs], replay=False)
        one.tally, one.rungs = one.tally.plus(played), one.rungs + 1
        void, all_ = one.tally.void, one.tally.void + one.tally.matches
        if void * ONE_IN > all_:
            one.why = f"{void} of {all_} matches without a result: {one.tally.why}"

    def _say(self, found: TriedSettings) -> None:
        changed = ", ".join(f"{name}={value}" for name, value in self.space.changed(
            found.settings).items()) or "as it stands"  # fmt: skip
        figures = found.why or "; ".join(
            f"{target.key} {target.told(one.value)}"
            for target, one in zip(self.targets, found.estimates(self.targets), strict=True)
        ) if found.rungs or found.why else "no match left"  # fmt: skip
        self.tell(f"{self.table.matches} of {self.budget}: {changed}: {figures}")

    def _suggested(self) -> None:
        """Race what the estimator suggests, until the targets are reached or nothing is left."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        kinds: dict[str, Any] = {}
        for name, known in self.space.free.items():
            if known.choices is None and known.range is not None:
                kinds[name] = optuna.distributions.IntDistribution(*known.range, log=is_wide(known))
            else:
                choices: Any = known.choices  # no lists or tables, see `settings_space`
                kinds[name] = optuna.distributions.CategoricalDistribution(choices)
        seed = self.table.seed % 2**32
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        for one in self.tried.values():
            study.add_trial(
                optuna.trial.create_trial(
                    params={name: one.settings[name] for name in kinds},
                    distributions=kinds,
                    value=one.loss(self.targets),
                )
            )
        repeats, turn = 0, stream(self.table.seed, "balance steps")
        kept = self.budget // _RESERVED
        while repeats < _REPEATS and not self._is_reached and self.left >= RUNGS[0] + kept:
            if len(study.trials) % 2 and self.best:
                study.enqueue_trial(self._step(self.best, turn))
            trial = study.ask(kinds)
            settings = {**self.space.start, **trial.params}
            repeats = repeats + 1 if canonical_key(settings) in self.tried else 0
            study.tell(trial, self._raced(settings).loss(self.targets))

    def _step(self, best: TriedSettings, turn: Generator) -> dict[str, Any]:
        """The best settings with one changed to any value; or what is likely to be better yet."""
        names = [*self.space.free]
        if best.loss(self.targets) > 0 and turn.random() < _CROSSED:
            likely = self._likely(best)
            if likely:
                return {one: likely[one] for one in names}
        name = names[int(turn.integers(len(names)))]
        values = other_values(self.space.free[name], best.settings[name])
        value = values[int(turn.integers(len(values)))]
        return {**{one: best.settings[one] for one in names}, name: value}

    def _likely(self, best: TriedSettings) -> dict[str, Json]:
        """Settings not tried yet that would be best if the effects of each added up.

        A candidate takes over one change that was tried alone, with what it did to each figure.
        """
        if self.start.why or not self.start.rungs:
            return {}
        values = [one.value for one in self.start.estimates(self.targets)]
        alone = [
            (name, one.settings[name], [f.value for f in one.estimates(self.targets)])
            for one in self.tried.values()
            if len(changed := self.space.changed(one.settings)) == 1 and one.rungs and not one.why
            for name in changed
        ]
        bases = [(best.settings, [one.value for one in best.estimates(self.targets)])]
        bases += [({**self.space.start, name: value}, found) for name, value, found in alone]
        least, likely = _NONE, dict[str, Json]()
        for settings, found in bases:
            for name, value, moved in alone:
                sums = [f + m - v for f, m, v in zip(found, moved, values, strict=True)]
                made = {**settings, name: value}
                told = loss_of(self.targets, sums)
                is_free = settings[name] == self.space.start[name]
                if is_free and told < least and canonical_key(made) not in self.tried:
                    least, likely = told, made
        return likely

    def _simplified(self) -> None:
        """Take back each change of the best candidate that the targets do not need."""
        best = self.best
        if best is None or best.loss(self.targets) > 0:
            return
        self.share = _SHORTER
        for name in self.space.changed(best.settings):
            bound = max(best.loss(self.targets), _KEPT)
            plain = self._raced({**best.settings, name: self.space.start[name]}, _STEADY)
            while not plain.why and plain.rungs < best.rungs and plain.loss(self.targets) <= bound:
                if not plain.rungs or RUNGS[plain.rungs] > self.left:
                    break
                self._series(plain)
            if plain.rungs == best.rungs and plain.loss(self.targets) <= bound:
                best = plain
        self.simple = best

    def _told_apart(self) -> None:
        """Where the targets are not reached, try settings alone for longer, the nearest first."""
        if any(one.reaches(self.targets) for one in self.confirmed) or self.start.why:
            return
        alone = [
            one
            for one in self.tried.values()
            if len(self.space.changed(one.settings)) == 1 and one.rungs and not one.why
        ]
        alone.sort(key=lambda one: one.loss(self.targets))
        for one in (self.start, *alone):
            while one.rungs < _TELLING and RUNGS[one.rungs] <= self.budget - self.table.matches:
                self._series(one)
                if one.why:
                    break

    def _confirm(self) -> None:
        """Play the best candidates on fresh deals, until one reaches the targets."""
        first = self.simple or self.best
        others = sorted(
            (one for one in self.tried.values() if not one.why and one.rungs > _STEADY),
            key=lambda one: (-one.rungs, one.loss(self.targets)),
        )
        more = [one for one in others if one is not first]
        more = [*takewhile(lambda one: one.loss(self.targets) <= 0, more)]
        left = self.budget - self.table.matches - self.confirming // 2
        most = min(_CONFIRMED, 1 + max(0, left) // min(_PART, self.confirming))
        order = [first, *more][:most] if first else []
        for number, one in enumerate(order):
            needs = min(self.confirming, self.budget - self.table.matches)
            if number and needs < self.confirming // 2:
                return
            error = (1 - CONFIDENCE) / len(order)  # the deals did not choose how many there are
            self.confirmed.append(self._on_fresh_deals(one, f"confirm {number}", needs, error))
            if self.confirmed[-1].reaches(self.targets):
                return

    def _on_fresh_deals(
        self, one: TriedSettings, purpose: str, needs: int, error: float
    ) -> Confirmed:
        """Play so many matches of a candidate, fewer where they show sooner that it misses.

        A look that ends it can only miss a target; what is met rests on the last look alone. An
        interval leaves out the figure with probability `error`. So do the intervals of all looks
        before the last together (Bonferroni).
        """
        begins = range(0, needs, _PART)
        wide = 1 - error / len(begins)
        found = Confirmed(one, Tally(self.table.game.num_players), 1 - error)
        for part, begun in enumerate(begins):
            matches = min(_PART, needs - begun)
            played = self.table.tally(one.settings, purpose, part, matches, replay=not part)
            found = replace(found, tally=found.tally.plus(played))
            self.tell(f"confirming: {begun + matches} of {needs} matches")
            early = replace(found, confidence=wide)
            answers = [target.met(early.estimate(target)) for target in self.targets]
            if part < len(begins) - 1 and one.loss(self.targets) <= 0 and "missed" in answers:
                return early  # the next one may still reach them
        return found
