"""Answer of a balance: figures beside targets, what was tried, and what moves a missed figure."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from games.values import Json
from tools.balancing.racing import BalanceSearch, Confirmed, TriedSettings
from tools.balancing.targets import Target
from tools.playtest.intervals import CONFIDENCE, Estimate

Rulebook: TypeAlias = Callable[[Mapping[str, Json]], str]
"""The rules as text, for some settings."""
_TOLD = 3  # settings that move a figure


def balance_answer(search: BalanceSearch, rulebook: Rulebook | None) -> dict[str, Any]:
    """The answer as JSON.

    Args:
        search: That has run.
        rulebook: Tells which rules a setting changes; None where that is not known.
    """
    best = chosen(search)
    found: dict[str, Any] = {
        "player": search.table.player,
        "seed": search.table.seed,
        "max_plies": search.table.max_plies,
        "budget": search.budget,
        "matches": search.table.matches,
        "start": {**search.space.start},
        "searched": [*search.space.free],
        "not_searched": {**search.space.fixed},
        "targets": [_asked(target) for target in search.targets],
        "tried": [_tried(search, one) for one in search.tried.values()],
        "reached": best is not None and best.reaches(search.targets),
    }
    if best is None:
        reasons = sorted({one.why for one in search.tried.values() if one.why})
        return {**found, "settings": None, "changed": {}, "confirmed": [], "why": reasons}
    return {
        **found,
        "settings": {**best.tried.settings},
        "changed": search.space.changed(best.tried.settings),
        "void": best.tally.void,
        "cut": best.tally.cut,
        "confirmed_matches": best.tally.matches + best.tally.void,
        "confidence": best.confidence,
        "confirmed": [_confirmed(search, one) for one in search.confirmed],
        "figures": _figures(search, best),
        "levers": [levers_of(search, target, rulebook) for target in _missed(search.targets, best)],
    }


def balance_remarks(found: Mapping[str, Any]) -> list[str]:
    """Remarks to the figures: matches without a result, and wider intervals."""
    said, cut, all_ = [], found["cut"], found["confirmed_matches"]
    if found["void"]:
        said.append(f"{found['void']} of {all_} matches came to no result: figures leave them out")
    if cut:
        said.append(
            f"{cut} of them had no end after {found['max_plies']} plies; turns count them as far "
            "as they went, and may be more"
        )
    if found["confidence"] != CONFIDENCE:
        said.append(
            f"the intervals hold at {100 * found['confidence']:.4g} %, as several candidates or "
            "several looks could have ended the search"
        )
    return said


def _missed(targets: Sequence[Target], best: Confirmed) -> list[Target]:
    """The targets that are missed; of seats, the one that is missed by most."""
    found: dict[str, Target] = {}
    for target in targets:
        estimate = best.estimate(target)
        if target.met(estimate) != "missed":
            continue
        other = found.setdefault(target.measure, target)
        if target.miss(estimate.value) > other.miss(best.estimate(other).value):
            found[target.measure] = target
    return [*found.values()]


def chosen(search: BalanceSearch) -> Confirmed | None:
    """The confirmed candidate that reaches the targets, or else comes nearest."""
    return min(
        search.confirmed,
        key=lambda one: (not one.reaches(search.targets), one.loss(search.targets)),
        default=None,
    )


def _asked(target: Target) -> dict[str, Any]:
    ends = {"low": target.low, "high": target.high}
    return {
        "words": target.words,
        "figure": target.key,
        **{name: value if math.isfinite(value) else None for name, value in ends.items()},
    }


def _figures(search: BalanceSearch, one: Confirmed) -> list[dict[str, Any]]:
    """The figure of each target with its interval, and by how much it misses."""
    found = []
    for target in search.targets:
        estimate = one.estimate(target)
        found.append(
            {
                "target": target.words,
                "figure": target.key,
                "answer": target.met(estimate),
                **estimate.model_dump(mode="json"),
                "misses_by": target.miss(estimate.value),
                "told": target.told(estimate.value),
                "told_interval": f"{target.told(estimate.low)} to {target.told(estimate.high)}",
                "told_miss": target.told(target.miss(estimate.value)),
            }
        )
    return found


def _confirmed(search: BalanceSearch, one: Confirmed) -> dict[str, Any]:
    changed = search.space.changed(one.tried.settings)
    return {"changed": changed, "matches": one.tally.matches, "figures": _figures(search, one)}


def _tried(search: BalanceSearch, one: TriedSettings) -> dict[str, Any]:
    row: dict[str, Any] = {"changed": search.space.changed(one.settings), "why": one.why}
    row["matches"] = one.tally.matches
    if one.why or not one.rungs:
        return {**row, "values": None, "loss": None}
    values = [estimate.value for estimate in one.estimates(search.targets)]
    return {**row, "values": values, "loss": one.loss(search.targets)}


def levers_of(
    search: BalanceSearch, target: Target, rulebook: Rulebook | None = None
) -> dict[str, Any]:
    """The settings that move a figure most, each tried alone.

    The intervals of all differences hold together (Bonferroni): `d ± sqrt(h² + h0²)` of the half
    widths of both figures (Newcombe 1998). Where fewer than two matches are known there is none.
    """
    start, space = search.start, search.space
    alone = [
        (name, one)
        for one in search.tried.values()
        if len(changed := space.changed(one.settings)) == 1 and one.rungs and not one.why
        for name in changed
    ]
    told: dict[str, Any] = {"target": target.words, "figure": target.key, "moves": []}
    told["tried_alone"] = sorted({name for name, _ in alone})
    told["not_tried_alone"] = sorted({*space.free} - {name for name, _ in alone})
    if start.why or not start.rungs or not alone:
        return {**told, "answer": "could not tell"}
    confidence = 1 - (1 - CONFIDENCE) / len(alone)
    base = start.tally.estimate(target, confidence)
    rows = []
    for name, one in alone:
        here = one.tally.estimate(target, confidence)
        low, high = _difference(here, base)
        if not low <= 0 <= high:
            value = one.settings[name]
            row: dict[str, Any] = {
                "setting": name,
                "value": value,
                "figure": here.value,
            }
            row |= {"difference": here.value - base.value, "low": low, "high": high}
            row |= {"told": target.told(here.value), "told_start": target.told(base.value)}
            if rulebook is not None:
                row["rules"] = _rules(rulebook, space.start, one.settings)
            rows.append(row)
    rows.sort(key=lambda row: -abs(row["difference"]))
    best = {row["setting"]: row for row in reversed(rows)}
    moves = sorted(best.values(), key=lambda row: -abs(row["difference"]))[:_TOLD]
    return {**told, "moves": moves, "answer": "moved" if moves else "not moved"}


def _difference(one: Estimate, other: Estimate) -> tuple[float, float]:
    apart = one.value - other.value
    low = math.hypot(one.value - one.low, other.high - other.value)
    high = math.hypot(one.high - one.value, other.value - other.low)
    return apart - low, apart + high


def _rules(rulebook: Rulebook, one: Mapping[str, Json], other: Mapping[str, Json]) -> list[str]:
    """The ids of the rules that read otherwise with other settings."""
    before, after = (dict(_rules_in(rulebook(settings))) for settings in (one, other))
    apart = {rule for rule in {*before, *after} if before.get(rule) != after.get(rule)}
    return sorted(apart, key=lambda rule: int(rule[1:]))


def _rules_in(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^- (R\d+): (.*)", text, re.MULTILINE)
