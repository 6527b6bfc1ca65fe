"""Eval: does `balance` bring planted imbalances back, and do its figures hold on other deals?

Each case starts from a library game with settings that were spoilt. Its target is one that other
settings are known to reach: they were measured, by the same player, before the search was run on
it. A case counts where all of its targets are met on the deals of the confirmation. Then the
settings that were found play a third set of deals. Both figures are samples, so the third is no
judge of the first by itself: their difference is, whose intervals hold together for all figures.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from agents.players.registry import PRELOAD, PlayerRoster
from evals.results import EvalOptions, EvalResult, Row, read_data, score_over
from games import library
from games.values import Json
from tools.balancing.answer import chosen
from tools.balancing.playing import BalanceTable, balance_table
from tools.balancing.racing import BalanceSearch
from tools.balancing.space import declared_settings, settings_space
from tools.balancing.tallies import Tally
from tools.balancing.targets import Target, parse_targets
from tools.playtest.intervals import CONFIDENCE
from tools.playtest.jobs import GameSetup, SandboxRecipe, sandbox_of_process
from tools.playtest.runner import Workers

REACHED_AT_LEAST = 10 / 12
_MAX_PLIES = 2000
_QUICK = 2  # cases
_THIRD = 2000  # matches of the third set of deals


class PlantedImbalance(BaseModel, frozen=True, extra="forbid"):
    """One case.

    Attributes:
        id: Its name.
        game: A library name.
        players: Seats.
        start: Settings that were spoilt.
        target: As a person writes it.
        known: Other settings that reach it.
        measured: What these came to, and in how many matches.
        player: Who has every seat; empty for the best heuristic.
    """

    id: str
    game: str
    players: int
    start: dict[str, bool | int | str]
    target: str
    known: dict[str, bool | int | str]
    measured: str
    player: str = ""


@dataclass(frozen=True)
class BalancedCase:
    """The end of a case.

    Attributes:
        case: The case.
        targets: Its targets.
        reached: True where all are met on the deals of the confirmation.
        matches: How many were played, the third set not counted.
        settings: The changes that were confirmed.
        confirmed: Their tally; None where nothing was confirmed.
        third: Their tally on the third set of deals.
    """

    case: PlantedImbalance
    targets: Sequence[Target]
    reached: bool
    matches: int
    settings: Mapping[str, Json]
    confirmed: Tally | None
    third: Tally | None


def load_imbalances() -> list[PlantedImbalance]:
    """The cases."""
    return [PlantedImbalance.model_validate(row) for row in read_data("data/balance.yaml")]


def run(options: EvalOptions) -> EvalResult:
    """Balance every case; quick: two of them, with fewer matches."""
    budget = options.matches or (4000 if options.quick else 12_000)
    cases = load_imbalances()[: _QUICK if options.quick else None]
    judged = []
    with sandbox_of_process(SandboxRecipe(preload=PRELOAD)) as sandbox:
        grade = sandbox.grade.model_dump(mode="json")
        for case in cases:
            judged.append(balanced_case(case, budget, options))
            end = "reached" if judged[-1].reached else "not reached"
            options.tell(f"{case.id}: {end} with {judged[-1].settings}")
    return score_cases(judged, {"budget": budget, "sandbox": grade})


def balanced_case(case: PlantedImbalance, budget: int, options: EvalOptions) -> BalancedCase:
    """Search from the spoilt settings; then play a third set of deals."""
    source, sources = library.source(case.game), library.heuristic_sources(case.game)
    info = library.read_game(source)
    start = {**library.defaults(info), **case.start}
    setup = GameSetup(case.game, source, case.players, start, sources)
    space = settings_space(declared_settings(info, library.preset(case.game).family), start)
    targets = parse_targets(case.target, case.players)
    workers = Workers(options.workers, "processes")
    begun = BalanceTable(
        *(setup, PlayerRoster(), SandboxRecipe(), workers, options.seed, _MAX_PLIES)
    )
    journal = options.folder and options.folder / f"{case.id}.jsonl"
    identity: dict[str, Any] = {**case.model_dump(), "budget": budget, "seed": options.seed}
    with balance_table(begun, journal, identity) as table:
        specs = [case.player] if case.player else [f"greedy:heuristic={one}" for one in sources]
        table.choose_player(specs)
        search = BalanceSearch(table, space, targets, budget)
        search.run()
        best, matches, third = chosen(search), table.matches, None
        if best is not None:
            settings = best.tried.settings
            third = table.tally(settings, "third", 0, _THIRD, replay=False)
    changed = space.changed(best.tried.settings) if best else {}
    reached = best is not None and best.reaches(targets)
    tally = best.tally if best else None
    return BalancedCase(case, targets, reached, matches, changed, tally, third)


def score_cases(judged: Sequence[BalancedCase], effective: Row) -> EvalResult:
    """The share of cases that are reached, and of figures that a third set of deals confirms."""
    figures = [
        (one, target)
        for one in judged
        if one.confirmed is not None and one.third is not None
        for target in one.targets
    ]
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(figures))
    stands = [_stands(one, target, confidence) for one, target in figures]
    return EvalResult(
        scores=(
            score_over(
                [one.reached for one in judged], "targets reached", at_least=REACHED_AT_LEAST
            ),
            score_over(stands, "figures that hold on a third set of deals", at_least=1.0),
            score_over([float(one.matches) for one in judged], "matches of a search"),
            score_over([float(len(one.settings)) for one in judged], "settings changed"),
        ),
        samples=tuple(map(_sample, judged)),
        effective=effective,
    )


def _stands(one: BalancedCase, target: Target, confidence: float) -> bool:
    """True where the difference of both figures may be none."""
    assert one.confirmed is not None  # for mypy
    assert one.third is not None
    first, third = (tally.estimate(target, confidence) for tally in (one.confirmed, one.third))
    widths = [(found.high - found.low) / 2 for found in (first, third)]
    return abs(first.value - third.value) <= math.hypot(*widths)


def _sample(one: BalancedCase) -> Row:
    row: Row = {
        "id": one.case.id,
        "what": f"{one.case.game}, {one.case.start}: {one.case.target}",
        "reached": one.reached,
        "matches": one.matches,
        "settings": {**one.settings},
        "known": {**one.case.known},
    }
    for name, tally in (("confirmed", one.confirmed), ("third", one.third)):
        if tally is not None:
            found = [(target, tally.estimate(target)) for target in one.targets]
            row[name] = {
                target.key: [target.told(f.value), target.told(f.low), target.told(f.high)]
                for target, f in found
            }
    return row
