"""Self-play of a population, by which a model of observations is trained (GO-MCTS, §5.2).

Random play comes first. In each iteration one seat takes the action of the highest value by the
newest model (`ArgmaxVal*`), and learns; the others sample from policies of earlier iterations.
In cooperation all seats follow the newest model, and all learn. A training is a number of tokens.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.encoding.tokens import END, LogWriter, Vocabulary, fitted_vocabulary
from agents.learning.observing import (
    SIZES,
    Follower,
    ObservationModel,
    ObservationSettings,
    Outcomes,
    read_observation_model,
)
from agents.learning.settings import LearningError
from agents.learning.transformer import (
    AdamW,
    Shape,
    Tokens,
    Transformer,
    dropper,
    first_weights,
    losses_and_gradients,
    padded,
)
from games.engine import Decision, Effort
from games.information import LogEntry, SeatLog
from games.lockstep import Entry, LockstepPlayer, MatchBatch, Reads, SeatView
from games.streams import stream
from games.values import Action, Json
from tools.playtest.batches import WorkerRounds
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

_WIDTH = 128  # matches at the same time
_SHOWN = 400  # random matches that the vocabulary is made of
_ROOM = 1.25  # of the context, over the longest log that was met
_SAID = 10  # times an iteration
_TESTED = 0.05  # share of an iteration's logs that are held out


@dataclass(frozen=True)
class Experience:
    """The log of a seat that learns.

    Attributes:
        tokens: Of the whole log, with `END` where the match finished.
        outcome: Of the match, for this seat; -1 where it is not known.
    """

    tokens: Sequence[int]
    outcome: int


class Uniform:
    """A player that draws uniformly, and whose log is kept."""

    reads: Reads = "all"
    effort: Effort | None = None

    def __init__(self) -> None:
        self.legal: set[Action] = set()

    def choose_many(self, views: Sequence[SeatView]) -> list[Decision]:
        """See `LockstepPlayer.choose_many`."""
        self.legal.update(*(view.legal for view in views))
        return [
            Decision(view.legal[int(view.generator().integers(len(view.legal)))]) for view in views
        ]


class PopulationPlayer:
    """A player by a model: it samples from its policy, or takes the action of the highest value."""

    reads: Reads = "all"
    effort: Effort | None = None

    def __init__(
        self, model: ObservationModel, *, greedy: float | None, explore: float = 0.0
    ) -> None:
        """Take a seat in many matches.

        Args:
            model: Which it follows.
            greedy: `ArgmaxVal*`'s threshold (Eqs. 2 to 5); None samples.
            explore: Share of its actions that are drawn uniformly.
        """
        self.model, self.greedy, self.explore = model, greedy, explore
        self.follower = Follower(model)

    def choose_many(self, views: Sequence[SeatView]) -> list[Decision]:
        """See `LockstepPlayer.choose_many`."""
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
        generator = view.generator() if self.explore else None
        if generator is not None and generator.random() < self.explore:
            return Decision(view.legal[int(generator.integers(len(view.legal)))])
        return Decision(view.legal[max(worth, key=lambda place: (worth[place], -place))])


def argmax_values(
    model: ObservationModel,
    follower: Follower,
    rows: "np.ndarray[Any, np.dtype[np.int64]]",
    views: Sequence[SeatView],
    chances: Sequence["np.ndarray[Any, Any]"],
    threshold: float,
) -> list[dict[int, float]]:
    """The values of the actions that are considered, by their place among the legal ones.

    `V(h, a)` where `p_legal(a | h) >= threshold`; where none is, the likeliest stays.

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
    for number, own in enumerate(chances):
        if not found[number]:
            found[number] = {int(own.argmax()): 0.0}
    return found


