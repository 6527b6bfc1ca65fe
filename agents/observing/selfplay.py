"""Self-play: the players of a population, and matches of them side by side."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from agents.encoding.needs import ActionNeeds
from agents.learning.settings import LearningError
from agents.observing.experience import Experience
from agents.observing.following import LogFollower
from agents.observing.model import ObservationModel
from agents.observing.outcomes import OutcomeTable
from games.engine import Decision, Effort
from games.information import Did, SeatLog
from games.lockstep import Entry, LockstepPlayer, MatchBatch, Reads, SeatView
from games.streams import Uniforms
from games.values import Action
from tools.playtest.batches import WorkerRounds, is_in_lockstep
from tools.playtest.jobs import GameSetup, Roster, close_players
from tools.sandbox import Sandbox

_BESIDE = 2**30  # a ply that no match has
WIDTH = 128
"""Matches at the same time."""
FEW = 16
"""Matches that are played at least."""
SHOWN = 400
"""Random matches that a vocabulary is made of."""
UNTAUGHT = "random"
"""The teacher of a training whose first matches are random play."""


class Uniform:
    """A player that draws uniformly, and whose log is kept."""

    reads: Reads = "all"
    effort: Effort | None = None

    def __init__(self) -> None:
        self.legal: set[Action] = set()
        self.needs = ActionNeeds()

    def choose_many(self, views: Sequence[SeatView]) -> list[Decision]:
        """See `LockstepPlayer.choose_many`."""
        for view in views:
            self.legal.update(view.legal)
            self.needs.learn(view.log.latest(), view.legal)
        return [_uniform(view) for view in views]


class PopulationPlayer:
    """A player by a model: it samples from its policy, or takes the action of the highest value."""

    reads: Reads = "all"
    effort: Effort | None = None

    def __init__(self, model: ObservationModel, *, greedy: float | None) -> None:
        """Take a seat in many matches.

        Args:
            model: Which it follows.
            greedy: `ArgmaxVal*`'s threshold (Eqs. 2 to 5); None samples.
        """
        self.model, self.greedy = model, greedy
        self.follower = LogFollower(model)

    def choose_many(self, views: Sequence[SeatView]) -> list[Decision]:
        """See `LockstepPlayer.choose_many`; a log beyond the context gets a uniform draw."""
        fitting = [view for view in views if self.follower.fits(view.log)]
        chosen = iter(self._chosen(fitting) if fitting else ())
        kept = {id(view) for view in fitting}
        return [next(chosen) if id(view) in kept else _uniform(view) for view in views]

    def _chosen(self, views: Sequence[SeatView]) -> list[Decision]:
        rows, last = self.follower.turns([view.log for view in views])
        chances = self.model.transformer.next(last)
        pairs = zip(chances, views, strict=True)
        legal = [self.model.legal_chances(row, view.legal) for row, view in pairs]
        if self.greedy is None:
            return [
                Decision(view.legal[int(view.generator().choice(len(own), p=own / own.sum()))])
                for view, own in zip(views, legal, strict=True)
            ]
        values = argmax_values(self.model, self.follower, rows, views, legal, self.greedy)
        return [self._best(view, worth) for view, worth in zip(views, values, strict=True)]

    def _best(self, view: SeatView, worth: Mapping[int, float]) -> Decision:
        return Decision(view.legal[best_place(worth)]) if worth else _uniform(view)

    def forget(self, log: SeatLog) -> None:
        """Leave a log."""
        self.follower.forget(log)


@dataclass(frozen=True)
class ExploringPlayer:
    """Draws uniformly up to one decision of each match, then plays as another does.

    Attributes:
        player: The other.
        lengths: Numbers of decisions of some matches, from which that decision is drawn.
    """

    player: LockstepPlayer
    lengths: Sequence[int]
    reads: Reads = "all"
    effort: Effort | None = None

    def choose_many(self, views: Sequence[SeatView]) -> list[Decision]:
        """See `LockstepPlayer.choose_many`."""
        drawn = {id(view) for view in views if self._is_drawn(view)}
        others = [view for view in views if id(view) not in drawn]
        chosen = iter(self.player.choose_many(others) if others else ())
        return [_uniform(view) if id(view) in drawn else next(chosen) for view in views]

    def _is_drawn(self, view: SeatView) -> bool:
        """True up to the match's drawn decision."""
        acted = sum(isinstance(entry, Did) for entry in view.log.entries)
        return acted <= drawn_decision(Uniforms.beside(view.generator()), self.lengths)


