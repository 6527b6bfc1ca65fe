"""Speed of learned models: simulations a second beside the library's module, and their tests."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from agents.players.registry import PlayerRoster
from evals.results import Row
from games import library
from games.information import SeatLog
from games.streams import stream
from games.trajectories import OpenTrajectory
from games.values import Json
from tools.playtest.jobs import GameSetup
from tools.playtest.runner import Workers, play_all
from tools.predicting.transition import RecordQuestions, predicted
from tools.sandbox import Sandbox

_SEATS = 2
_RECORDS, _REPEATS, _CANDIDATES = 1000, 7, 2
TIMED = {"tic_tac_toe": "uct", "leduc_poker": "ismcts"}
"""Games of which the library has a module too, with the search that plays them."""


def search_rates(game: str, setup: GameSetup, model: str, seconds: float, sandbox: Sandbox) -> Row:
    """Simulations a second in the model, and in the library's module of the same game.

    Args:
        game: One of `TIMED`.
        setup: It.
        model: A model's source.
        seconds: That a decision takes; the best of three counts, taken in turn.
        sandbox: Where both run.
    """
    own = GameSetup(game, library.source(game), setup.num_players)
    rates: dict[str, list[float]] = {"model": [], "library": []}
    for number in range(3):
        for name, source, parameters in (
            ("model", model, setup.parameters),
            ("library", own.source, own.parameters),
        ):
            rates[name].append(_rate(TIMED[game], source, parameters, seconds, number, sandbox))
    model_rate, other = max(rates["model"]), max(rates["library"])
    return {
        "game": game,
        "simulations a second": {"model": round(model_rate), "library": round(other)},
        "ratio": round(model_rate / other, 3),
    }


def _rate(
    search: str,
    source: str,
    parameters: Mapping[str, Any],
    seconds: float,
    number: int,
    sandbox: Sandbox,
) -> float:
    """Simulations a second of a match's first decision, with one rollout a leaf."""
    spec = f"{search}:budget=time,seconds={seconds}"
    roster, setup = PlayerRoster(), GameSetup("timed", source, _SEATS, parameters)
    config = roster.effective(spec)
    player = roster.seat(config, seat=0, match=0, game=setup, sandbox=sandbox)
    try:
        with setup.refereed(sandbox) as table:
            position, log = table.open(_SEATS, parameters), SeatLog(0)
            log.see(position.observations[0], position.events[0])
            while position.player != 0:
                position = table.advance(position, position.legal[0])
                log.see(position.observations[0], position.events[0])
        done = player.choose(log, sorted(position.legal), stream(number, "timing")).effort
    finally:
        player.close()
    return float(str(done["simulations_done"])) / float(str(done["seconds"]))


def judging_rates(source: str, matches: Sequence[OpenTrajectory], sandbox: Sandbox) -> Row:
    """Seconds that testing takes, for two candidates in turn and at once; the best of seven counts.

    Args:
        source: A candidate.
        matches: What it is held against, up to some 1,000 records of them.
        sandbox: Where it runs.
    """
    asked = RecordQuestions()
    for number, match in enumerate(matches):
        if len(asked.records) < _RECORDS:
            asked.add(number, match)

    def tested(_: int) -> Json:
        return predicted(sandbox, source, asked).right

    seconds: dict[int, list[float]] = {1: [], _CANDIDATES: []}
    for _ in range(_REPEATS):
        for jobs, taken in seconds.items():
            began, pair = perf_counter(), ((number, number) for number in range(_CANDIDATES))
            list(play_all(pair, tested, journal=None, workers=Workers(jobs, "threads")))
            taken.append(perf_counter() - began)
    one, two = min(seconds[1]) / _CANDIDATES, min(seconds[_CANDIDATES])
    return {
        "records tested": len(asked.records),
        "seconds a candidate": round(one, 3),
        "two at once over in turn": round(_CANDIDATES * one / two, 2),
    }
