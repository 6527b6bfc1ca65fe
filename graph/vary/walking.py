"""Variation by a walk through settings: candidates are told apart by how they play."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass as resources
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from agents.composer.designer import family_design
from agents.composer.keeping import kept_settings
from agents.strategy.contest import counted_lines
from games.checks import Finding, verdict
from games.checks.run import CheckSettings
from games.library.settings import PLAYERS, value_text
from games.streams import stream
from games.values import Json
from graph.run.candidates import what_failed
from graph.run.events import (
    BaseMeasured,
    Checked,
    MatchPlayed,
    Tell,
    TwistsProposed,
    VariantsChosen,
)
from graph.run.folder import RunFolderError
from graph.run.sandboxes import describe_grade, grades_of, keep_grade
from graph.run.settings import versions
from graph.vary.bases import BaseGame
from graph.vary.report import VariantRow, VaryReport
from graph.vary.settings import VarySettings
from graph.vary.state import BaseNoise, Variant, VaryContext, VaryState
from tools.checking import check_source
from tools.playtest.jobs import GameSetup
from tools.playtest.journal import JournalError, journal_at
from tools.playtest.of_run.budget import Work, rounded
from tools.playtest.of_run.played import jobs_here
from tools.playtest.runner import Workers, play_all
from tools.playtest.series import SeriesSettings, play_finding, play_series
from tools.variation.profile import (
    chance_distance,
    farthest,
    mean_profile,
    profile_distance,
    units_of,
)
from tools.variation.proposing import SettingSpace, Twist
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
_NO_BASE = (
    "{} cannot be varied, as it cannot be measured: {}. Mend it first: rulewright check says what "
    "is wrong"
)


class _Judged(BaseModel, frozen=True, extra="forbid"):
    findings: tuple[Finding, ...]
    final: TrialResult | None


@resources
class SettingsWalk(VaryContext):
    """Walk through a game's settings.

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

    def known(self, state: VaryState, tell: Tell) -> VaryState:
        """Play the base under several seeds, so that its own noise is the unit of every distance.

        Raises:
            RunFolderError: If it is no game that can be played.
        """
        amounts, seeds = self._amounts(), self.settings.base_seeds
        jobs = [(n, self._job({}, f"base {n}", amounts)) for n in range(seeds)]
        jobs.append((seeds, self._job({}, "final", self._final(amounts))))
        entries = self._side_by_side("base", jobs, TrialResult, tell)
        *found, result = entries.values()
        if problem := next((one.problem for one in (*found, result) if one.problem), ""):
            raise RunFolderError(_NO_BASE.format(self.base.name, problem))
        profiles = [one.profile for one in found]
        noise = BaseNoise(
            mean=mean_profile(profiles),
            units=units_of(profiles),
            chance=chance_distance(profiles),
            result=result,
            amounts=amounts,
        )
        tell(BaseMeasured(seeds=len(found), chance_distance=f"{noise.chance:.2f}"))
        return state.but(base=noise)

    def proposed(self, state: VaryState, tell: Tell) -> VaryState:
        """Propose settings that are near the base's, several changed at once too."""
        settings, game = self.settings, self.base
        keeping = kept_settings(settings.keep, game.family, game.fields)
        seats = set() if settings.free_seats else {PLAYERS}
        space = SettingSpace(
            *(game.fields, game.settings, frozenset(keeping.held) | seats),
            *(game.presets, game.objection),
        )
        draw = stream(settings.seed, "vary proposals")
        twists = space.proposals(settings.candidates * settings.n, draw)
        kept = ", ".join(keeping.held)
        tell(TwistsProposed(candidates=len(twists), kept=kept, not_understood=keeping.unread))
        return state.but(
            candidates=tuple(Variant(number=n, twist=one) for n, one in enumerate(twists, 1)),
            held=dict(keeping.held),
            unread=tuple(keeping.unread),
            unranged=tuple(space.unranged),
            end=None if twists else "none",
            reason="" if twists else "no setting is free to change",
        )

    def reflected(self, state: VaryState, tell: Tell) -> VaryState:
        """Play every candidate a little; one with a problem is not kept, and it is said why."""
        amounts = state.noise.amounts
        jobs = [(one.number, self._job(one.twist, "trial", amounts)) for one in state.candidates]
        found = self._side_by_side("trial", jobs, TrialResult, tell)
        tried = []
        for one in state.candidates:
            result = found[one.number]
            reason = result.problem or state.dull(result, self._seats(one))
            tried.append(one.model_copy(update={"tried": result, "reason": reason}))
        return state.with_candidates(tried)

    def ranked(self, state: VaryState, tell: Tell) -> VaryState:
        """Choose as many as are still wanted by farthest points, with the base in the set."""
        able = [one for one in state.candidates if one.tried and one.tried.profile]
        profiles = [state.noise.mean, *(one.tried.profile for one in able if one.tried)]
        units = state.noise.units
        distances = [[profile_distance(a, b, units) for b in profiles] for a in profiles]
        kept = {one.number for one in state.kept}
        there = [0, *(i for i, one in enumerate(able, 1) if one.number in kept)]
        free = [i for i, one in enumerate(able, 1) if not one.reason and one.number not in kept]
        wanted = self.settings.n - len(kept)
        found = farthest(distances, there, free, wanted, state.noise.chance)
        if found:
            tell(VariantsChosen(chosen=len(found), of=len(free)))
            numbers = [able[i - 1].number for i in found]
            return state.but(chosen=(*state.chosen, *numbers))
        if not wanted:
            return state.but(end="varied")
        reason = "no further candidate passes, and is told from the base and the others in play"
        return state.but(end="fewer" if kept else "none", reason=reason)

    def made(self, state: VaryState, tell: Tell) -> VaryState:
        """Check and play those that were chosen; one that fails, or plays as the base, is out."""
        keep_grade(self.folder, self.sandbox.grade)
        new = [one for one in state.kept if one.findings is None]
        final = self._final(state.noise.amounts)
        jobs = [(one.number, self._judging(one, final)) for one in new]
        name = f"check-{len(state.chosen) - len(new)}"
        found = self._side_by_side(name, jobs, _Judged, tell, max(1, jobs_here() // 2))
        judged, others = list[Variant](), [one for one in state.kept if one.final is not None]
        for one in new:
            entry = found[one.number]
            played = one.model_copy(update={"findings": entry.findings, "final": entry.final})
            reason = _objection(played, state, self._seats(one), others)
            judged.append(played.model_copy(update={"reason": reason}))
            others += [] if reason else [played]
            wrong = tuple(f.check for f in entry.findings if f.outcome != "passed")
            tell(Checked(candidate=one.number, outcome=reason or "kept", failed=wrong))
        return state.with_candidates(judged)

    def told(self, state: VaryState) -> VaryReport:
        """The report; each variant has its module, rulebook, players and design."""
        rows = [self._row(state, one, number) for number, one in enumerate(state.kept, 1)]
        noise, grade = state.noise, grades_of(self.folder, self.sandbox.grade)[0]
        if noise.result.figures is None or state.end is None:
            raise ValueError("the run has no end, or the base no figures")
        return VaryReport(
            base=self.base.name,
            title=self.base.title,
            end=state.end,
            reason=state.reason,
            chance=noise.chance,
            units=noise.units,
            profile=noise.mean,
            figures=noise.result.figures,
            variants=tuple(rows),
            tried=len(state.candidates),
            dropped=dict(Counter(one.reason for one in state.candidates if one.reason)),
            kept=state.held,
            not_understood=state.unread,
            not_varied=state.unranged,
            settings=self.settings,
            versions=versions(),
            sandbox=grade,
        )

    def _row(self, state: VaryState, one: Variant, number: int) -> VariantRow:
        game, place, setup = self.base, f"variants/{number}", self.base.setup(one.twist)
        texts = {"game.py": game.module(one.twist), "rulebook.md": game.rulebook(one.twist)}
        texts |= {f"players/{name}.py": source for name, source in game.heuristics.items()}
        if game.family:  # for `compare` and `explain`
            design = family_design(game.family, setup.parameters, setup.num_players)
            texts["design.json"] = design.model_dump_json(indent=2) + "\n"
        self.folder.write_together({f"{place}/{name}": text for name, text in texts.items()})
        return VariantRow(
            number=number,
            title=game.titled(one.twist),
            difference=game.difference(one.twist),
            changed=one.twist,
            novelty=state.novelty(one),
            figures=one.final.figures if one.final else None,
            profile=one.final.profile if one.final else {},
            folder=place,
            command=game.command(one.twist),
            checks=len(one.findings or ()),
        )

    def _seats(self, one: Variant) -> int:
        return self.base.setup(one.twist).num_players

    def _final(self, amounts: Amounts) -> Amounts:
        good = {"good": self.settings.final_good, "mixed": self.settings.final_good}
        return amounts.model_copy(update={"random": self.settings.final_random, **good})

    def _job(self, twist: Twist, purpose: str, amounts: Amounts) -> Callable[[], Json]:
        """The base with changed settings, to be tried with streams of this purpose."""
        game = self.base.setup(twist)
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

    def _judging(self, variant: Variant, final: Amounts) -> Callable[[], Json]:
        game, settings = self.base.made(variant.twist), self.settings
        seed = int(stream(settings.seed, "vary checks", match=variant.number).integers(2**63))
        play = self._job(variant.twist, "final", final)

        def judged() -> Json:
            findings, played = _checked(self, game, seed), None
            if verdict(findings) == "passed":
                played = TrialResult.model_validate(play())
            return _Judged(findings=tuple(findings), final=played).model_dump(mode="json")

        return judged

    def _side_by_side(
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

    def _amounts(self) -> Amounts:
        """The matches of a candidate's trial: fewer where the base's take much work."""
        settings, game = self.settings, self.base.setup({})
        lines, seen, scored = counted_lines(game, self.sandbox)
        plies = self._plies_of(game)
        work = Work(lines=rounded(lines), seen=rounded(seen), plies=rounded(plies))
        fewest = settings.final_good // 10 or 1
        at_most = {name: max(fewest, int(of / plies)) for name, of in _PLIES.items()}
        good = min(settings.good_matches, at_most["good"])
        good = work.matches("heuristic", good, quick=True, scored=rounded(scored))
        return Amounts(
            random=min(settings.trial_matches, max(good, at_most["random"])),
            good=good,
            mixed=good,
            max_plies=min(_MOST_PLIES, max(_LEAST_PLIES, int(_LONGER * plies))),
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
            raise RunFolderError(_NO_BASE.format(self.base.name, reason))
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


def _checked(walk: SettingsWalk, game: GameSetup, seed: int) -> list[Finding]:
    """The findings of all that the command `check` asks."""
    settings = CheckSettings(seed=seed)
    run = check_source(
        walk.sandbox,
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
        findings.append(play_finding(walk.sandbox, game, walk.roster, asked))
    return findings


def _objection(variant: Variant, state: VaryState, seats: int, others: Sequence[Variant]) -> str:
    """Why a variant is not kept; empty where it is."""
    outcome = verdict(variant.findings or ())
    if outcome != "passed":
        told = "the checks" if outcome == "failed" else "could not be judged"
        return f"{told}: {what_failed(variant.findings or ())}"
    if variant.final is None or variant.final.problem:
        return variant.final.problem if variant.final else "it was not played"
    if why := state.dull(variant.final, seats):
        return why
    if state.novelty(variant) <= state.noise.chance:
        return "on fresh deals it is not told from the base in play"
    if any(state.between(variant, other) <= state.noise.chance for other in others):
        return "on fresh deals it is not told from another variant in play"
    return ""
