"""What the layer of the Ludii tournaments costs: attempts, success, and the time of a copy."""

import time
from random import Random

from pydantic import JsonValue

from evals.battleship.fields import Played
from evals.battleship.ludii_worlds import DESCRIBED, EXECUTED, Regime, Solver
from evals.battleship.playing import View, numbers
from evals.battleship.sea import BITS, CELLS, random_fleet

_SHOTS = (0, 15, 30, 45, 60)
_POSITIONS = 5
_DRAWS = 20


def solver_row(title: str, plies: int, played: Played) -> dict[str, JsonValue]:
    """What the solver did in a tournament's games, and what the games were like."""
    entries = [game for games in played.duels.values() for game in games]
    used = [one for game in entries for one in game["used"]]
    used += [game["used"] for games in played.solos.values() for game in games]
    total = {
        name: sum(one.get(name, 0) for one in used)
        for name in ("decisions", "iterations", "fleets", "attempts", "fallbacks")
    }
    health = [max(game["health"]) for game in entries]
    return {
        "table": f"{title}: copies",
        "plies": plies,
        "what": "the solver over all games",
        "iterations_a_decision": round(total["iterations"] / max(1, total["decisions"]), 1),
        "fleets": int(total["fleets"]),
        "attempts_a_fleet": round(total["attempts"] / total["fleets"], 2)
        if total["fleets"]
        else None,
        "success": round(1 - total["fallbacks"] / total["fleets"], 5) if total["fleets"] else None,
        "winners_health_left": round(sum(health) / len(health), 2),
    }


def latencies(seed: int) -> list[dict[str, JsonValue]]:
    """Microseconds of a copy's fleet after so many random shots; the only times measured."""
    return [_latency(seed, regime, shots) for regime in (DESCRIBED, EXECUTED) for shots in _SHOTS]


def _latency(seed: int, regime: Regime, shots: int) -> dict[str, JsonValue]:
    rng = numbers(seed, "ludii latency", match=shots)
    spent, attempts, fallbacks = 0.0, 0, 0
    for _ in range(_POSITIONS):
        solver = Solver(regime, rng, _DRAWS)
        solver.observe(position(rng, shots))
        begun = time.perf_counter()
        for _ in range(_DRAWS):
            solver.draw()
        spent += time.perf_counter() - begun
        attempts += solver.solved.attempts
        fallbacks += solver.solved.fallbacks
    drawn = _POSITIONS * _DRAWS
    return {
        "table": "latency of a copy's fleet",
        "what": f"{regime}, after {shots} random shots",
        "microseconds": round(1e6 * spent / drawn, 1),
        "attempts_a_fleet": round(attempts / drawn, 2),
        "success": round(1 - fallbacks / drawn, 3),
        "n": drawn,
    }


def position(rng: Random, shots: int) -> View:
    """What the first player sees after so many shots at random at a fleet placed by chance."""
    fleet = random_fleet(rng)
    fired = sum(BITS[cell] for cell in rng.sample(range(CELLS), shots))
    return View(own=random_fleet(rng), hits=fired & fleet, misses=fired & ~fleet, enemy=fleet)
