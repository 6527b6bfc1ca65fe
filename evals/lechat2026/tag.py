"""Eval `battleship-tag`: are the thesis' tournaments in TAG what its programs really give?

Five players meet in a round robin under each of three determinizations, as the thesis' programs
executed them rather than as they were asked for: see `fleets` (the determinizations), `shooters`
(the heuristics, OSLA and RMHC) and `mcts` (IS-MCTS, which also ran under the name of MAST). Where
TAG is faulty these players are faulty on purpose. Their rates stand beside the stored ones, pair by
pair and as averages over the field; a 2 by 2 of determinization and heuristic separates what the
thesis changed together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random

from evals.lechat2026.board import (
    LENGTHS,
    SIDE,
    Contestant,
    Field,
    FieldResult,
    GameCounts,
    Pair,
    Shooter,
    numbers,
    play_field,
    random_contestant,
)
from evals.lechat2026.fleets import FleetKind, Worlds, heat_of
from evals.lechat2026.mcts import TagRules, TreeShooter
from evals.lechat2026.shooters import CALLS, Condition, Heuristic, HillClimber, OneStep
from evals.lechat2026.tables import (
    PUBLISHED,
    WinRate,
    averages,
    beside,
    exact_pair,
    in_points,
    matrix,
    pair_rates,
    published_pairs,
)
from evals.results import EvalOptions, EvalResult, Row, Score, score_over

NAMES = ("random", "OSLA", "RMHC", "IS-MCTS", "MAST")
_STORED = PUBLISHED["tag"]
GAMES: int = _STORED["games"]
"""Of a pair; a player has four pairs."""
MAP_SAMPLES: int = _STORED["map_samples"]
"""Fleets in a heat map of the tournament compared."""

HEURISTICS: dict[FleetKind, Heuristic] = {
    "random": "score",
    "constraint": "cluster",
    "heat map": "cluster",
}
"""Determinization -> the heuristic that the thesis' programs had with it."""

SAME = ("IS-MCTS", "MAST")
"""Two names for one player."""

_RULES: Row = {"board": SIDE, "ships": list(LENGTHS), "version": 1}


def condition(kind: FleetKind, seed: int, calls: int = CALLS) -> Condition:
    """That of the thesis' tournament with a determinization."""
    heat = None
    if kind == "heat map":
        empty = Worlds("constraint", numbers(seed, "heat map of an empty sea", match=0), 1)
        heat = tuple(heat_of(empty, MAP_SAMPLES))
    return Condition(kind, HEURISTICS[kind], heat, calls)


def field_of(kind: FleetKind, seed: int, *, twice: bool = True, calls: int = CALLS) -> Field:
    """The tournament with a determinization; not `twice` leaves "MAST" out."""
    under = condition(kind, seed, calls)
    names = NAMES if twice else tuple(name for name in NAMES if name != "MAST")
    title = f"tag-{kind.replace(' ', '-')}" + ("" if twice else "-quick")
    return Field(title, seed, tuple(tag_contestant(name, under) for name in names), _RULES)


def crossed_field(seed: int) -> Field:
    """OSLA in the two combinations that no tournament has, to be measured alone."""
    crossed = (Condition("random", "cluster"), Condition("constraint", "score"))
    players = tuple(tag_contestant("OSLA", under, crossed_name(under)) for under in crossed)
    return Field("tag-confound", seed, players, _RULES)


def crossed_name(under: Condition) -> str:
    """OSLA's name where it stands beside itself under another condition."""
    return f"OSLA, {under.kind}, {under.heuristic}"


def tag_contestant(name: str, under: Condition, title: str = "") -> Contestant:
    """One of the thesis' players as it executed; it is called by its name or by the title.

    RMHC is taken to look at the other player: its playouts last as long as what both have left
    allows, so that its budget of calls depends on the other's progress a little.

    Raises:
        ValueError: If there is none of that name.
    """
    if name == "random":
        return random_contestant()
    if name not in NAMES:
        raise ValueError(f"player {name!r}; required: one of {', '.join(NAMES)}")
    make: Callable[[Random], Shooter] = partial(_SHOOTERS[name], under=under)
    looks = name != "OSLA"
    return Contestant(
        title or name, make, effective_of(name, under), looks=looks, slow=name in SAME
    )


