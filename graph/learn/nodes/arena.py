"""Node: the learned model's player in the environment, and where play surprises the model.

Code World Models §5 plays a finished model against others, and Tables 1 and 2 report how well it
predicts on the way. Here a match that it does not predict may go back into refinement.
"""

from itertools import count
from pathlib import Path
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.players.registry import PlayerRoster
from games.trajectories import OpenTrajectory
from graph.learn.environment import FAILURES, refereed_environment
from graph.learn.figures import ArenaRound, ArenaRow, Problem
from graph.learn.layered import LayeredSource
from graph.learn.learning import Learning
from graph.learn.state import LearnContext, LearnState
from graph.run.candidates import Candidate
from graph.run.checkpoints import moved
from graph.run.events import Opposed, RoundPlayed, Tell, writer_of
from tools.playtest.jobs import GameSetup
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.predicting.arena import (
    decided,
    followed,
    forfeits,
    paid_over,
    paid_together,
    seated,
    used_by_first,
)
from tools.predicting.transition import Predicted, RecordQuestions, predicted
from tools.replaying import VoidResultError

OPPONENTS = ("random", "gt")
_MOST_PLIES = 1000


def arena(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["check", "tensors"]]:
    """Play the accepted model against random play, and against a search in the game itself.

    With `keep_learning` a match that it does not predict joins the recorded ones, and the model is
    tested again, as long as there are calls; what was drawn on top of it is tried again as it was.
    """
    context, settings, chosen = runtime.context, runtime.context.settings, state.chosen
    if not settings.arena or chosen is None:
        return moved("tensors", state, state)
    number, tell = len(state.arena) + 1, writer_of(runtime.stream_writer)
    strange: OpenTrajectory | None = None
    found: ArenaRound | Problem
    try:
        found, strange = _round(Learning(context, state), chosen, tell)
    except (*FAILURES, VoidResultError) as error:
        found = Problem(problem=f"{type(error).__name__}: {error}")
    tell(_event(number, found))
    after = state.with_round(found)
    spent = max(len(state.calls), number) >= settings.max_calls
    if strange is None or not settings.keep_learning or spent:
        return moved("tensors", state, after)
    context.files.add(state.asked, strange)
    model = LayeredSource.parsed(chosen.source).transition
    again = Candidate(
        number=len(state.candidates),
        source=f"{model.rstrip()}\n",
        cause="play surprised the model",
    )
    told = f"round {number} of the arena: a match that the model does not predict"
    after = after.mending(again, chosen)
    return moved("check", state, after.with_question(f"{told} ({len(strange.actions)} plies)"))


def _event(number: int, found: ArenaRound | Problem) -> RoundPlayed:
    """The event of a round that is over."""
    if isinstance(found, Problem):
        return RoundPlayed(round=number, problem=found.problem)
    return RoundPlayed(
        round=number,
        matches=sum(row.matches for row in found.rows),
        predicted=f"{found.right} of {found.distinct}" if found.distinct else "",
        forfeits=found.forfeits,
    )


def _round(
    learning: Learning, chosen: Candidate, tell: Tell
) -> tuple[ArenaRound, OpenTrajectory | None]:
    """One round against each opponent, and the first match that the model does not predict.

    Raises:
        ModuleFault: If the model is no module.
        ValueError: If a player cannot play this game.
    """
    context, number = learning.context, len(learning.state.arena)
    game = refereed_environment(context)
    folder = context.folder.journals / "arena" / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "model.py"
    start = learning.start_of(chosen.source)
    model.write_text(learning.module(chosen.source, start), encoding="utf-8")
    rows: list[ArenaRow] = []
    right: list[OpenTrajectory] = []
    found: OpenTrajectory | None = None
    for opponent in OPPONENTS:
        series = _against(opponent, game, model, learning, tell)
        # The states of a closed deck's model are its own: nothing is asked of them.
        closed = learning.settings.closed_deck
        shown = [] if closed else followed(series, context.sandbox)
        asked, limit = RecordQuestions.of(shown), learning.settings.deadline_s
        met = predicted(context.sandbox, chosen.source, asked, deadline_s=limit)
        first = min(met.matches, default=None)
        found = shown[first] if found is None and first is not None else found
        right += [match for n, match in enumerate(shown) if n not in met.matches]
        rows.append(_row(opponent, series, met))
    context.files.keep_predicted(number, right)
    return ArenaRound(rows=tuple(rows)), found


def _against(
    opponent: str,
    game: GameSetup,
    model: Path,
    learning: Learning,
    tell: Tell,
) -> Series:
    """The matches of one round against one opponent."""
    settings = learning.settings
    matches, played = game.num_players * settings.arena, count()

    def told(*_: object) -> None:
        tell(Opposed(against=opponent, of=matches, played=next(played)))

    told()
    searching = f"simulations={settings.arena_simulations},rollouts=1"
    other = f"gt:{searching}" if opponent == "gt" else opponent
    return play_series(
        game,
        [f"cwm:model={model},{searching}", *[other] * (game.num_players - 1)],
        PlayerRoster(),
        SeriesSettings(
            matches=matches,
            seed=settings.seed + 1 + len(learning.state.arena),
            max_plies=_MOST_PLIES,
            replay=False,
            record=False,
        ),
        sandbox=learning.context.sandbox,
        journal=model.with_name(f"{opponent}.jsonl"),
        on_match=told,
    )


def _row(opponent: str, series: Series, met: Predicted) -> ArenaRow:
    """The figures of matches against one opponent; `met` says which of them the model predicts."""
    entries, game = seated(series), series.plan.game
    lost = [e.reason for e, seat in entries if e.ending == "forfeit" and e.culprit == seat]
    together = paid_together(entries, game.num_players)
    used, first = decided(used_by_first(entries)), next(iter(met.failures), None)
    return ArenaRow(
        opponent=opponent,
        matches=len(entries),
        endings=series.endings,
        forfeits=forfeits(entries),
        faults=tuple(entry.reason for entry, _ in entries if entry.ending == "fault"),
        first_forfeit=lost[0] if lost else None,
        paid_to_every_seat=together,
        paid_over_the_others=None if together else paid_over(entries, game.num_players),
        decisions=used.decisions,
        surprises=used.surprises,
        failed_searches=used.failed_searches,
        fallbacks=used.fallbacks,
        inference_online=used.inference_online,
        transitions=met.accuracy if met.records else None,
        distinct_right=met.distinct_right,
        distinct=met.distinct,
        first_wrong=f"{first.function}, {first.evidence}" if first else None,
    )
