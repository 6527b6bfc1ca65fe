"""Entry of the command `rulewright`, and of Python, under the one import name that is surely ours.

For Python it gives `design`, `load`, `play`, `match`, `tournament`, `train`, `learn` and `analyse`,
each loaded when it is first used; see docs/python.md. As the command it mends what a shell may have
left broken, before anything else is imported: standard streams that are closed, a locale that is
not UTF-8, and rooms of ours that another package has taken.
"""

import _signal  # type: ignore[import-not-found]  # the part of `signal` that is there at once
import os
import sys

_STOPPED = 130
# Where the caller ignores Ctrl-C, as a script does for `nohup rulewright new ... &`, it stays so.
_IS_STOPPABLE = _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN
_IS_COMMAND = os.path.basename(sys.argv[0]).startswith("rulewright")  # noqa: PTH119 - pathlib loads slowly
if _IS_COMMAND and _IS_STOPPABLE:
    # First of all, as the command and not when imported: a Ctrl-C while it loads says nothing.
    _signal.signal(_signal.SIGINT, lambda *_: os._exit(_STOPPED))

import importlib.util  # noqa: E402 - the imports below take long enough to be interrupted
import signal  # noqa: E402 - after the signal, as above
from contextlib import suppress  # noqa: E402 - after the signal, as above
from pathlib import Path  # noqa: E402 - after the signal, as above

TYPE_CHECKING = False  # as in `typing`, which takes as long to load as all of this
if TYPE_CHECKING:
    from app.python.handles import design_game as design
    from app.python.handles import load_game as load
    from app.python.learning import learn_game as learn
    from app.python.learning import train_player as train
    from app.python.matches import analyse_match_of as analyse
    from app.python.matches import match_players as match
    from app.python.matches import play_one_match as play
    from app.python.matches import round_robin as tournament

__all__ = ["analyse", "design", "learn", "load", "match", "play", "tournament", "train"]

_FACE = {
    "analyse": ("matches", "analyse_match_of"),
    "design": ("handles", "design_game"),
    "learn": ("learning", "learn_game"),
    "load": ("handles", "load_game"),
    "match": ("matches", "match_players"),
    "play": ("matches", "play_one_match"),
    "tournament": ("matches", "round_robin"),
    "train": ("learning", "train_player"),
}
_ROOMS = ("agents", "app", "evals", "games", "graph", "tools", "vectorstore")


def __getattr__(name: str) -> object:
    """A function for Python, loaded now.

    Raises:
        AttributeError: If there is none of that name.
        ImportError: If another package has taken a room of ours.
    """
    if name not in _FACE:
        raise AttributeError(f"module 'rulewright' has no {name!r}; it has {', '.join(_FACE)}")
    if others := _taken(Path(__file__).parent):
        raise ImportError(_in_the_way(others))
    room, function = _FACE[name]
    found: object = getattr(importlib.import_module(f"app.python.{room}"), function)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_FACE])


def main() -> int:
    """Run the command; see `app.cli.main`."""
    if _IS_STOPPABLE:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_STOPPED))  # while it loads, no traceback
    _begin_anew_where_needed()
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # our processes import nothing from this folder
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if others := _taken(Path(__file__).parent):
        _complain(_in_the_way(others))
        return 2
    from app.cli import main as run_command

    if _IS_STOPPABLE:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return _written(run_command())


def _begin_anew_where_needed() -> None:
    """Start again with all three standard streams, and in UTF-8."""
    closed = []
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            closed.append(os.open(os.devnull, os.O_RDWR))
    in_utf8 = sys.getfilesystemencoding() == "utf-8" or os.environ.get("PYTHONUTF8") == "1"
    if closed or not in_utf8:
        for number in closed:
            os.set_inheritable(number, True)
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _taken(home: Path) -> list[str]:
    """Rooms that Python would import from elsewhere, or into which another package wrote."""
    sizes: dict[str, str] = {}
    for record in home.glob("rulewright-*.dist-info/RECORD"):  # importlib.metadata loads slowly
        lines = record.read_text(encoding="utf-8").splitlines()
        sizes |= {path: size for path, _, size in (line.rsplit(",", 2) for line in lines)}
    found = []
    for room in _ROOMS:
        ours = home / room / "__init__.py"
        spec = importlib.util.find_spec(room)
        theirs = None if spec is None or spec.origin is None else Path(spec.origin)
        size = sizes.get(f"{room}/__init__.py")
        if (
            theirs is None
            or not theirs.exists()
            or not ours.exists()
            or not theirs.samefile(ours)
            or size not in (None, str(ours.stat().st_size))
        ):
            found.append(room)
    return found


def _in_the_way(others: list[str]) -> str:
    return (
        f"another package here has the import name {', '.join(others)}, which Rulewright "
        "needs; give Rulewright an environment of its own: 'uv tool install rulewright' or "
        "'pipx install rulewright'"
    )


def _written(code: int) -> int:
    """The exit code, once what was printed is really out."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # nobody is left to tell
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left must not fail once more
        if not isinstance(error, BrokenPipeError):
            _complain(f"the output could not be written: {error.strerror}")
        return code or 2
    return code


def _complain(text: str) -> None:
    with suppress(OSError):
        os.write(2, f"error: {text}\n".encode(errors="backslashreplace"))


if __name__ == "__main__":
    sys.exit(main())
