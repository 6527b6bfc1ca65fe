"""The host's side of `--host-search`: the tree out of the module's reach, one message a call.

The search, the belief and their random numbers are those of `agents.worker.session`, on the host.
The module, in its worker, sees single calls; it can no longer change the search that plays over it.
An honest module is played alike either way, but for searches that are bounded by the clock. Of the
answers that each decision rests on, a fresh worker is asked again as a referee asks: for all on the
roots of the search and their children, and for a sample of the others.
"""

import inspect
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from resource import getpagesize
from typing import NamedTuple

import numpy as np

from agents.belief.evidence import MODULE_ERRORS
from agents.belief.module import DeadlineError
from agents.worker.protocol import ChooseRequest, HeuristicsRequest, Refused
from agents.worker.session import SeatSession, perfect_information
from games.modules import HEURISTIC
from games.text import plain_text
from games.values import (
    REQUIRED_CONSTANTS,
    Action,
    IllegalActionError,
    Json,
    ModuleFault,
    Observation,
    State,
    canonical_key,
    is_number,
    show,
)
from tools.guest.protocol import RawPly, decoded
from tools.replaying import VoidResultError
from tools.sandbox import OperationError, Sandbox, SandboxUnavailableError, Worker

_RESAMPLE = "resample_"
_LONGEST = 300  # characters of an error
_LOOKED_EVERY = 8 * 2**20  # of answers' weight, as to look takes as long as many calls
_STATE_WEIGHT = 2**16  # of the tree's own parts for a state, counted generously
_MOST_BYTES = 768 * 2**20  # that this process may grow by, with a tree and its other threads
_ASKED_AGAIN = (
    "apply_action",
    "get_chance_probabilities",
    "get_current_player",
    "get_legal_actions",
    "get_observations",
    "get_rewards",
)


def _resident() -> int:
    """Bytes of memory that this process has; 0 on a system that does not tell it."""
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * getpagesize()
    return 0


def _require_room(function: str, begun: int) -> None:
    """Refuse states that fill the memory of the host, where the tree is kept.

    Args:
        function: Which gave the last one.
        begun: Bytes that this process had when the tree began.

    Raises:
        ModuleFault: If this process has more than it may.
    """
    if _resident() - begun > _MOST_BYTES:
        told = f"its states in the tree take more than {_MOST_BYTES >> 20} MiB of the host"
        raise ModuleFault("bad_value", function, f"{told}: keep them small, or search less")


class _Answer(NamedTuple):
    """An answer of the module, with what was asked."""

    function: str
    arguments: Sequence[Json]
    value: Json


