"""The terminal: results, remarks, questions, progress, Ctrl-C; and errors told from our bugs."""

import errno
import json
import os
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path
from resource import RLIMIT_NOFILE, getrlimit
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, NoReturn, Self, TextIO

import typer

from games.text import plain_text, quoted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from agents.players.endpoint import ModelTable
    from graph.run.events import Event, Waits

STOPPED = 130  # exit code of a command that Ctrl-C stopped
_SIGNALLED = 128  # exit code of a command that a signal stopped, less the signal's number
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = "\x1b[?25h"
_FILES_NEEDED = 64
_TELL_EVERY = 10

# What the machine refuses, whatever we do: no room, no permission, nothing left to open.
_REFUSALS = "EACCES EDQUOT EFBIG ELOOP EMFILE ENAMETOOLONG ENOMEM ENOSPC EPERM EROFS"

# By their names: whoever raises one has loaded its module, and nobody else has to.
KNOWN = frozenset(
    {
        "agents.analysis.AnalysisError",
        "agents.learning.settings.LearningError",
        "agents.model.errors.ModelError",
        "agents.players.specs.PlayerSpecError",
        "agents.protocols.RoleError",
        "agents.recording.RecorderError",
        "app.export.exported.ExportError",
        "app.table.saved.SavedMatchError",
        "evals.results.EvalError",
        "games.environments.EnvironmentNotFoundError",
        "games.library.UnknownGameError",
        "games.library.UnknownParameterError",
        "games.mechanics.graph.GraphError",
        "games.trajectories.TrajectoryError",
        "games.values.ModuleFault",
        "graph.run.folder.RunFolderError",
        "tools.balancing.targets.TargetError",
        "tools.playtest.journal.JournalError",
        "tools.playtest.runner.ExecutorUnavailableError",
        "tools.playtest.runner.RunStoppedError",
        "tools.playtest.schedule.TournamentError",
        "tools.replaying.VoidResultError",
        "tools.sandbox.backends.SandboxUnavailableError",
        "tools.sources.GameNotFoundError",
        "vectorstore.documents.StoreError",
    }
)


@cache
def words(part: str) -> dict[str, str]:
    """Words for the terminal, by what they stand for."""
    import yaml

    text = Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")
    told: dict[str, str] = yaml.safe_load(text)[part]
    return told


def print_json(value: object) -> None:
    """One JSON object on stdout, in plain ASCII; bytes that are no UTF-8 become question marks."""
    text = json.dumps(value, ensure_ascii=False, default=_as_plain).encode(errors="replace")
    typer.echo(json.dumps(json.loads(text), indent=2, sort_keys=True))


def _as_plain(value: object) -> object:
    """The fields of a model or a dataclass, which may hold others."""
    dump = getattr(value, "model_dump", None)
    return vars(value) if dump is None else dump(mode="json")


def give(result: object, show: Callable[[], None], *, as_json: bool) -> None:
    """A command's result: as one JSON object, or as `show` says it."""
    print_json(result) if as_json else show()


_MOVING: "list[Console]" = []
"""The console whose last line moves now; what is noted stands above it."""


_SILENT = ContextVar("silent", default=False)


@contextmanager
def without_notes() -> Iterator[None]:
    """Nothing is noted inside the block: its caller shows what there is to tell."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


def say(text: str = "") -> None:
    """A line on stdout; it may quote a game's own words, which must not steer a terminal."""
    typer.echo(_in_lines(_shown(text), sys.stdout))


def note(text: str) -> None:
    """A line on stderr: progress and remarks never mix with results, nor fail them."""
    if _SILENT.get():
        return
    with suppress(OSError):  # its device is full, or its reader has gone
        told = _in_lines(_shown(text), sys.stderr)
        if _MOVING:
            _MOVING[-1].print(told, markup=False, soft_wrap=True)
        else:
            typer.echo(told, err=True)


def _shown(text: str) -> str:
    """Plain text in which a path's bytes that are no UTF-8 stand as escapes, and are not lost."""
    return plain_text(text.encode(errors="backslashreplace").decode())


def _in_lines(text: str, stream: TextIO) -> str:
    """The text; on a terminal in lines that it holds, but a command to be copied stays whole."""
    if not stream.isatty():
        return text
    columns, lines = get_terminal_size().columns, list[str]()
    for line in text.split("\n"):
        told, name, rest = line.partition("rulewright ")
        held = told + f"{name}{rest}".replace(" ", "\xa0")
        parts = wrap(held, columns, break_long_words=False, break_on_hyphens=False)
        lines += [line] if len(line) <= columns else [part.replace("\xa0", " ") for part in parts]
    return "\n".join(lines)


def ask(question: str) -> str | None:
    """A person's words, without the blanks around them; None where the input has ended."""
    # Not input(question): a Ctrl-C between its showing the question and its reading is held back.
    typer.echo(question, nl=False)
    try:
        return input().strip()
    except EOFError:
        say()
        return None


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise typer.Exit(code)


