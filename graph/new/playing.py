"""Play of the accepted game with a run's resources: its play-test, and what learns from play."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from pydantic import TypeAdapter, ValidationError

from agents.learning.settings import LearningError
from agents.observing.budget import TokenBudget, begun_token_budget, token_budget
from agents.observing.model import (
    ObservationModel,
    ObservationSettings,
    read_observation_model,
)
from agents.observing.population import SelfPlayTraining
from agents.players.greedy import ENSEMBLE, SCORES
from agents.players.registry import PlayerRoster
from agents.protocols import Heuristic
from agents.strategy.contest import HeuristicContest, counted_lines, taught_heuristics
from games.values import ModuleFault
from graph.new.context import RunContext, RunSettings
from graph.new.state import RunState, need_design
from graph.run.events import MatchPlayed, SeriesBegins, Tell
from graph.run.folder import RunFolder
from graph.run.settings import versions
from tools.playtest.jobs import GameSetup
from tools.playtest.of_run.budget import Clock, Timed
from tools.playtest.of_run.measuring import Measured, playtest
from tools.playtest.of_run.played import Counting, PlayTest, jobs_here
from tools.playtest.runner import Workers
from tools.reporting.content import Evaluation, short_name
from tools.reporting.page import figure_text

_RUNS = {False: 100, True: 20}  # of a search in observations, in a full and in a quick run
_CLOCK = ".state/journals/clock.json"  # it goes when the journals go
_WORK = ".state/journals/work-{}.json"


@dataclass(frozen=True)
class _Listener:
    """See `tools.playtest.of_run.played.Listener`."""

    tell: Tell

    def begins(self, series: str, matches: int) -> None:
        self.tell(SeriesBegins(node="evaluate", series=series, matches=matches))

    def played(self, series: str, played: int, of: int) -> None:
        self.tell(MatchPlayed(node="matches", series=series, played=played, of=of))


def play_of_run(
    context: RunContext,
    source: str,
    num_players: int,
    folder: RunFolder,
    *,
    tell: Tell = lambda _: None,
    clock: Clock | None = None,
    more: tuple[int, ...] = (),
    learned: tuple[str, ...] = (),
) -> PlayTest:
    """A game with everything it takes to play it; finished matches are journalled in the folder."""

    def count(game: GameSetup) -> Counting:
        about = "".join([f"{game.num_players} {source}", *sorted(game.heuristics.values())])
        kept = _WORK.format(sha256(about.encode()).hexdigest()[:12])
        if not (folder.path / kept).exists():
            folder.write_json(kept, [*counted_lines(game, context.sandbox)])
        return TypeAdapter(Counting).validate_python(folder.read_json(kept))

    return PlayTest(
        settings=context.settings,
        sandbox=context.sandbox,
        roster=PlayerRoster(),
        source=source,
        num_players=num_players,
        journals=folder.journals,
        count=count,
        listener=_Listener(tell),
        clock=clock or Clock(),
        more=more,
        learned=learned,
        left=context.left,
    )


def play_on(state: RunState, folder: RunFolder) -> tuple[int, tuple[int, ...], RunFolder]:
    """The seats that a run's game is played with, how far, and the folder of its journals.

    A person may have wished for another number of seats than the design's, whose matches then lie
    in a folder of their own; or for more matches than were planned.
    """
    usual = need_design(state).num_players
    wish, last = state.playing, state.evaluation.fairness if state.evaluation else None
    if wish is None:
        return usual, (), folder
    seats = wish.players or usual
    before = last.looks if last is not None and last.players == seats else ()
    matches = wish.matches or (last.needed if last is not None and before else 0)
    if seats != usual:
        folder = RunFolder(folder.journals / f"of-{seats}")
        folder.make()
    return seats, tuple(sorted({*before, matches})), folder


def clock_of(
    context: RunContext, folder: RunFolder, seconds: float | None, *, anew: bool = False
) -> Clock:
    """A clock that keeps its decisions in the folder, where there is a limit.

    Args:
        context: Of the run.
        folder: Where they are kept.
        seconds: The limit.
        anew: Whether series that were cut before are played on.

    Raises:
        RunFolderError: If what an earlier process decided cannot be read.
    """
    if seconds is None:
        return Clock(now=context.clock)
    kept = Timed()
    if (folder.path / _CLOCK).exists() and not anew:
        wrong = "is damaged; delete the folder it lies in: the matches are then played anew"
        kept = folder.read_model(_CLOCK, Timed, wrong)
    return Clock(
        seconds,
        now=context.clock,
        kept=kept,
        keep=lambda timed: folder.write_json(_CLOCK, timed.model_dump(mode="json")),
    )


def measured(play: PlayTest, heuristics: Sequence[Heuristic], protocol: str) -> Measured:
    """See `playtest`; all heuristics play together, as the protocol has it."""
    together = SCORES if protocol == "paper" else ENSEMBLE
    sources = {heuristic.name: heuristic.source for heuristic in heuristics}
    return playtest(play, sources, f"greedy:heuristic={together}")


def contest_of(
    context: RunContext, play: PlayTest, heuristics: Sequence[Heuristic], tell: Tell
) -> HeuristicContest:
    """Heuristics, ready to be selected from by play."""
    settings, seats = context.settings, play.num_players

    def within(wanted: int) -> int:
        """As many matches as the slowest of the candidates may play."""
        each = [play.within("heuristic", wanted, {one.name: one.source}) for one in heuristics]
        return min(each, default=wanted)

    return HeuristicContest(
        setup=play.setup({}),
        heuristics=heuristics,
        roster=PlayerRoster(),
        sandbox=context.sandbox,
        seed=settings.seed,
        matches=within(settings.heuristic_matches),
        confirming=max(2, within(settings.heuristic_matches * seats) // seats),
        max_plies=settings.max_plies,
        is_shared=play.is_shared,
        protocol=settings.protocol,
        workers=Workers(jobs_here(), "threads"),
        journals=play.journals,
        tell=lambda series, matches: tell(
            SeriesBegins(node="strategize", series=series, matches=matches)
        ),
        left=play.left,
    )


def taught(context: RunContext, play: PlayTest) -> list[Heuristic]:
    """Heuristics fitted to matches that are played for it, without a model.

    Raises:
        ModuleFault: If the module fails.
    """
    settings = context.settings
    return taught_heuristics(
        play.setup({}),
        context.sandbox,
        seed=settings.seed,
        plies=settings.lessons,
        shared=play.is_shared,
    )


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
        if not path.exists() or not _is_of(read_observation_model(str(path)), of, settings):
            part = folder.state / f"learning-{seats}-{of[:8]}"
            folder.write_bytes(name, _trained(context, game, part, tell))
            rmtree(part)
        told = read_observation_model(str(path)).about["budget"]
    except (
        LearningError,
        ModuleFault,
        OSError,
        ValidationError,
    ) as error:  # the play-test goes on without it
        return (), f"Nothing was learned from self-play: {error}."
    runs = _RUNS[settings.quick]
    return (
        (f"argmaxval:model={path}", f"gomcts:model={path},runs={runs}"),
        f"A model of what players see learned from {told['tokens']:,} tokens of self-play.",
    )


def _is_of(model: ObservationModel, source: str, settings: RunSettings) -> bool:
    """True for a model that learned from this source as much as the settings ask."""
    budget = TokenBudget.model_validate(model.about.get("budget"))
    return model.about.get("source") == source and _is_asked(budget, settings)


def _is_asked(budget: TokenBudget, settings: RunSettings) -> bool:
    minutes = 0.0 if settings.learn_tokens else settings.learn
    return budget.is_of(settings.learn_tokens, minutes)


def _trained(context: RunContext, game: GameSetup, part: Path, tell: Tell) -> bytes:
    settings, sandbox = context.settings, context.sandbox
    observing = ObservationSettings(max_plies=settings.max_plies)
    part.parent.mkdir(parents=True, exist_ok=True)
    begun = begun_token_budget(part)
    if begun is not None and not _is_asked(begun, settings):
        rmtree(part)
        begun = None
    budget = begun or token_budget(
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
        sandbox,
        game,
        observing,
        budget.tokens,
        settings.seed,
        part,
        tell=hear,
        roster=PlayerRoster(),
    )
    return training.train(about).saved()


def what_learning_brought(evaluation: Evaluation, learned: tuple[str, ...]) -> tuple[str, ...]:
    """A sentence on each player that learned: against the strongest one that did not."""
    other = [spec for spec in evaluation.players if spec not in learned][-1]
    rungs = {frozenset((rung.stronger, rung.weaker)): rung for rung in evaluation.ladder}
    found = []
    for spec in learned:
        rung = rungs.get(frozenset((spec, other)))
        if rung is None or rung.figure.value is None:
            pair = f"{short_name(spec)} against {short_name(other)}"
            found.append(f"{pair}: not measured, so whether learning helped could not be told.")
            continue
        above = rung.verdict == ("climbs" if rung.stronger == spec else "falls")
        told = "learning helped" if above else "learning did not help"
        told = told if rung.is_told else "the two are not told apart"
        who = f"{short_name(rung.stronger)} against {short_name(rung.weaker)}"
        found.append(f"{who}: {figure_text(rung.figure)}, even {rung.even:.3g}; {told}.")
    return tuple(found)
