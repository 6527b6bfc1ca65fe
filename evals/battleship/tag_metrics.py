"""The thesis' other measures (its section 3.5.3): what a determinization costs, how a game ends."""

from collections.abc import Iterator, Sequence
from random import Random
from statistics import fmean
from time import perf_counter_ns

from pydantic import JsonValue

from evals.battleship.fields import Entry, Played
from evals.battleship.playing import View, numbers
from evals.battleship.sea import BITS, random_fleet
from evals.battleship.tag_agents import OneStep
from evals.battleship.tag_worlds import Kind, Worlds, heat_of

Row = dict[str, JsonValue]

_KINDS: tuple[Kind, ...] = ("random", "constraint", "heat map")


def by_player(names: Sequence[str], played: Played) -> list[Row]:
    """For each player, over all its games: what its decisions took, and how its duels ended."""
    return [row for row in (_player(name, played) for name in names) if row]


def _player(name: str, played: Played) -> Row | None:
    alone = played.solos.get(name, [])
    seats = [
        (game, pair.index(name))
        for pair, games in played.duels.items()
        if name in pair
        for game in games
    ]
    used = [game["used"] for game in alone] + [game["used"][seat] for game, seat in seats]
    if not used:
        return None
    row: Row = {"player": name, "games": len(used)}
    if alone:
        row["shots_alone"] = round(fmean(game["shots"] for game in alone), 2)
    won = [game["health"][seat] for game, seat in seats if game["won"] == seat]
    if seats:
        row["health_left"] = round(fmean(game["health"][seat] for game, seat in seats), 2)
    if won:
        row["margin_when_won"] = round(fmean(won), 2)
        row["won_by_1"] = round(sum(margin == 1 for margin in won) / len(won), 3)
    return {**row, **_sampling(used)}


def _sampling(used: Sequence[Entry]) -> Row:
    total = {key: sum(one.get(key, 0) for one in used) for key in (*used[0], "samples")}
    row: Row = {}
    if total.get("decisions"):
        row["calls_a_decision"] = round(total["calls"] / total["decisions"], 1)
        row["calls_a_game"] = round(total["calls"] / len(used))
        row["samples_a_game"] = round(total["samples"] / len(used), 1)
    if total["samples"]:
        row["attempts_a_sample"] = round(total["attempts"] / total["samples"], 2)
        row["fallbacks"] = total["fallbacks"]
        row["success"] = round(1 - total["fallbacks"] / total["samples"], 6)
    return row


def latencies(seed: int, games: int, map_samples: int) -> list[Row]:
    """What one fleet takes to draw, by determinization, at every shot of games of OSLA.

    Each kind draws at the same positions, one attempt after the other. "heat map" comes twice: with
    the map of an empty sea, as OSLA has it, and with a map drawn for the position and shared by 40
    fleets, as the tree search has it.
    """
    spent: dict[str, list[float]] = {}
    heat = heat_of(Worlds("constraint", Random(seed), 1), map_samples)
    for game in range(games):
        rng = numbers(seed, "latency", match=game)
        for view in _positions(rng):
            for kind in _KINDS:
                worlds = Worlds(kind, rng, 1)
                worlds.observe(view, heat if kind == "heat map" else None)
                spent.setdefault(kind, []).append(_timed(worlds, 1))
            worlds = Worlds("heat map", rng, 1)
            worlds.observe(view)
            share = _timed(worlds, map_samples) * map_samples / _SHARED
            spent.setdefault("heat map, drawn anew", []).append(spent["heat map"][-1] + share)
    usual = fmean(spent["constraint"])
    return [
        {
            "determinization": kind,
            "microseconds_a_sample": round(fmean(times), 1),
            "over_constraint": round(fmean(times) / usual, 2),
            "positions": len(times),
        }
        for kind, times in spent.items()
    ]


_SHARED = 40


def _timed(worlds: Worlds, count: int) -> float:
    """Microseconds a fleet."""
    began = perf_counter_ns()
    for _ in range(count):
        worlds.draw()
    return (perf_counter_ns() - began) / 1000 / count


def _positions(rng: Random) -> Iterator[View]:
    fleet = random_fleet(rng)
    player = OneStep(rng, "constraint", "cluster", None)
    view = View()
    while view.hits != fleet:
        yield view
        bit = BITS[player.shoot(view)]
        if bit & fleet:
            view.hits |= bit
        else:
            view.misses |= bit
