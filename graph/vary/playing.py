"""Matches of a variation by settings: trials, checks, and the journals that keep them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass as resources
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from agents.strategy.contest import counted_lines
from games.checks import Finding, verdict
from games.checks.run import CheckSettings
from games.library.settings import value_text
from games.streams import stream
from games.values import Json
from graph.run.events import (
    MatchPlayed,
    Tell,
)
from graph.run.folder import RunFolderError
from graph.run.sandboxes import describe_grade
from graph.vary.bases import BaseGame
from graph.vary.settings import VarySettings
from graph.vary.state import Variant, VaryContext
from tools.checking import check_source
from tools.playtest.jobs import GameSetup
from tools.playtest.journal import JournalError, journal_at
from tools.playtest.of_run.budget import Work, rounded
from tools.playtest.of_run.played import jobs_here
from tools.playtest.runner import Workers, play_all
from tools.playtest.series import SeriesSettings, play_finding, play_series
from tools.variation.proposing import Twist
from tools.variation.trial import Amounts, TrialResult, TrialStoppedError, Tryout

if TYPE_CHECKING:
    from agents.players.registry import PlayerRoster
    from tools.sandbox import Sandbox

_Entry = TypeVar("_Entry", bound=BaseModel)
_Job = tuple[int, Callable[[], Json]]
_MOST_PLIES = 3000
_PROBED = 12  # matches
_PLIES = {"random": 40_000, "good": 12_000}  # of a candidate, about
_LONGER = 6  # times as many plies as the base's mean may a variant's match take
_LEAST_PLIES = 1000
_MATCHES = 100  # that `check` plays as `match` plays them
_SECONDS = 600.0  # of one check: no machine is so busy
NO_BASE = (
    "{} cannot be varied, as it cannot be measured: {}. Mend it first: rulewright check says what "
    "is wrong"
)


class JudgedVariant(BaseModel, frozen=True, extra="forbid"):
    """Entry of a variant's check.

    Attributes:
        findings: Of the whole check.
        final: Matches on fresh deals; None where it did not pass.
    """

    findings: tuple[Finding, ...]
    final: TrialResult | None


@resources
class PlayedVariation(VaryContext):
    """Variation whose candidates are played, in journals that a stopped run goes on from.

    Attributes:
        sandbox: Where games run.
        roster: Makes the players.
    """

    sandbox: "Sandbox"
    roster: "PlayerRoster"

    @property
    def remark(self) -> str:
        """Line on how far the sandbox holds."""
        return describe_grade(self.sandbox.grade)

    @property
    def base(self) -> BaseGame:
        """The game that is varied."""
        assert isinstance(self.request.base, BaseGame)  # for mypy; see `VaryRequest`
        return self.request.base

    @property
    def settings(self) -> VarySettings:
        """The run's settings."""
        assert isinstance(self.request.settings, VarySettings)  # for mypy; see `VaryRequest`
        return self.request.settings

    def seats_of(self, one: Variant) -> int:
        """Players of a variant."""
        return self.base.setup(one.twist).num_players

    def final_amounts(self, amounts: Amounts) -> Amounts:
        """The matches of a variant that is kept, and of the base beside it."""
        good = {"good": self.settings.final_good, "mixed": self.settings.final_good}
        return amounts.model_copy(update={"random": self.settings.final_random, **good})

    def job(self, twist: Twist, purpose: str, amounts: Amounts) -> Callable[[], Json]:
        """The base with changed settings, to be tried with streams of this purpose."""
        game = self.base.setup(twist)
        seed = int(stream(self.settings.seed, f"vary {purpose}").integers(2**63))
        tryout = Tryout(game, seed, amounts, self.roster, self.sandbox)

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

    def judging(self, variant: Variant, final: Amounts) -> Callable[[], Json]:
        """A variant's whole check, and its matches on fresh deals where it passes."""
        game, settings = self.base.made(variant.twist), self.settings
        seed = int(stream(settings.seed, "vary checks", match=variant.number).integers(2**63))
        play = self.job(variant.twist, "final", final)

        def judged() -> Json:
            findings, played = _checked(self, game, seed), None
            if verdict(findings) == "passed":
                played = TrialResult.model_validate(play())
            return JudgedVariant(findings=tuple(findings), final=played).model_dump(mode="json")

        return judged

    def side_by_side(
        self,
        name: str,
        jobs: Sequence[_Job],
        model: type[_Entry],
        tell: Tell,
        workers: int | None = None,
    ) -> dict[int, _Entry]:
        """The entries of jobs by index, from the journal of this name or played now.

        Raises:
            JournalError: If the journal holds what no job of these leaves.
        """
        path: Path = self.folder.journals / f"{name}.jsonl"
        found: dict[int, _Entry] = {}
        asked = {index for index, _ in jobs}
        node, series = _SAID.get(name, _SAID["check"])
        about: dict[str, Json] = {"vary": name, "jobs": [index for index, _ in jobs]}
        side_by_side = Workers(workers or jobs_here(), "threads")
        with journal_at(path, about) as journal:
            for index, entry in play_all(jobs, _called, journal=journal, workers=side_by_side):
                try:
                    found[index] = model.model_validate(entry)
                except ValidationError as error:
                    raise _foreign(path, index) from error
                if index not in asked:
                    raise _foreign(path, index)
                tell(MatchPlayed(node=node, series=series, played=len(found), of=len(jobs)))
        return dict(sorted(found.items()))

    def trial_amounts(self) -> Amounts:
        """The matches of a candidate's trial: fewer where the base's take much work.

        The good player follows all heuristics, or the one that runs the fewest lines where all
        together are too much work.
        """
        settings, game = self.settings, self.base.setup({})
        lines, seen, scored = counted_lines(game, self.sandbox)
        plies = self._plies_of(game)
        work = Work(lines=rounded(lines), seen=rounded(seen), plies=rounded(plies))
        fewest = settings.final_good // 10 or 1
        at_most = {name: max(fewest, int(of / plies)) for name, of in _PLIES.items()}
        wanted = min(settings.good_matches, at_most["good"])
        player = "greedy" if game.heuristics else ""
        good = work.matches("trial", wanted, quick=True, scored=rounded(scored))
        if good < wanted and len(game.heuristics) > 1:
            alone = {
                name: counted_lines(replace(game, heuristics={name: source}), self.sandbox)[2]
                for name, source in sorted(game.heuristics.items())
            }
            least = min(alone, key=lambda name: alone[name])
            player, scored = f"greedy:heuristic={least}", alone[least]
            good = work.matches("trial", wanted, quick=True, scored=rounded(scored))
        good = max(fewest, good)
        return Amounts(
            random=min(settings.trial_matches, max(good, at_most["random"])),
            good=good,
            mixed=good,
            max_plies=min(_MOST_PLIES, max(_LEAST_PLIES, int(_LONGER * plies))),
            player=player,
        )

    def _plies_of(self, game: GameSetup) -> float:
        """The mean plies of some random matches.

        Raises:
            RunFolderError: If one of them does not end.
        """
        seats = game.num_players
        asked = SeriesSettings(
            _PROBED * seats, self.settings.seed, _MOST_PLIES, replay=False, record=False
        )
        played = play_series(game, ["random"] * seats, self.roster, asked, sandbox=self.sandbox)
        if reason := next(iter(played.tables.reasons()), ""):
            raise RunFolderError(NO_BASE.format(self.base.name, reason))
        return fmean(entry.plies for entry in played.entries.values())


_SAID = {
    "base": ("base", "the base under other seeds"),
    "trial": ("reflect", "candidates"),
    "check": ("make", "chosen variants"),
}


def _called(job: Callable[[], Json]) -> Json:
    return job()


def _foreign(path: Path, index: int) -> JournalError:
    return JournalError(
        f'{path} holds an entry of "index":{index} that no run writes; delete its line to play '
        "that part again"
    )


def _checked(of: PlayedVariation, game: GameSetup, seed: int) -> list[Finding]:
    """The findings of all that the command `check` asks."""
    settings = CheckSettings(seed=seed)
    run = check_source(
        of.sandbox,
        game.source,
        settings=settings,
        num_players=game.num_players,
        parameters={},
        deadline_s=_SECONDS,
        records=0,
    )
    findings = list(run.findings)
    if verdict(findings) == "passed":
        asked = SeriesSettings(_MATCHES, seed, settings.max_plies, record=False)
        findings.append(play_finding(of.sandbox, game, of.roster, asked))
    return findings
