"""Contests: heuristics tried on observations, and played against each other by the runner."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from statistics import fmean

from pydantic import JsonValue, TypeAdapter, ValidationError

from agents.protocols import Heuristic
from agents.strategy.fitting import TaughtMatch, fitted_heuristics
from agents.strategy.lessons import LessonsRequest, WorkRequest
from agents.strategy.selection import Members, Protocol, Scores, Selection, Selector, negation
from games.values import Json, ModuleFault, is_number, show
from tools.playtest.jobs import GameSetup, MatchEntry, Roster, SandboxRecipe
from tools.playtest.journal import Left
from tools.playtest.ratings import win_share
from tools.playtest.runner import Workers
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.sandbox import ReusedWorkers, Sandbox
from tools.sandbox.reading import foreign_imports
from vectorstore.sources import ALLOWED_IMPORTS

_IMPORTS = {*ALLOWED_IMPORTS, "__future__", "typing"}
_CALL_S = 1.0
_ACTIONS_TRIED = 30
_AT_ONCE, _LESSON_S = 1_000, 120.0  # plies of one request, and seconds that it may take
_COUNTED, _UNCOUNTED = 1_000, 10_000.0  # plies; lines of one where that fails
_LONGEST = 3_000  # plies of a match that is learned from
_DEARER = 10  # times as many plies where decisions are searched
_SEARCHED, _SIMULATIONS = 0.05, 3  # share of the decisions, and simulations for each action
_FRESH = 2**32  # what the seed of the fresh deals is larger by
_NEGATED = """

_plain = score


def score(observation, action):
    return -_plain(observation, action)
