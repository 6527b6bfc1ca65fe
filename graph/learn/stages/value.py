"""Value: functions that rate a state inside the model; one that wins is used (§4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from agents.players.registry import PlayerRoster
from agents.roles.coder import bound_names
from agents.roles.modeller import PREDICTING, Proposals
from agents.strategy.models import ModelContest, choose_value
from games.checks import Finding
from graph.learn.figures import Judged, StageName
from graph.learn.layered import VALUE, LayeredSource
from graph.learn.learning import Learning
from graph.learn.state import LearnState
from graph.run.candidates import Candidate


@dataclass(frozen=True)
class ValueStage:
    """A stage of one call, whose versions compete with each other and with rollouts."""

    learning: Learning
    name: ClassVar[StageName] = "value"
    part: ClassVar[str] = ""
    needed: ClassVar[tuple[str, ...]] = (VALUE,)

    def examples(self) -> list[str]:
        """None: no record says what a state is worth."""
        return []

    def prompt(self) -> Proposals:
        """Ask for value functions."""
        learning = self.learning
        return learning.context.modeller.values(
            learning.brief, learning.source, learning.settings.values
        )

    def placed(self, version: str) -> str:
        """A version stands below the model and its draws."""
        return replace(self.learning.layers, value=version).text

    def versions(self, proposals: Proposals) -> list[Candidate]:
        """The proposals that may compete, from 0: those that leave the model as it is."""
        free = [text for text in proposals.sources if not _predicts(text)]
        return [Candidate(number=n, source=self.placed(text)) for n, text in enumerate(free)]

    def dropped(self, proposals: Proposals) -> tuple[str, ...]:
        """Why the other proposals may not."""
        again = filter(None, map(_predicts, proposals.sources))
        return tuple(f"it defines {', '.join(names)} of the model again" for names in again)

    def judge(self, candidates: Sequence[Candidate]) -> dict[int, Judged]:
        """Let value functions compete inside the model; all but the one that wins fail.

        Raises:
            ModuleFault: If the model cannot be played.
        """
        learning, settings = self.learning, self.learning.settings
        contest = ModelContest(
            folder=learning.context.folder.journals / "values",
            roster=PlayerRoster(),
            seed=settings.seed,
            simulations=settings.value_simulations,
            deals=settings.value_deals,
        )
        source = learning.source
        model = learning.module(source, learning.start_of(source))
        texts = [LayeredSource.parsed(candidate.source).value for candidate in candidates]
        choice = choose_value("model", model, texts, contest)
        notes = {n: f"version {n}: {why}" for n, why in sorted(choice.faults.items())}
        notes |= {n: f"version {n} against rollouts: {one}" for n, one in choice.scores.items()}
        return {
            n: Judged(
                failures=(
                    Finding(
                        check=VALUE,
                        outcome="passed" if n == choice.chosen else "failed",
                        evidence=note,
                    ),
                )
            )
            for n, note in notes.items()
        }

    def accept(self, chosen: Candidate) -> LearnState:
        """Use a value function: the accepted model with it is a candidate that fares as it did."""
        state, base = self.learning.state, self.learning.state.base
        if base is None:
            return state
        number = len(state.candidates)
        made = Candidate(
            number=number,
            parent=base.number,
            source=chosen.source,
            findings=base.findings,
            refined=base.refined,
            cause=base.cause,
            score=base.score,
        )
        judged = {number: state.judged[base.number]}
        return state.with_versions([made]).with_judged(judged)


def _predicts(text: str) -> list[str]:
    return sorted(bound_names(text) & {*PREDICTING})
