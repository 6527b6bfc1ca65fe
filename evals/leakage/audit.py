"""Eval: does any player's decision depend on what is hidden from its seat?

At every decision of the tested seat the referee holds another state than the true one, which the
seat must not be able to tell from it (see `evals.leakage.twins`): a decision that changes has seen
more than the seat may see. Budgets are of simulations, as a budget of time is not the same twice.
Leaks planted on purpose, in a player and in a module, must be flagged in every game. What is no
part of this: events that tell too much, which the leak audit of `games.checks` compares.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from numpy.random import Generator
from pydantic import JsonValue

from agents.players.llm import LLM
from agents.players.observing import ARGMAXVAL, GOMCTS
from agents.players.ppo import PPO
from agents.players.registry import PLAYERS, PRELOAD, parse_spec
from agents.players.specs import PlayerSpecError
from evals.leakage.twins import Look, Pairs, Twins, TwinSetup, twin_matches
from evals.results import (
    EvalOptions,
    EvalResult,
    NothingScoredError,
    Row,
    Score,
    Tell,
    read_data,
    score_over,
)
from games import library
from games.engine import Decision
from games.information import SeatLog
from games.values import Action, canonical_key
from tools.playtest.jobs import PlayerSpec
from tools.sandbox import Sandbox

_DATA = read_data("data/leakage.yaml")
_SMALL: dict[str, int] = _DATA["small"]
SETUPS = tuple(TwinSetup(**row) for row in _DATA["setups"])
LARGE = ("whist", "go_fish", "gin_rummy")
"""Games in which a belief that needs the rules alone takes seconds to minutes a decision."""
_QUICK_BELIEFS = (None, "auto", "module", "exact")


LEAK: str = read_data("data/sources.yaml")["leak"]
"""Appended to a module's source, so that what every seat is sent depends on the full state."""

READER: str = read_data("data/sources.yaml")["reader"]
"""A heuristic that uses what a module with `LEAK` shows."""


@dataclass(frozen=True)
class AuditSize:
    """Numbers of decisions and matches to compare.

    Attributes:
        positions: Decisions with a choice, compared for every player in every game.
        matches: Matches played for them at the most.
        planted: Decisions compared for every planted leak in every game, in as many matches at the
            most. One planted player looks seldom: at Leduc poker one of eight decisions changes.
        total: Decisions that all players together must come to.
        plies: Plies after which a match is left; a game may have a lower limit of its own.
    """

    positions: int = 14
    matches: int = 20
    planted: int = 48
    total: int = 1000
    plies: int = 1000


QUICK = AuditSize(positions=2, matches=6, planted=48, total=100, plies=64)  # whist deals 52 cards


def run(options: EvalOptions, amount: AuditSize | None = None) -> EvalResult:
    """Try every player that a spec can name, then the planted leaks, in every game.

    Args:
        options: Whether the run is quick, and the seed of all matches.
        amount: How much is tried; None for the usual amounts.
    """
    chosen = amount or (QUICK if options.quick else AuditSize())
    rows: list[Row] = []
    with Sandbox(preload=PRELOAD) as sandbox:
        for setup in (replace(one, max_plies=min(one.max_plies, chosen.plies)) for one in SETUPS):
            rows += tried(setup, line_up(), sandbox, options.seed, chosen, options.tell)
            rows += planted(setup, sandbox, options.seed, chosen, options.tell)
        effective: Row = {
            "positions_each": chosen.positions,
            "matches_each_at_most": chosen.matches,
            "plies_at_most": {one.name: min(one.max_plies, chosen.plies) for one in SETUPS},
            "grade": sandbox.grade.model_dump(mode="json"),
        }
        return audit_result(rows, effective, chosen.total)


# Players that need an endpoint, a training, a learned model or an environment.
_NEEDING_MORE = (LLM, PPO, ARGMAXVAL, GOMCTS, "cwm", "gt")


def line_up() -> list[PlayerSpec]:
    """Every player that needs no more than a game, with small budgets; ISMCTS with each belief."""
    specs = []
    for player, kind in PLAYERS.items():
        if player in _NEEDING_MORE:
            continue
        names = {parameter.name: parameter for parameter in kind.parameters}
        beliefs: Sequence[str] = ("",)
        if "belief" in names:
            every = [word for word in names["belief"].choices if word not in ("none", "cheat")]
            beliefs = every if player == "ismcts" else ("auto",)
        specs += [_small(player, belief) for belief in beliefs]
    return specs


def _small(player: str, belief: str) -> PlayerSpec:
    """The player with each small budget that it takes."""
    known = {parameter.name for parameter in PLAYERS[player].parameters}
    pairs = [f"belief={belief}"] if belief else []
    pairs += [f"{name}={_SMALL[name]}" for name in sorted(_SMALL.keys() & known)]
    return parse_spec(f"{player}:{','.join(pairs)}")