def tree_shooter(rng: Random, under: Condition) -> TreeShooter:
    """The tree search in one game."""
    return TreeShooter(TagRules(rng, under, MAP_SAMPLES))


_SHOOTERS: dict[str, Callable[..., Shooter]] = {
    "OSLA": OneStep,
    "RMHC": HillClimber,
    **dict.fromkeys(SAME, tree_shooter),
}


def effective_of(name: str, under: Condition) -> Row:
    """The effective settings of a player, whatever was asked for."""
    shared: Row = {"determinization": under.kind, "heuristic": under.heuristic}
    if under.kind == "heat map":
        shared["map"] = f"{MAP_SAMPLES} fleets"
    if name == "OSLA":
        return {"player": "OSLA", "worlds": 1, **shared}
    shared["calls"] = under.calls
    if name == "RMHC":
        return {"player": "RMHC", "worlds": 1, "horizon": 10, "effective_horizon": 1, **shared}
    return {
        "player": "IS-MCTS",
        "asked_for": name,
        "iterations_at_most": under.calls,
        "rollouts": "random, to the end",
        "tree": "one for both players",
        "choice": "highest mean",
        "selection": "normalised mean + sqrt(ln N / n), no constant, untried first",
        **shared,
    }


@dataclass(frozen=True)
class TagAmounts:
    """The amounts of play.

    Attributes:
        games: Of each field.
        twice: Whether IS-MCTS and "MAST" are both played; if not, the games of the one count for
            both, as they are one player.
        errors: Standard errors of the difference that a rate may lie off; the quick variant takes
            three, as of its thirty rates one or two would lie beyond two by chance.
        calls: Calls of the forward model a decision; any other number than 4,000 is not the
            thesis'.
    """

    games: Mapping[FleetKind, GameCounts]
    twice: bool
    errors: float = 2.0
    calls: int = CALLS


FULL = TagAmounts(dict.fromkeys(HEURISTICS, GameCounts(2000, GAMES)), twice=True)
QUICK = TagAmounts(
    {
        "random": GameCounts(150, 30, 12),
        "constraint": GameCounts(150, 30, 12),
        "heat map": GameCounts(100, 20, 6),
    },
    twice=False,
    errors=3.0,
)


def run(options: EvalOptions, amounts: TagAmounts | None = None) -> EvalResult:
    """Play the three tournaments and the 2 by 2, or what a folder does not hold of them."""
    amounts = amounts or (QUICK if options.quick else FULL)
    rows: list[Row] = []
    scores: list[Score] = []
    shots: dict[Condition, list[int]] = {}
    randoms: list[int] = []
    for kind, heuristic in HEURISTICS.items():
        field = field_of(kind, options.seed, twice=amounts.twice, calls=amounts.calls)
        played = play_field(field, amounts.games[kind], options)
        found = tag_rows(kind, rates_of(played), amounts.errors)
        for row in found:
            if row["table"] != "matrix":
                options.tell(_said(row))
        options.tell(f"{kind}: the widest 95 % interval reaches {reach(found)} points either way")
        rows += found
        scores += tag_scores(kind, found)
        shots[Condition(kind, heuristic)] = [game["shots"] for game in played.solos["OSLA"]]
        randoms = max(randoms, [game["shots"] for game in played.solos["random"]], key=len)
    rows += _confound(options, amounts, shots, randoms)
    return EvalResult(
        scores=tuple(scores), samples=tuple(rows), effective=_effective(options.seed, amounts)
    )


def rates_of(played: FieldResult) -> dict[Pair, WinRate]:
    """All pairs of the five; where "MAST" was not played, IS-MCTS' rates count for it."""
    names = tuple(name for name in NAMES if any(name in pair for pair in played.duels))
    rates = pair_rates(names, played)
    if "MAST" in names:
        return rates
    for other in names:
        if other != "IS-MCTS":
            rates["MAST", other] = rates["IS-MCTS", other]
            rates[other, "MAST"] = rates[other, "IS-MCTS"]
    rates[SAME] = rates["MAST", "IS-MCTS"] = WinRate(0.5, 0.0, 0.5, 0.5, 0, "one player: symmetry")
    return rates


