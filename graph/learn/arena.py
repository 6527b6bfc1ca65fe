"""Arena: the learned model's player in the environment, and where play surprises the model.

Code World Models §5 plays a finished model against others, and Tables 1 and 2 report how well it
predicts on the way. Here a match that it does not predict may go back into refinement.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.players.registry import PlayerRoster
from games.text import number_of
from games.trajectories import OpenTrajectory, TrajectoryHeader, trajectory_of
from games.values import ModuleFault
from graph.learn.active import environment_like
from graph.learn.judging import BELOW, module_of
from graph.learn.matches import ASKED, PLAYED, keep_matches
from graph.learn.state import LearnContext, LearnState
from graph.run.candidates import Candidate
from tools.playtest.intervals import NoSamplesError, mean_interval
from tools.playtest.jobs import EffortSummary, GameSetup, MatchEntry, effort_together
from tools.playtest.schedule import sides_paid_alike
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.predicting.transition import Predicted, RecordQuestions, predicted
from tools.replaying import VoidResultError, replayed_match
from tools.sandbox import Sandbox
from tools.sources import find_game, game_setup_of

OPPONENTS = ("random", "gt")
_MOST_PLIES = 1000


def arena(
    state: LearnState, runtime: Runtime[LearnContext]
) -> Command[Literal["check", "tensors"]]:
    """Play the accepted model against random play, and against a search in the game itself.

    With `keep_learning` a match that it does not predict joins the recorded ones, and the model is
    tested again, as long as there are calls; what was drawn on top of it is tried again as it was.
    """
    context, settings = runtime.context, runtime.context.settings
    chosen = state.chosen
    if not settings.arena or chosen is None:
        return Command(goto="tensors")
    try:
        row, strange = _round(state, context, chosen, runtime.stream_writer)
    except (ModuleFault, VoidResultError, ValueError, LookupError, RuntimeError) as error:
        row, strange = {"problem": f"{type(error).__name__}: {error}"}, None
    runtime.stream_writer({"node": "arena", "round": len(state.arena) + 1, **_gist(row)})
    update: dict[str, Any] = {"arena": [*state.arena, row]}
    spent = max(len(state.calls), len(state.arena) + 1) >= settings.max_calls
    if strange is None or not settings.keep_learning or spent:
        return Command(goto="tensors", update=update)
    keep_matches(context.folder, ASKED, [*context.material.asked[: state.asked], strange])
    above, _, below = chosen.source.partition(f"\n{BELOW}\n")
    number = len(state.candidates)
    again = Candidate(number=number, source=f"{above.rstrip()}\n", cause="play surprised the model")
    told = f"round {len(state.arena) + 1} of the arena: a match that the model does not predict"
    update |= {
        "candidates": [again],
        "stage": "transition",
        "first": number,
        "base": None,
        "asked": state.asked + 1,
        "questions": [*state.questions, f"{told} ({len(strange.actions)} plies)"],
        "carried": below.partition(f"\n{BELOW}\n")[0].strip() if state.inference else "",
        "values": [],
    }
    return Command(goto="check", update=update)


def _round(
    state: LearnState,
    context: LearnContext,
    chosen: Candidate,
    tell: Callable[[dict[str, object]], None],
) -> tuple[dict[str, Any], OpenTrajectory | None]:
    """One round against each opponent, and the first match that the model does not predict.

    Raises:
        ModuleFault: If the model is no module.
        ValueError: If a player cannot play this game.
    """
    game = _refereed_by(context.settings.environment, context.material.header)
    folder = context.folder.journals / "arena" / str(len(state.arena))
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "model.py"
    model.write_text(module_of(context, chosen.source, context.material.start), encoding="utf-8")
    rows: list[dict[str, Any]] = []
    right: list[OpenTrajectory] = []
    found: OpenTrajectory | None = None
    for opponent in OPPONENTS:
        series = _against(opponent, game, model, context, len(state.arena), tell)
        shown = followed(series, context.sandbox)
        asked, limit = RecordQuestions.of(shown), context.settings.deadline_s
        met = predicted(context.sandbox, chosen.source, asked, deadline_s=limit)
        first = min(met.matches, default=None)
        found = shown[first] if found is None and first is not None else found
        right += [match for n, match in enumerate(shown) if n not in met.matches]
        rows.append({"opponent": opponent, **_row(series), **online(met)})
    keep_matches(context.folder, PLAYED, right)
    return {"rows": rows}, found


def _against(  # noqa: PLR0913 - one caller, which has them all
    opponent: str,
    game: GameSetup,
    model: Path,
    context: LearnContext,
    number: int,
    tell: Callable[[dict[str, object]], None],
) -> Series:
    """The matches of one round, by its number, against one opponent."""
    settings = context.settings
    matches, played = game.num_players * settings.arena, count()

    def told(*_: object) -> None:
        tell({"node": "arena", "against": opponent, "of": matches, "played": next(played)})

    told()
    searching = f"simulations={settings.arena_simulations},rollouts=1"
    other = f"gt:{searching}" if opponent == "gt" else opponent
    return play_series(
        game,
        [f"cwm:model={model},{searching}", *[other] * (game.num_players - 1)],
        PlayerRoster(),
        SeriesSettings(
            matches=matches,
            seed=settings.seed + 1 + number,
            max_plies=_MOST_PLIES,
            replay=False,
            record=False,
        ),
        sandbox=context.sandbox,
        journal=model.with_name(f"{opponent}.jsonl"),
        on_match=told,
    )


def _refereed_by(name: str, header: TrajectoryHeader) -> GameSetup:
    """The environment as a game, with seats and parameters as in recorded matches."""
    if Path(name).exists():
        found = find_game(name)
        return GameSetup(found.name, found.source, header.num_players, dict(header.parameters))
    return game_setup_of(environment_like(name, header))


def followed(series: Series, sandbox: Sandbox, most: int | None = None) -> list[OpenTrajectory]:
    """The first matches of a series as trajectories, forfeits up to where they stopped.

    Raises:
        VoidResultError: If the environment does not play one of them the same again.
    """
    made = []
    for number, entry in [*series.entries.items()][:most]:
        if entry.ending == "fault":
            continue  # of the environment; what it did before need not come again
        match, positions = replayed_match(sandbox, series.plan.job(number), entry)
        actions = [ply.action for ply in match.plies]
        made.append(trajectory_of(number, positions[: len(actions) + 1], actions))
    return made


def online(met: Predicted) -> dict[str, Any]:
    """Accuracy in play, over all records (None without any) and those that differ; what fails."""
    first = next(iter(met.failures), None)
    return {
        "transitions": met.accuracy if met.records else None,
        "distinct right": met.distinct_right,
        "distinct": met.distinct,
        **({"first wrong": f"{first.function}, {first.evidence}"} if first else {}),
    }


def decided(used: EffortSummary) -> dict[str, Any]:
    """What a player's decisions say of its model."""
    fits = used.figure("belief_consistency")
    return {
        "decisions": used.decisions,
        "surprises": int(used.total("surprises")),
        "failed_searches": int(used.total("failed_searches")),
        "fallbacks": dict(used.counted("fallback")),
        "inference online": None if fits is None else round(fits.mean, 4),
    }


