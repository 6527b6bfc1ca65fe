"""Self-play of a population, by which a model of observations is trained (GO-MCTS, §5.2).

Random play comes first. In each iteration one seat takes the action of the highest value by the
newest model (`ArgmaxVal*`), and learns; the others sample from policies of earlier iterations.
In cooperation all seats follow the newest model, and all learn. A training is a number of tokens.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from pathlib import Path
from statistics import fmean

from agents.encoding.fitting import fitted_vocabulary
from agents.encoding.tokens import LogWriter
from agents.encoding.vocabulary import END, Vocabulary
from agents.learning.settings import LearningError
from agents.observing.experience import (
    Experience,
    batches_of,
    count_tokens,
    drawn_logs,
    held_out_losses,
    read_logs,
    written_logs,
)
from agents.observing.gradients import Descent
from agents.observing.model import (
    SIZES,
    ObservationModel,
    ObservationSettings,
    read_observation_model,
)
from agents.observing.outcomes import OutcomeTable
from agents.observing.selfplay import (
    FEW,
    SHOWN,
    UNTAUGHT,
    Cast,
    ExploringPlayer,
    Gathered,
    Teacher,
    Uniform,
    matches_of_play,
    next_matches,
)
from agents.observing.transformer import Shape, Transformer, first_weights
from games.information import LogEntry, SeatLog
from games.lockstep import LockstepPlayer
from games.streams import stream
from games.values import Json
from tools.playtest.jobs import GameSetup, Roster
from tools.sandbox import Sandbox

_ROOM = 1.25  # of the context, over the longest log that was met
_SPARE = 64  # tokens more, for words that are spelled
_SAID = 10  # times an iteration
_WARM = 0.1  # share of the steps in which the rate grows: fresh moments would throw a model about
_STEPS = 64  # of an iteration at least, of as many tokens at least
_TESTED = 0.05  # share of an iteration's logs that are held out


@dataclass
class SelfPlayTraining:
    """A training, which goes on where a folder says that it was stopped.

    Attributes:
        sandbox: Where the module runs.
        game: With all its parameters.
        settings: Of the training.
        tokens: To learn from, in all passes.
        seed: Of all that is drawn.
        folder: Of this training alone; a file for each iteration.
        tell: Hears a row for each part of an iteration.
        varied: Parameters that are played in turns, in place of the game's.
        roster: Seats the teacher, where the settings name one.
    """

    sandbox: Sandbox
    game: GameSetup
    settings: ObservationSettings
    tokens: int
    seed: int
    folder: Path
    tell: Callable[[dict[str, Json]], None] = lambda _: None
    varied: Sequence[Mapping[str, Json]] = ()
    roster: Roster | None = None
    course: list[dict[str, Json]] = field(default_factory=list)
    _experience: list[list[Experience]] = field(default_factory=list)

    def train(self, about: Mapping[str, Json]) -> ObservationModel:
        """Train to the end.

        Raises:
            LearningError: If the game cannot be learned so, a loss is no number, or another
                training writes to the folder.
            ModuleFault: If the module fails.
        """
        self.folder.mkdir(exist_ok=True)
        with (self.folder / "lock").open("wb") as lock:
            try:
                flock(lock, LOCK_EX | LOCK_NB)
            except OSError as error:
                raise LearningError(
                    f"another training writes to {self.folder}; wait for it, or name another file"
                ) from error
            return self._trained(about)

    def _trained(self, about: Mapping[str, Json]) -> ObservationModel:
        identity = self._identity()
        models = [*self._kept(identity)]
        self.course = [*models[-1].about["course"]] if models else []
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
            "varied": [{**parameters} for parameters in self.varied],
            "tokens": self.tokens,
            "seed": self.seed,
        }

    def _file(self, number: int) -> Path:
        return self.folder / f"{number}.model"

    def _keep(self, number: int, model: ObservationModel) -> None:
        """Write an iteration down; its model comes last, and says that it is whole."""
        path = self._file(number)
        path.with_suffix(".logs").write_bytes(written_logs(self._experience[-1]))
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
            self._experience.append(read_logs(self._file(number).with_suffix(".logs")))
            yield model
            number += 1

    def _first(self) -> ObservationModel:
        """The model that learned from random play, or from a teacher's."""
        vocabulary, written, paid = self._random_play()
        outcomes, seats = OutcomeTable.of(paid), self.game.num_players
        told: dict[str, Json] = {"matches": len(paid), "play": self.settings.teacher}
        data = [
            Experience(tokens, outcomes.number(paid[place // seats], place % seats))
            for place, tokens in enumerate(written)
        ]
        if self.settings.teacher != UNTAUGHT:
            data, told["matches"], outcomes = self._taught(vocabulary, data, paid)
        shape = self._shape(vocabulary, outcomes, max(len(one.tokens) for one in data))
        generator = stream(self.seed, "first weights")
        weights = first_weights(shape, generator, vocabulary.kin, self.settings.shift)
        model = ObservationModel(vocabulary, outcomes, Transformer(shape, weights), {})
        return self._learned(0, model, data, told, self._share(0))

    def _taught(
        self, vocabulary: Vocabulary, shown: Sequence[Experience], paid: Sequence[tuple[float, ...]]
    ) -> tuple[list[Experience], int, OutcomeTable]:
        """The logs of a teacher's matches, how many there were, and all outcomes that were met.

        It sits everywhere, and all its logs are learned from; in some matches one seat explores.
        """
        teacher = Teacher.named(self.settings.teacher, self.roster, self.game, self.sandbox)
        explorer = ExploringPlayer(teacher, [one.decisions for one in shown if one.decisions])
        cast = Cast(
            *(teacher, explorer, [teacher], self.game.num_players, self.settings.explore),
            together=True,
            drawn=lambda match: stream(self.seed, "population", match=match),
        )
        with closing(teacher):
            found = self._gathered(0, cast, vocabulary, fmean(len(one.tokens) for one in shown))
        outcomes = OutcomeTable.of([*paid, *(returns for _, _, returns, _ in found.logs)])
        return found.experience(cast, outcomes, self._key(0)), found.matches, outcomes

    def _random_play(self) -> tuple[Vocabulary, list[list[int]], list[tuple[float, ...]]]:
        """The vocabulary that random play shows, its logs match by match, and their returns."""
        uniform = Uniform()
        everybody = (uniform,) * self.game.num_players
        untaught, budget = self.settings.teacher == UNTAUGHT, self._share(0) / self.settings.epochs
        paid: list[tuple[float, ...]] = []
        logs: list[Sequence[LogEntry]] = []
        written: list[list[int]] = []
        vocabulary, shown = None, max(SHOWN, FEW * len(self.varied))
        met = first = turn = 0
        while vocabulary is None or (untaught and met < budget):
            matches = next_matches(
                first, budget - met, met / len(paid) if paid else math.inf, len(self.varied)
            )
            first, turn = matches.stop, turn + 1
            for _, seats, returns in self._played(lambda _: everybody, matches, None, turn):
                if returns is not None:
                    logs += [seats[seat].entries for seat in sorted(seats)]
                    paid.append(returns)
            if not paid:
                raise LearningError(
                    f"no random match of {self.game.name} ended within {self.settings.max_plies} "
                    "plies; give max_plies=N"
                )
            met = sum(map(len, written)) + sum(map(len, logs))
            if vocabulary is None and (len(paid) >= shown or (met >= budget and len({*paid}) > 1)):
                vocabulary = fitted_vocabulary(logs, uniform.legal, uniform.needs)
            if vocabulary is not None:
                written += [[*LogWriter(vocabulary).write(entries), END] for entries in logs]
                met, logs = sum(map(len, written)), []
        return vocabulary, written, paid

    def _shape(self, vocabulary: Vocabulary, outcomes: OutcomeTable, longest: int) -> Shape:
        layers, heads, width = SIZES[self.settings.size]
        context = self.settings.context or math.ceil(_ROOM * longest) + _SPARE
        if longest > context or context > 4096:  # noqa: PLR2004 - the setting's own bound
            raise LearningError(
                f"a log of {self.game.name} has {longest} tokens; the context holds "
                f"{min(context, 4096)}: give context=N, at most 4096"
            )
        return Shape(vocabulary.size, len(outcomes.values), context, layers, heads, width)

    def _iteration(self, number: int, models: Sequence[ObservationModel]) -> ObservationModel:
        """The next model: it learned from matches against those before it."""
        newest, settings = models[-1], self.settings
        pool = models[-settings.pool :]
        cast = Cast.of(
            pool,
            self.game.num_players,
            threshold=settings.threshold,
            explore=settings.explore,
            lengths=[one.decisions for one in self._experience[-1] if one.decisions],
            drawn=lambda match: stream(self.seed, "population", match=match, ply=number),
        )
        length = fmean(len(one.tokens) for one in self._experience[-1])
        found = self._gathered(number, cast, newest.vocabulary, length)
        data = found.experience(cast, newest.outcomes, self._key(number))
        values = [newest.outcomes.values[one.outcome] for one in data if one.is_known]
        told: dict[str, Json] = {
            "matches": found.matches,
            "play": "together" if cast.together else f"against {len(pool)}",
            "unfinished": found.unfinished,
            "value": fmean(values) if values else None,
        }
        return self._learned(number, newest, data, told, self._share(number))

    def _gathered(self, number: int, cast: Cast, vocabulary: Vocabulary, length: float) -> Gathered:
        """Logs of an iteration's matches, as many as it learns from; `length` tokens each, about.

        Raises:
            LearningError: If no match ended.
        """
        budget, found = self._share(number) / self.settings.epochs, Gathered()
        met = turn = 0
        while met < budget:
            each = length * len(cast.learning(0))
            matches = next_matches(found.matches, budget - met, each, len(self.varied))
            found.matches, turn = matches.stop, turn + 1
            for match, logs, returns in self._played(cast.seated, matches, number, turn):
                if returns is None:
                    found.unfinished += 1
                    continue
                for seat in cast.learning(match):
                    tokens = [*LogWriter(vocabulary).write(logs[seat].entries), END]
                    found.logs.append((match, seat, returns, tokens))
                    met += len(tokens)
                cast.forget(logs.values())
            if not found.logs:
                raise LearningError(f"no match of iteration {number} came to its end")
        return found

    def _share(self, number: int) -> int:
        """Tokens that an iteration learns from; all of them together are those of the training."""
        settings = self.settings
        first = settings.bootstrap if settings.iterations else 1.0
        rest = (1 - first) / max(1, settings.iterations)
        return int(self.tokens * (rest if number else first))

    def _played(
        self,
        seated: Callable[[int], tuple[LockstepPlayer, ...]],
        matches: range,
        number: int | None,
        turn: int,
    ) -> Iterator[tuple[int, Mapping[int, SeatLog], tuple[float, ...] | None]]:
        game = self.game
        if self.varied:
            game = replace(game, parameters=self.varied[turn % len(self.varied)])
        return matches_of_play(
            *(self.sandbox, game, seated, matches),
            seed=self._key(number),
            max_plies=self.settings.max_plies,
        )

    def _key(self, number: int | None) -> int:
        """The key of an iteration's matches; None: of random play."""
        purpose = "random" if number is None else f"iteration {number}"
        return int(stream(self.seed, f"matches of {purpose}").integers(2**62))

    def _learned(
        self,
        number: int,
        model: ObservationModel,
        data: Sequence[Experience],
        told: Mapping[str, Json],
        tokens: int,
    ) -> ObservationModel:
        """The model after so many tokens of the data; the newest weights are where it begins."""
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
        descent = Descent.of(
            *(model.transformer, generator),
            outcome_share=settings.outcome_share,
            action_share=settings.action_share,
            dropout=settings.dropout,
            kin=model.vocabulary.kin,
            device=settings.device,
        )
        drawn = drawn_logs(self._experience, generator, tokens, settings.replay)
        batches = [*batches_of(drawn, min(settings.batch, max(_STEPS, tokens // _STEPS)))]
        for step, batch in enumerate(batches):
            part = step / len(batches)
            rate = settings.learning_rate * min(1 - part, (part + 1 / len(batches)) / _WARM)
            losses = descent.step(batch, rate)
            if not losses.is_finite:
                raise LearningError(
                    f"the loss is no number in iteration {number}; what was learned before is "
                    f"kept in {self.folder}: give a smaller learning_rate"
                )
            if step % max(1, len(batches) // _SAID) == 0:
                self.tell({"iteration": number, "step": step, "of": len(batches), **vars(losses)})
        network = descent.result()
        row: dict[str, Json] = {
            "iteration": number,
            **told,
            "logs": len(data),
            "tokens": count_tokens(data),
            **held_out_losses(network, tested, settings.batch),
        }
        self.course.append(row)
        self.tell(row)
        return ObservationModel(model.vocabulary, model.outcomes, network, {})
