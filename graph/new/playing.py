"""Play of the accepted game with a run's resources: its play-test, and heuristics by play."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from pydantic import TypeAdapter

from agents.players.greedy import ENSEMBLE, SCORES
from agents.players.registry import PlayerRoster
from agents.protocols import Heuristic
from agents.strategy.contest import HeuristicContest, counted_lines, taught_heuristics
from graph.new.context import RunContext
from graph.new.state import RunState, need_design
from graph.run.events import MatchPlayed, SeriesBegins, Tell
from graph.run.folder import RunFolder
from tools.playtest.jobs import GameSetup
from tools.playtest.of_run.budget import Clock, Timed
from tools.playtest.of_run.measuring import Measured, playtest
from tools.playtest.of_run.played import Counting, PlayTest, jobs_here
from tools.playtest.runner import Workers

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