def a_person_is_here() -> bool:
    """True where a terminal can answer questions."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def database() -> str | None:
    """The Postgres address for checkpoints, `RULEWRIGHT_DATABASE`, or None for SQLite."""
    address = os.environ.get("RULEWRIGHT_DATABASE") or None
    if address is not None and find_spec("langgraph.checkpoint.postgres") is None:
        raise typer.BadParameter(
            "RULEWRIGHT_DATABASE is set, but the parts for Postgres are not installed; install "
            "rulewright[postgres], or unset it to keep checkpoints in the run folder"
        )
    return address


@contextmanager
def ends_at_once(farewell: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end the process inside the block, `farewell()` on stderr.

    Where JSON was asked for, an object on stdout says the same.

    A KeyboardInterrupt would be held back until the node at work is done, which can take minutes.
    A run may be killed at any point, so ending the process loses no more than the matches in
    progress; workers end with their parent. What the caller has had ignored (`nohup`) stays so.
    """
    process = os.getpid()

    def stop(number: int, frame: types.FrameType | None) -> None:
        del frame
        if os.getpid() != process:
            os._exit(_SIGNALLED + number)  # a forked helper, which has nothing to say
        cursor = _SHOW_CURSOR if os.isatty(2) else ""
        try:
            # Not through sys.stderr: the signal may have come in the middle of a write to it.
            told = _shown(farewell())
            os.write(2, f"{cursor}\n{told}\n".encode())
            if "--json" in sys.argv:
                os.write(1, f"{json.dumps({'end': 'stopped', 'error': told})}\n".encode())
        finally:
            os._exit(_SIGNALLED + number)

    ends = [one for one in _ENDS if signal.getsignal(one) != signal.SIG_IGN]
    before = [(one, signal.signal(one, stop)) for one in ends]
    try:
        yield
    finally:
        for one, handler in before:
            signal.signal(one, handler)


def kept_in(journal: Path | None) -> str:
    """The farewell of a command that plays matches: where they are kept, and how to go on.

    >>> kept_in(Path("matches.jsonl"))
    'stopped; no match had finished, so none is kept in matches.jsonl'
    >>> kept_in(None)
    'stopped; nothing was kept: with --journal FILE, the same command goes on after a stop'
    """
    if journal is None:
        return (
            "stopped; nothing was kept: with --journal FILE, the same command goes on after a stop"
        )
    lines: list[bytes] = []
    with suppress(OSError), journal.open("rb") as file:
        lines = [*islice(file, 2)]  # its heading, and a match
    if len(lines) < 2:  # noqa: PLR2004 - a heading and a match
        return f"stopped; no match had finished, so none is kept in {journal}"
    return f"stopped; finished matches are kept in {journal}: give the same command again to go on"


