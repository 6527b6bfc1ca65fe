"""Players that search: in a learned model (`cwm`), or in the game itself (`gt`).

Code World Models §5: 1,000 simulations a decision, of UCT where what a seat sees determines the
state and of information set search elsewhere, with ten rollouts a new leaf or a value function.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from agents.belief.belief import BeliefName
from agents.players.search import DeadlineSettings, SearchPlayer, settings_of
from agents.players.specs import PlayerSpecError, Seating, parameters_of, require_unchanged
from agents.search.algorithms import search_named
from agents.search.settings import MANY, Count
from games.engine import Decision, Effort, PlayerFault
from games.information import Did, SeatLog
from games.text import plain_text
from games.values import Action, ModuleFault, canonical_key
from tools.playtest.jobs import PlayerSpec, Setting
from tools.sandbox import Worker
from tools.sandbox.reading import foreign_game
from tools.sources import read_source

_FILE = "model.py"  # in a run's folder
_DIGITS = 16  # of the hash, shown and compared
_REASON = 300

Rules: TypeAlias = Literal["paper", "ours"]
_SUITED: dict[tuple[str, str, int, str], str] = {}


class GtSettings(DeadlineSettings):
    """Settings of a search as the paper's players do it."""

    search: Literal["auto", "uct", "ismcts"] = Field(
        default="auto",
        description="auto: uct where random play shows perfect information, else ismcts.",
    )
    simulations: Count = Field(default=1000, description="Simulations a decision.")
    rollouts: Count = Field(
        default=10, description="Rollouts of a new leaf without a value function."
    )
    belief: BeliefName = Field(
        default="auto",
        description="Where hidden states come from; module: the inference function alone, as "
        "in the paper.",
    )
    determinizations: int = Field(
        default=0,
        ge=0,
        le=MANY,
        description="Hidden states drawn for a decision and used in turn; 0 draws a new one "
        "for every simulation.",
    )


class CwmSettings(GtSettings):
    """Settings of the player of a learned model."""

    run: str = Field(default="", description="Folder of a `learn` run, for its model.py.")
    model: str = Field(default="", description="File of a model; this or run is required.")
    sha256: str = Field(default="", description="Of its text; filled in, else compared.")
    leaf: Literal["auto", "rollout"] = Field(
        default="auto", description="auto: by the model's value function where it has one."
    )
    protocol: Rules = Field(
        default="paper",
        description="paper: legal actions are hidden from it, and an illegal one forfeits; "
        "ours: it is told them, and plays a random one where its model names none of them.",
    )

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if bool(self.run) == bool(self.model):
            raise ValueError("required: run=FOLDER or model=FILE, one of them")
        return self


def with_model_file(spec: PlayerSpec) -> PlayerSpec:
    """The spec with the model's file and the hash of what it says.

    Raises:
        PlayerSpecError: If the spec gives a hash and the file has another, or it is no whole game.
        GameNotFoundError: If the file cannot be read.
    """
    settings = dict(spec.settings)
    folder, path = str(settings.pop("run")), str(settings["model"])
    path = str(Path(folder) / _FILE) if folder else path
    source = read_source(path, "a model")
    try:
        foreign_game(source)
    except ModuleFault as fault:
        raise PlayerSpecError(
            f"{path} is no game module ({fault}); required: one that says how a match begins, such "
            f"as the {_FILE} in a folder of `rulewright learn`"
        ) from fault
    found = sha256(source.encode()).hexdigest()[:_DIGITS]
    require_unchanged(path, found, str(settings["sha256"]))
    return PlayerSpec(player=spec.player, settings=settings | {"model": path, "sha256": found})


def gt_player(spec: PlayerSpec, at: Seating) -> SearchPlayer:
    """The player that searches in the game itself, without a value function.

    Raises:
        PlayerSpecError: If the search cannot play this game.
        ModuleFault: If the module does not load.
    """
    return _searcher(spec, at, leaf="rollout")


def _searcher(spec: PlayerSpec, at: Seating, **more: Setting) -> SearchPlayer:
    """The search that the settings ask for, beside its own copy of the game."""
    search = str(spec.settings["search"])
    if search == "auto":
        search = _suited(spec, at)
    if search == "uct":
        more["belief"] = "auto"  # of which it needs none where the state is known
    return SearchPlayer(_inner(search, spec, more), at)


def _suited(spec: PlayerSpec, at: Seating) -> str:
    """The search for a game, by random play in it: tried once in a process."""
    game = at.game
    key = game.source, game.name, game.num_players, canonical_key(dict(game.parameters))
    if key not in _SUITED:
        tried = SearchPlayer(_inner("uct", spec, {"leaf": "rollout", "belief": "auto"}), at)
        _SUITED[key] = "uct" if tried.is_known else "ismcts"
        tried.close()
    return _SUITED[key]