@dataclass(frozen=True)
class Teacher:
    """A player of another kind, whose logs are kept.

    Attributes:
        player: Plays many matches at once, and remembers none of them.
    """

    player: LockstepPlayer
    reads: Reads = "all"
    effort: Effort | None = None

    def choose_many(self, views: Sequence[SeatView]) -> Sequence[Decision]:
        """See `LockstepPlayer.choose_many`."""
        return self.player.choose_many(views)

    def close(self) -> None:
        """Be done with what it plays with."""
        close_players([self.player])

    @classmethod
    def named(
        cls, spec: str, roster: Roster | None, game: GameSetup, sandbox: Sandbox
    ) -> "Teacher":
        """The teacher that somebody names.

        Raises:
            LearningError: If it plays one match at a time, or does not play this game.
        """
        if roster is None:
            raise LearningError(f"teacher={spec} needs the roster of players")
        try:
            player = roster.seat(
                roster.effective(spec), seat=0, match=0, game=game, sandbox=sandbox
            )
        except ValueError as error:
            raise LearningError(f"teacher={spec}: {error}") from error
        if not is_in_lockstep(player) or player.reads == "nothing":
            close_players([player])
            raise LearningError(
                f"teacher={spec} does not play many matches at once by what it sees; required: a "
                "player that does, such as greedy"
            )
        return cls(player)


def drawn_decision(numbers: Uniforms, lengths: Sequence[int]) -> int:
    """The decision of a match up to which an explorer draws, counted from 0.

    Args:
        numbers: Of the match and the seat.
        lengths: Numbers of decisions of some matches.
    """
    decisions = lengths[int(numbers.at(_BESIDE) * len(lengths))]
    return int(numbers.at(_BESIDE + 1) * decisions)


@dataclass(frozen=True)
class Cast:
    """Who sits where in the matches of an iteration (GO-MCTS, §5.2).

    Attributes:
        learner: Takes the best action by the newest model; or the teacher.
        explorer: Draws uniformly up to one decision of a match, and then does the same.
        others: Sample from models of earlier iterations; or the teacher.
        seats: At the table.
        share: Of matches with the explorer.
        together: Whether all seats learn, as they are paid alike.
        drawn: The stream that seats the others, by match.
    """

    learner: LockstepPlayer
    explorer: ExploringPlayer
    others: Sequence[LockstepPlayer]
    seats: int
    share: float
    together: bool
    drawn: Callable[[int], Generator]

    @classmethod
    def of(
        cls,
        models: Sequence[ObservationModel],
        seats: int,
        *,
        threshold: float,
        explore: float,
        lengths: Sequence[int],
        drawn: Callable[[int], Generator],
    ) -> "Cast":
        """Those that follow models, the newest last.

        Args:
            models: At least one.
            seats: At the table.
            threshold: See `argmax_values`.
            explore: Share of matches with the explorer.
            lengths: Numbers of decisions of some matches.
            drawn: The stream that seats the others, by match.
        """
        newest = models[-1]
        learner = PopulationPlayer(newest, greedy=threshold)
        explorer = ExploringPlayer(PopulationPlayer(newest, greedy=threshold), lengths)
        others = [PopulationPlayer(model, greedy=None) for model in models]
        return cls(learner, explorer, others, seats, explore, newest.outcomes.shared, drawn)

    def explores(self, match: int) -> bool:
        """True in a share of the matches, whole rotations of the seats at a time."""
        turn = match // self.seats
        more = int((turn + 1) * self.share) > int(turn * self.share)
        return more and bool(self.explorer.lengths)

    def explored(self, log: Experience, match: int, seat: int, numbers: Uniforms) -> Experience:
        """The log of a seat as it is learned from.

        Where actions were drawn, they are no example, and the outcome tells of the last of them
        and of what came after it.
        """
        if not self.explores(match) or seat != match % self.seats:
            return log
        drawn = drawn_decision(numbers, self.explorer.lengths)
        return replace(log, part="sights", since=log.act(drawn))

    def learning(self, match: int) -> range:
        """The seats that learn."""
        seat = match % self.seats
        return range(self.seats) if self.together else range(seat, seat + 1)

    def seated(self, match: int) -> tuple[LockstepPlayer, ...]:
        """The players of a match."""
        who = self.drawn(match).integers(len(self.others), size=self.seats).tolist()
        seated = [self.learner if self.together else self.others[place] for place in who]
        seated[match % self.seats] = self.explorer if self.explores(match) else self.learner
        return tuple(seated)

    def forget(self, logs: Iterable[SeatLog]) -> None:
        """Leave the logs of a match that ended."""
        everybody = (self.learner, self.explorer.player, *self.others)
        following = [player for player in everybody if isinstance(player, PopulationPlayer)]
        for log in logs:
            for player in following:
                player.forget(log)


