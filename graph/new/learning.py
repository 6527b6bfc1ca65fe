"""Learning: a model of what seats see, trained on the accepted game; and what it is worth."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from agents.learning.settings import LearningError
from agents.observing.budget import begun_token_budget, token_budget
from agents.observing.model import ObservationSettings, read_observation_model
from agents.observing.population import SelfPlayTraining
from games.values import ModuleFault
from graph.new.context import RunContext
from graph.run.events import MatchPlayed, Tell
from graph.run.folder import RunFolder
from graph.run.settings import versions
from tools.playtest.jobs import GameSetup
from tools.reporting.content import Evaluation, short_name
from tools.reporting.page import figure_text

_RUNS = {False: 100, True: 20}  # of the search, in a full and in a quick run


def learned_players(
    context: RunContext, source: str, seats: int, folder: RunFolder, tell: Tell
) -> tuple[tuple[str, ...], str]:
    """Train on a game, as the settings ask; a training that was stopped goes on.

    Args:
        context: Of the run.
        source: The accepted module.
        seats: At the table.
        folder: Of the run; it gets `players/learned-SEATS.model`.
        tell: Hears how far the training is.

    Returns:
        Specs of the players by the model, none where the training failed, and a remark; neither
        where nothing was to be learned.
    """
    settings = context.settings
    if not settings.learn and not settings.learn_tokens:
        return (), ""
    game, name = GameSetup("game", source, seats), f"players/learned-{seats}.model"
    path, of = folder.path / name, sha256(source.encode()).hexdigest()
    try:
        if not path.exists() or read_observation_model(str(path)).about.get("source") != of:
            part = folder.state / f"learning-{seats}-{of[:8]}"
            folder.write_bytes(name, _trained(context, game, part, tell))
            rmtree(part)
        told = read_observation_model(str(path)).about["budget"]
    except (LearningError, ModuleFault, OSError) as error:  # the play-test goes on without it
        return (), f"Nothing was learned from self-play: {error}."
    runs = _RUNS[settings.quick]
    return (
        (f"argmaxval:model={path}", f"gomcts:model={path},runs={runs}"),
        f"A model of what players see learned from {told['tokens']:,} tokens of self-play.",
    )


def _trained(context: RunContext, game: GameSetup, part: Path, tell: Tell) -> bytes:
    settings, sandbox = context.settings, context.sandbox
    observing = ObservationSettings(max_plies=settings.max_plies)
    part.parent.mkdir(parents=True, exist_ok=True)
    budget = begun_token_budget(part) or token_budget(
        *(sandbox, game, observing, part),
        seed=settings.seed,
        tokens=settings.learn_tokens,
        minutes=settings.learn,
    )

    def hear(row: Mapping[str, object]) -> None:
        if isinstance(step := row.get("step"), int) and isinstance(of := row["of"], int):
            series = f"learning, iteration {row['iteration']}"
            tell(MatchPlayed(node="learning", series=series, played=step, of=of))

    about = {
        "versions": {**versions()},
        "sandbox": sandbox.grade.model_dump(mode="json"),
        "budget": budget.model_dump(mode="json"),
    }
    training = SelfPlayTraining(
        sandbox, game, observing, budget.tokens, settings.seed, part, tell=hear
    )
    return training.train(about).saved()


def what_learning_brought(evaluation: Evaluation, learned: tuple[str, ...]) -> tuple[str, ...]:
    """A sentence on each player that learned: against the strongest one that did not."""
    others = [spec for spec in evaluation.players if spec not in learned]
    found = []
    for spec in learned:
        for rung in evaluation.ladder:
            if {rung.stronger, rung.weaker} != {spec, others[-1]}:
                continue
            above = rung.verdict == ("climbs" if rung.stronger == spec else "falls")
            told = "learning helped" if above else "learning did not help"
            told = told if rung.is_told else "the two are not told apart"
            who = f"{short_name(rung.stronger)} against {short_name(rung.weaker)}"
            found.append(f"{who}: {figure_text(rung.figure)}, even {rung.even:.3g}; {told}.")
    return tuple(found)
