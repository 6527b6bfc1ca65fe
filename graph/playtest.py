"""The play-test: measures over random play, and a skill ladder of affordable searches."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from agents.protocols import Heuristic
from games.contract import CHANCE
from games.engine import Ending
from games.records import MatchRecord
from graph.selfplay import LADDER_PLIES, RANDOM_PLIES, SelfPlay
from tools.playtest import Estimate, Series, Step, Unmeasured, measure_all
from tools.reporting.content import Evaluation, Figure, Rung

# Plies that one step of the ladder may simulate, so that a long game still ends in good time. A
# count and no clock: the same seed gives the same searches on every machine.
_AFFORDABLE = 1_000_000
_AFFORDABLE_QUICK = 120_000
_FEWEST_SIMULATIONS = 2
_WEAKER = 4  # the weaker search has this fraction of the stronger one's simulations
_CURVE_MATCHES = 4
_NO_GUARANTEE = (
    "The searches play with hidden information: more simulations are no guarantee that an opponent "
    "who knows how they play cannot exploit them."
)

_MEANINGS = {
    "first_seat_advantage": "win share of the first seat above an even share; 0 is fair",
    "draw_share": "share of matches in which nobody does better than anybody",
    "match_length": "plies a match, chance events included",
    "branching": "legal actions a decision",
    "forced_move_share": "share of decisions with a single legal action",
}


def playtest(play: SelfPlay, heuristics: Sequence[Heuristic]) -> tuple[Evaluation, Series]:
    """Play the game and measure it; the random series is returned for its records."""
    settings = play.context.settings
    quick = settings.quick
    matches = play.within(settings.random_matches, RANDOM_PLIES[quick])
    rounds = play.within(settings.ladder_matches, LADDER_PLIES[quick])
    series = play.random_series(matches)
    finished = [r for r in series.records if r.match.ending == "finished"]
    measured = measure_all(series.records, play.num_players)
    figures = tuple(_figure(name, value) for name, value in measured.items())
    specs, notes = _players(play, heuristics, finished, rounds)
    if matches < settings.random_matches or rounds < settings.ladder_matches:
        notes.append(
            f"Matches of this game are long: {matches} random matches and {rounds} a rung were "
            f"played instead of {settings.random_matches} and {settings.ladder_matches}."
        )
    sources = {heuristic.name: heuristic.source for heuristic in heuristics}
    steps = play.ladder(specs, sources, rounds)
    evaluation = Evaluation(
        figures=figures,
        ladder=tuple(_rung(step, play.num_players) for step in steps),
        lengths=tuple(len(_decisions(record)) for record in finished),
        branching=_branching_curve(finished),
        unfinished=_unfinished(series.endings),
        players=tuple(specs),
        notes=tuple(notes),
        sandbox=play.context.sandbox.grade,
    )
    return evaluation, series


def _players(
    play: SelfPlay,
    heuristics: Sequence[Heuristic],
    finished: Sequence[MatchRecord],
    rounds: int,
) -> tuple[list[str], list[str]]:
    """Specs from weak to strong, and remarks on how the searches were sized."""
    settings = play.context.settings
    specs, notes = ["random"], []
    if heuristics:
        specs.append("greedy:heuristic=ensemble")
    else:
        notes.append("No heuristic could be used, so the ladder has no greedy player.")
    if not finished:
        notes.append("No random match finished, so no search was tried.")
        return specs, notes
    name = play.search_name()
    most = affordable_simulations(
        finished, rounds, _AFFORDABLE_QUICK if settings.quick else _AFFORDABLE
    )
    large = min(settings.large_budget, most)
    small = max(1, min(settings.small_budget, large // _WEAKER))
    notes += search_notes(name, large, settings.large_budget)
    specs += [f"{name}:simulations={small}", f"{name}:simulations={large}"]
    return specs, notes


def search_notes(name: str, simulations: int, wanted: int) -> list[str]:
    """What a reader must know of the searches of the ladder.

    Args:
        name: Of the player that searches.
        simulations: A move, of the stronger one.
        wanted: What it would have had in a shorter game.
    """
    notes = []
    if simulations < wanted:
        notes.append(
            f"Matches of this game are long: searches were held to {simulations} simulations a "
            f"move instead of {wanted}, so that the play-test ends."
        )
    if name == "ismcts":
        notes.append(_NO_GUARANTEE)
    return notes


def affordable_simulations(finished: Sequence[MatchRecord], matches: int, affordable: int) -> int:
    """Simulations a decision such that a step of the ladder stays within `affordable` plies.

    A simulation from the n-th ply of a match of L plies plays the L - n that are left. One seat
    searches with all simulations, the others with the weaker player's share of them.
    """
    seats = len(finished[0].players)
    share = (1 + (seats - 1) / _WEAKER) / seats
    cost = matches * share * max(1.0, fmean(_plies_ahead(record) for record in finished))
    return max(_FEWEST_SIMULATIONS, int(affordable / cost))


def _plies_ahead(record: MatchRecord) -> int:
    """The plies that are left at every real decision of a match, added up."""
    plies = record.match.plies
    return sum(
        len(plies) - index
        for index, ply in enumerate(plies)
        if ply.player != CHANCE and len(ply.legal) > 1
    )


def _decisions(record: MatchRecord) -> list[int]:
    return [len(ply.legal) for ply in record.match.plies if ply.player != CHANCE]


def _branching_curve(finished: Sequence[MatchRecord]) -> tuple[float, ...]:
    """Mean legal actions at the n-th decision, as far as a few matches reach."""
    rows = [_decisions(record) for record in finished]
    curve: list[float] = []
    for index in range(max(map(len, rows), default=0)):
        counts = [row[index] for row in rows if len(row) > index]
        if len(counts) < min(_CURVE_MATCHES, len(rows)):
            break
        curve.append(round(fmean(counts), 6))
    return tuple(curve)


def _figure(name: str, measured: Estimate | Unmeasured) -> Figure:
    shown = name.replace("_", " ")
    meaning = _MEANINGS.get(name, "real choices (two legal actions or more) a match")
    if name.startswith("decisions_seat_"):
        shown = f"decisions of player {int(name.rsplit('_', 1)[1]) + 1}"
    if isinstance(measured, Unmeasured):
        return Figure(name=shown, meaning=meaning, problem=measured.reason)
    return Figure(name=shown, meaning=meaning, **measured.model_dump())


def _rung(step: Step, num_players: int) -> Rung:
    even = 1 / num_players if step.measure == "win_share" else 0.0
    if isinstance(step.advantage, Unmeasured):
        figure = Figure(name=step.measure, meaning="", problem=step.advantage.reason)
    else:
        figure = Figure(name=step.measure, meaning="", **step.advantage.minus(-even).model_dump())
    return Rung(
        stronger=step.higher,
        weaker=step.lower,
        measure=step.measure,
        figure=figure,
        even=even,
        verdict=step.verdict,
        unfinished=_unfinished(step.endings),
    )


def _unfinished(endings: Mapping[Ending, int]) -> dict[str, int]:
    return {name: count for name, count in endings.items() if name != "finished" and count}
