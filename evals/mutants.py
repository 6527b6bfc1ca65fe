"""Eval: which planted leaks and rule bugs do the checks find, and do they blame sound games?

Faults are planted in library games by a program (`evals.planting`). A variant that play
cannot tell from the original, or a leak that tells nothing hidden, is no fault: it is dropped and
counted. Leaks are for the checks alone. Rule bugs are held against the checks alone, which know no
rules, and besides against recorded matches of the original followed ply by ply, as a user's tests
and records would be: two figures, reported apart. Only what a check failed counts as found; what
it could not judge stands in the rows. A sound game is blamed where a check does either.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from evals.planting import Mutant, PlantedGame, leak_kinds, leaking, leaks, places_of, variant_of
from evals.results import EvalError, EvalOptions, EvalResult, Row, Score, read_data, score_over
from games import library
from games.checks.run import CheckSettings
from games.values import ModuleFault
from tools.checking import check_source
from tools.differing import differential_sources
from tools.sandbox import Sandbox

GAMES = tuple(PlantedGame(**row) for row in read_data("data/mutants.yaml"))
_COUNT = {False: 50, True: 8}  # of leaks, and of rule bugs
_RECORDED, _COMPARED = 12, 24  # matches: of the record, and to tell a fault from none
_LONGEST = 250
_EACH = 5  # of a kind of fault in one game at the most, on average
_TRIES = 40  # variants drawn for one fault
_PLANTED = ("leak", "rule bug")
_Drawn: TypeAlias = tuple[Mutant, Callable[[Mutant], bool]]
FOUND = "failed"


def run(options: EvalOptions, games: Sequence[PlantedGame] = GAMES) -> EvalResult:
    """Plant, check, count.

    Raises:
        EvalError: If no fault could be planted.
    """
    few = {"matches": 6, "samples": 16} if options.quick else {}
    settings = CheckSettings(seed=options.seed, **few)
    rows: list[Row] = []
    count = min(_COUNT[options.quick], _EACH * len(games))
    with Sandbox() as sandbox:
        trial = _Trial(sandbox, settings, options.seed, games)
        for about in _PLANTED:
            for number in range(count):
                rows.append(trial.judged(trial.planted(about, number), about))
                options.tell(f"{about} {number}: {rows[-1]}")
        names = [game.name for game in games] if options.quick else library.names()
        sound = [trial.sound(name) for name in names]
        return EvalResult(
            scores=tuple(_scores(rows, sound)),
            samples=(*rows, *sound),
            effective={
                "checks": settings.model_dump(mode="json"),
                "recorded matches": _RECORDED,
                "matches that tell a fault from none": _COMPARED,
                "dropped as no fault": dict(trial.dropped),
                "sandbox": sandbox.grade.model_dump(mode="json"),
            },
        )


class _Trial:
    """A trial that plants faults and has the checks judge them."""

    def __init__(
        self, sandbox: Sandbox, settings: CheckSettings, seed: int, games: Sequence[PlantedGame]
    ) -> None:
        self.sandbox, self.settings, self.seed, self.games = sandbox, settings, seed, games
        self.known: set[str] = set()
        self.dropped: Counter[str] = Counter()

    def planted(self, about: str, number: int) -> Mutant:
        """A fault that is none yet known; games and kinds go round, what is no fault is counted."""
        for attempt in range(_TRIES):
            generator = np.random.default_rng([self.seed, number, attempt, _PLANTED.index(about)])
            mutant, is_fault = (self._leak if about == "leak" else self._bug)(
                number, attempt, generator
            )
            if mutant.source not in self.known:
                self.known.add(mutant.source)
                if is_fault(mutant):
                    return mutant
                self.dropped[f"{about}: {mutant.kind}"] += 1
        raise EvalError(f"no {about} could be planted in {_TRIES} tries")

    def _leak(self, number: int, attempt: int, generator: Generator) -> _Drawn:
        kinds, games = leak_kinds(), [game for game in self.games if game.hides]
        kind = kinds[(number + attempt) % len(kinds)]
        game = games[(number + number // len(games) + attempt // 8) % len(games)]
        return leaking(game, kind, generator), lambda mutant: leaks(mutant, seed=self.seed)

    def _bug(self, number: int, attempt: int, generator: Generator) -> _Drawn:
        game = self.games[(number + attempt) % len(self.games)]
        places = places_of(game, telling=False)
        kind = sorted(places)[(number + number // len(self.games)) % len(places)]
        place = places[kind][int(generator.integers(len(places[kind])))]
        return variant_of(game, kind, place), lambda mutant: self.differs(mutant, _COMPARED, 1)

    def differs(self, mutant: Mutant, matches: int, more: int) -> bool:
        """True where the variant plays one of the original's matches otherwise."""
        game = mutant.game
        try:
            found = differential_sources(
                self.sandbox,
                game.source,
                mutant.source,
                num_players=game.players,
                matches=matches,
                seed=self.seed + more,
                max_plies=_LONGEST,
                parameters=game.parameters,
                to_the_letter=True,
            )
        except ModuleFault:
            return False  # it does not load: no fault of the rules
        return found.outcome == "diverge"

    def judged(self, mutant: Mutant, about: str) -> Row:
        """A row: the checks that failed or could not judge, and if recorded matches differ."""
        row = self.checked(mutant.source, mutant.game)
        row["replay"] = about != "leak" and self.differs(mutant, _RECORDED, 2)
        planted = {"game": mutant.game.name, "kind": mutant.kind, "planted": mutant.about}
        return {"about": about, **planted, **row}

    def checked(self, source: str, game: PlantedGame) -> Row:
        """The checks' word on a source."""
        run = check_source(
            self.sandbox,
            source,
            settings=self.settings,
            num_players=game.players,
            parameters=game.parameters,
        )
        failed = sorted({f.check for f in run.findings if f.outcome == "failed"})
        doubted = sorted({f.check for f in run.findings if f.outcome == "could_not_judge"})
        return {FOUND: failed, "doubted": doubted}

    def sound(self, name: str) -> Row:
        """The same of a library game as it is."""
        game = PlantedGame(name, library.preset(name).players)
        return {"about": "sound", "game": name, **self.checked(game.source, game)}


def _scores(rows: Sequence[Row], sound: Sequence[Row]) -> Iterator[Score]:
    leak, bugs = ([row for row in rows if row["about"] == about] for about in _PLANTED)
    yield score_over([bool(row[FOUND]) for row in leak], "leaks that a check failed", at_least=0.95)
    by_audit = ["leak_audit" in row[FOUND] for row in leak]
    yield score_over(by_audit, "leaks that the leak audit failed", at_least=0.0)
    alone = [bool(row[FOUND]) for row in bugs]
    yield score_over(alone, "rule bugs that a check failed, knowing no rule", at_least=0.0)
    either = [bool(row[FOUND]) or row["replay"] for row in bugs]
    yield score_over(either, "rule bugs that a check failed or recorded matches show", at_least=0.9)
    alarms = [bool(row[FOUND] or row["doubted"]) for row in sound]
    yield score_over(alarms, "sound games blamed", sum, at_most=0)
