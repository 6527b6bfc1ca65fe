"""Simulations a second in a learned model, side by side with the library's module of the game."""

from collections.abc import Mapping
from typing import Any

from agents.players.registry import PlayerRoster
from evals.cwm.held import HeldModel, referee_of
from evals.results import Row
from games import library
from games.information import SeatLog
from games.streams import stream
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

_SEATS = 2
TIMED = {"tic_tac_toe": "uct", "leduc_poker": "ismcts"}
"""Games of which the library has a module too, with the search that plays them."""


def search_rates(game: str, model: HeldModel, seconds: float, sandbox: Sandbox) -> Row:
    """Simulations a second in the model, and in the library's module of the same game.

    Args:
        game: One of `TIMED`.
        model: Of it.
        seconds: That a decision takes; the best of three counts, taken in turn.
        sandbox: Where both run.
    """
    setup = referee_of(game)
    own = GameSetup(game, library.source(game), setup.num_players)
    rates: dict[str, list[float]] = {"model": [], "library": []}
    for number in range(3):
        for name, source, parameters in (
            ("model", model.text, setup.parameters),
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