def tag_rows(
    kind: FleetKind,
    rates: Mapping[Pair, WinRate],
    errors: float = 2.0,
    pairs: Mapping[Pair, float] | None = None,
) -> list[Row]:
    """The tables of a determinization beside the published ones: pairs, averages, the matrix."""
    published = published_pairs(_STORED["pairs"].get(kind, {})) if pairs is None else pairs
    rows: list[Row] = []
    for (one, other), rate in rates.items():
        place = {"table": "pairs", "determinization": kind}
        title = f"{one} - {other}"
        if (one, other) in published and rate.n:
            rows.append({**place, **beside(title, rate, published[one, other], GAMES, errors)})
        elif not published and NAMES.index(one) < NAMES.index(other):
            rows.append({**place, "what": title, **in_points(rate)})
    ours = averages(NAMES, rates)
    for name, value in _STORED["averages"][kind].items():
        place = {"table": "averages", "determinization": kind}
        rows.append({**place, **beside(name, ours[name], value, 4 * GAMES, errors)})
    rows.append({"table": "matrix", "determinization": kind, "rows": matrix(NAMES, rates)})
    return rows


def tag_scores(kind: FleetKind, rows: list[Row]) -> list[Score]:
    """The numbers of pairs, and of averages, outside their tolerance."""
    scores = []
    for table in ("pairs", "averages"):
        outside = [not row["within"] for row in rows if row["table"] == table and "within" in row]
        if outside:
            name = f"{table} outside tolerance, {kind} determinization"
            scores.append(score_over(outside, name, sum, at_most=0))
    return scores


def _confound(
    options: EvalOptions, amounts: TagAmounts, shots: dict[Condition, list[int]], randoms: list[int]
) -> list[Row]:
    """OSLA against random in the four combinations of determinization and heuristic."""
    played = play_field(crossed_field(options.seed), amounts.games["constraint"], options)
    rows: list[Row] = []
    for kind in ("random", "constraint"):
        for heuristic in ("score", "cluster"):
            under = Condition(kind, heuristic)
            alone = played.solos.get(crossed_name(under))
            taken = [game["shots"] for game in alone] if alone else shots[under]
            rate = exact_pair(taken, randoms)
            row: Row = {"table": "confound", "determinization": kind, "heuristic": heuristic}
            if HEURISTICS[kind] == heuristic:
                known = _STORED["pairs"][kind]["OSLA - random"]
                row |= beside("OSLA - random", rate, known, GAMES)
            else:
                row |= {"what": "OSLA - random", **in_points(rate)}
            row["mean_shots"] = round(sum(taken) / len(taken), 2)
            options.tell(
                f"2 by 2, {kind}, {heuristic}: {row['ours']} % of games won against random"
            )
            rows.append(row)
    return rows


def _effective(seed: int, amounts: TagAmounts) -> Row:
    conditions = {kind: condition(kind, seed, amounts.calls) for kind in HEURISTICS}
    return {
        "games": {
            kind: {
                "alone": amount.solos,
                "a_pair": amount.duels,
                "a_pair_with_tree_search": amount.slow_duels or amount.duels,
            }
            for kind, amount in amounts.games.items()
        },
        "tolerance": f"3 points or {amounts.errors:g} standard errors of the difference",
        "mast": "played beside IS-MCTS" if amounts.twice else "IS-MCTS' games count for it",
        "players": {
            kind: {name: effective_of(name, under) for name in NAMES if name != "random"}
            for kind, under in conditions.items()
        },
        "where": "our own bit boards in plain processes, not in the sandbox; no module is run",
    }


def reach(rows: list[Row]) -> float:
    """The reach of the widest interval of a pair, either way, in points."""
    widest: float = max(row["high"] - row["low"] for row in rows if row["table"] == "pairs")
    return round(widest / 2, 1)


def _said(row: Row) -> str:
    said = f"{row['determinization']}, {row['what']}: {row['ours']} ({row['low']} to {row['high']})"
    if "published" in row:
        said += f", published {row['published']}, tolerance {row['tolerance']}"
        said += "" if row["within"] else ": OUTSIDE"
    return said
