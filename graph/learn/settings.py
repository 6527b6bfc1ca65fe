"""Settings of a run of `learn`, and what it was asked; every field stands in its results."""

from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from games.streams import drawn_seed
from graph.run.folder import RunFolder, RunFolderError, create_folder
from graph.run.settings import RefineStrategy, sized

InferenceChoice: TypeAlias = Literal["auto", "none", "resample_history", "resample_state"]
Drawn: TypeAlias = Literal["", "resample_history", "resample_state"]
"""An inference function that is learned; empty for none."""
_REQUEST = ".state/learning.json"
_SYNTHESES = ".state/syntheses.json"
MOST_SYNTHESES = 20
_FORMAT: Literal[2] = 2


class LearnSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of one run; unknown ones are refused.

    Attributes:
        seed: Seeds every random stream of the run; drawn where none is given.
        quick: Fewer matches and draws, for a first look.
        closed_deck: Whether the matches are one seat's view; a file of the other kind is refused.
        refine: How the candidate to mend is picked: the newest, or by Thompson sampling.
        max_calls: Calls of the modeller in all; each may ask an endpoint more than once.
        num_targets: Versions asked for in a call; they are tested in parallel.
        tests_first: Tests shown with the first call, of each kind (Code World Models App. D.1.3).
        tests_shown: Failing tests shown with a refinement, of each kind, each of another function
            or type of action (App. D.1.3: 1 of each kind).
        min_start: A first candidate below this score is not refined, in a tree (App. D.1.3).
        min_gain: Nor one that gained less than this share of what its parent lacked.
        training_matches: Recorded matches that candidates are tested on, at most.
        heldout_matches: Recorded matches kept apart, at most; at most a fifth of all. One that a
            candidate fails joins the training matches.
        inference: Which inference function is asked for; "auto" is hidden history where the
            observations hide something, else none.
        draws: Draws of an inference test; all must hold.
        sights: Places at which inference is tested, at most.
        posterior_calls: Of the model, to enumerate what may be hidden at a place where draws are
            compared with it; where they do not do, draws only have to differ.
        play_matches: Random matches inside each candidate that predicts everything.
        values: Value functions asked for; 0 for none.
        value_simulations: Of a decision, where value functions compete (the paper: 1,000).
        value_deals: Deals of each pair of them, each played in both seats.
        tensors: Calls at most for the functions that turn observations into arrays, of `max_calls`.
        active: Further matches that the environment may be asked for.
        environment: Its name; empty for none.
        arena: Deals played in the environment, against random play and against a search in it; each
            with the model in every seat. Without an environment none.
        arena_simulations: Of a decision there.
        keep_learning: Whether a match of the arena that the model does not predict goes back into
            refinement.
        depth: Plies of branch fidelity.
        deadline_s: Seconds that one candidate's transition tests may take, and its draws.
    """

    seed: int = Field(default_factory=drawn_seed, ge=0)
    quick: bool = False
    closed_deck: bool = False
    refine: RefineStrategy = "tree"
    max_calls: int = Field(default=20, ge=1)
    num_targets: int = Field(default=2, ge=1, le=8)
    tests_first: int = Field(default=5, ge=0)
    tests_shown: int = Field(default=4, ge=1)
    min_start: float = Field(default=0.01, ge=0, le=1)
    min_gain: float = Field(default=0.01, ge=0, le=1)
    training_matches: int = sized(60, quick=10)
    heldout_matches: int = sized(40, quick=5)
    inference: InferenceChoice = "auto"
    draws: int = Field(default=3, ge=1)
    sights: int = sized(80, quick=20)
    posterior_calls: int = sized(20_000, quick=4_000)
    play_matches: int = sized(20, quick=5)
    values: int = Field(default=0, ge=0, le=8)
    value_simulations: int = sized(200, quick=20, least=1)
    value_deals: int = sized(25, quick=6, least=1)
    tensors: int = Field(default=0, ge=0)
    active: int = Field(default=0, ge=0)
    environment: str = ""
    arena: int = Field(
        default_factory=lambda s: 0 if not s["environment"] else 2 if s["quick"] else 10
    )
    arena_simulations: int = sized(200, quick=30, least=1)
    keep_learning: bool = False
    depth: int = Field(default=3, ge=1, le=8)
    deadline_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)


class LearnRequest(BaseModel, frozen=True, extra="forbid"):
    """The request of a run.

    Attributes:
        format: Version of the run folder's machine part.
        rules: The rules as text.
        trajectories: Path of the recorded matches; they are copied by the run's first step.
        settings: Of the run.
    """

    format: Literal[2] = _FORMAT
    rules: str
    trajectories: str
    settings: LearnSettings

    def with_calls(self, calls: int) -> "LearnRequest":
        """The same with another number of calls at most."""
        settings = LearnSettings(**{**dict(self.settings), "max_calls": calls})
        return LearnRequest(rules=self.rules, trajectories=self.trajectories, settings=settings)


class Syntheses(BaseModel, frozen=True, extra="forbid"):
    """The request of several runs over the same rules and matches, each with a seed of its own."""

    count: int = Field(ge=2, le=MOST_SYNTHESES)
    each: LearnRequest

    def runs(self, folder: RunFolder) -> dict[str, RunFolder]:
        """The folders of the runs by name, made where they are missing."""
        found = {f"synthesis-{n}": n for n in range(1, self.count + 1)}
        return {name: self._run(folder.path / name, n) for name, n in found.items()}

    def _run(self, path: Path, number: int) -> RunFolder:
        if is_learning(run := RunFolder(path)):
            return run
        seed = (self.each.settings.seed + number - 1) % 2**64
        settings = LearnSettings(**{**dict(self.each.settings), "seed": seed})
        made = create_folder(path, title=path.name, runs=path.parent)
        write_learning(self.each.model_copy(update={"settings": settings}), made)
        return made


def read_syntheses(folder: RunFolder) -> Syntheses | None:
    """The request of several runs; None where the folder is of one.

    Raises:
        RunFolderError: If it cannot be read.
    """
    if not (folder.path / _SYNTHESES).exists():
        return None
    wrong = "is no request ({} faults); start the runs anew: rulewright learn"
    return folder.read_model(_SYNTHESES, Syntheses, wrong)


def write_syntheses(request: Syntheses, folder: RunFolder) -> None:
    """Keep what several runs were asked, so that they can be resumed."""
    folder.write_json(_SYNTHESES, request.model_dump(mode="json"))


def is_learning(folder: RunFolder) -> bool:
    """Say whether a run folder is one of `learn`."""
    return (folder.path / _REQUEST).exists()


def read_learning(folder: RunFolder) -> LearnRequest:
    """Read the request of a run.

    Raises:
        RunFolderError: If it cannot be read, or another version of the product wrote it.
    """
    fields = folder.read_json(_REQUEST)
    found = fields.get("format") if isinstance(fields, dict) else None
    if isinstance(found, int) and found != _FORMAT:
        raise RunFolderError(
            f"{folder.path} is a run of `learn` of format {found}, made by another version of "
            f"Rulewright; required: format {_FORMAT}. Its files can be read; start the run anew: "
            "rulewright learn"
        )
    wrong = "is no request ({} faults); start the run anew: rulewright learn"
    return folder.read_model(_REQUEST, LearnRequest, wrong)


def write_learning(request: LearnRequest, folder: RunFolder) -> None:
    """Keep what a run was asked, so that it can be resumed from its very first moment."""
    folder.write_json(_REQUEST, request.model_dump(mode="json"))
