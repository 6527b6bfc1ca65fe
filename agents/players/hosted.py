"""The host's side of `--host-search`: the tree out of the module's reach, one message a call.

The search, the belief and their random numbers are those of `agents.worker.session`, on the host.
The module, in its worker, sees single calls; it can no longer change the search that plays over it.
An honest module is played alike either way, but for searches that are bounded by the clock. A few
of the answers that each decision rests on are asked of a fresh worker again, as a referee asks.
"""

import inspect
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from resource import getpagesize

import numpy as np

from agents.belief.module import DeadlineError
from agents.worker.protocol import ChooseRequest, HeuristicsRequest, Refused
from agents.worker.session import SeatSession, perfect_information
from games.modules import HEURISTIC
from games.values import (
    REQUIRED_CONSTANTS,
    Action,
    IllegalActionError,
    Json,
    ModuleFault,
    Observation,
    is_number,
    show,
)
from tools.guest.protocol import RawPly, decoded
from tools.replaying import VoidResultError
from tools.sandbox import Sandbox, Worker

_RESAMPLE = "resample_"
_LOOKED_EVERY = 128  # states, as to look takes as long as many calls
_MOST_BYTES = 768 * 2**20  # of this process, its tree and those of its other threads
_ASKED_AGAIN = (
    "apply_action",
    "get_chance_probabilities",
    "get_current_player",
    "get_legal_actions",
    "get_observations",
    "get_rewards",
)


def _require_room(function: str) -> None:
    """Refuse states that fill the memory of the host, where the tree is kept.

    Raises:
        ModuleFault: If this process has more than it may.
    """
    with suppress(OSError):  # a system that does not tell it
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        if pages * getpagesize() > _MOST_BYTES:
            told = f"its states in the tree take more than {_MOST_BYTES >> 20} MiB of the host"
            raise ModuleFault("bad_value", function, f"{told}: keep them small, or search less")


class _Answers:
    """A seeded sample of the answers that a decision rests on: one of each function."""

    def __init__(self, words: Sequence[int]) -> None:
        self._generator = np.random.default_rng([*words])
        self._given: Counter[str] = Counter()
        self._kept: dict[str, tuple[Sequence[Json], Json]] = {}
        self._origins: dict[int, tuple[Json, Sequence[Json]]] = {}  # by the state's id: it, a ply

    def take(self, function: str, arguments: Sequence[Json], value: Json) -> None:
        """Take note of an answer; raises where there is no room for more."""
        if function == "apply_action":
            self._origins[id(value)] = (value, arguments)
            if len(self._origins) % _LOOKED_EVERY == 0:
                _require_room(function)
        if function in _ASKED_AGAIN:
            self._given[function] += 1
            if self._generator.integers(self._given[function]) == 0:
                self._kept[function] = (arguments, value)

    def require(self, worker: Worker) -> None:
        """Ask a fresh worker for the sample.

        Raises:
            VoidResultError: Quoting the first call that it answers otherwise.
        """
        for function, (arguments, value) in sorted(self._kept.items()):
            try:
                again = self._again(worker, function, arguments)
            except (ModuleFault, IllegalActionError) as fault:
                raise VoidResultError(
                    f"asked again what a search asked, it failed: {fault}"
                ) from fault
            if again != value:
                asked = ", ".join(map(show, arguments))
                raise VoidResultError(
                    f"{function}({asked}) gave {show(value)} to a search, and {show(again)} to a "
                    "fresh worker"
                )

    def _again(self, worker: Worker, function: str, arguments: Sequence[Json]) -> Json:
        ply = arguments if function == "apply_action" else None
        if (known := self._origins.get(id(arguments[0]))) and ply is None:
            ply = known[1]
        if ply is not None:
            payload: dict[str, Json] = dict(zip(("state", "action"), ply, strict=True))
            raw = decoded(RawPly, worker.request("advance", payload, worker.limits.call_s))
            if function in raw.values:
                return raw.values[function]
        return worker.call(function, arguments)


