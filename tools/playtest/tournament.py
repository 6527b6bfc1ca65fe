"""Tournaments: a round robin as jobs of the runner, folded in match order.

The plan says which matches there are, the fold which of them are still wanted. A series (one
line-up, `tools.playtest.series`) is played the same way.
"""

import marshal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from sys import intern
from typing import TypeAlias

from pydantic import TypeAdapter

from games.contract import Game
from games.library import as_declared, defaults
from games.text import did_you_mean
from games.values import MAX_PLAYERS, Json
from tools.playtest.batches import BatchJob, play_batch
from tools.playtest.efforts import EffortSummary
from tools.playtest.intervals import ScoreQuestion, SequentialTest
from tools.playtest.jobs import (
    GameSetup,
    MatchEntry,
    PlayerSpec,
    Roster,
    SandboxRecipe,
    sandbox_of_process,
)
from tools.playtest.journal import Journal, JournalError, Left, journal_at
from tools.playtest.plan import MatchPlan
from tools.playtest.ratings import head_to_head, ranked, score_of
from tools.playtest.results import ResultTables, TournamentResult, by_ending
from tools.playtest.runner import Workers, held_bytes, play_all
from tools.playtest.schedule import TournamentError, TournamentSettings, make_schedule
from tools.replaying import Replayed, not_standing, require_replays
from tools.sandbox import Grade, Sandbox, SandboxedModule
from tools.sandbox.backends import LEAST_BYTES, free_bytes

_PAIR = 2
_FIRST, _ASKED, _MOST = 16, 64, 1024  # deals of the first batches, with a question, and at most
_PARTS = 4  # of a run at least: who ends first is not left without work
_ALIKE = 1000  # efforts of matches that are kept once
_EFFORTS = TypeAdapter(tuple[EffortSummary, ...])
_PLAIN = 2  # of marshal's versions: the same bytes for the same values
_MOST_HELD = 320 * 2**20  # bytes of matches; tables and a summary in JSON take as much again
_REPLAYED = 44  # matches made again: a share of a tenth that is forged is met with 99 %

Heard: TypeAlias = Callable[[int, MatchEntry], None]


def play_tournament(
    game: GameSetup,
    specs: Sequence[str],
    settings: TournamentSettings,
    roster: Roster,
    *,
    journal: Path | None = None,
    workers: Workers | None = None,
    sandbox: SandboxRecipe | None = None,
    on_match: Heard = lambda *_: None,
) -> TournamentResult:
    """Play a round robin, or what is missing of it.

    The result, and the journal of a finished tournament, are the same bytes whatever the workers,
    and however often it was killed and begun again, as long as the players' decisions do not
    depend on the clock.

    Args:
        game: What is played; parameters that are not given take the module's defaults.
        specs: Who plays, as the roster reads them.
        settings: How much is played.
        roster: Reads the specs and makes the players.
        journal: File that keeps every finished match. None keeps nothing.
        workers: Where the matches are played; one at a time in this process by default.
        sandbox: How each process makes its sandbox; what to preload comes from the roster.
        on_match: Told of every match in order of arrival: first those the journal held.

    Raises:
        TournamentError: If a parameter is unknown, two entrants are the same, or the game does not
            take so many players.
        ValueError: From the roster, if a player or a setting of it is unknown, or a player cannot
            play this game.
        ModuleFault: If the module cannot be loaded at all.
        JournalError: If the journal cannot be used.
        SandboxUnavailableError: If there is no sandbox.
        RunStoppedError: If a process of the executor ended.
        VoidResultError: If fresh workers do not play a sample of the matches the same.
    """
    players = _players(roster, specs)
    schedule = make_schedule(len(players), game.num_players, settings.line_ups)
    if settings.question and any(len(set(who)) != _PAIR for who in schedule.line_ups):
        raise TournamentError(
            "a question is about two entrants; required: line-ups of two entrants"
        )
    table = game.num_players + 1  # workers of a match: a seat each, and the referee
    workers = (workers or Workers()).within(free_bytes(), table * LEAST_BYTES)
    recipe = replace(sandbox or SandboxRecipe(), preload=roster.preload)
    recipe = replace(recipe, limits=recipe.limits.divided(workers.jobs * table))
    with sandbox_of_process(recipe) as own:
        game = replace(game, parameters=effective_parameters(game, own))
        plan = MatchPlan(game, players, settings, roster, schedule, recipe)
        fold = played(plan, journal=journal, workers=workers, on_match=on_match)
        return _result(plan, fold, own.grade)


