"""Settings of a run, each an effective parameter, and its resources, which are opened once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from agents.protocols import Design, RoleSet
from games.checks.run import CheckSettings
from games.streams import drawn_seed
from graph.run.settings import MOST, RefineStrategy, sized

if TYPE_CHECKING:
    from agents.model.budget import Budget
    from graph.new.records import RecordPool
    from graph.run.events import Tell
    from graph.run.folder import RunFolder
    from tools.balancing.wishes import Wish
    from tools.checking import CheckRun
    from tools.retrieval import Retrieval
    from tools.sandbox import Sandbox


Inventor: TypeAlias = "Callable[[Wish, RunFolder, int, Tell], str]"
"""Answers a wish on the game in a folder, by a seed; empty where no setting can be changed."""
_PRINTED_MATCHES = 400  # a candidate (Cardiverse §3.3.3)


def _heuristic_matches(settings: dict[str, Any]) -> int:
    if settings["protocol"] == "paper":
        return _PRINTED_MATCHES
    return 100 if settings["quick"] else 400


def _checks(settings: dict[str, Any]) -> CheckSettings:
    fewer = {"matches": 6, "samples": 16} if settings["quick"] else {}
    return CheckSettings(seed=settings["seed"], **fewer)


class RunSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of one run; unknown ones are refused.

    `quick` makes the defaults of the sizes smaller; a size that is given stands.

    Attributes:
        seed: Seeds every random stream of the run; drawn where none is given.
        quick: Fewer matches and smaller searches, for a first look.
        approve: Ask a person to approve the rulebook before it is coded.
        retrieval: Show the roles pieces of the library's games.
        own_games: Let retrieval also see games that earlier runs accepted.
        corpus: Let the designer also see mechanics of traditional games.
        candidates: Modules that the coder drafts, each without the others; all are checked.
        extras: Ask the coder, once the game is accepted, for a value function and, where something
            is hidden, for resamplers; what does not win or fit is dropped. Never in a quick run.
        refine: How the candidate to mend is picked; by tree where there are several drafts.
        max_rounds: Refinements before the run gives up.
        records_judged: Match records that the validator judges.
        random_matches: Matches at random that the measures are taken from; good play, which
            fairness is asked of, has 0.6 as many in a quick run, and 0.33 in a full one.
        ladder_matches: Matches for every rung of the skill ladder.
        protocol: How heuristics are selected: ours, or as Cardiverse prints it (400 matches each).
        lessons: Plies that heuristics are fitted to, where the strategist gave none worth having;
            0 for none.
        heuristic_matches: Matches that a line-up of heuristics plays at most, and held-out deals
            that confirm the chosen one.
        small_budget: Simulations a move of the searches that try a value function.
        large_budget: Simulations a move of the search on the ladder; 0 for no search.
        learn: Minutes that a model of what its seats see is trained on the accepted game, for two
            more players on the ladder; made into tokens once, which are kept. 0 for none.
        learn_tokens: The same as a number of tokens; 0 for what `learn` says.
        playtest_s: Wall seconds after which a play-test ends, as a last resort; None for no limit.
            What was cut is said first, and depends on the machine.
        max_plies: Plies after which a match is left unfinished.
        check: What the checks look at.
    """

    seed: int = Field(default_factory=drawn_seed, ge=0, le=2**64 - 1)
    quick: bool = False
    approve: bool = False
    retrieval: bool = True
    own_games: bool = False
    corpus: bool = True
    candidates: int = Field(default=1, ge=1, le=8)
    extras: bool = False
    refine: RefineStrategy = Field(
        default_factory=lambda given: "tree" if given["candidates"] > 1 else "conversation"
    )
    max_rounds: int = Field(default=6, ge=0, le=100)
    records_judged: int = sized(5, quick=2)
    ladder_matches: int = sized(2_000, quick=400, least=4)
    random_matches: int = sized(10_000, quick=1_000, least=4)
    protocol: Literal["ours", "paper"] = "ours"
    lessons: int = sized(8_000, quick=1_000)
    heuristic_matches: int = Field(default_factory=_heuristic_matches, ge=4, le=MOST)
    small_budget: int = sized(50, quick=15, least=1)
    large_budget: int = sized(250, quick=0)
    learn: float = Field(default=0.0, ge=0, le=24 * 60, allow_inf_nan=False)
    learn_tokens: int = Field(default=0, ge=0, le=10**9)
    playtest_s: float | None = Field(
        default_factory=lambda given: 900.0 if given["quick"] else 21_600.0,
        gt=0,
        le=7 * 86_400,
        allow_inf_nan=False,
    )
    max_plies: int = Field(default=2000, ge=1, le=MOST)
    check: CheckSettings = Field(default_factory=_checks)

    @field_validator("check", mode="before")
    @classmethod
    def _of_one_seed(cls, given: object, info: ValidationInfo) -> object:
        """The checks have the run's seed, unless they are given another one."""
        if not isinstance(given, dict):
            return given
        return {**{name: info.data[name] for name in ("seed",) if name in info.data}, **given}

    def but(self, given: Mapping[str, Any]) -> "RunSettings":
        """These settings with others over them; what was usual for them is usual again.

        >>> RunSettings(quick=True, max_rounds=2).but({"quick": False}).records_judged
        5
        """
        chosen = {name: getattr(self, name) for name in ("seed", "quick", "candidates", "protocol")}
        usual, own = RunSettings.model_validate(chosen).model_dump(), self.model_dump()
        kept = {name: value for name, value in own.items() if value != usual[name]}
        return RunSettings.model_validate({**chosen, **kept, **given})

    def of_seed(self, seed: int) -> "RunSettings":
        """The same, with a seed where none is given."""
        if "seed" in self.model_fields_set:
            return self
        given = self.model_dump(exclude_unset=True)
        if self.check.seed == self.seed and "check" in given:
            given["check"]["seed"] = seed
        return RunSettings.model_validate({**given, "seed": seed})