def played_matches(
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
        batch = MatchBatch(WorkerRounds(worker, game), game.num_players, seed, max_plies, _WIDTH)
        for outcome in batch.play([Entry(number, number, seated(number)) for number in matches]):
            yield outcome.match, outcome.logs, outcome.returns
    if batch.unclean:
        raise LearningError(
            f"{game.name} failed in {len(batch.unclean)} of {len(matches)} matches of the "
            "training; see: rulewright check"
        )


@dataclass
class Population:
    """A training, which goes on where a folder says that it was stopped.

    Attributes:
        sandbox: Where the module runs.
        game: With all its parameters.
        settings: Of the training.
        tokens: To learn from, in all passes.
        seed: Of all that is drawn.
        folder: Of this training alone; a file for each iteration.
        tell: Hears a row for each part of an iteration.
    """

    sandbox: Sandbox
    game: GameSetup
    settings: ObservationSettings
    tokens: int
    seed: int
    folder: Path
    tell: Callable[[dict[str, Json]], None] = lambda _: None
    course: list[dict[str, Json]] = field(default_factory=list)
    _experience: list[list[Experience]] = field(default_factory=list)

    def train(self, about: Mapping[str, Json]) -> ObservationModel:
        """Train to the end.

        Raises:
            LearningError: If the game cannot be learned so, or a loss is no number.
            ModuleFault: If the module fails.
        """
        self.folder.mkdir(exist_ok=True)
        identity = self._identity()
        models = [*self._kept(identity)]
        if models:
            self.course = [*models[-1].about["course"]]
        for number in range(len(models), self.settings.iterations + 1):
            model = self._first() if not number else self._iteration(number, models)
            model = replace(model, about={**identity, **about, "course": [*self.course]})
            self._keep(number, model)
            models.append(read_observation_model(str(self._file(number))))
        return models[-1]

    def _identity(self) -> dict[str, Json]:
        return {
            "game": self.game.name,
            "num_players": self.game.num_players,
            "parameters": {**self.game.parameters},
            "source": sha256(self.game.source.encode()).hexdigest(),
            "settings": self.settings.model_dump(mode="json"),
            "tokens": self.tokens,
            "seed": self.seed,
        }

    def _file(self, number: int) -> Path:
        return self.folder / f"{number}.model"

    def _keep(self, number: int, model: ObservationModel) -> None:
        """Write an iteration down; its model comes last, and says that it is whole."""
        path = self._file(number)
        path.with_suffix(".logs").write_bytes(_written(self._experience[-1]))
        part = path.with_suffix(".part")
        part.write_bytes(model.saved())
        part.replace(path)

    def _kept(self, identity: Mapping[str, Json]) -> Iterator[ObservationModel]:
        number = 0
        while self._file(number).exists():
            model = read_observation_model(str(self._file(number)))
            if any(model.about.get(key) != identity[key] for key in identity):
                raise LearningError(
                    f"{self.folder} holds a training of other settings or of another game; say "
                    "--force to begin anew"
                )
            self._experience.append(_read_logs(self._file(number).with_suffix(".logs")))
            yield model
            number += 1

    def _first(self) -> ObservationModel:
        """The model that learned from random play."""
        uniform = Uniform()
        everybody = (uniform,) * self.game.num_players
        budget = self.tokens * self.settings.bootstrap / self.settings.epochs
        logs, paid = list[tuple[int, Sequence[LogEntry]]](), list[tuple[float, ...]]()
        vocabulary: Vocabulary | None = None
        met = first = 0
        length = 0.0
        while vocabulary is None or met < budget:
            matches = range(first, first + _SHOWN)
            first = matches.stop
            for _, seats, returns in self._played(lambda _: everybody, matches, "random"):
                if returns is not None:
                    logs += [(len(paid), seats[seat].entries) for seat in sorted(seats)]
                    paid.append(returns)
            if not paid:
                raise LearningError(
                    f"no random match of {self.game.name} ended within {self.settings.max_plies} "
                    "plies; give max_plies=N"
                )
            if vocabulary is None:
                vocabulary = fitted_vocabulary([entries for _, entries in logs], uniform.legal)
                length = fmean(len(LogWriter(vocabulary).write(e)) for _, e in logs[:_SHOWN])
            met = int(length * len(logs))
        outcomes = Outcomes.of(paid)
        seats_at = self.game.num_players
        data = [
            Experience(
                [*LogWriter(vocabulary).write(entries), END],
                outcomes.number(paid[match], place % seats_at),
            )
            for place, (match, entries) in enumerate(logs)
        ]
        shape = self._shape(vocabulary, outcomes, max(len(one.tokens) for one in data))
        weights = first_weights(shape, stream(self.seed, "first weights"))
        model = ObservationModel(vocabulary, outcomes, Transformer(shape, weights), {})
        return self._learned(0, model, data, {"matches": len(paid), "play": "random"})

    def _shape(self, vocabulary: Vocabulary, outcomes: Outcomes, longest: int) -> Shape:
        layers, heads, width = SIZES[self.settings.size]
        context = self.settings.context or math.ceil(_ROOM * longest)
        if longest > context or context > 4096:  # noqa: PLR2004 - the setting's own bound
            raise LearningError(
                f"a log of {self.game.name} has {longest} tokens; the context holds "
                f"{min(context, 4096)}: give context=N, at most 4096"
            )
        return Shape(vocabulary.size, len(outcomes.values), context, layers, heads, width)

    def _iteration(self, number: int, models: Sequence[ObservationModel]) -> ObservationModel:
        """The next model: it learned from matches against those before it."""
        newest, settings = models[-1], self.settings
        learner = PopulationPlayer(newest, greedy=settings.threshold, explore=settings.explore)
        pool = models[-settings.pool :]
        others = [PopulationPlayer(model, greedy=None) for model in pool]
        together = newest.outcomes.shared
        budget = self.tokens * (1 - settings.bootstrap) / settings.epochs
        budget /= max(1, settings.iterations)
        seats = self.game.num_players

        def seated(match: int) -> tuple[LockstepPlayer, ...]:
            if together:
                return (learner,) * seats
            drawn = stream(self.seed, "population", match=match, ply=number)
            who = drawn.integers(len(others), size=seats).tolist()
            sampling: list[LockstepPlayer] = [others[place] for place in who]
            sampling[match % seats] = learner
            return tuple(sampling)

        data: list[Experience] = []
        met = first = unfinished = 0
        while met < budget:
            matches = range(first, first + _WIDTH)
            first = matches.stop
            for match, logs, returns in self._played(seated, matches, f"iteration {number}"):
                if returns is None:
                    unfinished += 1
                    continue
                for seat in range(seats) if together else (match % seats,):
                    tokens = [*LogWriter(newest.vocabulary).write(logs[seat].entries), END]
                    data.append(Experience(tokens, newest.outcomes.number(returns, seat)))
                    met += len(tokens)
                for player in (learner, *others):
                    for log in logs.values():
                        player.follower.forget(log)
            if not data:
                raise LearningError(f"no match of iteration {number} came to its end")
        told: dict[str, Json] = {
            "matches": first,
            "play": "together" if together else f"against {len(pool)}",
            "unfinished": unfinished,
            "value": fmean(newest.outcomes.values[one.outcome] for one in data if one.outcome >= 0),
        }
        return self._learned(number, newest, data, told)

    def _played(
        self, seated: Callable[[int], tuple[LockstepPlayer, ...]], matches: range, purpose: str
    ) -> Iterator[tuple[int, Mapping[int, SeatLog], tuple[float, ...] | None]]:
        seed = int(stream(self.seed, f"matches of {purpose}").integers(2**62))
        return played_matches(
            *(self.sandbox, self.game, seated, matches),
            seed=seed,
            max_plies=self.settings.max_plies,
        )

    def _learned(
        self,
        number: int,
        model: ObservationModel,
        data: Sequence[Experience],
        told: Mapping[str, Json],
    ) -> ObservationModel:
        """The model after some passes over the data; the newest weights are where it begins."""
        settings = self.settings
        generator = stream(self.seed, "learning", match=number)
        shape = model.transformer.shape
        kept = [
            replace(one, tokens=one.tokens[: shape.context])
            for one in (data[int(place)] for place in generator.permutation(len(data)))
        ]
        cut = max(1, int(_TESTED * len(kept)))
        tested, learned = kept[:cut], kept[cut:] or kept
        self._experience.append(learned)
        weights = {name: array.copy() for name, array in model.transformer.weights.items()}
        network = Transformer(shape, weights)
        adam, drop = AdamW(0, {}, {}), dropper(settings.dropout, generator)
        batches = self._batches(generator, settings.epochs * _tokens(learned))
        for step, batch in enumerate(batches):
            losses, gradients = losses_and_gradients(
                network,
                *_arrays(batch),
                outcome_share=settings.outcome_share,
                dropped=drop,
            )
            if not math.isfinite(losses.next + losses.outcome):
                raise LearningError(
                    f"the loss is {losses.next} in iteration {number}; what was learned before is "
                    f"kept in {self.folder}: give a smaller learning_rate"
                )
            rate = settings.learning_rate * (1 - step / len(batches))
            adam.descend(weights, gradients, rate)
            if step % max(1, len(batches) // _SAID) == 0:
                self.tell({"iteration": number, "step": step, "of": len(batches), **vars(losses)})
        row: dict[str, Json] = {
            "iteration": number,
            **told,
            "logs": len(data),
            "tokens": _tokens(data),
            **self._tested(network, tested),
        }
        self.course.append(row)
        self.tell(row)
        return ObservationModel(model.vocabulary, model.outcomes, network, {})

    def _batches(self, generator: np.random.Generator, tokens: int) -> list[list[Experience]]:
        """Batches of logs of like lengths, in any order: all iterations alike, or the newest."""
        known = self._experience if self.settings.replay == "all" else self._experience[-1:]
        drawn: list[Experience] = []
        met = 0
        while met < tokens:
            one = known[int(generator.integers(len(known)))]
            drawn.append(one[int(generator.integers(len(one)))])
            met += len(drawn[-1].tokens)
        batches = _alike(drawn, self.settings.batch)
        return [batches[int(place)] for place in generator.permutation(len(batches))]

    def _tested(self, network: Transformer, data: Sequence[Experience]) -> dict[str, Json]:
        """Cross-entropies of logs that were not learned from, in nats a token."""
        rows = [
            losses_and_gradients(network, *_arrays(batch))[0]
            for batch in _alike(data, self.settings.batch)
        ]
        total = sum(one.tokens for one in rows)
        return {
            "held_out_next": sum(one.next * one.tokens for one in rows) / total,
            "held_out_outcome": sum(one.outcome * one.tokens for one in rows) / total,
        }


def _written(data: Sequence[Experience]) -> bytes:
    """Logs that were learned from, as a file."""
    return save(
        {
            "tokens": np.array([token for one in data for token in one.tokens], np.int32),
            "lengths": np.array([len(one.tokens) for one in data], np.int32),
            "outcomes": np.array([one.outcome for one in data], np.int32),
        }
    )


def _read_logs(path: Path) -> list[Experience]:
    """The logs of a file that a training wrote.

    Raises:
        LearningError: If it is none.
    """
    try:
        found = load(path.read_bytes())
        cuts = np.cumsum(found["lengths"])[:-1]
        parts = np.split(found["tokens"], cuts)
        pairs = zip(parts, found["outcomes"].tolist(), strict=True)
        return [Experience(part.tolist(), outcome) for part, outcome in pairs]
    except (OSError, LookupError, ValueError, SafetensorError) as error:
        raise LearningError(f"{path} is damaged; say --force to begin anew") from error


def _tokens(data: Sequence[Experience]) -> int:
    return sum(len(one.tokens) for one in data)


def _arrays(batch: Sequence[Experience]) -> tuple[Tokens, Tokens]:
    return padded([one.tokens for one in batch]), np.array([one.outcome for one in batch])


def _alike(data: Sequence[Experience], most: int) -> list[list[Experience]]:
    """Batches of logs of like lengths, of so many tokens at most."""
    batches: list[list[Experience]] = [[]]
    for one in sorted(data, key=lambda one: len(one.tokens)):
        if len(one.tokens) * (len(batches[-1]) + 1) > most and batches[-1]:
            batches.append([])
        batches[-1].append(one)
    return batches
