"""Arrays by a module's own functions, which run in a sandbox."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.encoding.protocol import Array
from games.information import SeatTurn
from games.values import Json, ModuleFault, canonical_key
from tools.predicting.tensors import numbers_in, with_lists
from tools.sandbox import Sandbox, Worker

_AT_ONCE = 40  # calls of a message
_HELD = 2**24  # numbers of all arrays that are remembered


class TensorSource(NamedTuple):
    """Functions that turn observations into arrays.

    Attributes:
        source: The module that defines them.
        width: Length of an array.
    """

    source: str
    width: int


class TensorEncoder:
    """Arrays of observations: a `LogEncoder`; what was asked once is remembered."""

    def __init__(self, sandbox: Sandbox, told: TensorSource) -> None:
        """Ask the functions of `told`, in a worker of `sandbox` that is made when it is needed."""
        self.told = told
        self._sandbox = sandbox
        self._worker: Worker | None = None
        self._known: dict[str, Array | None] = {}

    @property
    def width(self) -> int:
        """See `LogEncoder.width`."""
        return self.told.width

    def prepare(self, turns: Sequence[SeatTurn]) -> None:
        """See `LogEncoder.prepare`."""
        self.ask([turn.observation for turn in turns])

    def encoded(self, seat: int, turn: SeatTurn) -> tuple[Array, int]:
        """See `LogEncoder.encoded`; zeros where there is no array, as one value not known."""
        del seat
        array = self.of(turn.observation)
        return (np.zeros(self.width, np.float32), 1) if array is None else (array, 0)

    def of(self, observation: Json) -> Array | None:
        """`[width]`; None where it was not asked, or the functions gave no such array."""
        return self._known.get(canonical_key(observation))

    def ask(self, observations: Sequence[Json]) -> None:
        """Have arrays made of what is not known yet; none depends on what is asked beside it.

        Raises:
            ModuleFault: If the source does not load, hangs, or ends its worker.
        """
        if len(self._known) * self.told.width > _HELD:
            self._known.clear()
        keyed = {canonical_key(one): one for one in observations}
        new = {key: one for key, one in keyed.items() if key not in self._known}
        if not new:
            return
        fault = self._ask(new)
        missing = [key for key in new if self._known[key] is None]
        if len(new) > 1 and missing:  # one observation may have spoilt the message of others
            faults = [self._ask({key: new[key]}) for key in missing]
            fault = next(filter(None, faults), None)
        if fault is not None:
            raise fault

    def _ask(self, new: dict[str, Json]) -> ModuleFault | None:
        """Have these arrays made; the fault of what hung, or ended the worker.

        Raises:
            ModuleFault: If the source does not load.
        """
        if self._worker is None or not self._worker.alive:
            source = with_lists(self.told.source)
            worker = self._sandbox.worker("tensors", source)
            try:
                worker.load(source)
            except ModuleFault:
                worker.kill()
                raise
            self._worker = worker
        calls: list[tuple[str, list[Json]]] = [
            ("numbers_of_observation", [one]) for one in new.values()
        ]
        fault: ModuleFault | None = None
        for key, answer in zip(new, self._worker.ask_many(calls, _AT_ONCE), strict=True):
            numbers = numbers_in(answer)
            fits = numbers is not None and len(numbers) == self.told.width
            self._known[key] = np.array(numbers, np.float32) if fits else None
            if isinstance(answer, ModuleFault):
                fault = answer
        if fault is not None and (fault.kind == "timed_out" or not self._worker.alive):
            return fault
        return None

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()