@dataclass
class Gathered:
    """Logs of seats that learn, as tokens.

    Attributes:
        logs: Match, seat, the match's returns by seat, and the tokens of each.
        matches: That were played.
        unfinished: Those that met the limit of plies.
    """

    logs: list[tuple[int, int, tuple[float, ...], list[int]]] = field(default_factory=list)
    matches: int = 0
    unfinished: int = 0

    def experience(self, cast: Cast, outcomes: OutcomeTable, key: int) -> list[Experience]:
        """The logs with their outcomes; `key` is that of the matches' streams."""
        return [
            cast.explored(
                Experience(tokens, outcomes.number(returns, seat)),
                *(match, seat),
                Uniforms.of(key, "player", match=match, seat=seat),
            )
            for match, seat, returns, tokens in self.logs
        ]


def _uniform(view: SeatView) -> Decision:
    return Decision(view.legal[int(view.generator().integers(len(view.legal)))])


def best_place(worth: Mapping[int, float]) -> int:
    """The place of the highest value; of equals the first.

    >>> best_place({0: 0.1, 2: 0.5, 3: 0.5})
    2
    """
    return max(worth, key=lambda place: (worth[place], -place))


def argmax_values(
    model: ObservationModel,
    follower: LogFollower,
    rows: "np.ndarray[Any, np.dtype[np.int64]]",
    views: Sequence[SeatView],
    chances: Sequence["np.ndarray[Any, Any]"],
    threshold: float,
) -> list[dict[int, float]]:
    """The values of the actions that are considered, by their place among the legal ones.

    `V(h, a)` where `p_legal(a | h) >= threshold`; where none is, the likeliest stays. There are
    none where the model never met one of the legal actions.

    Args:
        model: The model.
        follower: Has brought the logs up to their turns.
        rows: Of the logs in its cache.
        views: The positions.
        chances: By position, of each legal action.
        threshold: See above.
    """
    known = model.vocabulary.action_number
    asked: list[tuple[int, int, int, int]] = []
    for number, (view, own) in enumerate(zip(views, chances, strict=True)):
        kept = [p for p, chance in enumerate(own) if chance >= threshold] or [int(own.argmax())]
        for place in kept:
            if (token := known.get(view.legal[place])) is not None:
                asked.append((number, place, int(rows[number]), token))
    found: list[dict[int, float]] = [{} for _ in views]
    if asked:
        where, tokens = (np.array([one[part] for one in asked], np.int64) for part in (2, 3))
        values = model.values(model.transformer.peek(follower.cache, where, tokens))
        for (number, place, _, _), value in zip(asked, values.tolist(), strict=True):
            found[number][place] = value
    return found


def next_matches(first: int, tokens: float, length: float, turns: int) -> range:
    """Numbers of the next matches.

    Args:
        first: Of them.
        tokens: That they are to give, where as many matches fit beside each other.
        length: Tokens that a match gives, about.
        turns: Sets of parameters that are played in turns; a turn gets a share of what fits.
    """
    most = max(FEW, WIDTH // max(1, turns))
    return range(first, first + min(most, max(FEW, math.ceil(tokens / length))))


def matches_of_play(
    sandbox: Sandbox,
    game: GameSetup,
    seated: Callable[[int], tuple[LockstepPlayer, ...]],
    matches: range,
    *,
    seed: int,
    max_plies: int,
) -> Iterator[tuple[int, Mapping[int, SeatLog], tuple[float, ...] | None]]:
    """Play matches side by side.

    Args:
        sandbox: Where the module runs.
        game: With all its parameters.
        seated: The players of a match by its number; all read their whole log.
        matches: Their numbers.
        seed: Of all that is drawn.
        max_plies: After which a match is left unfinished.

    Yields:
        Numbers, logs by seat, and returns; None of those for an unfinished match.

    Raises:
        LearningError: If a match fails.
        ModuleFault: If the module does.
    """
    with sandbox.loaded("training", game.source) as worker:
        batch = MatchBatch(WorkerRounds(worker, game), game.num_players, seed, max_plies, WIDTH)
        for outcome in batch.play([Entry(number, number, seated(number)) for number in matches]):
            yield outcome.match, outcome.logs, outcome.returns
    if batch.unclean:
        raise LearningError(
            f"{game.name} failed in {len(batch.unclean)} of {len(matches)} matches of the "
            "training; see: rulewright check"
        )