def paid_over(entries: Sequence[tuple[MatchEntry, int]], seats: int) -> dict[str, Any]:
    """What a player was paid over the others' mean, by deals whose matches all finished.

    Args:
        entries: Matches, each with the player's seat.
        seats: Matches of a deal, one with the player in each seat.
    """
    gaps = [
        None
        if entry.returns is None
        else entry.returns[seat] - fmean(p for at, p in enumerate(entry.returns) if at != seat)
        for entry, seat in entries
    ]
    return _mean_of_deals(gaps, seats)


def paid_together(entries: Sequence[tuple[MatchEntry, int]], seats: int) -> dict[str, Any] | None:
    """What a player was paid where all seats are paid alike, by deals; None where they are not."""
    returns = [entry.returns for entry, _ in entries if entry.returns is not None]
    if not returns or len(sides_paid_alike(returns, seats)) > 1:
        return None
    paid = [None if entry.returns is None else entry.returns[seat] for entry, seat in entries]
    return _mean_of_deals(paid, seats)


def _mean_of_deals(gaps: Sequence[float | None], seats: int) -> dict[str, Any]:
    deals = [gaps[first : first + seats] for first in range(0, len(gaps), seats)]
    whole = [[gap for gap in deal if gap is not None] for deal in deals]
    try:
        found = mean_interval([fmean(deal) for deal in whole if len(deal) == seats], "deals")
    except NoSamplesError as error:
        return {"value": None, "problem": str(error)}
    return {name: round(getattr(found, name), 3) for name in ("value", "low", "high")}


