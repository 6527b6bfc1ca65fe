"""The thesis' two Ludii tournaments redone, beside their published tables.

Tournament 1 (players whose copies show the true fleets) and tournament 2 (behind the thesis'
layer), the second twice: as the thesis describes the layer, and as its program runs, which leaks
as well (`ludii_worlds`). Then each search meets itself: leaking against determinized.

A think time is not the same twice, so a decision costs a number of plies. Which number comes
nearest to 0.1 s is told by the sweep; what no number explains is reported as a miss.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass

from pydantic import JsonValue

from evals.battleship.fields import Amount, Field, Played, play_field
from evals.battleship.ludii_agents import contestants
from evals.battleship.ludii_layer import latencies, solver_row
from evals.battleship.ludii_published import (
    FIRST,
    FIRST_MEANS,
    GAMES,
    SECOND,
    SECOND_MEANS,
    Means,
    Pairs,
)
from evals.battleship.ludii_tree import Budget
from evals.battleship.ludii_worlds import DESCRIBED, EXECUTED, NATIVE, Regime
from evals.battleship.rates import POINTS, Rate, averages, beside, in_points, matrix, pair_rates
from evals.options import EvalOptions
from evals.results import EvalResult, Score

NAME = "battleship-ludii"
LEAKING = "leaking"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Tournament:
    """One tournament and what it is laid beside."""

    title: str
    regime: Regime
    pairs: Pairs
    means: Means


TOURNAMENTS = (
    Tournament("T1", NATIVE, FIRST, FIRST_MEANS),
    Tournament("T2 as described", DESCRIBED, SECOND, SECOND_MEANS),
    Tournament("T2 as executed", EXECUTED, SECOND, SECOND_MEANS),
)


@dataclass(frozen=True)
class Plan:
    """How much is played.

    Attributes:
        amount: Games.
        sweep: Plies a decision; the first is what the scores are of.
        tournaments: Which of them.
    """

    amount: Amount
    sweep: tuple[int, ...]
    tournaments: tuple[Tournament, ...] = TOURNAMENTS


FULL = Plan(Amount(solos=1000, duels=200), (20_000, 5_000))
QUICK = Plan(Amount(solos=40, duels=6), (1_000,))
SEARCHES = ("UCT", "MAST", "FlatMC")


@dataclass(frozen=True)
class Found:
    """What came of a tournament at one budget."""

    tournament: Tournament
    plies: int
    played: Played
    rates: Mapping[tuple[str, str], Rate]

    @property
    def names(self) -> list[str]:
        """Who played."""
        return list(dict.fromkeys(name for pair in self.tournament.pairs for name in pair))


def run(seed: int, tell: Tell, options: EvalOptions) -> EvalResult:
    """Play both tournaments at each budget, and each search against itself determinized.

    Raises:
        EvalError: If the folder holds other games, or a process that played was ended.
    """
    return evaluate(seed, tell, options, QUICK if options.quick else FULL)


def evaluate(seed: int, tell: Tell, options: EvalOptions, plan: Plan) -> EvalResult:
    """The same for any amount and budgets.

    Raises:
        EvalError: As `run`.
    """
    amount, sweep = plan.amount, plan.sweep
    found, rows = list[Found](), list[dict[str, JsonValue]]()
    for plies in sweep:
        for tournament in plan.tournaments:
            tell(f"{tournament.title}: {plies} plies a decision")
            found.append(_tournament(tournament, plies, amount, seed, options, tell))
    gains: dict[str, Rate] = {}
    for name in SEARCHES:
        tell(f"{name} leaking against {name} determinized")
        gains[name] = _itself(name, sweep[0], amount, seed, options, tell)
    for one in found:
        rows += list(_rows(one))
    rows += [_gain_row(name, sweep[0], rate) for name, rate in gains.items()]
    rows += [solver_row(one.tournament.title, one.plies, one.played) for one in found]
    rows += latencies(seed)
    return EvalResult(
        name=NAME,
        scores=(*_scores(found[: len(plan.tournaments)], gains), *_shown(found)),
        samples=tuple(rows),
        effective=_effective(seed, plan, options, found),
    )


def _tournament(
    tournament: Tournament, plies: int, amount: Amount, seed: int, options: EvalOptions, tell: Tell
) -> Found:
    name = f"ludii-{tournament.title.replace(' ', '-').lower()}-{plies}"
    field = Field(name, seed, contestants(tournament.regime, Budget(plies)), {"plies": plies})
    played = play_field(field, amount, options, tell)
    names = [one.name for one in field.contestants]
    return Found(tournament, plies, played, pair_rates(names, played))


def _itself(
    name: str, plies: int, amount: Amount, seed: int, options: EvalOptions, tell: Tell
) -> Rate:
    """How often a leaking search beats itself determinized as described."""
    leaking = contestants(NATIVE, Budget(plies), f" {LEAKING}")
    sound = contestants(DESCRIBED, Budget(plies))
    pair = tuple(
        next(one for one in side if one.effective["player"] == name) for side in (leaking, sound)
    )
    field = Field(f"ludii-itself-{name}-{plies}", seed, pair, {"plies": plies})
    rates = pair_rates([one.name for one in pair], play_field(field, amount, options, tell))
    return rates[pair[0].name, pair[1].name]


def _gain_row(name: str, plies: int, rate: Rate) -> dict[str, JsonValue]:
    return {
        "table": "leaking against itself determinized",
        "plies": plies,
        "what": f"{name} with the true fleet - {name} as described",
        **in_points(rate),
    }


def _rows(found: Found) -> Iterable[dict[str, JsonValue]]:
    """Pairs and averages beside the published ones, and the whole matrix."""
    head: dict[str, JsonValue] = {"table": found.tournament.title, "plies": found.plies}
    for (one, other), published in found.tournament.pairs.items():
        rate = found.rates[one, other]
        yield {**head, **beside(f"{one} - {other}", rate, published, GAMES)}
    means = averages(found.names, found.rates)
    for name, published in found.tournament.means.items():
        games = GAMES * (len(found.names) - 1)
        yield {**head, **beside(f"{name}, average", means[name], published, games)}
    yield {**head, "what": "matrix", "rows": matrix(found.names, found.rates)}


def within(found: Found) -> list[bool]:
    """For each pair whether it lies within its tolerance of the published rate."""
    return [
        bool(beside("", found.rates[pair], published, GAMES)["within"])
        for pair, published in found.tournament.pairs.items()
    ]


def _scores(found: Iterable[Found], gains: Mapping[str, Rate]) -> list[Score]:
    """What is certain from the definitions, at the first budget."""
    scores = []
    certain = {"T1": "MAST", "T2 as described": "OSLA", "T2 as executed": "OSLA"}
    for one in found:
        best = certain[one.tournament.title]
        scores.append(
            _score(f"{one.tournament.title}: {best} beats random", one.rates[best, "random"], 0.9)
        )
    for name, rate in gains.items():
        scores.append(_score(f"{name} leaking beats itself determinized", rate, 0.5))
    return scores


def _score(name: str, rate: Rate, least: float) -> Score:
    """A rate that shall reach a bound, but for 3 points or two standard errors."""
    allowed = max(POINTS, 2 * rate.error)
    return Score(name=name, value=rate.value, at_least=max(0.0, least - allowed), scored=rate.n)


def _shown(found: Iterable[Found]) -> list[Score]:
    """How much of the published tables comes out: shown, with no bound of its own."""
    scores = []
    for one in found:
        inside = within(one)
        title = f"{one.tournament.title}, {one.plies} plies"
        scores.append(
            Score(
                name=f"{title}: pairs within tolerance of the published",
                value=sum(inside) / len(inside),
                scored=len(inside),
            )
        )
        means = averages(one.names, one.rates)
        theirs = list(one.tournament.means)
        ours = sorted(theirs, key=lambda name: -means[name].value)
        scores.append(
            Score(
                name=f"{title}: players in their published place",
                value=sum(a == b for a, b in zip(ours, theirs, strict=True)) / len(ours),
                scored=len(ours),
            )
        )
    return scores


def _effective(
    seed: int, plan: Plan, options: EvalOptions, found: list[Found]
) -> dict[str, JsonValue]:
    widest = max((rate.high - rate.low) / 2 for one in found for rate in one.rates.values())
    return {
        "seed": seed,
        "quick": options.quick,
        "solos": plan.amount.solos,
        "duels": plan.amount.duels,
        "duels_with_MAST": plan.amount.slow_duels or plan.amount.duels,
        "plies_a_decision": list(plan.sweep),
        "budget": {
            **asdict(Budget(plan.sweep[0])),
            "published": "0.1 s a move, on another machine",
        },
        "widest_interval_points": round(100 * widest, 1),
        "tolerance": "3 points or two standard errors of the difference, whichever is more",
        "placement": "the game's own chance; in Ludii players place ships by the same search",
        "omniscient": "every search of T1 and of T2 as executed; they enter no ranking",
        "processes": "plain worker processes; no generated code is run",
        "players": {
            f"{one.title}: {player.name}": dict(player.effective)
            for one in plan.tournaments
            for player in contestants(one.regime, Budget(plan.sweep[0]))
        },
    }