class CheckKey(NamedTuple):
    """A check that need not be made twice in one sandbox."""

    source: str
    settings: CheckSettings
    num_players: int
    records: int


class PoolKey(NamedTuple):
    """Matches that need not be played twice in one sandbox."""

    source: str
    design: str
    seed: int
    quick: bool
    max_plies: int


@dataclass
class RunContext:
    """Run-scoped resources, passed as `context=` when the graph is invoked.

    Attributes:
        roles: The four roles.
        retrieval: The store, as the roles see it.
        sandbox: Where generated code runs.
        runs: Where new run folders go.
        settings: Effective settings of the run.
        store_snapshot: Content id of what retrieval can see.
        embedding: Identity of the embedding.
        budget: What a model may still spend; None without a model.
        interactive: Whether a person is there to answer an interrupt.
        folder: The one folder that the run may write to; None for a new one under `runs`.
        keeps_own_games: Whether an accepted game joins the store's own games.
        versions: Versions of what took part, by name.
        clock: Seconds, monotonic.
        passed: Checks that passed, by what was checked and how; grows.
        played: What a validator's records are chosen from, of the module that was played last.
        invents: Answers what a person wishes that no change of a rule gives; None where nobody can.
    """

    roles: RoleSet
    retrieval: "Retrieval"
    sandbox: "Sandbox"
    runs: Path
    settings: RunSettings
    store_snapshot: str
    embedding: str
    clock: Callable[[], float]
    budget: "Budget | None" = None
    interactive: bool = False
    folder: Path | None = None
    keeps_own_games: bool = True
    versions: Mapping[str, str] = field(default_factory=dict)
    passed: "dict[CheckKey, CheckRun]" = field(default_factory=dict)
    played: "dict[PoolKey, RecordPool]" = field(default_factory=dict)
    invents: "Inventor | None" = None

    def checked(
        self, source: str, settings: "CheckSettings", num_players: int, records: int
    ) -> "CheckRun":
        """See `check_source`; the same seed finds the same, so what passed is not checked twice."""
        from games.checks import verdict
        from tools.checking import check_source

        key = CheckKey(source, settings, num_players, records)
        if key in self.passed:
            return self.passed[key]
        run = check_source(
            self.sandbox,
            source,
            settings=settings,
            num_players=num_players,
            parameters={},
            records=records,
        )
        if verdict(run.findings) == "passed":  # a fault may be one of time
            self.passed[key] = run
        return run

    def record_pool(
        self, source: str, design: Design, seed: int, tell: "Tell" = lambda _: None
    ) -> "RecordPool":
        """See `played_pool`; the newest is kept: its records may be judged once more."""
        from graph.new.records import Arena, played_pool

        arena = Arena(self.sandbox, self.settings.quick, self.settings.check.max_plies, self.clock)
        key = PoolKey(source, design.model_dump_json(), seed, arena.quick, arena.max_plies)
        if key not in self.played:
            pool = played_pool(arena, source, design, seed, tell=tell)
            self.played.clear()
            self.played[key] = pool
        return self.played[key]

    def notes_of_play(
        self, source: str, design: Design, tell: "Tell" = lambda _: None
    ) -> tuple[str, ...]:
        """Notes of diverse records, if a rule is marked by more than its functions."""
        from graph.new.records import diverse_records, is_marked_inside

        if not is_marked_inside(self.sandbox, source, design):
            return ()
        return diverse_records(self.record_pool(source, design, self.settings.seed, tell)).notes
