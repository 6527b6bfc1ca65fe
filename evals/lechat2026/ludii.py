"""Eval `battleship-ludii`: the thesis' two Ludii tournaments beside their published tables.

Tournament 1 (players whose copies show the true fleets) and tournament 2 (behind the thesis'
layer), the second twice: as the thesis describes the layer, and as its program runs, which leaks
as well (`playouts`). Then each search meets itself: leaking against determinized.

The players are those of Ludii 1.3.14 and of the thesis' layer with the constants found in their
programs. A think time is not the same twice, so a decision costs a number of plies. Which number
comes nearest to 0.1 s is told by the sweep; what no number explains is reported as a miss. Ludii's
players place their ships themselves, by the same search before there is anything to tell one
placement from another; here the game's own chance places them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from random import Random

from evals.lechat2026.board import (
    Contestant,
    Field,
    FieldResult,
    GameCounts,
    Pair,
    play_field,
    random_contestant,
)
from evals.lechat2026.mcts import EXPLORATION, LudiiRules, TreeShooter
from evals.lechat2026.playouts import (
    DECAY,
    DESCRIBED,
    EPSILON,
    EXECUTED,
    FLEETS,
    NATIVE,
    AtRandom,
    Copies,
    MoveAverages,
    PlyBudget,
    Regime,
)
from evals.lechat2026.shooters import BESIDE, SEEN, AheadShooter, FlatShooter
from evals.lechat2026.tables import (
    POINTS,
    PUBLISHED,
    WinRate,
    averages,
    beside,
    in_points,
    matrix,
    pair_rates,
    published_pairs,
)
from evals.results import EvalOptions, EvalResult, Row, Score, score_over

LEAKING = "leaking"
SEARCHES = ("UCT", "MAST", "FlatMC")
_STORED = PUBLISHED["ludii"]
GAMES: int = _STORED["games"]


@dataclass(frozen=True)
class LudiiTournament:
    """One tournament and what it is laid beside.

    Attributes:
        title: Its name.
        regime: The copies of the game.
        stored: The published tournament.
        best: Who is certain to beat the random player.
    """

    title: str
    regime: Regime
    stored: str
    best: str

    @property
    def pairs(self) -> dict[Pair, float]:
        """The published rates."""
        return published_pairs(_STORED[self.stored]["pairs"])

    @property
    def means(self) -> Mapping[str, float]:
        """The published averages, the best first."""
        means: Mapping[str, float] = _STORED[self.stored]["averages"]
        return means


TOURNAMENTS = (
    LudiiTournament("T1", NATIVE, "T1", "MAST"),
    LudiiTournament("T2 as described", DESCRIBED, "T2", "OSLA"),
    LudiiTournament("T2 as executed", EXECUTED, "T2", "OSLA"),
)


@dataclass(frozen=True)
class LudiiPlan:
    """The amounts of play.

    Attributes:
        amount: Games.
        sweep: Plies a decision; the first is what the scores are of.
        tournaments: Which of them.
    """

    amount: GameCounts
    sweep: tuple[int, ...]
    tournaments: tuple[LudiiTournament, ...] = TOURNAMENTS


FULL = LudiiPlan(GameCounts(solos=1000, duels=200), (20_000, 5_000))
QUICK = LudiiPlan(GameCounts(solos=40, duels=6), (1_000,))


@dataclass(frozen=True)
class PlayedTournament:
    """The result of a tournament at one budget."""

    tournament: LudiiTournament
    plies: int
    rates: Mapping[tuple[str, str], WinRate]

    @property
    def title(self) -> str:
        """The tournament at its budget."""
        return f"{self.tournament.title}, {self.plies} plies"

    @property
    def names(self) -> list[str]:
        """Who played."""
        return list(dict.fromkeys(name for pair in self.tournament.pairs for name in pair))


def run(options: EvalOptions, plan: LudiiPlan | None = None) -> EvalResult:
    """Play both tournaments at each budget, and each search against itself determinized.

    Raises:
        EvalError: If the folder holds other games, or a process that played was ended.
    """
    plan = plan or (QUICK if options.quick else FULL)
    play = partial(play_field, amount=plan.amount, options=options)
    found, rows = list[PlayedTournament](), list[Row]()
    for plies in plan.sweep:
        for tournament in plan.tournaments:
            options.tell(f"{tournament.title}: {plies} plies a decision")
            found.append(_tournament(tournament, plies, options.seed, play))
    gains: dict[str, WinRate] = {}
    for name in SEARCHES:
        options.tell(f"{name} leaking against {name} determinized")
        gains[name] = _itself(name, plan.sweep[0], options.seed, play)
    for one in found:
        rows += list(_rows(one))
    rows += [_gain_row(name, plan.sweep[0], rate) for name, rate in gains.items()]
    return EvalResult(
        scores=(*_scores(found[: len(plan.tournaments)], gains), *_shown(found)),
        samples=tuple(rows),
        effective=_effective(plan),
    )


def _tournament(
    tournament: LudiiTournament, plies: int, seed: int, play: Callable[[Field], FieldResult]
) -> PlayedTournament:
    name = f"ludii-{tournament.title.replace(' ', '-').lower()}-{plies}"
    players = ludii_contestants(tournament.regime, PlyBudget(plies))
    played = play(Field(name, seed, players, {"plies": plies}))
    rates = pair_rates([one.name for one in players], played)
    return PlayedTournament(tournament, plies, rates)


def _itself(name: str, plies: int, seed: int, play: Callable[[Field], FieldResult]) -> WinRate:
    """The win rate of a leaking search against itself, determinized as described."""
    leaking = ludii_contestants(NATIVE, PlyBudget(plies), f" {LEAKING}")
    sound = ludii_contestants(DESCRIBED, PlyBudget(plies))
    pair = tuple(
        next(one for one in side if one.effective["player"] == name) for side in (leaking, sound)
    )
    field = Field(f"ludii-itself-{name}-{plies}", seed, pair, {"plies": plies})
    rates = pair_rates([one.name for one in pair], play(field))
    return rates[pair[0].name, pair[1].name]


def _gain_row(name: str, plies: int, rate: WinRate) -> Row:
    return {
        "table": "leaking against itself determinized",
        "plies": plies,
        "what": f"{name} with the true fleet - {name} as described",
        **in_points(rate),
    }


def _rows(found: PlayedTournament) -> Iterable[Row]:
    """Pairs and averages beside the published ones, and the whole matrix."""
    head: Row = {"table": found.tournament.title, "plies": found.plies}
    for (one, other), published in found.tournament.pairs.items():
        rate = found.rates[one, other]
        yield {**head, **beside(f"{one} - {other}", rate, published, GAMES)}
    means = averages(found.names, found.rates)
    for name, published in found.tournament.means.items():
        games = GAMES * (len(found.names) - 1)
        yield {**head, **beside(f"{name}, average", means[name], published, games)}
    yield {**head, "what": "matrix", "rows": matrix(found.names, found.rates)}


def within(found: PlayedTournament) -> list[bool]:
    """For each pair whether it lies within its tolerance of the published rate."""
    return [
        bool(beside("", found.rates[pair], published, GAMES)["within"])
        for pair, published in found.tournament.pairs.items()
    ]


def _scores(found: Iterable[PlayedTournament], gains: Mapping[str, WinRate]) -> list[Score]:
    """Scores that follow from the definitions, at the first budget."""
    scores = []
    for one in found:
        title, best = one.tournament.title, one.tournament.best
        scores.append(_score(f"{title}: {best} beats random", one.rates[best, "random"], 0.9))
    for name, rate in gains.items():
        scores.append(_score(f"{name} leaking beats itself determinized", rate, 0.5))
    return scores


def _score(name: str, rate: WinRate, least: float) -> Score:
    """A rate that shall reach a bound, but for 3 points or two standard errors."""
    allowed = max(POINTS, 2 * rate.error)
    return Score(name=name, value=rate.value, at_least=max(0.0, least - allowed), scored=rate.n)


def _shown(found: Iterable[PlayedTournament]) -> list[Score]:
    """Shares of the published tables that come out: shown, with no bound of their own."""
    scores = []
    for one in found:
        name = f"{one.title}: pairs within tolerance of the published"
        scores.append(score_over(within(one), name))
        means = averages(one.names, one.rates)
        theirs = list(one.tournament.means)
        ours = sorted(theirs, key=lambda name: -means[name].value)
        placed = [a == b for a, b in zip(ours, theirs, strict=True)]
        scores.append(score_over(placed, f"{one.title}: players in their published place"))
    return scores


def _effective(plan: LudiiPlan) -> Row:
    return {
        "solos": plan.amount.solos,
        "duels": plan.amount.duels,
        "duels_with_MAST": plan.amount.slow_duels or plan.amount.duels,
        "plies_a_decision": list(plan.sweep),
        "budget": {
            **asdict(PlyBudget(plan.sweep[0])),
            "published": "0.1 s a move, on another machine",
        },
        "tolerance": "3 points or two standard errors of the difference, whichever is more",
        "placement": "the game's own chance; in Ludii players place ships by the same search",
        "omniscient": "every search of T1 and of T2 as executed; they enter no ranking",
        "processes": "plain worker processes; no generated code is run",
        "players": {
            f"{one.title}: {player.name}": dict(player.effective)
            for one in plan.tournaments
            for player in ludii_contestants(one.regime, PlyBudget(plan.sweep[0]))
        },
    }


def ludii_shooter(regime: Regime, budget: PlyBudget, rng: Random, *, averages: bool) -> TreeShooter:
    """UCT or MAST in one game."""
    copies = Copies(regime, rng)
    playouts = MoveAverages(rng) if averages else AtRandom(rng)
    return TreeShooter(LudiiRules(copies, playouts, budget, rng))


def ludii_contestants(
    regime: Regime, budget: PlyBudget, suffix: str = ""
) -> tuple[Contestant, ...]:
    """Who plays a tournament of this regime; one step ahead was not in the native one.

    All but the random player look at the other's progress. In the regimes that leak they are
    omniscient: they are measured here and enter no ranking.
    """
    leaks = regime != DESCRIBED
    common = {"copies": regime, "fleets_a_decision_at_most": FLEETS[regime], **asdict(budget)}
    tree = {**common, "exploration": EXPLORATION, "tree_reuse": True, "played": "most visited"}
    mast = {**tree, "playouts": "MAST", "epsilon": EPSILON, "decay": DECAY}
    uct = partial(ludii_shooter, regime, budget)
    searches = (
        ("UCT", partial(uct, averages=False), {**tree, "playouts": "random"}),
        ("MAST", partial(uct, averages=True), mast),
        ("FlatMC", partial(FlatShooter, regime, budget), {**common, "playouts": "random"}),
    )
    found = [random_contestant()]
    for name, make, effective in searches:
        effective = {"player": name, **effective}
        slow = name == "MAST"
        found.append(
            Contestant(f"{name}{suffix}", make, effective, looks=True, omniscient=leaks, slow=slow)
        )
    if regime != NATIVE:
        ahead = partial(AheadShooter, regime)
        effective = {"player": "OSLA", "copies": regime, "ship": SEEN, "beside": BESIDE}
        looks = regime == EXECUTED
        found.append(Contestant(f"OSLA{suffix}", ahead, effective, looks=looks, omniscient=leaks))
    return tuple(found)
