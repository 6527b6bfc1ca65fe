"""Training and learning from Python: networks of a game, and models of one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.options import Isolation
from app.python.handles import Named, load_game
from app.python.shown import ArgumentError, Displayed, ShownTable, quietly, require_kinds
from games.text import one_line

if TYPE_CHECKING:
    from app.python.handles import LoadedGame
    from games.values import Json
    from graph.learn.report import LearnReport
    from graph.run.events import Event


@dataclass(frozen=True, repr=False)
class TrainedPlayerFile(Displayed):
    """A trained player.

    Attributes:
        file: Where it is.
        player: Its spec, as matches take it.
        about: How it was trained.
    """

    file: Path
    player: str
    about: "Mapping[str, Any]"

    def shown(self) -> ShownTable:
        """Where it is, and what it learned from."""
        rows = [(key, one_line(str(self.about[key]))) for key in _TOLD if key in self.about]
        return ShownTable(self.player, ("", ""), rows)


_TOLD = ("game", "steps", "tokens", "seed")


def train_player(
    game: Named,
    out: Path | str,
    *,
    steps: int = 0,
    tokens: int = 0,
    seed: int | None = None,
    settings: "Mapping[str, Json] | None" = None,
    force: bool = False,
) -> TrainedPlayerFile:
    """Train a network by self-play, as `rulewright train` does.

    Args:
        game: Which one.
        out: The file to write.
        steps: Decisions to learn from, for a policy (PPO; it needs the extra `learn`).
        tokens: Tokens to learn from, for a model of what a seat sees (GO-MCTS).
        seed: Repeats the training; without it one is drawn.
        settings: Of the training, by name; docs/training.md lists them.
        force: Whether to replace the file.

    Raises:
        ArgumentError: If neither steps nor tokens are given, or the file is there.
        LearningError: If what training needs is not installed.
    """
    from app.commands.train import TrainedPlayer, Training, trained_file

    require_kinds(file=out, steps=steps, tokens=tokens, seed=seed, settings=settings, force=force)
    if (steps > 0) == (tokens > 0):
        raise ArgumentError("required: steps of 1 or more (ppo), or tokens (gomcts), and not both")
    loaded, file = load_game(game), Path(out)
    kind = TrainedPlayer.GOMCTS if tokens else TrainedPlayer.PPO
    own = ",".join(f"{name}={value}" for name, value in (settings or {}).items())
    ppo, gomcts = ("", own) if tokens else (own, "")
    asked = Training(player=kind, steps=steps, tokens=tokens, seed=seed, ppo=ppo, gomcts=gomcts)
    with quietly(), Isolation().chosen():
        about, _ = trained_file(
            *(loaded.name, file, asked, loaded.players, loaded.pairs), force=force
        )
    named = "gomcts:model" if tokens else "ppo:policy"
    return TrainedPlayerFile(file, f"{named}={file}", about)


@dataclass(frozen=True, repr=False)
class LearnedGame(Displayed):
    """A model of a game that was learned from matches.

    Attributes:
        folder: Where all of it lies.
        report: What it came to.
        game: The model as a game; None where there is none.
    """

    folder: Path
    report: "LearnReport"
    game: "LoadedGame | None"

    def shown(self) -> ShownTable:
        """The end, and how right it is."""
        right = self.report.accuracy
        rows = [
            ("end", str(self.report.end)),
            ("accuracy", "none was measured" if right is None else f"{right:.4f}"),
            ("reason", one_line(self.report.reason)),
        ]
        return ShownTable(one_line(self.folder.name), ("", ""), rows, [f"folder: {self.folder}"])


def learn_game(
    rules: Path | str,
    trajectories: Path | str,
    *,
    max_calls: int = 20,
    closed_deck: bool = False,
    quick: bool = False,
    seed: int | None = None,
    out: Path | str | None = None,
    hears: "Callable[[Event], None] | None" = None,
) -> LearnedGame:
    """Learn a playable model of a game from its rules and recorded matches.

    Args:
        rules: The rules as a text file.
        trajectories: Recorded matches, as `rulewright record` writes them.
        max_calls: Calls of the model at most.
        closed_deck: Whether the matches are one seat's view.
        quick: Whether fewer matches and draws do.
        seed: Repeats the run; without it one is drawn.
        out: Its folder; without it a new one among the runs.
        hears: Hears of what the run does.

    Raises:
        ArgumentError: If a file cannot be read.
        TrajectoryError: If the matches are none.
        ModelError: If there is no model to ask.
    """
    from app.commands.learn import LearnOptions, learn_to_the_end, learning_begun
    from graph.learn.report import read_report
    from graph.learn.runs import goes_on

    require_kinds(
        rules=rules, trajectories=trajectories, max_calls=max_calls, closed_deck=closed_deck
    )
    require_kinds(quick=quick, seed=seed, out=out, hears=hears)
    asked = LearnOptions(max_calls=max_calls, closed_deck=closed_deck, quick=quick, seed=seed)
    place = None if out is None else Path(out)
    with (
        quietly(),
        Isolation().chosen(),
        learning_begun(Path(rules), Path(trajectories), asked, place) as folder,
    ):
        if (request := goes_on(folder, 0)) is not None:
            learn_to_the_end(folder, request, hears or (lambda _: None))
        model = folder.path / "model.py"
        game = load_game(model) if model.is_file() else None
        return LearnedGame(folder.path, read_report(folder), game)
