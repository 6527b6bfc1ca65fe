"""Judging a candidate: its tests, the held-out matches, random play in it, and steadiness."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from agents.roles.modeller import FailedTests
from games.checks import Finding
from games.trajectories import OpenTrajectory, Trajectory
from games.values import ModuleFault, State
from graph.learn.calibration import calibrated
from graph.learn.matches import Material, all_sights, open_matches, played_around, some_sights
from graph.learn.state import Judged, LearnContext, LearnState, TypeRow
from graph.run.candidates import EDIT, Candidate, tried_from
from tools.playtest.runner import Workers, play_all
from tools.predicting import failing
from tools.predicting.inference import Inferred, inferred
from tools.predicting.playing import Played
from tools.predicting.steady import arguments_kept, asked_again, imports, late_answers, names_told
from tools.predicting.tensors import RoundTrips, round_trips
from tools.predicting.transition import LOADING, Predicted, RecordQuestions, Row, predicted
from tools.sources import learned_module

START = "INITIAL_STATE"
BELOW = "# Below this line stands what was learned on top of the model."
ARRAYS = "# Of that, observations as arrays of numbers."
_AT_ONCE = 2
_AGAIN_MATCHES = 6


@dataclass(frozen=True)
class Judge:
    """Judges candidates of a run as its state stands."""

    context: LearnContext
    state: LearnState
    promoted: tuple[int, ...]

    def all(self, candidates: Sequence[Candidate]) -> dict[int, Judged]:
        """Each candidate's judgement; several at a time."""
        jobs = [(candidate.number, candidate) for candidate in candidates]
        workers = Workers(jobs=min(_AT_ONCE, max(1, len(jobs))), kind="threads")
        found = play_all(
            jobs, lambda one: self.one(one).model_dump(mode="json"), journal=None, workers=workers
        )
        return {number: Judged.model_validate(entry) for number, entry in found}

    def one(self, candidate: Candidate) -> Judged:
        """A candidate's judgement."""
        if self.state.stage == "tensors":
            return self._turning(candidate)
        if self.context.settings.closed_deck:
            return self._closed(candidate)
        if self.state.stage == "transition":
            return self._predicting(candidate)
        return self._inferring(candidate)

    @property
    def training(self) -> list[Trajectory]:
        """Matches that candidates are held against from the first."""
        return self.context.material.training(self.promoted)

    @property
    def heldout(self) -> list[Trajectory]:
        """Matches that only those are held against that pass all else."""
        return self.context.material.heldout(self.promoted)

    def _predicting(self, candidate: Candidate) -> Judged:
        heldout, (asked, kept) = self.heldout, _questions(self.context.material, self.promoted)
        met = self._predicted(candidate.source, asked)
        failures = [*met.failures, *imports(candidate.source)]
        held: Predicted | None = None
        if met.accuracy == 1.0 and not failures:
            failures += self._play(candidate.source, self.context.material.start).failures
            again = open_matches(self.training)[:_AGAIN_MATCHES]
            failures += asked_again(self.context.sandbox, candidate.source, again)
            failures += arguments_kept(self.context.sandbox, candidate.source, again)
            seats = self.context.material.header.num_players
            failures += names_told(self.context.sandbox, candidate.source, seats)
            held = self._predicted(candidate.source, kept) if heldout else None
        return Judged(
            number=candidate.number,
            right=met.right,
            records=met.records,
            distinct_right=met.distinct_right,
            distinct=met.distinct,
            held_right=held.right if held else 0,
            held=held.records if held else 0,
            rows=joined_rows(met.rows, held.rows if held else ()),
            failures=tuple(failures),
            broken=tuple(sorted(heldout[n].match for n in held.matches)) if held else (),
        )

    def _predicted(self, source: str, questions: RecordQuestions) -> Predicted:
        settings = self.context.settings
        return predicted(
            self.context.sandbox,
            source,
            questions,
            shown=settings.tests_shown,
            deadline_s=settings.deadline_s,
        )

    def _inferring(self, candidate: Candidate) -> Judged:
        start = self.context.material.start
        found = self._inferred(candidate.source, self.training, start)
        failures = [*found.failures, *imports(candidate.source)]
        held: Inferred | None = None
        told: dict[str, Any] = {}
        if found.accuracy == 1.0 and not failures:
            held = self._inferred(candidate.source, self.heldout, start) if self.heldout else None
            module = module_of(self.context, candidate.source, start)
            try:
                drawn = calibrated(
                    self.context.sandbox,
                    module,
                    open_matches(self.training),
                    self.state.inference,
                    start=start,
                    seed=self.context.settings.seed,
                    calls=self.context.settings.posterior_calls,
                )
                failures += drawn.failures
                told = drawn.told()
            except ModuleFault as fault:
                failures.append(failing("calibration", fault.function, "", "", fault, "drawing"))
        judged = _of_counts(candidate.number, found, held, failures)
        return judged.model_copy(update={"calibration": told})

    def _inferred(
        self, source: str, matches: Sequence[Trajectory], start: State, *, closed: bool = False
    ) -> Inferred:
        settings, header = self.context.settings, self.context.material.header
        sights = all_sights(matches, header.num_players, header.seat)
        function: Any = self.state.inference or "resample_history"
        return inferred(
            self.context.sandbox,
            source,
            some_sights(sights, settings.sights, settings.seed),
            function=function,
            initial_state=start,
            draws=settings.draws,
            seed=settings.seed,
            closed=closed,
            shown=settings.tests_shown,
            deadline_s=settings.deadline_s,
        )

    def _turning(self, candidate: Candidate) -> Judged:
        """Round trips of what seats saw in recorded matches and in random ones in the model."""
        header, source = self.context.material.header, candidate.source
        model = self.state.candidate(self.state.base or 0).source

        def met(matches: Sequence[Trajectory], width: int = 0) -> RoundTrips:
            sights = all_sights(matches, header.num_players, header.seat)
            shown = self.context.settings.tests_shown
            return round_trips(self.context.sandbox, source, sights, width=width, shown=shown)

        fresh = self._play(model, start_of(self.context, model)).matches
        found = met([*self.training, *fresh])
        failures = [*found.failures, *imports(source, ["numpy"])]
        held = met(self.heldout, found.width) if self.heldout and not failures else None
        judged = _of_counts(candidate.number, found, held, failures)
        return judged.model_copy(update={"width": found.width})

    def _closed(self, candidate: Candidate) -> Judged:
        try:
            start = own_start(self.context, candidate.source)
        except ModuleFault as fault:
            told = failing(LOADING, START, START, "the first state, a dict", fault, "at first")
            header = self.context.material.header
            count = len(all_sights(self.training, header.num_players, header.seat))
            return Judged(number=candidate.number, records=count, failures=(told,))
        found = self._inferred(candidate.source, self.training, start, closed=True)
        played = self._play(candidate.source, start)
        failures = [*found.failures, *imports(candidate.source), *played.failures]
        held: Inferred | None = None
        if found.accuracy == 1.0 and not failures and self.heldout:
            held = self._inferred(candidate.source, self.heldout, start, closed=True)
        return _of_counts(candidate.number, found, held, failures)

    def _play(self, source: str, start: State) -> Played:
        settings = self.context.settings
        try:
            module = module_of(self.context, source, start)
        except ModuleFault as fault:
            said = failing(LOADING, fault.function, "completing the source", "a module", fault, "")
            return Played((), (said,))
        played = self.context.play(module, settings.play_matches, settings.seed)
        late = late_answers(self.context.sandbox, source, played.matches, settings.seed)
        return replace(played, failures=(*played.failures, *late))


