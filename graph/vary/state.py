"""State of a run of `vary`, between nodes, and the resources that its nodes are given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass as resources
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic.dataclasses import dataclass

from games.checks import Finding
from games.library.settings import value_text
from games.streams import stream
from games.values import Json
from graph.run.folder import RunFolder, RunFolderError
from graph.vary.report import VaryEnd
from graph.vary.settings import VaryRequest, VarySettings
from tools.playtest.journal import JournalError, journal_at
from tools.playtest.runner import Workers, play_all
from tools.variation.profile import dull, profile_distance
from tools.variation.proposing import Twist
from tools.variation.trial import Amounts, TrialResult, TrialStoppedError, Tryout

if TYPE_CHECKING:
    from agents.players.registry import PlayerRoster
    from tools.sandbox import Sandbox

_Entry = TypeVar("_Entry", bound=BaseModel)


class BaseNoise(BaseModel, frozen=True, extra="forbid"):
    """The base in play, under several seeds.

    Attributes:
        mean: Its profile.
        units: The unit of each figure.
        chance: That its distance to itself under two seeds hardly exceeds; see `chance_distance`.
        result: One trial of it, with as many matches as a variant that is kept.
        amounts: Matches of a candidate's trial.
    """

    mean: dict[str, float]
    units: dict[str, float]
    chance: float
    result: TrialResult
    amounts: Amounts


class Variant(BaseModel, frozen=True, extra="forbid"):
    """Settings that were tried.

    Attributes:
        number: From 1, in the order of proposal.
        twist: What they change.
        tried: Their trial; None before it.
        final: Their trial on fresh deals, with all matches; None where they were not chosen.
        findings: Of the checks; None where they were not chosen.
        reason: Why they are not kept; empty where nothing is against it.
    """

    number: int
    twist: dict[str, JsonValue]
    tried: TrialResult | None = None
    final: TrialResult | None = None
    findings: tuple[Finding, ...] | None = None
    reason: str = ""


@dataclass(frozen=True)
class VaryState:
    """All that passes between the nodes.

    Attributes:
        folder: The run's folder.
        base: The base in play; None before that.
        held: Settings that stay, with the words that name them.
        unread: Words on what shall stay that name no setting.
        unranged: Settings that declare no values, and are not varied.
        candidates: What was proposed.
        chosen: Numbers of those that are kept, or still to be checked, in the order of choice.
        end: How the run ended; None while it works.
        reason: Why, in a sentence.
    """

    folder: str = ""
    base: BaseNoise | None = None
    held: dict[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    unranged: tuple[str, ...] = ()
    candidates: tuple[Variant, ...] = ()
    chosen: tuple[int, ...] = ()
    end: VaryEnd | None = None
    reason: str = ""

    @property
    def noise(self) -> BaseNoise:
        """The base in play.

        Raises:
            ValueError: If it was not played yet.
        """
        if self.base is None:
            raise ValueError("the base was not played yet")
        return self.base

    @property
    def kept(self) -> list[Variant]:
        """The candidates that are chosen and that nothing is against."""
        known = {one.number: one for one in self.candidates}
        return [known[n] for n in self.chosen if not known[n].reason]

    def dull(self, result: TrialResult, seats: int) -> str:
        """Why a variant is hardly a game to keep, in which the base is not the same."""
        known = dull(self.noise.mean, seats)
        return "; ".join(why for why in dull(result.profile, seats) if why not in known)

    def novelty(self, candidate: Variant) -> float:
        """The distance of a candidate to the base, in the base's units."""
        found = candidate.final or candidate.tried
        return profile_distance(found.profile, self.noise.mean, self.noise.units) if found else 0.0

    def between(self, one: Variant, other: Variant) -> float:
        """The distance of two variants on their fresh deals, in the base's units."""
        if one.final is None or other.final is None:
            raise ValueError("required: variants that were played on fresh deals")
        return profile_distance(one.final.profile, other.final.profile, self.noise.units)

    def measured(self, folder: str, base: BaseNoise) -> "VaryState":
        """With the base in play."""
        return replace(self, folder=folder, base=base)

    def proposing(
        self,
        twists: Sequence[Twist],
        held: Mapping[str, str],
        unread: Sequence[str],
        unranged: Sequence[str],
    ) -> "VaryState":
        """With what is to be tried, and what is not varied."""
        found = tuple(Variant(number=n, twist=one) for n, one in enumerate(twists, 1))
        return replace(
            self, candidates=found, held=dict(held), unread=tuple(unread), unranged=tuple(unranged)
        )

    def choosing(self, numbers: Sequence[int]) -> "VaryState":
        """With further candidates to be checked."""
        return replace(self, chosen=(*self.chosen, *numbers))

    def ended(self, end: VaryEnd, reason: str) -> "VaryState":
        """At its end."""
        return replace(self, end=end, reason=reason)

    def with_candidates(self, newer: Sequence[Variant]) -> "VaryState":
        """With candidates in the place of those of their numbers."""
        found = {one.number: one for one in (*self.candidates, *newer)}
        return replace(self, candidates=tuple(found[number] for number in sorted(found)))


