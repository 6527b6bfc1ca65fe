"""Node: walk the settings and twists of the game, and propose those that are to be tried."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.composer.keeping import kept_settings
from games.library.settings import PLAYERS
from games.streams import stream
from graph.run.checkpoints import moved
from graph.run.events import TwistsProposed, writer_of
from graph.vary.state import VaryContext, VaryState
from tools.variation.proposing import SettingSpace


def twist(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["trial", "report"]]:
    """Propose settings that are near the base's, several changed at once too."""
    context, settings = runtime.context, runtime.context.settings
    game = context.request.base
    keeping = kept_settings(settings.keep, game.family, game.fields)
    seats = set() if settings.free_seats else {PLAYERS}
    space = SettingSpace(
        game.fields,
        game.settings,
        frozenset(keeping.held) | seats,
        game.presets,
        game.objection,
    )
    twists = space.proposals(
        settings.candidates * settings.n, stream(settings.seed, "vary proposals")
    )
    after = state.proposing(twists, keeping.held, keeping.unread, space.unranged)
    writer_of(runtime.stream_writer)(
        TwistsProposed(
            candidates=len(twists), kept=", ".join(keeping.held), not_understood=keeping.unread
        )
    )
    if not twists:
        return moved("report", state, after.ended("none", "no setting is free to change"))
    return moved("trial", state, after)