class Progress:
    """Tells a person, on stderr, what the machine is doing.

    A terminal shows it in a line that moves. Elsewhere a line is written at least every ten
    seconds, so that a log shows that long work goes on.
    """

    def __init__(self, *, quiet: bool, every_s: float = 10.0) -> None:
        """`quiet` says nothing at all, for `--json`; `every_s` is of lines without a terminal."""
        from rich.console import Console

        self._console = Console(file=sys.stderr, quiet=quiet, highlight=False)
        self._started = self._told = time.monotonic()
        self._status: Status | None = None
        self._doing = self._stage = self._after = ""
        self._every_s = every_s
        self._over = threading.Event()

    def __call__(self, event: "Event") -> None:
        """Show one event of the machine."""
        from graph.run.events import Begins, MatchPlayed, Opens, Waits

        doing = words("doing").get(event.node, event.node)
        details = quoted(", ".join(f"{name} {value}" for name, value in event.details.items()))
        if isinstance(event, Waits) and not event.over:
            self._wait(event)
        elif isinstance(event, MatchPlayed):
            self._show(f"{doing}: {details}")
        else:
            if isinstance(event, Begins | Opens):
                self._stage = doing
            elif not isinstance(event, Waits):
                self._line(f"{event.node}: {details}")
            self._show(self._stage)

    def _wait(self, event: "Waits") -> None:
        """For whom the run waits; a line each time where there is no spinner to say it.

        Why it waits once more is said once.
        """
        why = f", after: {event.after}" if event.after else ""
        after = "" if why == self._after and not self._console.is_terminal else why
        self._after = why
        lines = f", {event.lines} lines of it" if event.lines else ""
        text = quoted(
            f"waiting for {event.model}: {event.role}, {event.seconds} s{lines}, "
            f"try {event.attempt} of {event.of}{after}"
        )
        if not self._console.is_terminal:
            self._line(text)
        self._show(text if self._console.is_terminal else "")  # the next line of it comes by itself

    def pause(self) -> None:
        """Say nothing until the next event: somebody else may write to the screen."""
        self._doing = ""
        if self._status is not None:
            self._status.stop()
            self._status = None
            _MOVING.remove(self._console)

    def _line(self, text: str) -> None:
        self._told = time.monotonic()
        line = f"[{self._told - self._started:6.1f} s] {text}"
        self._console.print(line, markup=False, soft_wrap=True)

    def _show(self, text: str) -> None:
        from rich.text import Text

        self._doing = text
        if not self._console.is_terminal or self._console.quiet:
            return
        if self._status is None:
            self._status = self._console.status("")
            self._status.start()
            _MOVING.append(self._console)
        self._status.update(Text(text))  # and not as markup: it may quote a game

    def _repeat(self) -> None:
        """Write what is being done whenever nothing was written for a while."""
        while not self._over.wait(self._told + self._every_s - time.monotonic()):
            if self._doing and time.monotonic() >= self._told + self._every_s:
                self._line(self._doing)
            elif not self._doing:
                self._told = time.monotonic()

    def __enter__(self) -> Self:
        if not self._console.is_terminal:
            threading.Thread(target=self._repeat, name="progress", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.pause()


def explained(error: Exception) -> str | None:
    """The message of an error that a person can act on; None for a bug of ours."""
    if callable(wrong := getattr(error, "format_message", None)):  # an argument of the command
        return str(wrong())
    if any(f"{kind.__module__}.{kind.__qualname__}" in KNOWN for kind in type(error).__mro__):
        return f"{error}{_too_few_files(error)}"
    if isinstance(error, FileNotFoundError) and not _is_here():
        return "the working folder was removed; change to another one"
    if isinstance(error, OSError) and errno.errorcode.get(error.errno or 0) in _REFUSALS.split():
        where = f" {error.filename}" if error.filename else ""
        return f"cannot use{where or ' the disk'}: {error.strerror}; make room or mend permissions"
    import sqlite3

    if isinstance(error, sqlite3.Error):
        return (
            f"the checkpoints or the store cannot be used: {error}; see that the disk has room and "
            "that the folder may be written. Where a run's checkpoints are not ours, resume it "
            "with --discard-checkpoints"
        )
    postgres = sys.modules.get("psycopg")
    if postgres is not None and isinstance(error, postgres.Error):
        return f"the database of RULEWRIGHT_DATABASE cannot be used: {error}"
    return None


def is_hang_up(error: Exception) -> bool:
    """True where a stream, and not a file, failed because its terminal has gone."""
    return isinstance(error, OSError) and error.errno == errno.EIO and error.filename is None


def _is_here() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _too_few_files(error: Exception) -> str:
    """Advice for a sandbox that does not start because too few files may be open."""
    from tools.sandbox import SandboxUnavailableError

    allowed, _ = getrlimit(RLIMIT_NOFILE)
    if not isinstance(error, SandboxUnavailableError) or allowed >= _FILES_NEEDED:
        return ""
    return f". Only {allowed} open files are allowed here: raise the limit ('ulimit -n 256')"


def note_decisions(done: int, of: int) -> None:
    """Note how many decisions are valued."""
    if done and done % _TELL_EVERY == 0:
        note(f"{done} of {of} decisions")


@contextmanager
def teller(
    models: "ModelTable | None", matches: int | None = None
) -> Iterator[Callable[[int, object], None]]:
    """Notes how many matches were played, of `matches` where that is known.

    Where players are models each match is told, and meanwhile for whom it is waited.
    """
    played, every = count(1), 1 if models else _TELL_EVERY

    def tell(_index: int, _entry: object) -> None:
        if (number := next(played)) % every == 0 or number == matches:
            note(f"{number} matches" if matches is None else f"{number} of {matches} matches")

    if models is None:
        yield tell
        return
    from graph.run.events import Begins, Waits

    with Progress(quiet=False) as progress:
        progress(Begins(node="matches"))
        models.hear = lambda told: progress(Waits(**told.model_dump()))
        yield tell


def interview(players: int | None, *, as_json: bool) -> tuple[str, int | None]:
    """The game and its seats, asked of a person in three questions."""
    from graph.new.requests import NO, YES, means

    if as_json or not a_person_is_here():
        raise typer.BadParameter(
            "the game is missing; say it in your own words, or name one of the library's: "
            "--family NAME (rulewright games lists them)"
        )
    game = ask("What game would you like? A name, or a few words: ") or ""
    while players is None and (number := ask("How many play? [as usual]: ")):
        players = int(number) if number.isdecimal() and int(number) else None
        if players is None:
            say(f"{number!r} is no number of players; type one, such as 4, or nothing.")
    special = ask("What should be special about it? [nothing]: ") or ""
    special = "" if means(special, YES | NO) else special
    return ". ".join(filter(None, (game, special))), players
