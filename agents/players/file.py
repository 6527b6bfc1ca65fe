"""The player in a file of a person: `decide(observation, legal, history)`, as untrusted code."""

import re
from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from agents.players.specs import PlayerSpecError, Seating, require_unchanged
from games.engine import Decision, Effort, PlayerFault
from games.information import SeatLog, entry_rows
from games.values import Action, Json, ModuleFault
from tools.playtest.jobs import PlayerSpec
from tools.sandbox import Sandbox, SandboxedModule
from tools.sources import read_source

FILE = "file"
_SPEC = re.compile(rf"(?s)(?:{FILE}:path=)?(?P<path>.+\.py)(?:,sha256=(?P<sha256>[0-9a-f]+))?")
_DIGITS = 16  # of the hash, shown and compared
_WORDS = 4  # of 32 bits, that seed the file's own random numbers for a match


def file_spec(text: str) -> PlayerSpec | None:
    """The spec of a file, with a hash of what it says; None where `text` names none.

    Raises:
        PlayerSpecError: If the text gives a hash, and the file has another.
        GameNotFoundError: If the file cannot be read.
    """
    named = _SPEC.fullmatch(text.strip())
    if named is None:
        return None
    path = named["path"]
    return PlayerSpec(
        player=FILE, settings={"path": path, "sha256": _read(path, named["sha256"] or "")[1]}
    )


def _read(path: str, required: str) -> tuple[str, str]:
    """The text of a file, read once, and its hash; raises as `file_spec` does."""
    source = read_source(path, "a player")
    found = sha256(source.encode()).hexdigest()[:_DIGITS]
    require_unchanged(path, found, required)
    return source, found


class FilePlayer:
    """Asks the file's `decide` in a worker of its own, which lives for one match.

    Whatever the file does wrong is this seat's forfeit.
    """

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Read the file again.

        Raises:
            PlayerSpecError: If it has changed since the spec was read.
            GameNotFoundError: If it cannot be read.
        """
        self.path = str(spec.settings["path"])
        self.source, _ = _read(self.path, str(spec.settings["sha256"]))
        self.worker = at.sandbox.worker(f"player-{at.seat}", self.source)
        self.is_loaded = False

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`.

        Raises:
            PlayerFault: If the file does not load, fails, hangs, or answers no text.
        """
        seed = None
        try:
            if not self.is_loaded:
                self.worker.load(self.source)
                self.is_loaded = True
                seed = [int(word) for word in generator.integers(2**32, size=_WORDS)]
            seen: list[Json] = [log.latest(), [*legal], [*entry_rows(log.entries)]]
            action = self.worker.call("decide", seen, seed=seed)
        except ModuleFault as fault:
            where = f", line {fault.line}" if fault.line else ""
            raise PlayerFault(f"{self.path}{where}: {fault}") from fault
        if not isinstance(action, str):
            raise PlayerFault(
                f"{self.path}: decide answered {action!r:.80}; required: one of the legal actions"
            )
        return Decision(action, Effort(FILE))

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


def require_function(file: str, source: str, function: str, sandbox: Sandbox) -> None:
    """Refuse a file that does not load, or does not define what it is asked.

    Raises:
        PlayerSpecError: Naming the file.
    """
    told = f"it defines no function {function}()"
    try:
        with sandbox.loaded("player", source) as worker:
            SandboxedModule(worker).constant(function)
    except ModuleFault as fault:
        if fault.kind == "bad_value":  # a function, which is no value to send
            return
        told = told if fault.kind == "missing" else str(fault)
    raise PlayerSpecError(f"{file} cannot be used: {told}; mend it, or choose another player")
