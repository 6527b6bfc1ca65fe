"""A run of `learn` as it stands: what its stages and nodes ask of state and resources together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from agents.model.chat import Message
from agents.roles.modeller import GameBrief
from games.trajectories import OpenTrajectory, Trajectory, TrajectoryHeader
from games.values import ModuleFault, State
from graph.learn.layered import LayeredSource
from graph.learn.matches import Material, all_sights, open_matches, shown_first
from graph.learn.settings import Drawn, LearnSettings
from graph.learn.state import LearnContext, LearnState
from tools.coverage import BranchCoverage, branch_coverage
from tools.predicting.inference import SeatSight
from tools.sources import learned_module

START = "INITIAL_STATE"
_TALK = ".state/talk/{}.json"
_FIRST = 2  # messages of the first request
_LONGEST_TALK = 120_000  # characters


@dataclass(frozen=True)
class Learning:
    """A run as it stands.

    Attributes:
        context: Its resources.
        state: Its state.
    """

    context: LearnContext
    state: LearnState

    @property
    def settings(self) -> LearnSettings:
        """The run's settings."""
        return self.context.settings

    @cached_property
    def material(self) -> Material:
        """The matches that the run learns from."""
        return self.context.files.material(self.state.held, self.state.asked)

    @property
    def header(self) -> TrajectoryHeader:
        """The header of the recorded matches."""
        return self.material.header

    @property
    def training(self) -> list[Trajectory]:
        """Matches that candidates are held against from the first."""
        return self.material.training(self.state.promoted)

    @property
    def heldout(self) -> list[Trajectory]:
        """Matches that only those are held against that pass all else."""
        return self.material.heldout(self.state.promoted)

    @property
    def shown(self) -> list[OpenTrajectory]:
        """The training matches of an open deck."""
        return open_matches(self.training)

    def sights(self, matches: Sequence[Trajectory]) -> list[SeatSight]:
        """Every turn of every seat; in a closed deck the one seat's, and the ends."""
        return all_sights(matches, self.header.num_players, self.header.seat)

    @property
    def source(self) -> str:
        """The accepted source that the stage stands on; empty in the first."""
        return "" if self.state.base is None else self.state.base.source

    @property
    def layers(self) -> LayeredSource:
        """The same in its layers."""
        return LayeredSource.parsed(self.source)

    @property
    def brief(self) -> GameBrief:
        """The game as the modeller is told it: nothing of a held-out match."""
        return GameBrief(
            game=game_name(self.header.environment),
            players=self.header.num_players,
            parameters=dict(self.header.parameters),
            rules=self.context.request.rules,
            matches=tuple(shown_first(self.training)),
            closed=self.settings.closed_deck,
            seat=self.header.seat,
            refused=self.refused,
        )

    @property
    def refused(self) -> tuple[str, ...]:
        """Why the last answer of the stage could not be used, in part or as a whole."""
        last = self.state.calls[-1:]
        return last[0].refused if last and last[0].function == self.state.at.stage else ()

    def keep_talk(self, call: int, exchange: Sequence[Message]) -> None:
        """Write down a call of a conversation: its request, and what was answered."""
        self.context.folder.write_json(_TALK.format(call), [*exchange])

    @property
    def talk(self) -> list[Message]:
        """The stage's conversation so far, its oldest answers left out where it is too long.

        A call whose reply was of no use is no part of it; the next request says why it was not.
        """
        if self.settings.refine != "conversation":
            return []
        folder, stage = self.context.folder, self.state.at.stage
        calls = [note.call for note in self.state.calls if note.function == stage]
        kept = [one for one in calls if (folder.path / _TALK.format(one)).exists()]
        found = folder.read_json(_TALK.format(kept[-1])) if kept else []
        talk = found if isinstance(found, list) else []
        return shortened_talk(talk, _LONGEST_TALK)

    @property
    def inference(self) -> Drawn:
        """The inference function that is to be learned; empty for none."""
        choice = self.settings.inference
        if choice == "auto":
            return "resample_history" if self.material.hides else ""
        return "" if choice == "none" else choice

    @property
    def spent(self) -> str:
        """Say which calls are used up, all or those for tensors; empty where some are left."""
        calls, settings = self.state.calls, self.settings
        asked = sum(note.function == "tensors" for note in calls)
        if len(calls) >= settings.max_calls:
            return "the 1 call is used" if len(calls) == 1 else f"all {len(calls)} calls are used"
        if self.state.at.stage == "tensors" and asked >= settings.tensors:
            return f"all {asked} calls for tensors are used"
        return ""

    def module(self, source: str, start: State | None = None) -> str:
        """A learned source as a whole game module; see `learned_module`.

        Args:
            source: The source.
            start: The first state; None for the recorded one.
        """
        return learned_module(
            source,
            name=game_name(self.header.environment),
            num_players=self.header.num_players,
            initial_state=self.material.start if start is None else start,
            parameters=self.header.parameters,
        )

    def start_of(self, source: str) -> State:
        """The first state that a source plays from: the recorded one, or in a closed deck its own.

        Raises:
            ModuleFault: If a closed deck's source gives none, or it is no state.
        """
        if not self.settings.closed_deck:
            return self.material.start
        with self.context.sandbox.loaded("start", source) as worker:
            value = worker.request("constant", {"name": START}, worker.limits.call_s)
        if not isinstance(value, dict):
            raise ModuleFault("bad_value", START, f"is {value!r:.80}; required: a dict")
        return value

    def covered(
        self, module: str, names: Sequence[str], matches: Sequence[OpenTrajectory]
    ) -> BranchCoverage:
        """Branches of functions of a model that matches take."""
        return branch_coverage(
            self.context.sandbox,
            module,
            names,
            [match.actions for match in matches],
            num_players=self.header.num_players,
            parameters=self.header.parameters,
        )


def shortened_talk(talk: Sequence[Message], most: int) -> list[Message]:
    """A conversation in about so many characters: its first request and the newest exchanges.

    >>> said = [{"content": text} for text in ("system", "task", "old", "failed", "new")]
    >>> [one["content"] for one in shortened_talk(said, 15)], len(shortened_talk(said, 40))
    (['system', 'task', 'new'], 5)
    """
    kept = list(talk)
    while len(kept) > _FIRST + 1 and sum(len(said["content"]) for said in kept) > most:
        del kept[_FIRST : _FIRST + 2]
    return kept


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