@resources
class VaryContext:
    """Run-scoped resources, passed as `context=` when the machine is invoked.

    Attributes:
        sandbox: Where games run.
        roster: Makes the players.
        folder: The run's folder.
        request: What the run was asked.
    """

    sandbox: "Sandbox"
    roster: "PlayerRoster"
    folder: RunFolder
    request: VaryRequest

    @property
    def settings(self) -> VarySettings:
        """The run's settings."""
        return self.request.settings

    def job(self, twist: Twist, purpose: str, amounts: Amounts) -> Callable[[], Json]:
        """The base with changed settings, to be tried with streams of this purpose."""
        game = self.request.base.setup(twist)
        seed = int(stream(self.settings.seed, f"vary {purpose}").integers(2**63))
        good = "greedy" if game.heuristics else ""
        tryout = Tryout(game, seed, amounts, good, self.roster, self.sandbox)

        def played() -> Json:
            try:
                return tryout.run().model_dump(mode="json")
            except TrialStoppedError as error:
                changed = ", ".join(f"{n}={value_text(value)}" for n, value in twist.items())
                raise RunFolderError(
                    f"the game with {changed or 'its own settings'} was stopped: {error}. That is "
                    "no result, and nothing is kept of it. On a machine less busy go on with: "
                    f"rulewright resume {self.folder.path}. If it stops there again, vary the game "
                    "anew and name that setting in --keep"
                ) from error

        return played

    def side_by_side(
        self,
        name: str,
        jobs: Sequence[tuple[int, Callable[[], Json]]],
        model: type[_Entry],
        told: Callable[[int, int], None],
        workers: int,
    ) -> dict[int, _Entry]:
        """The entries of jobs by index, from the journal of this name or played now.

        Args:
            name: Of the journal.
            jobs: By index.
            model: Of an entry.
            told: Hears how many are done, and of how many.
            workers: Jobs at the same time.

        Raises:
            JournalError: If the journal holds what no job of these leaves.
        """
        path: Path = self.folder.journals / f"{name}.jsonl"
        found: dict[int, _Entry] = {}
        asked = {index for index, _ in jobs}
        about: dict[str, Json] = {"vary": name, "jobs": [index for index, _ in jobs]}
        with journal_at(path, about) as journal:
            arriving = play_all(jobs, _called, journal=journal, workers=Workers(workers, "threads"))
            for index, entry in arriving:
                try:
                    found[index] = model.model_validate(entry)
                except ValidationError as error:
                    raise _foreign(path, index) from error
                if index not in asked:
                    raise _foreign(path, index)
                told(len(found), len(jobs))
        return dict(sorted(found.items()))


def _called(job: Callable[[], Json]) -> Json:
    return job()


def _foreign(path: Path, index: int) -> JournalError:
    return JournalError(
        f'{path} holds an entry of "index":{index} that no run writes; delete its line to play '
        "that part again"
    )