def above_of(state: LearnState) -> str:
    """The line above what the stage adds to the accepted model."""
    return ARRAYS if state.stage == "tensors" else BELOW


@lru_cache(maxsize=2)
def _questions(
    material: Material, promoted: tuple[int, ...]
) -> tuple[RecordQuestions, RecordQuestions]:
    """The questions of the training and of the held-out matches, made once for all candidates."""
    training, heldout = material.training(promoted), material.heldout(promoted)
    return RecordQuestions.of(open_matches(training)), RecordQuestions.of(open_matches(heldout))


def module_of(context: LearnContext, source: str, start: State) -> str:
    """A learned source as a whole game module; see `learned_module`."""
    header = context.material.header
    return learned_module(
        source,
        name=game_name(header.environment),
        num_players=header.num_players,
        initial_state=start,
        parameters=header.parameters,
    )


def game_name(environment: str) -> str:
    """The game's name: nothing of where it lies, or of the game that a twin is made of.

    >>> [game_name(n) for n in ("openspiel:leduc_poker", "twin:3:openspiel:leduc_poker")]
    ['leduc_poker', 'a game']
    >>> [game_name(n) for n in ("mine/trolls.py", "mine/trolls/game.py", "game.py")]
    ['trolls', 'trolls', 'a game']
    """
    name = environment.rpartition(":")[2]
    if environment.startswith("twin:"):
        return "a game"
    path = PurePath(name)
    if path.suffix == ".py":
        name = path.parent.name if path.stem == "game" else path.stem
    return name or "a game"


