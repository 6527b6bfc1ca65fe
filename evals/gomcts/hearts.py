"""Eval: how do players by a model of observations play Hearts? GO-MCTS, §6.1 and Table 2.

The game is the library's `hearts`, one deal a match: three cards are passed, left, right, across or
not at all, as chance draws (in the paper these take turns); the two of clubs is led. Rules are
those of OpenSpiel's `hearts`, with which the paper was made; a test plays both side by side. Only
the moon is scored otherwise: OpenSpiel pays 26 less the points, and the library less than nothing,
with 0 for who took all and 26 points for the others; the paper counts -26 for the one and 0 for the
others. `card_points` converts to the paper's scale, in which fewer points are better.

Every pair of players meets on the same deals, each in all 14 seatings (`seatings`). ISMCTS gets the
number of simulations that one calibration found to take the time of `gomcts`. The strong opponent
is a program outside the repository, where `RULEWRIGHT_HEARTS_PROGRAM` names one (the paper's is
xinxin); else PIMC over 50 deals with OpenSpiel's C++ search.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.observing.model import ObservationSettings, read_observation_model
from agents.observing.population import SelfPlayTraining
from agents.players.registry import PRELOAD
from evals.gomcts.seatings import (
    COLUMNS,
    SEATINGS,
    SEATS,
    Deal,
    all_seatings,
    card_points,
    moon_rate,
    seating_table,
)
from evals.gomcts.worlds import PROGRAM, VARIABLE, WORLDS, HeartsRoster
from evals.openspiel import MISSING, has_openspiel
from evals.results import EvalError, EvalOptions, EvalResult, Row, Score, read_data, resized
from games import library
from graph.run.environment import value_of
from tools.playtest.intervals import NoSamplesError
from tools.playtest.jobs import GameSetup, MatchEntry, SandboxRecipe, sandbox_of_process
from tools.playtest.plan import MatchPlan
from tools.playtest.results import by_ending
from tools.playtest.runner import Workers
from tools.playtest.schedule import TournamentSettings
from tools.playtest.series import SeriesSettings, play_series
from tools.playtest.tournament import effective_parameters, played, replay_sample
from tools.replaying import Replayed
from tools.sandbox import Sandbox

RECIPE = SandboxRecipe(preload=PRELOAD)
_MODELLED = ("argmaxval", "gomcts")
PAIRS = tuple(
    f"{one}-{other}"
    for one, other in permutations((*_MODELLED, "random", "greedy", "ismcts", "strong"), 2)
)
ONE_DEAL: Row = {"target_score": 0, "deals": 1, "pass_direction": "random"}
_COMMITTED = "gomcts/models/hearts.model"
_PUBLISHED: Row = read_data("gomcts/published.json")
_TABLES: Mapping[str, Row] = _PUBLISHED["hearts"]["table"]
_TIMES = "times.json"
_FIRST_GUESS = 50  # simulations


@dataclass(frozen=True)
class HeartsSize:
    """The amounts of an evaluation.

    Attributes:
        pairs: Who meet, of `PAIRS`.
        deals: Of each pair; each is played in 14 seatings.
        tokens: That a model learns from, where none is committed.
        runs: Of the search.
        worlds: Of PIMC.
        searched: Simulations of PIMC in each world.
        replayed: Matches made again by fresh workers, of all pairs together; 0 for none.
        settings: Of a training.
        simulations: Of ISMCTS; 0 for as many as take the time of `gomcts`.
    """

    pairs: tuple[str, ...]
    deals: int
    tokens: int
    runs: int
    worlds: int
    searched: int
    replayed: int
    settings: ObservationSettings
    simulations: int = 0


FULL = HeartsSize(
    ("argmaxval-random", "argmaxval-greedy", "argmaxval-strong", "gomcts-ismcts", "gomcts-strong"),
    *(60, 20_000_000, 100, 50, 200, 44),
    ObservationSettings(iterations=12, epochs=1, batch=512, bootstrap=0.25),
)
QUICK = HeartsSize(
    FULL.pairs,
    *(2, 20_000, 5, 10, 20, 0),
    ObservationSettings(iterations=1, epochs=1, batch=512),
)


def run(options: EvalOptions, size: HeartsSize | None = None) -> EvalResult:
    """Train where no model is committed, calibrate, play, and lay the paper's table beside.

    Args:
        options: Its folder keeps trained iterations, times of decisions and finished matches.
        size: How much; None for the usual sizes.

    Raises:
        PlayerSpecError: If the program that is named cannot be run.
        EvalError: If a player does not finish the match in which it is timed.
    """
    size = resized(
        size or (QUICK if options.quick else FULL), options, PAIRS, games="pairs", matches="deals"
    )
    with TemporaryDirectory() as made, sandbox_of_process(RECIPE) as sandbox:
        folder = options.folder or Path(made)
        hearts = HeartsField(_strong(size), sandbox, size, options, folder)
        rows = [hearts.row(pair) for pair in size.pairs]
        replayed = replay_sample(hearts.played, size.replayed) if size.replayed else Replayed()
        grade = sandbox.grade.model_dump(mode="json")
        return EvalResult(
            scores=tuple(_scores(rows, full=not options.quick)),
            samples=tuple(rows),
            unscored={row["pair"]: row["problem"] for row in rows if "problem" in row},
            effective={
                "deals": size.deals,
                "seatings": len(SEATINGS),
                "game": dict(hearts.game.parameters),
                "players": {name: _pathless(spec) for name, spec in hearts.names.items()},
                "ms a decision": {_pathless(spec): ms for spec, ms in hearts.times.items()},
                "model": hearts.about,
                "replayed": replayed.matches,
                "published": {"source": _PUBLISHED["source"], **_PUBLISHED["hearts"]["compute"]},
                "sandbox": grade,
            },
        )


def _strong(size: HeartsSize) -> str | None:
    if path := value_of(VARIABLE):
        return HeartsRoster().effective(f"{PROGRAM}:path={path}").name
    found = f"{WORLDS}:worlds={size.worlds},simulations={size.searched}"
    return found if has_openspiel() else None


@dataclass
class HeartsField:
    """The game and the players of an evaluation.

    Attributes:
        strong: The spec of the strong opponent; None where there is none.
        sandbox: Of this process.
        size: How much is played.
        options: Seed, workers, and who is told.
        folder: Of what is kept.
        played: The plan and the matches of each pair so far.
    """

    strong: str | None
    sandbox: Sandbox
    size: HeartsSize
    options: EvalOptions
    folder: Path
    played: list[tuple[MatchPlan, Mapping[int, MatchEntry]]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    @cached_property
    def game(self) -> GameSetup:
        """Hearts, one deal a match."""
        given = GameSetup(
            *("hearts", library.source("hearts"), SEATS, ONE_DEAL),
            library.heuristic_sources("hearts"),
        )
        return replace(given, parameters=effective_parameters(given, self.sandbox))

    @cached_property
    def model(self) -> Path:
        """The file of the committed model, or of one that is trained here."""
        committed = Path(str(files("evals").joinpath(_COMMITTED)))
        if committed.is_file():
            return committed
        training = SelfPlayTraining(
            *(self.sandbox, self.game, self.size.settings, self.size.tokens),
            *(self.options.seed, self.folder / "training"),
            roster=HeartsRoster(),
        )
        path = self.folder / "hearts.model"
        path.write_bytes(training.train({}).saved())
        return path

    @property
    def about(self) -> Row:
        """The model by its own words; nothing where nobody plays by it."""
        if self.names.keys().isdisjoint(_MODELLED):
            return {}
        found = read_observation_model(str(self.model))
        return {
            "sha256": found.digest,
            **{name: found.about[name] for name in ("tokens", "settings", "seed")},
            "matches": sum(row["matches"] for row in found.about["course"]),
        }

    @cached_property
    def times(self) -> dict[str, float]:
        """Milliseconds of a decision, by spec; measured once, and kept in the folder."""
        path = self.folder / _TIMES
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    @cached_property
    def simulations(self) -> int:
        """Simulations of ISMCTS that take the time of `gomcts`."""
        if self.size.simulations:
            return self.size.simulations
        aim = self.milliseconds(self.spec("gomcts"))
        found = matching_amount(lambda n: self.milliseconds(f"ismcts:simulations={n}"), aim)
        self.options.tell(f"ismcts: {found} simulations take the {aim:.0f} ms of a gomcts move")
        return found

    def spec(self, name: str) -> str:
        """The spec of a player by its short name."""
        if name in _MODELLED:
            runs = f",runs={self.size.runs}" if name == "gomcts" else ""
            return f"{name}:model={self.model}{runs}"
        if name == "ismcts":
            return f"ismcts:simulations={self.simulations}"
        return (self.strong or "") if name == "strong" else name

    def milliseconds(self, spec: str) -> float:
        """The time of a decision that is none of one action, in one deal among equals.

        Raises:
            EvalError: If the match does not finish.
        """
        name = HeartsRoster().effective(spec).name
        if name not in self.times:
            begun = time.perf_counter()
            series = play_series(
                *(self.game, (spec,) * SEATS, HeartsRoster()),
                SeriesSettings(1, self.options.seed, replay=False, record=False),
                sandbox=RECIPE,
            )
            spent, entry = time.perf_counter() - begun, series.entries[0]
            if entry.ending != "finished":
                raise EvalError(f"{spec} does not finish a match: {entry.reason}")
            decisions = sum(used.decisions for used in entry.used) - entry.forced
            self.times[name] = round(1000 * spent / decisions, 2)
            told = json.dumps(self.times, indent=1)
            (self.folder / _TIMES).write_text(told, encoding="utf-8")
        return self.times[name]

    def row(self, pair: str) -> Row:
        """Play a pair, or what is missing of it, and make its table."""
        short = dict(zip("AB", pair.split("-"), strict=True))
        if "strong" in short.values() and self.strong is None:
            return {"pair": pair, "problem": f"{MISSING}; or name a program in {VARIABLE}"}
        specs = {seat: self.spec(name) for seat, name in short.items()}
        for spec in specs.values():
            self.milliseconds(spec)
        self.options.tell(f"{specs['A']} meets {specs['B']}")
        players = tuple(map(HeartsRoster().effective, specs.values()))
        self.names |= zip(short.values(), (one.name for one in players), strict=True)
        asked = TournamentSettings(deals=self.size.deals, seed=self.options.seed + 1)  # not trained
        plan = MatchPlan(self.game, players, asked, HeartsRoster(), all_seatings(), RECIPE)
        found = played(
            plan,
            journal=self.folder / f"{pair}.jsonl" if self.options.folder else None,
            workers=Workers(self.options.workers),
            on_match=lambda index, _: self._tell(pair, index),
            replay=False,
        ).counted()
        self.played.append((plan, found))
        row = {"pair": pair, **_measured(plan, found)}
        row["published"] = _TABLES.get(short["A"]) if short["B"] == "strong" else None
        for line in _told(row):
            self.options.tell(f"{pair}: {line}")
        return row

    def _tell(self, pair: str, match: int) -> None:
        if not (match + 1) % len(SEATINGS):
            self.options.tell(f"{pair}: deal {(match + 1) // len(SEATINGS)} of {self.size.deals}")


def _pathless(spec: str) -> str:
    """A spec whose files are named without their folders, which a result need not tell."""
    return re.sub(r"=[^=,]*/", "=", spec)


def matching_amount(cost: Callable[[int], float], aim: float) -> int:
    """The number whose cost is about `aim`, to two digits; the cost is asked twice.

    >>> matching_amount(lambda simulations: 3 + 0.5 * simulations, 123)
    240
    """
    count = _FIRST_GUESS
    for _ in range(2):
        count = max(1, round(count * aim / cost(count)))
    return int(float(f"{count:.2g}"))


def _measured(plan: MatchPlan, entries: Mapping[int, MatchEntry]) -> Row:
    """The table of the deals of which every seating finished, or why there is none."""
    deals, size = list[Deal](), plan.schedule.matches_a_deal
    for first in range(0, len(entries), size):
        returns = [entries[index].returns for index in range(first, first + size)]
        paid = [card_points(one) for one in returns if one is not None]
        if len(paid) == size:
            deals.append(dict(zip(SEATINGS, paid, strict=True)))
    row: Row = {
        "deals": len(deals),
        "left out": len(entries) // size - len(deals),
        "endings": {str(ending): count for ending, count in by_ending(entries.values()).items()},
    }
    try:
        return {**row, "table": seating_table(deals), "moons": moon_rate(deals)}
    except NoSamplesError as error:
        reasons = sorted({one.reason for one in entries.values() if one.reason})
        return {**row, "problem": "; ".join([str(error), *reasons[:3]])}


def _told(row: Row) -> Iterator[str]:
    """A line a column of the table, or the problem."""
    if "problem" in row:
        yield row["problem"]
        return
    for name, one in row["table"].items():
        found = f"A {one['A']:.2f}, B {one['B']:.2f}, A less B {one['value']:.2f}"
        theirs = (row["published"] or {}).get(name)
        paper = f"; the paper's: A {theirs[0]:.2f}, B {theirs[1]:.2f}" if theirs else ""
        yield f"{name}: {found} ({one['low']:.2f} to {one['high']:.2f}, {one['n']} deals){paper}"


def _scores(rows: Sequence[Row], *, full: bool) -> Iterator[Score]:
    """The difference of each pair; what is required of some holds for a whole run."""
    for row in rows:
        if "table" not in row:
            continue
        pair, table, rest = row["pair"], row["table"], {"unscored": row["left out"]}
        yield Score(f"{pair}: points a deal, A less B", table["All"]["value"], row["deals"], **rest)
        if pair in ("argmaxval-random", "argmaxval-greedy"):
            won = sum(table[name]["high"] < 0 for name in COLUMNS if name != "All")
            name = f"{pair}: columns in which A takes fewer points"
            yield Score(name, won, row["deals"], at_least=3 if full else None, **rest)
        if pair == "gomcts-ismcts":
            name = f"{pair}: the difference's low end"
            low = table["All"]["low"]
            yield Score(name, low, row["deals"], at_most=0 if full else None, **rest)
