"""Compare: drafts that passed are played on each other; the designer rules where they part."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import Ambiguity, Claim, Design, Parting, Ruling
from games.checks import Finding
from games.values import ModuleFault
from graph.new.claims import outdated, to_settle, unjudged
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.reporting import write_design
from graph.new.state import (
    AfterComparing,
    RunState,
    after_check,
    drafts_passed,
    folder_of,
    go_on,
    need_design,
)
from graph.new.trial import UNREADABLE, Trial, not_passing, write_checks
from graph.run.candidates import Candidate
from graph.run.events import DraftsCompared, writer_of
from tools.differing import Differential, differential_sources

_MATCHES = 20
_ACTIONS_SHOWN = 30


def compare(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterComparing]:
    """Accept the draft whose readings hold; where none does, the drafts are refined."""
    context = context_of(runtime, state.folder, state.seed)
    bout = _Bout(context, need_design(state))
    holder = bout.winner(_rivals(state.candidates))
    ruled = [one.ruling.rule for one in bout.found if one.ruling]
    claims = outdated(state.claims, ruled)
    bout.notes += [
        f"the {'test' if claim.test else 'verdict'} {claim.id} spoke for {claim.rule} as it read "
        "before; it counts no more"
        for claim in claims
        if claim not in state.claims
    ]
    if holder is not None and ruled:
        holder, claims = bout.retested(holder, claims, ruled)
    after = state.with_versions(*bout.losers, *([holder] if holder else []))
    writer_of(runtime.stream_writer)(DraftsCompared(ambiguities=len(bout.found)))
    if bout.design != state.design and state.brief is not None:
        write_design(folder_of(state), bout.design, state.brief)
        after = after.designed(bout.design)
    shown = holder or after.candidates[-1]
    write_checks(state, context, shown, claims)
    last = state.rounds >= context.settings.max_rounds
    settle = to_settle(claims, after.candidates, last=last) if holder else ()
    goto = after_check(holder.outcome if holder else "failed", last=last, vote=bool(settle))
    after = after.ruling(bout.found).holding(claims, settle).noting(bout.notes)
    if goto == "strategize":
        notes = context.notes_of_play(shown.source, bout.design)
        after = after.accepting(shown.number).noting(notes)
    if goto == "report":
        after = after.ending("gave_up", not_passing(state.rounds, shown.findings))
    return go_on(goto, state, after)


def _rivals(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Of every draft the newest version that passed, and whose records were looked at."""
    by_number = {candidate.number: candidate for candidate in candidates}
    passed = [by_number[number] for number in drafts_passed(candidates).values()]
    return [one for one in passed if not unjudged(one)] or passed