class _Answers:
    """The answers that a decision rests on, as far as another worker is asked for them again.

    These are all that were given on the states from which the search began and on their children,
    and of the others a seeded sample: one of each function.
    """

    def __init__(self, words: Sequence[int], before: "_Answers | None" = None) -> None:
        """Begin a decision; where its tree is one of `before`, its answers may be in there."""
        self._generator = np.random.default_rng([*words])
        self._given: Counter[str] = Counter()
        self._sample: dict[str, _Answer] = {}
        self._keeps_all = before is not None
        # By the state's id: it with the ply that led to it, and the answers on it.
        self._origins: dict[int, tuple[Json, Sequence[Json]]] = before._origins if before else {}
        self._told: dict[int, list[_Answer]] = before._told if before else {}
        self._openings: dict[int, Mapping[str, Json]] = before._openings if before else {}
        self._roots: dict[int, State] = {}
        self._unseen = 0  # weight of the answers since the last look
        self._begun: int = before._begun if before else _resident()
        self._advanced: dict[str, Mapping[str, Json]] = {}

    def begin_at(self, state: State) -> None:
        """Take note that the search begins from a state."""
        self._roots[id(state)] = state

    def opened(self, state: Json, players: Json, parameters: Mapping[str, Json]) -> None:
        """Take note of a first state."""
        self._openings[id(state)] = {"num_players": players, "parameters": {**parameters}}
        self._origins[id(state)] = (state, ())

    def weigh(self, function: str, weight: int) -> None:
        """Count what an answer weighs; raises where there is no room for more."""
        self._unseen += weight + _STATE_WEIGHT * (function == "apply_action")
        if self._unseen > _LOOKED_EVERY:
            self._unseen = 0
            _require_room(function, self._begun)

    def take(self, function: str, arguments: Sequence[Json], value: Json) -> None:
        """Take note of an answer."""
        if function == "apply_action":
            self._origins[id(value)] = (value, arguments)
        if function not in _ASKED_AGAIN:
            return
        # A search sorts the list that it was given.
        answer = _Answer(function, arguments, [*value] if isinstance(value, list) else value)
        if self._keeps_all or self._is_near(arguments[0]):
            self._told.setdefault(id(arguments[0]), []).append(answer)
        self._given[function] += 1
        if self._generator.integers(self._given[function]) == 0:
            self._sample[function] = answer

    def require(self, worker: Worker) -> None:
        """Ask a fresh worker again.

        Raises:
            VoidResultError: Quoting the first call that it answers otherwise.
        """
        due = [answer for root in self._roots for answer in self._near(root)]
        asked: set[str] = set()
        for answer in (*due, *(self._sample[name] for name in sorted(self._sample))):
            key = canonical_key([answer.function, [*answer.arguments], answer.value])
            if key not in asked:
                asked.add(key)
                self._require_same(worker, answer)

    def _is_near(self, state: Json) -> bool:
        origin = self._origins.get(id(state))
        return id(state) in self._roots or bool(
            origin and origin[1] and id(origin[1][0]) in self._roots
        )

    def _near(self, root: int) -> Iterator[_Answer]:
        """The answers on a root and on its children."""
        for answer in self._told.get(root, ()):
            yield answer
            if answer.function == "apply_action":
                yield from self._told.get(id(answer.value), ())

    def _require_same(self, worker: Worker, answer: _Answer) -> None:
        function, arguments, value = answer
        try:
            again = self._again(worker, function, arguments)
        except (ModuleFault, IllegalActionError) as fault:
            raise VoidResultError(f"asked again what a search asked, it failed: {fault}") from fault
        if again != value:
            asked = ", ".join(map(show, arguments))
            raise VoidResultError(
                f"{function}({asked}) gave {show(value)} to a search, and {show(again)} to a "
                "fresh worker"
            )

    def _again(self, worker: Worker, function: str, arguments: Sequence[Json]) -> Json:
        """The answer to the same question, asked as a referee asks where play led to the state."""
        at, _, ply = id(arguments[0]), *self._origins.get(id(arguments[0]), (None, ()))
        ply = arguments if function == "apply_action" else ply
        asked: Mapping[str, Json] = dict(zip(("state", "action"), ply, strict=False))
        op, asked = ("advance", asked) if ply else ("open", self._openings.get(at, {}))
        if asked:
            key = canonical_key({**asked})
            if key not in self._advanced:
                raw = decoded(RawPly, worker.request(op, asked, worker.limits.call_s))
                self._advanced[key] = raw.values
            if function in self._advanced[key]:
                return self._advanced[key][function]
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
            seconds, before = min(left(), worker.limits.call_s), worker.weight
            value = worker.call(name, arguments, keywords, deadline_s=seconds, seed=seed)
            self.answers.weigh(name, worker.weight - before)
            if name == "initial_state":
                self.answers.opened(value, arguments[0], keywords)
            else:
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
            asked = decoded(ChooseRequest, given)
            before = self._namespace.answers if asked.search.get("reuse") == "yes" else None
            self._namespace.answers = _Answers(asked.words, before)
            self._session.rooted = self._namespace.answers.begin_at
            chosen = self._session.choose(self._namespace, given)._asdict()
        except DeadlineError:
            return Refused("late", f"no decision within {deadline_s:.3g} s")._asdict()
        except (IllegalActionError, OperationError, SandboxUnavailableError):
            raise
        except MODULE_ERRORS as error:
            # Beside its module such an error would be a fault, too; here nothing else tells it.
            told = f"its answers led a search astray ({type(error).__name__}: {error})"
            raise ModuleFault("bad_value", "module", plain_text(told)[:_LONGEST]) from error
        with self._sandbox.apart.worker(f"{self._role}-again", self._source) as fresh:
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
