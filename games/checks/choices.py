"""Check: is there a game to decide, past its first turn and for more than one seat?

A game passes unless one of these was seen; the evidence gives the figures:

1. Nobody ever has a choice, or every match is over after one choice.
2. In every deal one action, or kind of action, ends the match before anybody else decides, and
   takes three quarters of an even share of the win or more. Folding, which loses, is no such end.
3. No choice changes what a deal pays: random matches of one deal always pay the same.
4. The same seats win every match: of random players, and where the others look ahead.

What a few matches make suspect is looked for in `_ENOUGH` before it is said.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np
from numpy.random import Generator

from games.checks import Finding
from games.checks.contract import judged
from games.checks.sampling import Subject, random_matches
from games.engine import Match, sample_index
from games.streams import stream
from games.table import Position
from games.values import CHANCE, TERMINAL, Action, ModuleFault

CHECK = "decisions"
_ENOUGH = 40  # matches; what none of them shows is rarer than 0.09 (Wilson, 95 %)
_REPLAYS = 3  # further matches of a deal
_AHEAD = 12  # matches in which those who always lose look ahead
_TRIES = 6  # random continuations of every action that they look at
_WIDEST = 12  # actions of one position that are looked at
_OPENING = 60  # actions of a first turn that are looked at
_LOSING = 0.75  # of an even share: less is no way to end a match
_PLIES = 40_000  # that looking closer may cost: of random matches, and again of looking ahead
_LONGEST = 3000


def check_choices(subject: Subject, matches: Sequence[Match], *, seed: int) -> list[Finding]:
    """Find games in which players decide nothing, by random matches.

    Args:
        subject: The module.
        matches: Random matches of it; match m is deal m of `seed`.
        seed: Theirs.
    """
    return judged(CHECK, lambda: _choices(_Inquiry(subject, seed), dict(enumerate(matches))))


def _choices(ask: "_Inquiry", matches: Mapping[int, Match]) -> Iterator[Finding]:
    seen = {deal: match for deal, match in matches.items() if match.returns is not None}
    for judge in (_too_few, ask.first_turn, ask.indifference, ask.winners):
        if seen and judge(seen):
            seen = ask.more(seen)
            if seen and (evidence := judge(seen)):
                yield Finding(check=CHECK, outcome="failed", evidence=evidence)
                return
        if not seen:
            told = "no random match finished"
            yield Finding(check=CHECK, outcome="could_not_judge", evidence=told)
            return


def _too_few(seen: Mapping[int, Match]) -> str:
    counts = [len(_deciders(match)) for match in seen.values()]
    if not any(counts):
        plies = sum(ply.player >= 0 for match in seen.values() for ply in match.plies)
        return (
            f"nobody ever decides: at each of {plies} turns of {len(seen)} random matches one "
            "action was legal; required: turns with two or more"
        )
    if max(counts) == 1:
        return (
            f"the game is over at once: each of {len(seen)} random matches ended after one choice "
            "at the most; required: matches in which several choices are made"
        )
    return ""


def _deciders(match: Match) -> list[int]:
    """The seats that had a choice, turn by turn."""
    return [ply.player for ply in match.plies if ply.player >= 0 and len(ply.legal) > 1]


def _without_fault(match: Match) -> Match:
    """The same match; one that broke off, as for want of time, tells nothing of choices.

    Raises:
        ModuleFault: If it broke off.
    """
    if match.ending == "fault":
        raise ModuleFault("raised", "module", match.reason, line=match.fault_line)
    return match


def _winners(returns: Sequence[float]) -> frozenset[int]:
    return frozenset(seat for seat, paid in enumerate(returns) if paid == max(returns))


class _Inquiry:
    """A subject, and what looking closer at it shows; evidence is empty where nothing is wrong."""

    def __init__(self, subject: Subject, seed: int) -> None:
        self.subject = subject
        self.seed = seed
        self.spent = 0
        self.closer = False

    def more(self, seen: Mapping[int, Match]) -> dict[int, Match]:
        """The first `_ENOUGH` deals, or as many as their plies allow, where they finished."""
        if self.closer:
            return dict(seen)
        self.closer = True
        length = fmean(len(match.plies) for match in seen.values())
        count = max(len(seen), min(_ENOUGH, int(_PLIES / max(1.0, length))))
        matches = random_matches(self.subject, matches=count, seed=self.seed, max_plies=_LONGEST)
        whole = {deal: _without_fault(match) for deal, match in enumerate(matches)}
        return {deal: match for deal, match in whole.items() if match.returns is not None}

    def first_turn(self, seen: Mapping[int, Match]) -> str:
        """The kind of action that ends every deal in its first turn, and does not lose by it."""
        if len({seat for match in seen.values() for seat in _deciders(match)}) < 2:  # noqa: PLR2004 - a game needs two deciders
            return ""
        common: dict[str, list[float]] = {}
        for deal, match in seen.items():
            ends = self._ends(deal, match)
            new = match is next(iter(seen.values()))
            common = {k: [*common.get(k, []), ends[k]] for k in ends if new or k in common}
            if not common:
                return ""
        kind, shares = max(common.items(), key=lambda item: fmean(item[1]))
        even = 1 / self.subject.num_players
        if fmean(shares) < _LOSING * even:
            return ""
        return (
            f"the game can end in its first turn: {kind!r} was legal and ended {len(shares)} of "
            f"{len(shares)} deals before anybody else had a choice, and took {fmean(shares):.2f} "
            f"of the wins (an even share is {even:.2f}); required: a first turn that decides "
            "less"
        )

    def indifference(self, seen: Mapping[int, Match]) -> str:
        """Deals that pay differently, each the same whatever is chosen."""
        if len({match.returns for match in seen.values()}) == 1:
            return ""
        for number in range(_REPLAYS):
            for deal, match in seen.items():
                again = self.subject.random_match(
                    _ENOUGH * (1 + number) + deal, deal, seed=self.seed, max_plies=_LONGEST
                )
                if _without_fault(again).returns != match.returns:
                    return ""
        return (
            f"no choice counts: each of {len(seen)} deals was played {1 + _REPLAYS} times with "
            "other random choices and always paid the same; required: choices that change who wins"
        )

    def winners(self, seen: Mapping[int, Match]) -> str:
        """The seats that win every match, also where the others look ahead."""
        won = {_winners(match.returns or ()) for match in seen.values()}
        best = next(iter(won))
        if len(won) > 1 or len(best) == self.subject.num_players:
            return ""
        if not self.closer:
            return "suspected"
        ahead = self.spent = 0
        while ahead < _AHEAD and self.spent < _PLIES:
            if self._match_against(best, ahead) != best:
                return ""
            ahead += 1
        who = " and ".join(f"player {seat + 1}" for seat in sorted(best))
        return (
            f"{who} won all {len(seen)} random matches, and all {ahead} in which the others knew "
            f"everything and tried each action in {_TRIES} random continuations; required: a game "
            "that others can win"
        )

    def _ends(self, deal: int, match: Match) -> dict[str, float]:
        """Kinds of action that end the match in its first turn, with the win share they take."""
        generator = stream(self.seed, CHECK, match=deal)
        position = self.subject.open()
        paid = np.zeros(self.subject.num_players)
        for ply in match.plies:
            if ply.player >= 0 and len(ply.legal) > 1:
                break
            position = self.subject.table.advance(position, ply.action)
            paid = paid + position.rewards
        seat, turns, looked = position.player, [(position, paid)], 0
        found: dict[str, float] = {}
        while turns and looked < _OPENING:
            position, paid = turns.pop(0)
            kinds: dict[str, list[float | None]] = {}
            for action in position.legal[: _OPENING - looked]:
                looked += 1
                after, total = self._settled(position, paid, action, generator)
                if after.player == seat:
                    turns.append((after, total))
                share = _share(total, seat) if after.player == TERMINAL else None
                for kind in {action, _kind(action)}:
                    kinds.setdefault(kind, []).append(share)
            for kind, shares in kinds.items():
                ended = [share for share in shares if share is not None]
                if len(ended) == len(shares):
                    found[kind] = max(found.get(kind, 0.0), fmean(ended))
        return found

    def _settled(
        self, position: Position, paid: np.ndarray, action: Action, generator: Generator
    ) -> tuple[Position, np.ndarray]:
        """The next position with a choice, or the end, after `action`; and what was paid."""
        while True:
            position = self.subject.table.advance(position, action)
            paid = paid + position.rewards
            if position.player == TERMINAL or (position.player >= 0 and len(position.legal) > 1):
                return position, paid
            action = _drawn(position, generator)

    def _match_against(self, best: frozenset[int], number: int) -> frozenset[int] | None:
        """Who wins where all seats but `best` look ahead; None where nobody does in time."""
        position = self.subject.open()
        paid = np.zeros(self.subject.num_players)
        for ply in range(_LONGEST):
            if position.player == TERMINAL:
                return _winners(list(paid))
            generator = stream(self.seed, CHECK, match=_ENOUGH + number, ply=ply)
            action = _drawn(position, generator)
            if position.player not in {CHANCE, *best} and self.spent < _PLIES:
                action = self._best(position, paid, generator)
            position = self.subject.table.advance(position, action)
            paid = paid + position.rewards
        return None

    def _best(self, position: Position, paid: np.ndarray, generator: Generator) -> Action:
        order = generator.permutation(len(position.legal))[:_WIDEST]

        def worth(action: Action) -> tuple[float, float]:
            ends = [self._played_out(position, paid, action, generator) for _ in range(_TRIES)]
            seat = position.player
            return fmean(_share(end, seat) for end in ends), fmean(end[seat] for end in ends)

        actions: list[Action] = [position.legal[int(index)] for index in order]
        return max(actions, key=worth)

    def _played_out(
        self, position: Position, paid: np.ndarray, action: Action, generator: Generator
    ) -> np.ndarray:
        """The seats' total rewards after one random continuation."""
        self.subject.open()  # nobody keeps what a continuation tells: no match grows by it
        for _ in range(_LONGEST):
            position = self.subject.table.advance(position, action)
            paid, self.spent = paid + position.rewards, self.spent + 1
            if position.player == TERMINAL:
                break
            action = _drawn(position, generator)
        return paid


def _drawn(position: Position, generator: Generator) -> Action:
    """An outcome by its probability, or any legal action."""
    if not position.legal:
        return ""
    if position.player == CHANCE:
        index = sample_index(position.probabilities, float(generator.random()))
    else:
        index = int(generator.integers(len(position.legal)))
    return position.legal[index]


def _share(paid: np.ndarray, seat: int) -> float:
    best = _winners(list(paid))
    return 1 / len(best) if seat in best else 0.0


def _kind(action: Action) -> str:
    """The first word of an action.

    >>> _kind("knock 7H"), _kind("7H")
    ('knock', '7H')
    """
    word = re.match(r"[^\W\d_]{2,}", action)
    return word.group() if word else action