def seated(series: Series) -> list[tuple[MatchEntry, int]]:
    """The matches of a series, each with the seat of its first player."""
    return [(entry, series.seated(match).index(0)) for match, entry in series.entries.items()]


def used_by_first(entries: Sequence[tuple[MatchEntry, int]]) -> EffortSummary:
    """What the first player's decisions took."""
    return effort_together([entry.used[seat] for entry, seat in entries if seat < len(entry.used)])


def forfeits(entries: Sequence[tuple[MatchEntry, int]]) -> int:
    """Matches that the first player gave away by an action that was none."""
    return sum(entry.ending == "forfeit" and entry.culprit == seat for entry, seat in entries)


def _row(series: Series) -> dict[str, Any]:
    entries, game = seated(series), series.plan.game
    lost = [e.reason for e, seat in entries if e.ending == "forfeit" and e.culprit == seat]
    together = paid_together(entries, game.num_players)
    return {
        "matches": len(entries),
        "endings": dict(series.endings),
        "forfeits": forfeits(entries),
        "faults": [entry.reason for entry, _ in entries if entry.ending == "fault"],
        **({"first forfeit": lost[0]} if lost else {}),
        "paid to every seat": together,
        "paid over the others": None if together else paid_over(entries, game.num_players),
        **decided(used_by_first(entries)),
    }


def wrong_in_play(row: Mapping[str, Any]) -> str:
    """What a round showed to be wrong with the model; empty where nothing was.

    >>> wrong_in_play({"problem": "it hung"})
    'the arena could not be played: it hung'
    >>> row = {"distinct": 1, "distinct right": 1, "faults": [], "forfeits": 1}
    >>> wrong_in_play({"rows": [row | {"first forfeit": "no state fits"}]})
    'lost by an action that was illegal or none: 1 match: no state fits'
    """
    if "problem" in row:
        return f"the arena could not be played: {row['problem']}"
    told = []
    distinct = sum(one["distinct"] for one in row["rows"])
    if wrong := distinct - sum(one["distinct right"] for one in row["rows"]):
        first = next(one["first wrong"] for one in row["rows"] if "first wrong" in one)
        told.append(
            f"{wrong} of {distinct} transitions of play were predicted wrong; the first is "
            f"{first.splitlines()[0]}, shown with the arena"
        )
    if faults := [why for one in row["rows"] for why in one["faults"]]:
        told.append(f"the environment failed in {number_of(len(faults), 'match')}: {faults[0]}")
    if lost := sum(one["forfeits"] for one in row["rows"]):
        why = next(one["first forfeit"] for one in row["rows"] if "first forfeit" in one)
        told.append(
            f"lost by an action that was illegal or none: {number_of(lost, 'match')}: {why}"
        )
    return "; ".join(told)


def _gist(row: Mapping[str, Any]) -> dict[str, object]:
    if "problem" in row:
        return {"problem": row["problem"]}
    right = sum(one["distinct right"] for one in row["rows"])
    return {
        "matches": sum(one["matches"] for one in row["rows"]),
        "predicted": f"{right} of {sum(one['distinct'] for one in row['rows'])}",
        "forfeits": sum(one["forfeits"] for one in row["rows"]),
    }
