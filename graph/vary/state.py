"""State of a run of `vary` between nodes, and what its nodes ask of the way of varying."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass as resources
from dataclasses import field, replace
from typing import Any

from pydantic import BaseModel, JsonValue
from pydantic.dataclasses import dataclass

from agents.roles.variation import WordedGame
from games.checks import Finding
from games.mechanics import MechanicGraph
from graph.run.events import Tell
from graph.run.folder import RunFolder
from graph.vary.report import MadeGame, Replacement, VaryEnd, VaryReport
from graph.vary.settings import VaryRequest
from tools.variation.profile import dull, profile_distance
from tools.variation.trial import Amounts, TrialResult


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
    """Candidate: settings that change, or mechanics that are replaced.

    Attributes:
        number: From 1, in the order of proposal.
        reason: Why it is not kept; empty where nothing is against it.
        twist: The settings that it changes.
        tried: Their trial; None before it.
        final: Their trial on fresh deals, with all matches; None where it was not chosen.
        findings: Of the checks; None where it was not chosen.
        replaced: The mechanics that it replaces.
        game: In words; None before it was worded, or where the model gave none.
        closest: Similarity to the known game that it is most like, and that game's name.
        within: Similarity to the variant that it is most like; None where it is alone.
        made: What came of its being coded; None before it.
    """

    number: int
    reason: str = ""
    twist: dict[str, JsonValue] = {}
    tried: TrialResult | None = None
    final: TrialResult | None = None
    findings: tuple[Finding, ...] | None = None
    replaced: tuple[Replacement, ...] = ()
    game: WordedGame | None = None
    closest: float | None = None
    like: str = ""
    within: float | None = None
    made: MadeGame | None = None

    @property
    def similarity(self) -> float:
        """The larger of both similarities; the less, the newer."""
        return max(self.closest or 0.0, self.within or 0.0)


@dataclass(frozen=True)
class VaryState:
    """All that passes between the nodes.

    Attributes:
        folder: The run's folder.
        base: The base in play; None before that, and in words.
        graph: The base's mechanics; None before that, and where settings are walked.
        problems: Of the base's rules, as a model found them.
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
    graph: MechanicGraph | None = None
    problems: tuple[str, ...] = ()
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
    def waiting(self) -> list[Variant]:
        """The candidates that nobody reflected on yet."""
        return [
            one
            for one in self.candidates
            if one.game is None and one.tried is None and not one.reason
        ]

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

    def but(self, **changes: Any) -> "VaryState":  # noqa: ANN401 - as of `replace`
        """With some of it changed."""
        return replace(self, **changes)

    def with_candidates(self, newer: Sequence[Variant]) -> "VaryState":
        """With candidates in the place of those of their numbers."""
        found = {one.number: one for one in (*self.candidates, *newer)}
        return self.but(candidates=tuple(found[number] for number in sorted(found)))


@resources
class VaryContext(ABC):
    """A way of varying with its resources, passed as `context=` when the machine is invoked.

    Attributes:
        folder: The run's folder.
        request: What the run was asked.
    """

    folder: RunFolder
    request: VaryRequest

    @property
    def remark(self) -> str:
        """Line on where it works; empty where there is nothing to say."""
        return ""

    @abstractmethod
    def known(self, state: VaryState, tell: Tell) -> VaryState:
        """Get to know the base."""

    @abstractmethod
    def proposed(self, state: VaryState, tell: Tell) -> VaryState:
        """Propose what may become a variant; without anything the run ends, and says why."""

    @abstractmethod
    def reflected(self, state: VaryState, tell: Tell) -> VaryState:
        """Look at what is proposed, and say of what is no game why it is not kept."""

    @abstractmethod
    def ranked(self, state: VaryState, tell: Tell) -> VaryState:
        """Choose what is made next; where nothing more is, the run ends."""

    @abstractmethod
    def made(self, state: VaryState, tell: Tell) -> VaryState:
        """Make, check and play what was chosen."""

    @abstractmethod
    def told(self, state: VaryState) -> VaryReport:
        """The report, with all that it names written into the run's folder."""
