"""Check one source in the sandbox, within one overall deadline."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from games.checks import Finding, verdict
from games.checks.contract import from_fault
from games.checks.leaks import check_leaks
from games.checks.run import CheckSettings, run_checks
from games.checks.sampling import PlayedMatch, Subject, random_matches
from games.checks.unit_tests import PlayedPly, UnitTest, check_plies, check_unit_tests
from games.contract import Game, player_numbers
from games.records import MatchRecord
from games.table import Position, Table
from games.trajectories import Transition, open_deck
from games.values import Json, ModuleFault
from tools.pace import PacedTable, is_slow, slow_finding, slowest_function
from tools.presentation import check_presentation
from tools.sandbox import Sandbox, SandboxedModule, SandboxTable, Worker
from tools.sandbox.reading import foreign_imports
from tools.transitions import replay_transitions
from vectorstore.sources import ALLOWED_IMPORTS

_PURITY = "functions"
_REPLAYED = 2  # matches replayed where fewer are kept
_TRANSITIONS = 240  # of all of them together
_LATE = "the checks did not end within"
_DECLARATIONS = ("ZONES", "visible")
_PAIR = 2
_ALLOWED = {*ALLOWED_IMPORTS, "__future__", "numpy", "random", "typing"}  # two for resamplers
_AGAIN_S = 60.0  # for whatever is asked after the checks


@dataclass
class Deadline:
    """A point in time after which a module is not asked any more.

    Attributes:
        seconds: The whole allowance, for messages.
        ends: `time.monotonic()` at which it is used up.
    """

    seconds: float
    ends: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """A deadline `seconds` from now."""
        return cls(seconds, time.monotonic() + seconds)

    def left(self) -> float:
        """Seconds that are left; raises like `require`."""
        self.require()
        return max(self.ends - time.monotonic(), 0.0)

    def require(self, _called: str = "") -> None:
        """Raise ModuleFault("timed_out") once the time is used up, whatever is called then."""
        if time.monotonic() > self.ends:
            raise ModuleFault(
                "timed_out",
                "module",
                f"{_LATE} {self.seconds:g} s in all; the module is slow, its matches are long or "
                "the machine is busy: allow more seconds",
            )

    def judged(self, findings: Sequence[Finding]) -> list[Finding]:
        """The same findings, where those of what was asked after the end judge nothing.

        Before the end such words are the module's own.
        """
        if time.monotonic() <= self.ends:
            return [*findings]
        untold = {"outcome": "could_not_judge", "function": None, "line": None}
        return [f.model_copy(update=untold) if _LATE in f.evidence else f for f in findings]


@dataclass(frozen=True)
class CheckRun:
    """The findings of one check of a source, and the matches played for it.

    Attributes:
        findings: All findings, worst news included.
        records: A few random matches, for a validator to judge; empty where none finished.
        output: What the module printed, untrusted.
    """

    findings: tuple[Finding, ...]
    records: tuple[MatchRecord, ...]
    output: str
    _sandbox: Sandbox = field(repr=False)
    _source: str = field(repr=False)
    _start: tuple[int, Mapping[str, Json]] = field(repr=False)
    _passed: dict[tuple[UnitTest, ...], list[Finding]] = field(default_factory=dict, repr=False)

    @property
    def num_players(self) -> int:
        """Players at the table that was judged; 0 where the number was left open, and none was."""
        return self._start[0]

    def unit_tests(self, tests: Sequence[UnitTest]) -> list[Finding]:
        """Run generated unit tests in a fresh worker; what all passed is not run twice."""
        asked = tuple(tests)
        if asked in self._passed:
            return [*self._passed[asked]]
        found = self._held(lambda subject: check_unit_tests(subject, tests))
        if verdict(found) == "passed":  # a fault may be one of time
            self._passed[asked] = found
        return found

    def plies(self, plies: Sequence[PlayedPly]) -> list[Finding]:
        """Play plies that were judged faulty again, in a fresh worker."""
        return self._held(lambda subject: check_plies(subject, plies))

    def _held(self, check: Callable[[Subject], list[Finding]]) -> list[Finding]:
        trial = self._again()
        with self._sandbox.worker("unit-tests", self._source) as worker:
            try:
                subject = trial.subject(worker, self._start)
            except ModuleFault as fault:
                return trial.deadline.judged([from_fault("unit_test", fault)])
            return trial.deadline.judged(check(subject))

    def _again(self) -> "_Trial":
        return _Trial(self._sandbox, self._source, Deadline.after(_AGAIN_S))

    def positions(self, record: MatchRecord) -> list[Position]:
        """The positions of a record, first to last, as a fresh worker replays it.

        Raises:
            ModuleFault: If the module does not play it again.
        """
        with self._sandbox.worker("replay", self._source) as worker:
            table = self._again().subject(worker, self._start).table
            reached = [table.open(len(record.players), record.parameters)]
            for action in record.actions:
                if action not in reached[-1].legal:
                    raise ModuleFault(
                        "bad_value",
                        "get_legal_actions",
                        f"{action!r} was legal in the record at ply {len(reached) - 1}, and is "
                        "not when the record is played again",
                    )
                reached.append(table.advance(reached[-1], action))
            return reached


def check_source(
    sandbox: Sandbox,
    source: str,
    *,
    settings: CheckSettings,
    num_players: int | None,
    parameters: Mapping[str, Json],
    deadline_s: float = 120.0,
    records: int = 3,
) -> CheckRun:
    """Load a source in a fresh worker and run every check on it.

    Args:
        sandbox: Where it runs.
        source: The module.
        settings: How much the checks look at, and the seed of all that they play: a module that
            can guess it knows their deals.
        num_players: Players at the table; None for the fewest the module allows (at least two
            where it allows two).
        parameters: Passed to `initial_state`.
        deadline_s: Seconds for everything.
        records: Random matches to keep for a validator.
    """
    start, foreign = (num_players or 0, dict(parameters)), _imports(source)
    trial = _Trial(sandbox, source, Deadline.after(deadline_s))
    with sandbox.worker("check", source) as worker:
        try:
            subject = trial.subject(worker, start)
        except ModuleFault as fault:
            found = trial.deadline.judged([from_fault("load", fault)])
            return CheckRun((*foreign, *found), (), worker.output, sandbox, source, start)
        start = (subject.num_players, dict(parameters))
        found = [*run_checks(subject, settings), *check_presentation(subject.game.module)]
        findings = foreign + trial.deadline.judged(found)
        output = worker.output
    kept: tuple[MatchRecord, ...] = ()
    if _playable(findings):
        try:
            played, taken = _played(trial, start, settings, max(records, _REPLAYED))
        except ModuleFault as fault:  # such as the deadline that the checks have used up
            findings += trial.deadline.judged([from_fault("random_play", fault)])
        else:
            kept = tuple(r for r in played[:records] if r.match.ending == "finished")
            replayed = trial.deadline.judged(_replayed(trial, played))
            findings = _with_replay(findings, replayed)
            if is_slow(taken):
                findings += slow_finding(taken, slowest_function(sandbox, source, *start))
    if any(_is_late(found) for found in findings):
        findings = _with_slowest(findings, slowest_function(sandbox, source, *start))
    return CheckRun(tuple(findings), kept, output, sandbox, source, start)


def _imports(source: str) -> list[Finding]:
    """A finding for each import that the contract does not allow."""
    return [
        Finding(
            check="imports",
            outcome="failed",
            rule="contract",
            evidence=f"imports {name}; allowed: {', '.join(sorted(_ALLOWED))}",
            line=line,
        )
        for name, line in foreign_imports(source, _ALLOWED)
    ]


def audit_matches(
    sandbox: Sandbox,
    source: str,
    played: Sequence[PlayedMatch],
    *,
    start: tuple[int, Mapping[str, Json]],
    pairs: int,
    seed: int,
) -> list[Finding]:
    """The leak audit over matches that somebody else played.

    It could not judge a module that declares nothing, nor one that takes all the time there is.

    Args:
        sandbox: Where the module runs.
        source: The module.
        played: The matches.
        start: Players and parameters.
        pairs: Pairs of matches to compare, shared among the seats.
        seed: Chooses them; no module may know it.
    """
    trial = _Trial(sandbox, source, Deadline.after(_AGAIN_S))
    with sandbox.worker("check", source) as worker:
        try:
            subject = trial.subject(worker, start)
        except ModuleFault as fault:
            return [from_fault("load", fault)]
        if missing := [name for name in _DECLARATIONS if not subject.game.defines(name)]:
            told = f"the module does not define {' and '.join(missing)}"
            return [Finding(check="leak_audit", outcome="could_not_judge", evidence=told)]
        return trial.deadline.judged(check_leaks(subject, played, pairs=pairs, seed=seed))


def usual_players(info: Mapping[str, Json]) -> int:
    """Two where the module allows two, else the fewest it allows.

    Raises:
        ModuleFault: See `player_numbers`.
    """
    numbers = player_numbers(info)
    return next((number for number in numbers if number >= _PAIR), numbers[-1])


@dataclass(frozen=True)
class _Trial:
    """One source on trial: as many workers of it as are asked for, within one deadline."""

    sandbox: Sandbox
    source: str
    deadline: Deadline

    def subject(self, worker: Worker, start: tuple[int, Mapping[str, Json]]) -> Subject:
        """Load the source in `worker`; players 0 stands for the usual number."""
        game = self._loaded(worker)
        players = start[0]
        if not players and game.defines("GAME"):
            players = usual_players(game.info)
        table = SandboxTable(worker, before=self.deadline.require)
        return Subject(
            game, table, players or 2, start[1], self.fresh, self.anew, lambda: worker.weight
        )

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Game]:
        """See `Subject.fresh`: a worker of its own, at other addresses."""
        with self.sandbox.apart.worker("check-again", self.source) as worker:
            yield self._loaded(worker)

    @contextlib.contextmanager
    def anew(self) -> Iterator[Table]:
        """See `Subject.anew`: a worker of its own, at other addresses."""
        with self.sandbox.apart.worker("check-again", self.source) as worker:
            self._loaded(worker)
            yield SandboxTable(worker, before=self.deadline.require)

    def _loaded(self, worker: Worker) -> Game:
        self.deadline.require()
        worker.load(self.source)
        return Game(SandboxedModule(worker, before=self.deadline.require))


def _playable(findings: Sequence[Finding]) -> bool:
    return not any(
        f.outcome == "failed" and f.check in ("definitions", "random_play") for f in findings
    )


def _played(
    trial: _Trial, start: tuple[int, Mapping[str, Json]], settings: CheckSettings, count: int
) -> tuple[list[MatchRecord], list[float]]:
    """Matches played by a worker that the checks have taught nothing, and the seconds of plies."""
    with trial.sandbox.worker("records", trial.source) as worker:
        subject = trial.subject(worker, start)
        table = PacedTable(subject.table, lambda: worker.spent)
        subject = replace(subject, table=table)
        matches = random_matches(
            subject, matches=count, seed=settings.seed + 1, max_plies=settings.max_plies
        )
        game = str(subject.game.info["name"])
    records = [
        MatchRecord(
            game=game,
            parameters=subject.parameters,
            players=("random",) * subject.num_players,
            seed=settings.seed + 1,
            match_index=index,
            match=match,
        )
        for index, match in enumerate(matches)
    ]
    return records, table.seconds


def _with_slowest(findings: Sequence[Finding], slowest: tuple[str, float] | None) -> list[Finding]:
    """Findings of a deadline that name what took the time, where one function did."""
    if slowest is None:
        return [*findings]
    more = f"; a call of {slowest[0]} takes {slowest[1] * 1000:.0f} ms"
    return [
        found.model_copy(update={"function": slowest[0], "evidence": found.evidence + more})
        if _is_late(found)
        else found
        for found in findings
    ]


def _is_late(found: Finding) -> bool:
    return found.outcome == "could_not_judge" and _LATE in found.evidence


def _replayed(trial: _Trial, played: Sequence[MatchRecord]) -> list[Finding]:
    """Findings for matches that a fresh worker answers otherwise than recorded."""
    ends = [
        part
        for record in played
        if record.match.final_state is not None
        for part in _both_ends(open_deck(record.match), _TRANSITIONS // len(played))
    ]
    if not any(ends):
        return []
    try:
        left = trial.deadline.left()
        found = replay_transitions(
            trial.sandbox.apart, trial.source, ends, protocol="columns", deadline_s=left
        )
    except ModuleFault as fault:
        return [from_fault(_PURITY, fault)]
    return [
        Finding(
            check=_PURITY,
            outcome="failed",
            rule="contract",
            evidence=f"{difference.evidence}; the same arguments must give the same value",
            function=difference.function,
            line=difference.line,
        )
        for difference in found.differences
    ]


def _both_ends(transitions: Sequence[Transition], most: int) -> list[Sequence[Transition]]:
    """A match whole, or where it is longer than `most` its beginning and its end.

    >>> _both_ends([1, 2, 3, 4, 5, 6, 7], 4), _both_ends([1, 2, 3], 4)
    ([[1, 2], [6, 7]], [[1, 2, 3]])
    """
    if len(transitions) <= most:
        return [transitions]
    half = most // 2
    return [transitions[:half], transitions[-half:]]


def _with_replay(findings: Sequence[Finding], replayed: Sequence[Finding]) -> list[Finding]:
    """A replay is part of the check of the functions: what it found takes that pass away."""
    kept = [f for f in findings if not (replayed and f.check == _PURITY and f.outcome == "passed")]
    known = {f.function for f in kept if f.check == _PURITY}
    return [*kept, *(f for f in replayed if f.function not in known)]