def _inner(search: str, spec: PlayerSpec, more: Mapping[str, Setting]) -> PlayerSpec:
    """The spec of the search that does the work."""
    given = {**spec.settings, **more}
    settings: dict[str, Setting] = {}
    for model in settings_of(search_named(search)):
        for known in parameters_of(model):
            if known.is_used(settings):
                settings[known.name] = given.get(known.name, known.default)
    return PlayerSpec(player=search, settings=settings)


def _is_learned(source: str) -> bool:
    try:
        return foreign_game(source).get("learned") is True
    except ModuleFault:
        return True


class CwmPlayer:
    """Searches in a learned model, in a worker of its own.

    Whatever is wrong with the model costs this seat alone. Where the search fails, or no state of
    the model explains what the seat saw, the action is one that is legal in a state drawn anew
    (App. H.6); with nothing to draw, the seat forfeits, or plays any action of those it was told.
    """

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Read the model again, and load it.

        Raises:
            PlayerSpecError: If it has changed since the spec was read.
            GameNotFoundError: If it cannot be read.
        """
        read = with_model_file(
            PlayerSpec(player=spec.player, settings={"run": "", **spec.settings})
        )
        self.settings = read.part(CwmSettings)
        self.name = f"{spec.player} with {self.settings.model} at seat {at.seat}"
        source = read_source(self.settings.model, "a model")
        model = replace(at.game, source=source, environment="", heuristics={})
        self.at = replace(at, game=model)
        self.hears = not _is_learned(source)
        self.spec = spec
        self.view = SeatLog(at.seat)
        self.read = 0  # entries of the referee's log that are in the view
        self.searcher: SearchPlayer | None = None
        self.broken = ""
        self._begin()

    @property
    def worker(self) -> object:
        """The model's worker, as a referee may look at it."""
        return self.searcher.worker if self.searcher else None

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`.

        A decision reports `surprises`, 1 where the model could not explain what the seat saw, or
        its action was none of those that were told; and `failed_searches`.

        Raises:
            PlayerFault: If the model gives no action.
        """
        told = list(legal) if self.settings.protocol == "ours" else []
        self._see(log)
        failed = False
        try:
            decision = self._searched(told, generator, searches=True)
        except (ModuleFault, PlayerFault, PlayerSpecError) as error:
            decision, failed = self._fallen_back(error, told, generator), True
        action, effort = decision.action, decision.effort
        surprised = failed or effort.fallback is not None or effort.belief == "observed"
        if told and action not in told:
            action, surprised = told[int(generator.integers(len(told)))], True
            effort = replace(effort, fallback="random_legal")
        return Decision(
            action, replace(effort, surprises=int(surprised), failed_searches=int(failed))
        )

    def _see(self, log: SeatLog) -> None:
        """Take the log in; without its events where the model was learned from observations."""
        for entry in log.entries[self.read :]:
            if isinstance(entry, Did):
                self.view.act(entry.action)
            else:
                self.view.see(entry.observation, entry.events if self.hears else ())
        self.read = len(log.entries)

    def _searched(
        self, told: Sequence[Action], generator: np.random.Generator, *, searches: bool
    ) -> Decision:
        if self.searcher is None:
            raise PlayerFault(self.broken)
        return self.searcher.choose(self.view, told, generator, searches=searches)

    def _fallen_back(
        self, error: Exception, told: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        why = plain_text(str(error))[:_REASON]
        if told:
            effort = Effort(self.spec.player, fallback="random_legal")
            return Decision(told[int(generator.integers(len(told)))], effort)
        if self.searcher is not None:
            self._begin()  # what failed may have ended its worker
        try:
            return self._searched(told, generator, searches=False)
        except (ModuleFault, PlayerFault, PlayerSpecError) as again:
            raise PlayerFault(f"{self.name} has no action: {why}") from again

    def _begin(self) -> None:
        """Load the model into a fresh worker; one that cannot be used is kept as the reason."""
        self.close()
        try:
            self.searcher = _searcher(self.spec, self.at, leaf=self.settings.leaf, protocol="paper")
        except (ModuleFault, PlayerSpecError) as error:
            self.searcher = None
            self.broken = plain_text(str(error))[:_REASON]

    def close(self) -> None:
        """End the worker."""
        if self.searcher is not None and isinstance(self.searcher.worker, Worker):
            self.searcher.close()
