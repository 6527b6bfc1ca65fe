"""Players over a scripted endpoint, and what their requests say."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agents.players.endpoint import ModelTable
from agents.players.llm import LlmPlayer
from agents.players.registry import PlayerRoster
from games.engine import Player
from games.information import SeatLog, Seen
from games.streams import stream
from games.values import Json
from tests.agents.model.endpoint import Answer, Endpoint, Request, Step, message, serving
from tests.agents.model.talking import settings_for
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

LOG = SeatLog(0, [Seen({"hand": ["KS"]}, ("You were dealt KS.",))])
LEGAL = ["check", "bet"]
_PART = '<untrusted source="{source}">\n(.*?)\n</untrusted>'


def part(request: Request, source: str) -> str:
    """What a request's first user message tells of one thing; "" where it tells nothing."""
    asked = str(request["messages"][1]["content"])
    found = re.search(_PART.format(source=source), asked, re.DOTALL)
    return found[1] if found else ""


def take_first(request: Request) -> Answer:
    """The first of the listed actions; of a request to reflect, a note that tells its result."""
    if listed := part(request, "actions"):
        return message(f"THOUGHT: why not.\nACTION: {listed.splitlines()[0]}")
    asked = str(request["messages"][1]["content"])
    return message("Noted: " + asked.partition("# The result")[2].strip().replace("\n", " "))


@contextmanager
def asking(
    *script: Step,
    spec: str = "llm:model=scripted",
    game: GameSetup | None = None,
    **changes: object,
) -> Iterator[tuple[LlmPlayer, Endpoint]]:
    """A player at seat 0 of match 3, and the endpoint that it asks."""
    with serving(*script) as endpoint:
        table = ModelTable.opened(settings_for(endpoint, **{"retries": 0, **changes}), {"scripted"})
        roster = PlayerRoster(models=table)
        with Sandbox() as sandbox:
            player = roster.seat(
                roster.effective(spec),
                seat=0,
                match=3,
                game=game or GameSetup("nowhere/none.py", "", 2),
                sandbox=sandbox,
            )
        assert isinstance(player, LlmPlayer)
        yield player, endpoint


def decided(
    player: Player, log: SeatLog = LOG, legal: Sequence[str] = LEGAL, ply: int = 5
) -> tuple[str, dict[str, Json]]:
    decision = player.choose(log, legal, stream(1, "player", match=3, seat=0, ply=ply))
    return decision.action, decision.effort.row()