def tried(
    setup: TwinSetup,
    specs: Sequence[PlayerSpec],
    sandbox: Sandbox,
    seed: int,
    amount: AuditSize,
    tell: Tell,
) -> Iterator[Row]:
    """One sample a player; one that refuses the game says why."""
    with twin_matches(setup, library.source(setup.name), sandbox, seed) as hall:
        for spec in specs:
            row: Row = {"game": setup.name, "player": spec.name, "planted": False}
            if setup.name in LARGE and spec.settings.get("belief") not in _QUICK_BELIEFS:
                row["left_out"] = "a decision with this belief takes seconds to minutes here"
                yield row
                continue
            try:
                row |= _found(hall.compared(hall.of(spec), amount.positions, amount.matches))
            except PlayerSpecError as refusal:
                row["refused"] = str(refusal)[:300]
            tell(_said(row))
            yield row


def planted(
    setup: TwinSetup, sandbox: Sandbox, seed: int, amount: AuditSize, tell: Tell
) -> Iterator[Row]:
    """One sample a planted leak: players that look at the state, and a module that shows it."""
    source = library.source(setup.name)
    reader = parse_spec("greedy:heuristic=reader")
    plants: tuple[tuple[str, str, dict[str, str], Pairs | None], ...] = (
        ("a player that looks at the state", source, {}, peeking(1)),
        ("a player that looks now and then", source, {}, peeking(3)),
        ("a module whose observations leak", source + LEAK, {"reader": READER}, None),
    )
    for name, text, heuristics, pairs in plants:
        with twin_matches(setup, text, sandbox, seed, heuristics) as hall:
            twins = hall.compared(pairs or hall.of(reader), amount.planted, amount.planted)
        row: Row = {"game": setup.name, "player": name, "planted": True, **_found(twins)}
        tell(_said(row))
        yield row


def _found(twins: Sequence[Twins]) -> Row:
    def total(name: str) -> int:
        return sum(getattr(one, name) for one in twins)

    counts = ("positions", "changed", "told", "forced", "alone", "unjudged")
    reasons = [reason[:300] for one in twins for reason in one.reasons]
    return {**{name: total(name) for name in counts}, "matches": len(twins), "reasons": [*reasons]}


def _said(row: Row) -> str:
    head = f"{row['game']}, {row['player']}: "
    if "refused" in row:
        return head + f"refused, {row['refused']}"
    return head + ", ".join(f"{row[name]} {name}" for name in ("positions", "changed", "told"))


def audit_result(rows: Sequence[Row], effective: Row, total: int) -> EvalResult:
    """The audit's scores; a player that was compared nowhere has none.

    Raises:
        NothingScoredError: If no decision was compared, or no leak planted.
    """
    honest = [row for row in rows if not row["planted"] and "positions" in row]
    plants = [row for row in rows if row["planted"]]
    compared = [row for row in honest if row["positions"]]
    positions = _sum(honest, "positions")
    if not positions:
        raise NothingScoredError(f"none of {len(honest)} players in a game was compared")
    unjudged = _sum(honest, "unjudged")
    flagged = [bool(row["changed"]) if row["positions"] else None for row in plants]

    def leaks(name: str, key: str) -> Score:
        value = _sum(honest, key)
        return Score(name=name, value=value, at_most=0, scored=positions, unscored=unjudged)

    def shown(name: str, values: set[JsonValue], at_least: int | None = None) -> Score:
        return Score(name=name, value=len(values), at_least=at_least, scored=positions)

    return EvalResult(
        scores=(
            leaks("decisions changed by what is hidden", "changed"),
            leaks("decisions for which the seat was told what is hidden", "told"),
            Score(name="positions", value=positions, at_least=total, scored=positions),
            shown("games", {row["game"] for row in compared}, len(SETUPS)),
            shown("players", {row["player"] for row in compared}),
            score_over(flagged, "planted leaks flagged", at_least=1.0),
        ),
        samples=tuple(rows),
        effective=effective,
        unscored={
            f"{row['player']} at {row['game']}": "; ".join(row["reasons"])
            or "no decision had another state behind it"
            for row in honest
            if not row["positions"]
        },
    )


def _sum(rows: Sequence[Row], name: str) -> int:
    return sum(row[name] for row in rows)


@dataclass(frozen=True)
class Peeker:
    """Decides by the referee's own state, through a channel that it should not have.

    Attributes:
        look: The channel.
        every: It looks at one decision in so many, and plays at random otherwise.
    """

    look: Look
    every: int = 1

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        del log
        index = int(generator.integers(len(legal)))
        if generator.integers(self.every) == 0:
            index = zlib.crc32(canonical_key(self.look()).encode()) % len(legal)
        return Decision(legal[index])


def peeking(every: int) -> Pairs:
    """Two peekers for a match and its twin, each with the channel of its own play."""

    def made(look: Look) -> Peeker:
        return Peeker(look, every)

    return lambda _seat, _stack: (made, made)
