"""A tournament's plan, and the folding of its matches in whatever order they arrive."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from games.contract import Json
from tools.playtest.jobs import Effective, GameSetup, MatchJob, Roster, SandboxRecipe
from tools.playtest.outcomes import Outcome, read_outcome
from tools.playtest.results import TournamentSettings
from tools.playtest.schedule import Schedule
from tools.playtest.sprt import Answer, Question, SequentialTest
from tools.playtest.tallies import duel, score_of


@dataclass(frozen=True)
class Plan:
    """Everything a tournament is, before any match."""

    game: GameSetup
    players: tuple[Effective, ...]
    settings: TournamentSettings
    roster: Roster
    schedule: Schedule
    recipe: SandboxRecipe

    @cached_property
    def source_id(self) -> str:
        """SHA-256 of the module."""
        return hashlib.sha256(self.game.source.encode()).hexdigest()

    @cached_property
    def heuristics(self) -> dict[str, str]:
        """SHA-256 of each heuristic."""
        return {
            name: hashlib.sha256(source.encode()).hexdigest()
            for name, source in sorted(self.game.heuristics.items())
        }

    def identity(self) -> dict[str, Json]:
        """Everything that decides which matches there are, but for the number of deals."""
        question = self.settings.question
        return {
            "tournament": 1,
            "game": self.game.name,
            "source_id": self.source_id,
            "heuristics": {**self.heuristics},
            "question": question.model_dump(mode="json") if question else None,
            "parameters": dict(self.game.parameters),
            "num_players": self.game.num_players,
            "players": [player.model_dump(mode="json") for player in self.players],
            "line_ups": [list(line_up) for line_up in self.schedule.line_ups],
            **self.settings.model_dump(mode="json", include={"seed", "max_plies", "ply_s"}),
        }

    def job(self, index: int) -> MatchJob:
        """What it takes to play a match."""
        seated = self.schedule.seated(index, self.settings.seed)
        return MatchJob(
            game=self.game,
            seats=tuple(self.players[entrant] for entrant in seated),
            roster=self.roster,
            sandbox=self.recipe,
            seed=self.settings.seed,
            match=index,
            deal=self.schedule.place(index).deal,
            max_plies=self.settings.max_plies,
            deadline_s=self.settings.ply_s,
        )


@dataclass
class Fold:
    """The matches that are there, and which are still wanted.

    A pair's sequential test takes its deals in order and only once they are whole. So where it
    stops does not depend on the order in which matches arrive; matches beyond are not counted.
    """

    plan: Plan
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    entries: dict[int, Json] = field(default_factory=dict)
    tests: dict[frozenset[int], SequentialTest] = field(default_factory=dict)
    next_deal: Counter[frozenset[int]] = field(default_factory=Counter)
    stops: dict[frozenset[int], int] = field(default_factory=dict)

    def add(self, index: int, entry: Json) -> None:
        """Take a match in.

        Raises:
            ValueError: If it is no entry of a match.
        """
        self.outcomes[index] = read_outcome(entry)
        self.entries[index] = entry
        if self.plan.settings.question:
            self._test(self._who(index), self.plan.settings.question)

    def wanted(self) -> Iterator[int]:
        """Matches to play, in order, as things stand when each is asked for."""
        total = self.plan.settings.deals * self.plan.schedule.matches_a_deal
        for index in range(total):
            if index not in self.outcomes and self._counts(index):
                yield index

    def counted(self) -> list[int]:
        """The matches of the result, in order."""
        return [index for index in sorted(self.outcomes) if self._counts(index)]

    def kept(self) -> dict[int, Json]:
        """The entries to keep, in order: all but matches played ahead of a test that then ended."""
        return {
            index: self.entries[index]
            for index in sorted(self.entries)
            if self._counts(index) or self._who(index) not in self.stops
        }

    def answers(self) -> Mapping[frozenset[int], Answer]:
        """Of the question, by pair of entrants."""
        return {pair: test.answer for pair, test in self.tests.items()}

    def _who(self, index: int) -> frozenset[int]:
        schedule = self.plan.schedule
        return frozenset(schedule.line_ups[schedule.place(index).line_up])

    def _counts(self, index: int) -> bool:
        deals = self.plan.settings.deals
        return self.plan.schedule.place(index).deal < self.stops.get(self._who(index), deals)

    def _test(self, pair: frozenset[int], question: Question) -> None:
        test = self.tests.setdefault(pair, SequentialTest(question))
        one, other = sorted(pair)
        while pair not in self.stops and self.next_deal[pair] < self.plan.settings.deals:
            matches = self._matches(self.next_deal[pair], pair)
            if any(match not in self.outcomes for match in matches):
                return
            played = [
                (self.outcomes[m], self.plan.schedule.seated(m, self.plan.settings.seed))
                for m in matches
            ]
            self.next_deal[pair] += 1
            if all(outcome.ending == "finished" for outcome, _ in played):
                answer = test.take(score_of(duel(played, one, other)))
                if answer.decision != "undecided":
                    self.stops[pair] = self.next_deal[pair]

    def _matches(self, deal: int, pair: frozenset[int]) -> list[int]:
        schedule = self.plan.schedule
        line_ups = [i for i, who in enumerate(schedule.line_ups) if frozenset(who) == pair]
        return [match for line_up in line_ups for match in schedule.block(deal, line_up)]