class _Namespace(dict[str, object]):
    """A module's names, each function a message to its worker."""

    def __init__(self, worker: Worker, left: Callable[[], float]) -> None:
        super().__init__()
        self._words: list[int] = []
        self.answers = _Answers(())
        for name in worker.names:
            if name in REQUIRED_CONSTANTS:
                self[name] = worker.request("constant", {"name": name}, worker.limits.call_s)
            else:
                self[name] = self._remote(worker, name, left)

    def reseed(self, words: Sequence[int]) -> None:
        """See `games.modules.reseed`: what the next call of a resampler is seeded with."""
        self._words = [*words]

    def _remote(self, worker: Worker, name: str, left: Callable[[], float]) -> Callable[..., Json]:
        def call(*arguments: Json, **keywords: Json) -> Json:
            seed = self._words if name.startswith(_RESAMPLE) else None
            seconds = min(left(), worker.limits.call_s)
            value = worker.call(name, arguments, keywords, deadline_s=seconds, seed=seed)
            self.answers.take(name, arguments, value)
            return value

        if name.startswith(_RESAMPLE):  # the search asks how many parameters it takes
            count = worker.request(
                "evaluate", {"expression": f"{name}.__code__.co_argcount"}, worker.limits.call_s
            )
            kind = inspect.Parameter.POSITIONAL_ONLY
            taken = range(count) if isinstance(count, int) and 0 <= count < 9 else ()  # noqa: PLR2004 - one digit
            parameters = [inspect.Parameter(f"p{number}", kind) for number in taken]
            call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return call


class HostedSearch:
    """In the place of a player's worker: the same requests, answered by a search on the host."""

    _namespace: _Namespace

    def __init__(self, sandbox: Sandbox, role: str) -> None:
        """Get ready for `load`."""
        self._sandbox, self._role = sandbox, role
        self._workers: list[Worker] = []
        self._session = SeatSession(time.monotonic)  # the work is done in other processes
        self._ends = 0.0

    @property
    def names(self) -> frozenset[str]:
        """See `Worker.names`."""
        return frozenset(self._namespace)

    def load(self, source: str) -> None:
        """Start the module's worker; see `Worker.load`."""
        self._source = source
        self._workers.append(self._sandbox.worker(self._role))
        self._workers[0].load(source)
        self._namespace = _Namespace(self._workers[0], self._left)

    def request(self, op: str, payload: Mapping[str, Json], deadline_s: float) -> Json:
        """See `Worker.request`: "choose", "perfect_information" or "hold_heuristics"."""
        self._ends = time.monotonic() + deadline_s
        given = dict(payload)
        if op == "hold_heuristics":
            sources = decoded(HeuristicsRequest, given).sources
            self._session.heuristics = [self._scoring(*pair) for pair in sorted(sources.items())]
            return None
        try:
            if op == "perfect_information":
                return perfect_information(self._namespace, given)
            self._namespace.answers = _Answers(decoded(ChooseRequest, given).words)
            chosen = self._session.choose(self._namespace, given)._asdict()
        except DeadlineError:
            return Refused("late", f"no decision within {deadline_s:.3g} s")._asdict()
        with self._sandbox.worker(f"{self._role}-again", self._source) as fresh:
            fresh.load(self._source)
            self._namespace.answers.require(fresh)
        return chosen

    def kill(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.kill()

    def _left(self) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise DeadlineError
        return left

    def _scoring(self, name: str, source: str) -> Callable[[Observation, Action], float]:
        worker = self._sandbox.worker(f"{self._role}-{name}", source)
        self._workers.append(worker)
        worker.load(source)

        def score(observation: Observation, action: Action) -> float:
            asked: dict[str, Json] = {"positions": [[observation, [action]]]}
            found = worker.request("scores", asked, min(self._left(), worker.limits.call_s))
            match found:
                case [[int() | float() as value]] if is_number(value):
                    return float(value)
            raise ModuleFault("bad_value", HEURISTIC, f"heuristic {name!r} gave {found!r:.80}")

        return score
