"""The plan of a series or a tournament: which matches there are, and the jobs that play them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from games.values import Json
from tools.playtest.batches import BatchJob
from tools.playtest.jobs import GameSetup, MatchJob, PlayerSpec, Roster, SandboxRecipe
from tools.playtest.runner import Workers
from tools.playtest.schedule import Schedule, TournamentSettings
from tools.sandbox import Sandbox


@dataclass(frozen=True)
class MatchPlan:
    """Everything that decides which matches there are and what they leave.

    Attributes:
        game: With all its parameters.
        players: By entrant.
        settings: How much is played.
        roster: Makes the players.
        schedule: Who meets whom.
        sandbox: Where the matches run.
        record: Whether entries keep the whole closed-deck record.
        until: `time.monotonic()` from which on nothing is played; None for no such time.
    """

    game: GameSetup
    players: tuple[PlayerSpec, ...]
    settings: TournamentSettings
    roster: Roster
    schedule: Schedule
    sandbox: SandboxRecipe | Sandbox
    record: bool = False
    until: float | None = None

    @cached_property
    def source_id(self) -> str:
        """SHA-256 of the module."""
        return _sha256(self.game.renamed_from.source)

    @cached_property
    def heuristics(self) -> dict[str, str]:
        """SHA-256 of each heuristic."""
        return {name: _sha256(source) for name, source in sorted(self.game.heuristics.items())}

    def identity(self) -> dict[str, Json]:
        """Everything that decides which matches there are, but for the number of deals."""
        question = self.settings.question
        fields: dict[str, Json] = {
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
        if self.game.environment:
            fields["environment"] = {self.game.environment: dict(self.game.opened().versions)}
        if getattr(self.roster, "host_search", False):
            fields["host_search"] = True
        if not self.schedule.drawn:
            fields["design"] = self.schedule.design
        return fields

    @property
    def learns(self) -> bool:
        """True where an entrant's deals build on those before: matches are then played in order."""
        return any("lessons" in one.settings for one in self.players)

    def suited(self, workers: Workers) -> Workers:
        """Workers that can play this: one where somebody learns, threads where models are asked."""
        if self.learns:
            return Workers()
        if getattr(self.roster, "models", None) and workers.executor is None:
            return replace(workers, kind="threads", address=None)
        return workers

    @cached_property
    def in_lockstep(self) -> bool:
        """True where every match is played in lockstep."""
        return not self.one_by_one

    @cached_property
    def one_by_one(self) -> str:
        """Why matches are played one by one; empty where they are played in lockstep."""
        if self.game.environment:
            return "an environment holds one match at a time"
        if self.record:
            return "records are kept"
        alone = [one.name for one in self.players if not self.roster.in_lockstep(one)]
        return f"{alone[0]} decides match by match" if alone else ""

    def batch(self, matches: Sequence[int], lessons: tuple[tuple[str, ...], ...] = ()) -> BatchJob:
        """The job of matches of one line-up."""
        seed, first = self.settings.seed, self.job(matches[0], lessons)
        return BatchJob(
            first,
            self.players,
            tuple((m, self.schedule.place(m).deal, self.schedule.seated(m, seed)) for m in matches),
            first.in_lockstep,
        )

    def job(self, index: int, lessons: tuple[tuple[str, ...], ...] = ()) -> MatchJob:
        """The job of a match."""
        seated = self.schedule.seated(index, self.settings.seed)
        return MatchJob(
            game=self.game,
            seats=tuple(self.players[entrant] for entrant in seated),
            roster=self.roster,
            sandbox=self.sandbox,
            key=self.settings.seed,
            match=index,
            deal=self.schedule.place(index).deal,
            max_plies=self.settings.max_plies,
            deadline_s=self.settings.ply_s,
            record=self.record,
            lessons=lessons,
            until=self.until,
        )


def _sha256(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()
