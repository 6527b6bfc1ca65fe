"""Tables of environments in the terminal: a game that is no module of ours."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.options import given_parameters
from app.table.session import LaidTable, open_table, renderer
from games.contract import Game
from games.environments import Environment
from games.environments.registry import is_environment
from games.values import Json, ModuleFault, Observation

if TYPE_CHECKING:
    from games.table import Table
    from tools.sandbox import Sandbox


@dataclass(frozen=True)
class EnvironmentTable(LaidTable):
    """An environment that is ready to be played.

    Attributes:
        environment: Where the match is played.
    """

    environment: Environment

    @property
    def place(self) -> "Table":
        """See `LaidTable.place`."""
        return self.environment

    def rulebook(self) -> str:
        """The environment's rules."""
        return self.environment.rules


@dataclass(frozen=True)
class _Facts:
    """A module that has nothing but the `GAME` of an environment; see `games.modules.Module`."""

    game: Mapping[str, Json]
    names: frozenset[str] = frozenset({"GAME"})

    def constant(self, name: str) -> Json:
        """See `Module.constant`."""
        return dict(self.game) if name == "GAME" else None

    def call_echo(self, function: str, arguments: list[Json]) -> tuple[Json, list[Json]]:
        """Refuse likewise."""
        return self.call(function), arguments

    def call(self, function: str, *_arguments: Json, **_keywords: Json) -> Json:
        """Refuse: see `Module.call`."""
        raise ModuleFault("bad_value", function, "is no function of an environment")


def any_table(
    name: str, players: int, settings: Sequence[str], sandbox: "Sandbox", stack: ExitStack
) -> LaidTable:
    """The table of an environment, or of a game that is a module; see `open_table`.

    Raises:
        EnvironmentNotFoundError: If the environment cannot be had.
        ModuleFault: If it does not load.
    """
    if not is_environment(name):
        return open_table(name, players, settings, sandbox, stack)
    from tools.sandbox.module import environment_in, worker_of
    from tools.sources import any_environment, game_setup_of

    found = any_environment(name, given_parameters(settings), players)
    held = stack.enter_context(environment_in(sandbox, found))
    facts: dict[str, Json] = {
        "name": found.name,
        "summary": (found.rules.strip().splitlines() or [""])[0].lstrip("# "),
        "min_players": found.num_players,
        "max_players": found.num_players,
    }
    return EnvironmentTable(game_setup_of(found), None, Game(_Facts(facts)), worker_of(held), held)


def drawing_of(
    table: LaidTable, sandbox: "Sandbox", stack: ExitStack
) -> "Callable[[int, Observation], str] | None":
    """The game's own drawing of what a seat sees, where it has one: see `renderer`."""
    return _text_of if isinstance(table, EnvironmentTable) else renderer(table, sandbox, stack)


def _text_of(_seat: int, observation: Observation) -> str:
    """The text that OpenSpiel has of what a seat sees; "" where there is none."""
    lines = observation.get("text")
    return "\n".join(map(str, lines)) if isinstance(lines, list) else ""