def start_of(context: LearnContext, source: str) -> State:
    """The first state that a candidate plays from: the recorded one, or in a closed deck its own.

    Raises:
        ModuleFault: If a closed deck's source gives none.
    """
    if context.settings.closed_deck:
        return own_start(context, source)
    return context.material.start


def own_start(context: LearnContext, source: str) -> State:
    """The constant `INITIAL_STATE` of a source.

    Raises:
        ModuleFault: If there is none, or it is no state.
    """
    with context.sandbox.loaded("start", source) as worker:
        value = worker.request("constant", {"name": START}, worker.limits.call_s)
    if not isinstance(value, dict):
        raise ModuleFault("bad_value", START, f"is {value!r:.80}; required: a dict")
    return value


def joined_rows(training: Sequence[Row], held: Sequence[Row]) -> tuple[TypeRow, ...]:
    """The rows of both, by phase and type of action."""
    both: dict[tuple[str, str], list[int]] = {}
    for rows, at in ((training, 0), (held, 2)):
        for row in rows:
            counts = both.setdefault((row.phase, row.action), [0, 0, 0, 0])
            counts[at] += row.right
            counts[at + 1] += row.records
    return tuple(
        TypeRow(phase=p, action=a, right=n[0], records=n[1], held_right=n[2], held=n[3])
        for (p, a), n in sorted(both.items())
    )


def share_of(judged: Judged, settings: Mapping[str, int]) -> float:
    """The share of a candidate's tests that hold, its heuristic value in the tree.

    Imports and steadiness count as one record each, random play as its matches.

    >>> share_of(Judged(number=0, right=3, records=4), {"play": 2})
    0.75
    """
    further = [f for f in judged.failures if f.check in ("play", "steady", "calibration")]
    lost = sum(settings["play"] if f.check == "play" else 1 for f in further)
    return judged.right / (judged.records + lost) if judged.records else 0.0


def failed_tests(
    parent: Candidate,
    judged: Judged,
    candidates: Sequence[Candidate],
    matches: Sequence[OpenTrajectory],
    most: int,
) -> FailedTests:
    """What a refinement of a candidate is told.

    Args:
        parent: The candidate.
        judged: How it was judged.
        candidates: All of the run, for those that were made of it.
        matches: Recorded matches of an open deck that may be shown.
        most: Failing tests of each kind.
    """
    kinds: Counter[str] = Counter()
    wrong: list[Finding] = []
    for found in parent.findings or ():
        kinds[found.check] += 1
        if found.outcome != "passed" and kinds[found.check] <= most:
            wrong.append(found)
    return FailedTests(
        f"{judged.right} of {judged.records} tests hold.",
        [_as_told(found) for found in wrong],
        played=played_around(matches, wrong),
        tried=tried_from(candidates, parent),
    )


def _as_told(found: Finding) -> str:
    if found.check == EDIT:
        return f"The last answer could not be used: {found.evidence}"
    where = f", line {found.line}" if found.line else ""
    return f"{found.check} test, {found.function}{where}\n{found.evidence}"


def expandable(state: LearnState, context: LearnContext) -> list[Candidate]:
    """The candidates that may be refined (Code World Models App. D.1.3); all where none may.

    The paper asks for a gain of a hundredth over the parent, which nothing that comes of a version
    above 0.99 could ever have: here it is a hundredth of what the parent lacks.
    """
    settings, by_number = context.settings, {c.number: c for c in state.candidates}
    if settings.refine == "conversation":
        return state.pool

    def grew(candidate: Candidate) -> bool:
        parent = by_number.get(candidate.parent if candidate.parent is not None else -1)
        if parent is None or parent.number < state.first:
            return candidate.share_passed >= settings.min_start
        gain, lacking = candidate.share_passed - parent.share_passed, 1 - parent.share_passed
        return gain >= settings.min_gain * lacking

    return [c for c in state.pool if grew(c)] or state.pool


def _of_counts(
    number: int,
    found: Inferred | RoundTrips,
    held: Inferred | RoundTrips | None,
    failures: Sequence[Finding],
) -> Judged:
    """A candidate by how many tests it holds of how many; of held-out matches also which broke."""
    return Judged(
        number=number,
        right=found.right,
        records=found.sights,
        distinct_right=found.right,
        distinct=found.sights,
        held_right=held.right if held else 0,
        held=held.sights if held else 0,
        failures=tuple(failures),
        broken=tuple(sorted(held.matches)) if held else (),
        late=found.late if isinstance(found, Inferred) else 0,
    )