"""
_RANDOM = "random"


def fault_of(
    heuristic: Heuristic, samples: Sequence[Mapping[str, JsonValue]], sandbox: Sandbox
) -> str | None:
    """The first failure of a heuristic in words; None where it can be used.

    Args:
        heuristic: Its source is run in a worker of its own.
        samples: `{"observation", "legal"}`, for it to score.
        sandbox: Where.
    """
    for name, line in foreign_imports(heuristic.source, _IMPORTS):
        return f"it imports {name}; allowed: {', '.join(sorted(_IMPORTS))} (line {line})"
    with sandbox.worker(f"try-{heuristic.name}", heuristic.source) as worker:
        try:
            worker.load(heuristic.source)
            for sample in samples:
                observation, legal = sample["observation"], sample["legal"]
                for action in legal[:_ACTIONS_TRIED] if isinstance(legal, list) else []:
                    asked: list[Json] = [observation, action]
                    found, left = worker.call_echo("score", asked, deadline_s=_CALL_S)
                    if not is_number(found):
                        return f"score returned {show(found)} for {action!r}; required: a number"
                    if left != asked:
                        return f"score changed its observation for {action!r}; required: no change"
        except ModuleFault as fault:
            return str(fault) + (f" (line {fault.line})" if fault.line else "")
    return None


def taught_heuristics(
    setup: GameSetup, sandbox: Sandbox, *, seed: int, plies: int, shared: bool
) -> list[Heuristic]:
    """Heuristics fitted to matches that a worker plays beside the module; see `fitting`.

    Args:
        setup: The game; its own heuristics take no part.
        sandbox: Must preload `agents.strategy.lessons`.
        seed: Of the matches.
        plies: To play; ten times as many are spent on matches with searches.
        shared: Whether all seats are paid alike.

    Raises:
        ModuleFault: If the module fails, or what it tells is no match of the game.
    """
    matches: list[TaughtMatch] = []
    with sandbox.worker("lessons", setup.source, preloaded=True) as worker:
        worker.load(setup.source)
        parts = -(-plies // _AT_ONCE)
        for number in range(2 * parts):
            request = LessonsRequest(
                num_players=setup.num_players,
                parameters=dict(setup.parameters),
                words=[seed, number],
                plies=_AT_ONCE * (1 if number < parts else _DEARER),
                longest=_LONGEST,
                searched=0.0 if number < parts else _SEARCHED,
                simulations=_SIMULATIONS,
            )
            told = worker.request("teach", request._asdict(), _LESSON_S)
            try:
                matches += TypeAdapter(list[TaughtMatch]).validate_python(told)
            except ValidationError as error:
                raise ModuleFault("bad_value", "module", "told of no matches") from error
    return fitted_heuristics(matches, setup.num_players, shared=shared, seed=seed)


def counted_lines(setup: GameSetup, sandbox: Sandbox) -> tuple[float, float, float]:
    """Lines that a ply runs: without observations, with them, and of all heuristics.

    They are the worker's claim. A module, or a heuristic, that fails under it counts as a slow one:
    its faults are for the matches to show.

    Args:
        setup: The game, with the heuristics that are to play.
        sandbox: Must preload `agents.strategy.lessons`.
    """
    with sandbox.worker("work", setup.source, preloaded=True) as worker:
        try:
            worker.load(setup.source)
            request = WorkRequest(
                setup.num_players, dict(setup.parameters), _COUNTED, dict(setup.heuristics)
            )
            told = worker.request("work", request._asdict(), _LESSON_S)
            return TypeAdapter(tuple[float, float, float]).validate_python(told)
        except (ModuleFault, ValidationError):
            return _UNCOUNTED, _UNCOUNTED, _UNCOUNTED


def negated(source: str) -> str:
    """The source of the negation of a heuristic (Cardiverse §3.3.2)."""
    return source.rstrip() + _NEGATED


@dataclass(frozen=True)
class HeuristicContest:
    """Heuristics of one game that meet random play and each other, all on the same deals.

    Attributes:
        setup: The game; its own heuristics take no part.
        heuristics: The candidates.
        roster: Of the players; it must know "random" and "greedy".
        sandbox: Where the matches run.
        seed: Of the deals; fresh deals have another.
        matches: That a line-up plays at most.
        confirming: Fresh deals that confirm an ensemble; 0 for as many as chose it.
        max_plies: Plies after which a match is left unfinished; its deal is not scored.
        is_shared: Whether all seats are paid alike: then a team of the candidate at every seat is
            held against a random team on the same deal, and scores 1, 0.5 or 0.
        protocol: See `agents.strategy.selection`.
        workers: Where matches are played.
        journals: Folder of the journals; None keeps nothing.
        tell: Hears of every line-up and how many matches it plays.
        left: Journals that this process brought to their end; see `play_series`.
    """

    setup: GameSetup
    heuristics: Sequence[Heuristic]
    roster: Roster
    sandbox: Sandbox | SandboxRecipe
    seed: int
    matches: int
    confirming: int = 0
    max_plies: int = 2000
    is_shared: bool = False
    protocol: Protocol = "ours"
    workers: Workers = field(default_factory=Workers)
    journals: Path | None = None
    tell: Callable[[str, int], None] = lambda *_: None
    played: dict[tuple[str, ...], Series] = field(default_factory=dict)
    left: Left = field(default_factory=dict)

    def select(self) -> tuple[Selection, tuple[Heuristic, ...]]:
        """The ensemble, by stepwise inclusion; what fails while it plays loses the match."""
        if not isinstance(self.sandbox, Sandbox):
            return self._selected()
        with ReusedWorkers(self.sandbox) as reused:
            return replace(self, sandbox=reused)._selected()

    def _selected(self) -> tuple[Selection, tuple[Heuristic, ...]]:
        seats = self.setup.num_players
        selector = Selector(
            play=self.scores,
            even=self.even,
            deals=max(2, self.matches // (1 if self._is_team else seats)),
            confirming=self.confirming,
            protocol=self.protocol,
        )
        found = selector.select([heuristic.name for heuristic in self.heuristics])
        known = {heuristic.name: heuristic for heuristic in self.heuristics}
        return found, tuple(
            known[name]
            if name in known
            else Heuristic(
                name=name,
                policy=f"The opposite of: {known[negation(name)].policy}",
                source=negated(known[negation(name)].source),
            )
            for name in found.members
        )

    def scores(self, members: Members, rivals: Members, deals: int, fresh: bool) -> Scores:
        """See `agents.strategy.selection.Play`; without a score where too many matches are void.

        So that nobody is chosen for matches that do not end; see `ResultTables.no_result`.
        """
        seats, seed = self.setup.num_players, self.seed + _FRESH * fresh
        ours, theirs = self._spec(members), self._spec(rivals)
        if self._is_team:
            teams = [self._series([spec] * seats, deals, seed) for spec in (ours, theirs)]
            if any(team.tables.no_result for team in teams):
                return [None] * deals
            return [_better_team(*(team.entries[deal] for team in teams)) for deal in range(deals)]
        if ours == theirs:  # even, whatever is played
            return [1 / seats] * deals
        series = self._series([ours, *[theirs] * (seats - 1)], deals * seats, seed)
        if series.tables.no_result:
            return [None] * deals
        return [_mean(series, deal) for deal in range(deals)]

    @property
    def even(self) -> float:
        """The score of a player like the others: 1 / seats, or a half for a team."""
        return 0.5 if self._is_team else 1 / self.setup.num_players

    @property
    def _is_team(self) -> bool:
        return self.is_shared or self.setup.num_players == 1

    def _spec(self, members: Members) -> str:
        if not members:
            return _RANDOM
        joint = "&" if self.protocol == "paper" else "+"
        return f"greedy:heuristic={joint.join(sorted(members))}"

    def _sources(self) -> dict[str, str]:
        plain = {heuristic.name: heuristic.source for heuristic in self.heuristics}
        return plain | {negation(name): negated(source) for name, source in plain.items()}

    def _series(self, specs: Sequence[str], matches: int, seed: int) -> Series:
        key = (*specs, str(matches), str(seed))
        if key not in self.played:
            self.tell(" against ".join(dict.fromkeys(specs)), matches)
            digest = sha256("|".join((*specs, str(seed))).encode()).hexdigest()[:12]
            self.played[key] = play_series(
                replace(self.setup, heuristics=self._sources()),
                specs,
                self.roster,
                SeriesSettings(
                    matches=matches,
                    seed=seed,
                    max_plies=self.max_plies,
                    replay=False,
                    record=False,
                    left=self.left,
                ),
                sandbox=self.sandbox,
                journal=self.journals and self.journals / f"heuristics-{digest}.jsonl",
                workers=self.workers,
            )
        return self.played[key]


def _mean(series: Series, deal: int) -> float | None:
    """The first entrant's mean share of the wins over the seatings of a deal.

    A match that has no winner leaves the deal unscored.
    """
    matches = range(deal * series.rotations, (deal + 1) * series.rotations)
    if any(match not in series.tables.ranks for match in matches):
        return None
    return fmean(
        win_share(series.tables.ranks[match], series.seated(match).index(0)) for match in matches
    )


def _better_team(ours: MatchEntry, theirs: MatchEntry) -> float | None:
    if ours.ending == "forfeit":
        return 0.0
    if theirs.ending == "forfeit" and ours.returns is not None:
        return 1.0
    if ours.returns is None or theirs.returns is None:
        return None
    one, other = sum(ours.returns), sum(theirs.returns)
    return 0.5 if one == other else float(one > other)
