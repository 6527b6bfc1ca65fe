"""Arrays of observations by the functions of a module, which run in a sandboxed worker."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.learning.encoding import Array
from games.contract import Json, canonical_key
from games.values import ModuleFault
from tools.predicting.inference import ask_together
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


class Arrays:
    """Arrays of observations; what was asked once is remembered."""

    def __init__(self, sandbox: Sandbox, told: TensorSource) -> None:
        """Ask the functions of `told`, in a worker of `sandbox` that is made when it is needed."""
        self.told = told
        self._sandbox = sandbox
        self._worker: Worker | None = None
        self._known: dict[str, Array | None] = {}

    def of(self, observation: Json) -> Array | None:
        """`[width]`; None where it was not asked, or the functions gave no such array."""
        return self._known.get(canonical_key(observation))

    def ask(self, observations: Sequence[Json]) -> None:
        """Have arrays made of what is not known yet.

        Raises:
            ModuleFault: If the source does not load, hangs, or ends its worker.
        """
        if len(self._known) * self.told.width > _HELD:
            self._known.clear()
        keyed = {canonical_key(one): one for one in observations}
        new = {key: one for key, one in keyed.items() if key not in self._known}
        if not new:
            return
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
        for key, answer in zip(new, ask_together(self._worker, calls, _AT_ONCE), strict=True):
            numbers = numbers_in(answer)
            fits = numbers is not None and len(numbers) == self.told.width
            self._known[key] = np.array(numbers, np.float32) if fits else None
            if isinstance(answer, ModuleFault):
                fault = answer
        if fault is not None and (fault.kind == "timed_out" or not self._worker.alive):
            raise fault

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()
