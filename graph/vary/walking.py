"""Variation by a walk through settings: candidates are told apart by how they play."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass as resources

from agents.composer.designer import family_design
from agents.composer.keeping import kept_settings
from games.checks import verdict
from games.library.settings import PLAYERS
from games.streams import stream
from graph.run.candidates import what_failed
from graph.run.events import BaseMeasured, Checked, Tell, TwistsProposed, VariantsChosen
from graph.run.folder import RunFolderError
from graph.run.sandboxes import grades_of, keep_grade
from graph.run.settings import versions
from graph.vary.playing import NO_BASE, JudgedVariant, PlayedVariation
from graph.vary.report import VariantRow, VaryReport
from graph.vary.state import BaseNoise, Variant, VaryState
from tools.playtest.of_run.played import jobs_here
from tools.variation.profile import (
    chance_distance,
    farthest,
    mean_profile,
    profile_distance,
    units_of,
)
from tools.variation.proposing import SettingSpace
from tools.variation.trial import TrialResult


@resources
class SettingsWalk(PlayedVariation):
    """Walk through a game's settings."""

    def known(self, state: VaryState, tell: Tell) -> VaryState:
        """Play the base under several seeds, so that its own noise is the unit of every distance.

        Raises:
            RunFolderError: If it is no game that can be played.
        """
        amounts, seeds = self.trial_amounts(), self.settings.base_seeds
        jobs = [(n, self.job({}, f"base {n}", amounts)) for n in range(seeds)]
        jobs.append((seeds, self.job({}, "final", self.final_amounts(amounts))))
        entries = self.side_by_side("base", jobs, TrialResult, tell)
        *found, result = entries.values()
        if problem := next((one.problem for one in (*found, result) if one.problem), ""):
            raise RunFolderError(NO_BASE.format(self.base.name, problem))
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
        jobs = [(one.number, self.job(one.twist, "trial", amounts)) for one in state.candidates]
        found = self.side_by_side("trial", jobs, TrialResult, tell)
        tried = []
        for one in state.candidates:
            result = found[one.number]
            reason = result.problem or state.dull(result, self.seats_of(one))
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
        final = self.final_amounts(state.noise.amounts)
        jobs = [(one.number, self.judging(one, final)) for one in new]
        name = f"check-{len(state.chosen) - len(new)}"
        found = self.side_by_side(name, jobs, JudgedVariant, tell, max(1, jobs_here() // 2))
        judged, others = list[Variant](), [one for one in state.kept if one.final is not None]
        for one in new:
            entry = found[one.number]
            played = one.model_copy(update={"findings": entry.findings, "final": entry.final})
            reason = _objection(played, state, self.seats_of(one), others)
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
