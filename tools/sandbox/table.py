"""A table whose game runs in a worker: one message a ply."""

from collections.abc import Mapping

from games.contract import Action, Game, Json
from games.table import GameTable, Position
from tools.sandbox.claims import raise_fault
from tools.sandbox.worker import Worker


class SandboxTable:
    """`games.table.Table` over a worker that has loaded its source.

    The worker sends the raw values of one ply; the host holds them against the contract with the
    same code as for a game in its own process.
    """

    def __init__(self, worker: Worker, *, deadline_s: float | None = None) -> None:
        """Play in `worker`; one ply may take `deadline_s`, by default the worker's `call_s`."""
        self.worker = worker
        self._deadline_s = deadline_s or worker.limits.call_s

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        payload: dict[str, Json] = {"num_players": num_players, "parameters": dict(parameters)}
        return self._table("open", payload).open(num_players, parameters)

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        payload: dict[str, Json] = {"state": position.state, "action": action}
        return self._table("advance", payload).advance(position, action)

    def _table(self, op: str, payload: Mapping[str, Json]) -> GameTable:
        reply = self.worker.request(op, payload, self._deadline_s)
        fields = reply if isinstance(reply, dict) else {}
        values = fields.get("values")
        return GameTable(
            Game(
                _Answered(
                    self.worker.names,
                    values if isinstance(values, dict) else {},
                    fields.get("fault"),
                )
            )
        )


class _Answered:
    """A `Module` whose functions were all called already, in the worker."""

    def __init__(self, names: frozenset[str], values: Mapping[str, Json], fault: Json) -> None:
        self.names = names
        self._values = values
        self._fault = fault

    def constant(self, name: str) -> Json:
        raise_fault(self._fault, name)

    def call(self, function: str, *arguments: Json, **keywords: Json) -> Json:
        del arguments, keywords  # the worker was sent them
        if function not in self._values:
            raise_fault(self._fault, function)
        return self._values[function]

    def call_echo(self, function: str, arguments: list[Json]) -> tuple[Json, list[Json]]:
        return self.call(function, *arguments), arguments