def effective_parameters(game: GameSetup, sandbox: Sandbox) -> dict[str, Json]:
    """All parameters of a game: the module's defaults, and over them what is given.

    Raises:
        TournamentError: If a parameter is unknown, or the game does not take so many players.
        ModuleFault: If the module does not load.
    """
    game = game.renamed_from
    if game.environment:
        return dict(game.opened().parameters)
    with sandbox.loaded("parameters", game.source) as worker:
        info = Game(SandboxedModule(worker)).info
    known = defaults(info)
    if unknown := sorted(set(game.parameters) - set(known)):
        raise TournamentError(
            f"{game.name} has no parameter {', '.join(unknown)}{did_you_mean(unknown[0], known)}; "
            f"known parameters: {', '.join(known) or 'none'}"
        )
    fewest, most = info["min_players"], info["max_players"]
    if not (isinstance(fewest, int) and isinstance(most, int)):
        raise TournamentError(f"{game.name} does not say how many play")
    most = min(most, MAX_PLAYERS)
    if not fewest <= game.num_players <= most:
        seats = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise TournamentError(f"{game.name} takes {seats} players, not {game.num_players}")
    declared = info["parameters"] if game.parameters else {}
    fields = declared if isinstance(declared, dict) else {}
    given = {name: as_declared(value, fields[name]) for name, value in game.parameters.items()}
    return {**known, **given}


def _players(roster: Roster, specs: Sequence[str]) -> tuple[PlayerSpec, ...]:
    players = tuple(roster.effective(spec) for spec in specs)
    twice = [name for name, count in Counter(p.name for p in players).items() if count > 1]
    if twice:
        raise TournamentError(
            f"{', '.join(twice)} entered more than once; required: different players"
        )
    return players