@dataclass
class _Bout:
    """Candidates that passed, each held against the one that holds so far.

    Attributes:
        design: As the rulings amended it.
        found: Every place at which two of them parted.
        losers: Candidates that a ruling went against, with the finding that says so.
        notes: What a person should know.
    """

    context: RunContext
    design: Design
    found: list[Ambiguity] = field(default_factory=list)
    losers: list[Candidate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def winner(self, passed: Sequence[Candidate]) -> Candidate | None:
        """The candidate that no ruling went against; None where each has one against it."""
        holder: Candidate | None = None
        for rival in passed:
            holder = rival if holder is None else self._against(holder, rival)
        return holder

    def retested(
        self, holder: Candidate, claims: tuple[Claim, ...], ruled: Sequence[str]
    ) -> tuple[Candidate, tuple[Claim, ...]]:
        """The holder against the tests of the rules as they read now, and the claims after it."""
        trial = Trial(self.design, self.context, holder.number, holder.source, ruled)
        tried = trial.retested(claims)
        tests = {claim.id for claim in tried.claims if claim.test}
        kept = [found for found in holder.findings or () if found.claim not in tests]
        findings, lacking = (*kept, *tried.findings), (*holder.lacking, *tried.lacking)
        return replace(holder, findings=findings, lacking=lacking), tried.claims

    def _against(self, holder: Candidate, rival: Candidate) -> Candidate | None:
        try:
            told = differential_sources(
                self.context.sandbox,
                holder.source,
                rival.source,
                num_players=self.design.num_players,
                matches=_MATCHES,
                at_ends=_MATCHES,
                seed=self.context.settings.seed,
                max_plies=self.context.settings.check.max_plies,
            )
        except ModuleFault as fault:
            self.notes.append(f"{_pair(holder, rival)} could not be compared: {fault}")
            return holder
        if told.outcome == "could_not_judge" or told.divergence is None:
            self.notes += _uncompared(holder, rival, told)
            return holder
        where = asdict(told.divergence)
        shown = {"match": where.pop("match") + 1, "actions": where.pop("history")[-_ACTIONS_SHOWN:]}
        parting = Parting(candidates=(holder.number, rival.number), **shown, **where)
        return self._ruled(parting, holder, rival)

    def _ruled(self, parting: Parting, holder: Candidate, rival: Candidate) -> Candidate | None:
        """Who holds after the ruling; without one that can be read, nothing is held back."""
        referee, lacking = self.context.roles.referee, "nobody could be asked"
        ruling: Ruling | None = None
        try:
            with place(f"compare/{holder.number}/{rival.number}"):
                ruling = referee.rule_on(self.design, parting) if referee is not None else None
        except UNREADABLE as error:
            lacking = str(error)
        if ruling is None:
            self._note(Ambiguity(parting=parting, lacking=lacking))
            return holder
        before = next((r.text for r in self.design.rules if r.id == ruling.rule), "")
        amended = {"text": ruling.text}
        rules = tuple(
            rule.model_copy(update=amended) if rule.id == ruling.rule else rule
            for rule in self.design.rules
        )
        self.design = self.design.model_copy(update={"rules": rules})
        self._note(Ambiguity(parting=parting, ruling=ruling, before=before))
        lost = {"first": [rival], "second": [holder], "neither": [holder, rival]}[ruling.holds]
        self.losers += [_held_against(one, parting, ruling) for one in lost]
        return {"first": holder, "second": rival, "neither": None}[ruling.holds]

    def _note(self, one: Ambiguity) -> None:
        self.found.append(one)
        self.notes.append(_told(one))


def _held_against(loser: Candidate, parting: Parting, ruling: Ruling) -> Candidate:
    own = parting.readings[parting.candidates.index(loser.number)]
    evidence = f"{_where(parting)}, {parting.about}: the module says {own}. {ruling.working}"
    noted = Finding(check="reading", outcome="failed", rule=ruling.rule, evidence=evidence)
    return replace(loser, findings=(*(loser.findings or ()), noted))


def _pair(one: Candidate, other: Candidate) -> str:
    return f"candidates {one.number} and {other.number}"


def _uncompared(holder: Candidate, rival: Candidate, told: Differential) -> list[str]:
    if told.outcome == "agree":
        return []
    why = "they call their actions differently" if told.divergence else "no match was finished"
    return [f"{_pair(holder, rival)} could not be compared: {why}"]


def _where(parting: Parting) -> str:
    after = ", ".join(parting.actions[-3:]) or "the start"
    return f"in match {parting.match}, at ply {parting.ply}, after {after}"


def _told(one: Ambiguity) -> str:
    """An ambiguity with both readings and the ruling, for the report."""
    parting, ruling = one.parting, one.ruling
    said = [
        f"candidate {number} says {reading}"
        for number, reading in zip(parting.candidates, parting.readings, strict=True)
    ]
    text = f"the rules were read in two ways: {_where(parting)}, {parting.about}: "
    text += " and ".join(said)
    if ruling is None:
        taken = parting.candidates[0]
        return f"{text}; no ruling was made ({one.lacking}), so candidate {taken} was kept"
    who = {"first": "the first reading holds", "second": "the second reading holds"}
    ruled = who.get(ruling.holds, "neither reading holds")
    return f"{text}; the designer ruled that {ruled}; {ruling.rule} now reads: {ruling.text}"
