"""A module behind a worker, as the contract's `Module`."""

from collections.abc import Sequence

from games.contract import Json
from tools.sandbox.worker import Worker

_RANDOM_PREFIX = "resample_"


class SandboxedModule:
    """`games.contract.Module` over a worker that has loaded its source."""

    def __init__(
        self, worker: Worker, *, seed: Sequence[int] = (0,), deadline_s: float | None = None
    ) -> None:
        """Read the module through `worker`.

        Args:
            worker: A worker after `load`.
            seed: Words that `random` and `numpy.random` are seeded with before every
                `resample_*` call; see `seeded`.
            deadline_s: Seconds one call may take; the worker's own limit by default.
        """
        self.worker = worker
        self._seed = tuple(seed)
        self._deadline_s = deadline_s

    def seeded(self, *words: int) -> "SandboxedModule":
        """The same module with another seed for its `resample_*` calls."""
        return SandboxedModule(self.worker, seed=words, deadline_s=self._deadline_s)

    @property
    def names(self) -> frozenset[str]:
        """See `Module.names`."""
        return self.worker.names

    def constant(self, name: str) -> Json:
        """See `Module.constant`."""
        seconds = self._deadline_s or self.worker.limits.call_s
        return self.worker.request("constant", {"name": name}, seconds)

    def call(self, function: str, *arguments: Json, **keywords: Json) -> Json:
        """See `Module.call`."""
        return self.worker.call(
            function,
            arguments,
            keywords,
            deadline_s=self._deadline_s,
            seed=self._seed if function.startswith(_RANDOM_PREFIX) else None,
        )

    def call_echo(self, function: str, arguments: list[Json]) -> tuple[Json, list[Json]]:
        """See `Module.call_echo`."""
        return self.worker.call_echo(function, arguments, deadline_s=self._deadline_s)