@dataclass
class Fold:
    """The matches that are there, and which are still wanted.

    A pair's sequential test takes its deals in order and only once they are whole. So where it
    stops does not depend on the order in which matches arrive; matches beyond are not counted.
    Where the plan's time came first, the deals count that are whole, up to the first that is not.
    So many matches as fill the memory end it too, at the same deal whatever the workers.
    """

    plan: MatchPlan
    outcomes: dict[int, MatchEntry] = field(default_factory=dict)
    tests: dict[frozenset[int], SequentialTest] = field(default_factory=dict)
    next_deal: Counter[frozenset[int]] = field(default_factory=Counter)
    stops: dict[frozenset[int], int] = field(default_factory=dict)
    replayed: Replayed = Replayed()
    unasked: int = 0
    learned: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    whole: int | None = None
    most_held: int = _MOST_HELD
    held: int = 0
    _weighed: int = 0
    _weights: dict[int, int] = field(default_factory=dict)
    _alike: dict[bytes, tuple[EffortSummary, ...]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Matches that the settings ask for, where no question ends them sooner."""
        return self.plan.settings.deals * self.plan.schedule.matches_a_deal

    @property
    def unheld(self) -> int:
        """Matches that are not played, as so many as came before fill the memory."""
        size = self.plan.schedule.matches_a_deal
        return self.total - (self.whole or 0) * size if self.held > self.most_held else 0

    def add(self, index: int, entry: Json) -> MatchEntry:
        """Take a match in.

        Raises:
            ValueError: If it is no entry of a match.
        """
        outcome = self.outcomes[index] = MatchEntry.model_validate(self._kept_once(entry))
        self._weigh(index, entry)
        seated = self._seated(index) if outcome.lessons else ()
        for who, lesson in zip(seated, outcome.lessons, strict=False):
            if lesson:
                self.learned.setdefault(who, []).append((index, lesson))
        if self.plan.settings.question:
            self._test(self._who(index), self.plan.settings.question)
        return outcome

    def _kept_once(self, entry: Json) -> object:
        """The entry, with what many matches hold alike in memory once."""
        match entry:
            case {"used": list(efforts), "actions": list(actions), **others}:
                told = marshal.dumps(efforts, _PLAIN)
                used = self._alike.get(told)
                if used is None:
                    used = _EFFORTS.validate_python(efforts)
                    if len(self._alike) < _ALIKE:
                        self._alike[told] = used
                with suppress(TypeError):  # no texts, which is refused
                    actions = [*map(intern, actions)]
                return {**others, "used": used, "actions": actions}
        return entry

    def _weigh(self, index: int, entry: Json) -> None:
        """Add what the matches take in order; those of a deal that is too much do not count."""
        self._weights[index] = held_bytes(entry)
        while self.whole is None and (weight := self._weights.pop(self._weighed, None)) is not None:
            self._weighed, self.held = self._weighed + 1, self.held + weight
            if self.held > self.most_held:
                self.whole = self._weighed // self.plan.schedule.matches_a_deal

    def wanted(self) -> Iterator[tuple[int, BatchJob]]:
        """Batches to play, by the index of their first match, as things stand when each is asked.

        They grow, so that a run that is stopped early loses little.
        """
        plan, begun, size = self.plan, 0, _FIRST if self.plan.in_lockstep else 1
        pairs = {frozenset(who) for who in plan.schedule.line_ups}
        while begun < plan.settings.deals and not pairs <= self.stops.keys():
            deals = range(begun, min(begun + size, plan.settings.deals))
            begun = deals.stop
            for place in range(plan.schedule.matches_a_deal):
                matches = [
                    index
                    for deal in deals
                    for index in [deal * plan.schedule.matches_a_deal + place]
                    if index not in self.outcomes and self._counts(index)
                ]
                if self._late or self.whole is not None:
                    return
                if matches:
                    yield matches[0], plan.batch(matches, self.lessons(matches[0]))
            if plan.in_lockstep:
                most = _ASKED if plan.settings.question else _MOST
                size = min(2 * size, most, max(_FIRST, self.total // _PARTS))

    def lessons(self, index: int) -> tuple[tuple[str, ...], ...]:
        """By seat of a match, what its entrant learned in deals before, oldest first.

        Matches of its own deal teach nothing: they show cards that are hidden in this one.
        """
        if not self.learned:
            return ()
        schedule = self.plan.schedule
        first = schedule.place(index).deal * schedule.matches_a_deal
        return tuple(
            tuple(lesson for match, lesson in sorted(self.learned.get(who, ())) if match < first)
            for who in self._seated(index)
        )

    def end(self) -> None:
        """Nothing is played any more."""
        if self._late and self.whole is None:
            size = self.plan.schedule.matches_a_deal
            missing = (i for i in range(self.total) if i not in self.outcomes)
            self.whole = next(missing, self.total) // size

    def counted(self) -> dict[int, MatchEntry]:
        """The matches of the result, in order."""
        return {i: self.outcomes[i] for i in sorted(self.outcomes) if self._counts(i)}

    def keeps(self, index: int) -> bool:
        """True for a match that is kept: all but those played ahead of a test that then ended."""
        return self._counts(index) or self._who(index) not in self.stops

    def _seated(self, index: int) -> tuple[int, ...]:
        return self.plan.schedule.seated(index, self.plan.settings.seed)

    def _who(self, index: int) -> frozenset[int]:
        schedule = self.plan.schedule
        return frozenset(schedule.line_ups[schedule.place(index).line_up])

    @property
    def _late(self) -> bool:
        return self.plan.until is not None and time.monotonic() >= self.plan.until

    def _counts(self, index: int) -> bool:
        deals = self.plan.settings.deals if self.whole is None else self.whole
        if self.stops:
            deals = self.stops.get(self._who(index), deals)
        return index < deals * self.plan.schedule.matches_a_deal

    def _test(self, pair: frozenset[int], question: ScoreQuestion) -> None:
        test = self.tests.setdefault(pair, SequentialTest(question))
        one, other = sorted(pair)
        while pair not in self.stops and self.next_deal[pair] < self.plan.settings.deals:
            matches = self._matches(self.next_deal[pair], pair)
            if any(match not in self.outcomes for match in matches):
                return
            seated = [(self.outcomes[match], self._seated(match)) for match in matches]
            found = [(ranks, who) for o, who in seated if (ranks := ranked(o, who))]
            self.next_deal[pair] += 1
            if len(found) == len(matches):
                answer = test.take(score_of(head_to_head(found, one, other)))
                if answer.decision != "undecided":
                    self.stops[pair] = self.next_deal[pair]

    def _matches(self, deal: int, pair: frozenset[int]) -> list[int]:
        schedule = self.plan.schedule
        line_ups = [i for i, who in enumerate(schedule.line_ups) if frozenset(who) == pair]
        return [match for line_up in line_ups for match in schedule.block(deal, line_up)]


def played(
    plan: MatchPlan,
    *,
    journal: Path | None,
    workers: Workers,
    on_match: Heard,
    replay: bool = True,
    left: Left | None = None,
) -> Fold:
    """Play what a plan still lacks; see `play_tournament`, and `play_series` for `left`."""
    with ExitStack() as stack:
        book = stack.enter_context(journal_at(journal, plan.identity(), left))
        if isinstance(plan.sandbox, SandboxRecipe):
            stack.enter_context(sandbox_of_process(plan.sandbox))  # closed after the last match
        opened = stack.enter_context(plan.suited(workers).opened())
        fold = _folded(plan, book, opened, on_match)
        held = book.entries if book and not book.is_ours else {}
        claimed = {i: entry for i, entry in fold.counted().items() if i in held}
        if getattr(plan.roster, "models", None):  # asked again, one may answer otherwise, for money
            fold.unasked = len(claimed)
        elif book and (mended := not_standing(plan.job, claimed, opened, book.path)):
            for index, entry in mended.items():
                book.append(index, entry)
                book.entries[index] = entry
            fold = _folded(plan, book, opened, lambda *_: None)
        if replay:
            fold.replayed = replay_sample([(plan, fold.counted())])
        return fold


def replay_sample(
    played: Sequence[tuple[MatchPlan, Mapping[int, MatchEntry]]], most: int = _REPLAYED
) -> Replayed:
    """Take a sample of the finished matches of one game, `most` of them, through fresh workers.

    Raises:
        VoidResultError: If the module does not stand by them.
    """
    matches = [
        (partial(plan.job, i), entries[i]) for plan, entries in played for i in sorted(entries)
    ]
    return require_replays(matches, most)


def _folded(plan: MatchPlan, book: Journal | None, workers: Workers, on_match: Heard) -> Fold:
    """The matches of the journal, and all that are still wanted.

    Raises:
        JournalError: If an entry of the journal is no match.
    """
    fold = Fold(plan)
    for index, entry in play_all(
        fold.wanted(), play_batch, journal=book, workers=workers, keep=fold.keeps, many=True
    ):
        try:
            outcome = fold.add(index, entry)
        except ValueError as error:
            told = f"{book and book.path} is damaged in its line of match {index}: delete that line"
            raise JournalError(told) from error
        if index < fold.total:
            on_match(index, outcome)
    fold.end()
    return fold


def _result(plan: MatchPlan, fold: Fold, grade: Grade) -> TournamentResult:
    outcomes = fold.counted()
    asked = {pair: test.answer for pair, test in fold.tests.items()}
    tables = ResultTables(
        *(plan.schedule, plan.settings, plan.players, outcomes, asked),
        unasked=fold.unasked,
        unheld=fold.unheld,
    )
    return TournamentResult(
        game=plan.game.name,
        source_id=plan.source_id,
        heuristics=plan.heuristics,
        parameters=dict(plan.game.parameters),
        num_players=plan.game.num_players,
        settings=plan.settings,
        design=plan.schedule.design,
        sandbox=grade,
        standings=tables.standings(),
        pairs=tables.pairs(),
        matches=len(outcomes),
        endings=by_ending(outcomes.values()),
        left_out=tables.left_out,
        reasons=tables.reasons(),
        replayed=fold.replayed.matches,
        not_audited=fold.replayed.not_audited,
        no_result=tables.no_result,
        cautions=tables.cautions,
        simulations=tables.simulations,
    )
