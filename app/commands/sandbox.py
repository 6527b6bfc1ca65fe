"""`sandbox run` and `sandbox self-test`: a file or an attack in a sandbox; which sandboxes hold."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from app.console import ends_at_once, give, leave, note, print_json, say, words
from app.options import Isolation, Json, NoIsolation

if TYPE_CHECKING:
    from games.values import Json as Value
    from games.values import ModuleFault
    from tools.sandbox import Grade, Limits, Sandbox, Worker

sandbox_app = typer.Typer(
    help="Where generated code runs.", no_args_is_help=True, rich_markup_mode=None
)

FAILED, CONTAINED = 1, 4
_LARGEST_SOURCE = 2_000_000
_DEEPEST = 200  # brackets within brackets that Python reads
_UNREADABLE = ("unreadable", "out_of_memory", "killed")


_File: TypeAlias = Annotated[
    Path | None, typer.Argument(help="A Python module; - reads standard input.")
]
_Probe: TypeAlias = Annotated[
    str | None,
    typer.Option("--probe", metavar="NAME", help="Run one attack of `eval run sandbox`."),
]
_Shown: TypeAlias = Annotated[
    str | None,
    typer.Option("--show", metavar="NAME", help="Print an attack as a module; run nothing."),
]
_Call: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--call", metavar="EXPR", help="An expression to evaluate in it; its value is shown."
    ),
]
_Backend: TypeAlias = Annotated[
    str | None,
    typer.Option("--backend", "--sandbox", metavar="NAME", help="As --sandbox elsewhere."),
]
_Timeout: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--timeout", min=0.1, max=3600, help="Seconds each step of a file may take; else 10."
    ),
]


@sandbox_app.command("run")
def run_in_sandbox(
    file: _File = None,
    *,
    probe: _Probe = None,
    show: _Shown = None,
    call: _Call = None,
    sandbox: _Backend = None,
    no_isolation: NoIsolation = False,
    timeout: _Timeout = None,
    as_json: Json = False,
) -> None:
    """Run one file as a module in a sandbox, and say how that went; or an attack on the sandbox.

    Loads a file, calls its main() if it has one, and evaluates EXPR. Exit code 0: it ran to its
    end, or the attack was contained. 1: it failed by itself, or the attack did harm. 4: the
    sandbox ended the file. 2: nothing could be run as asked.
    """
    if [file, probe, show].count(None) != 2:  # noqa: PLR2004 - one of the three
        raise typer.BadParameter("give one of FILE, --probe NAME and --show NAME")
    if file is None and (call is not None or timeout is not None):
        raise typer.BadParameter("--call and --timeout go with FILE; leave them out")
    with Isolation(sandbox=sandbox, no_isolation=no_isolation).chosen():
        if show is not None:
            _show_probe(show, as_json=as_json)
        elif probe is not None:
            _run_probe(probe, as_json=as_json)
        elif file is not None:
            _run_file(file, call=call, timeout=timeout or 10.0, as_json=as_json)


@contextmanager
def _opened(limits: "Limits") -> Iterator["Sandbox"]:
    """The sandbox that was chosen, with these limits; its grade is said first."""
    from graph.run.sandboxes import chosen_backend, describe_grade
    from tools.sandbox import Sandbox

    with ends_at_once(lambda: "stopped"), Sandbox(chosen_backend(), limits=limits) as sandbox:
        note(describe_grade(sandbox.grade))
        yield sandbox


def _run_file(file: Path, *, call: str | None, timeout: float, as_json: bool) -> None:
    from tools.sandbox import Limits

    source, name = _read(file)
    _require_expression(call)
    limits = Limits(load_s=timeout, call_s=timeout)
    with _opened(limits) as sandbox, sandbox.worker("run", source) as worker:
        result = _run(worker, source, name, call, sandbox.grade)
    give(result, lambda: _show(name, result), as_json=as_json)
    leave(0 if result.outcome == "ok" else FAILED if result.ended_by is None else CONTAINED)


def _run_probe(name: str, *, as_json: bool) -> None:
    from evals.sandbox.probes import LIMITS, find_probe, run_probe

    probe = find_probe(name)
    with _opened(LIMITS) as sandbox:
        grade, outcome = sandbox.grade, run_probe(probe, sandbox)
    if as_json:
        print_json({**vars(outcome), "grade": grade, "backend": grade.backend})
    else:
        became = "DID HARM" if outcome.breached else "contained"
        say(f"{name}: {became} (sandbox grade {grade.name})")
        say(f"holds: {outcome.property}")
        for told in (outcome.how, *outcome.ended_by):
            say("\n    | ".join(told.splitlines()))
    leave(FAILED if outcome.breached else 0)


def _show_probe(name: str, *, as_json: bool) -> None:
    """Print an attack as a module that stands alone, which `sandbox run FILE` takes."""
    from evals.sandbox.probes import find_probe

    probe = find_probe(name)
    told = {"name": probe.name, "group": probe.group, "source": probe.source}
    give(told, lambda: say(probe.source.rstrip()), as_json=as_json)


def _read(file: Path) -> tuple[str, str]:
    """The source and what to call it.

    Raises:
        typer.BadParameter: If there is no such file, or it can be no module.
    """
    from games.environments.reading import open_plain

    if str(file) == "-":
        name, content = "standard input", sys.stdin.buffer.read(_LARGEST_SOURCE + 1)
    else:
        name = str(file)
        try:
            with open_plain(file) as opened:
                content = opened.read(_LARGEST_SOURCE + 1)
        except OSError as error:
            raise typer.BadParameter(f"cannot read {name}: {error.strerror}") from error
    if len(content) > _LARGEST_SOURCE:
        raise typer.BadParameter(
            f"{name} is longer than a module may be ({_LARGEST_SOURCE} bytes); run a shorter one"
        )
    try:
        source = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{name} is not UTF-8 text: {error}; save it as UTF-8") from error
    if "\0" in source:
        line = 1 + source[: source.index("\0")].count("\n")
        raise typer.BadParameter(f"{name} holds a null byte in line {line}; Python reads none")
    return source, name


def _require_expression(text: str | None) -> None:
    """Refuse what is no expression; it is the person's own text, and only parsed here."""
    if text is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<expression>", "eval", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise typer.BadParameter(
            f"--call {text[:80]!r} is no Python expression: {error}"
        ) from error


@dataclass(frozen=True)
class _Ended:
    """The end of a module that the sandbox stopped."""

    cause: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class _Ran:
    """The course of one file in a sandbox, as it is printed."""

    outcome: str
    value: "Value" = None
    reason: str | None = None
    ended_by: _Ended | None = None
    stdout: str
    stderr: str
    grade: "Grade"
    backend: str


def _run(worker: "Worker", source: str, name: str, call: str | None, grade: "Grade") -> _Ran:
    """Load, call, evaluate; the outcome, the value and what ended it."""
    from games.values import ModuleFault

    value: Value = None
    outcome, reason, ended_by = "ok", None, None
    try:
        _load(worker, source, name)
        value = _main(worker)
        if call is not None:
            value = worker.request("evaluate", {"expression": call}, worker.limits.call_s)
    except ModuleFault as fault:
        value, outcome = None, fault.kind
        reason, ended_by = _reason(fault), _ended_by(worker, fault)
    return _Ran(
        outcome=outcome,
        value=value,
        reason=reason,
        ended_by=ended_by,
        stdout=worker.output,
        stderr=worker.errors,
        grade=grade,
        backend=grade.backend,
    )


def _load(worker: "Worker", source: str, name: str) -> None:
    from games.values import ModuleFault

    try:
        worker.load(source)
    except ModuleFault as fault:
        depth = _depth(source)
        if depth > _DEEPEST and fault.kind in _UNREADABLE:
            raise typer.BadParameter(
                f"{name} nests brackets {depth} deep; Python reads {_DEEPEST} ({fault.message})"
            ) from fault
        raise


def _main(worker: "Worker") -> "Value":
    """The value that main() returned; None without one. Its shape is checked as well."""
    from games.values import ModuleFault

    claimed = worker.request("main", {}, worker.limits.call_s)
    if not isinstance(claimed, dict) or claimed.keys() != {"defined", "value"}:
        worker.kill()
        raise ModuleFault("killed", "main", "the worker answered in a shape that was not asked for")
    return claimed["value"]


def _depth(source: str) -> int:
    """The depth to which brackets nest, those in texts included."""
    steps = dict.fromkeys("([{", 1) | dict.fromkeys(")]}", -1)
    return max(accumulate((steps.get(character, 0) for character in source), initial=0))


def _reason(fault: "ModuleFault") -> str:
    where = f" in line {fault.line}" if fault.line else ""
    what = words("steps").get(fault.function, fault.function)
    return f"{what} failed{where}: {fault.message}"


def _ended_by(worker: "Worker", fault: "ModuleFault") -> _Ended | None:
    """The cause that stopped the module, from its reaper; None where it failed by itself."""
    if fault.kind == "timed_out":
        return _ending("timeout", f"{worker.limits.call_s:g} s")
    if fault.kind == "out_of_memory":
        return _ending("out_of_memory", f"{worker.limits.memory_bytes // 2**20} MiB")
    if fault.kind == "killed":
        worker.kill()  # where it is not dead, it only claims to be
    ending = worker.ended_by
    return None if ending is None else _ending(ending.cause, ending.detail)


def _ending(cause: str, detail: str) -> _Ended:
    return _Ended(cause, f"{words('endings')[cause]}{f' ({detail})' if detail else ''}")


def _show(name: str, result: _Ran) -> None:
    grade = result.grade.name
    held = f"contained (sandbox grade {grade})" if grade != "none" else "NOT isolated"
    if result.reason is None:
        say(f"{name}: ran to its end, {held}")
        say(f"value: {json.dumps(result.value)}")
    else:
        ended = result.ended_by
        by = "failed by itself, " if ended is None else ""
        say(f"{name}: {result.outcome}, {by}{held}")
        if ended is not None:
            say(ended.detail)
        if ended is None or ended.cause != "blocked_call":
            # The module wrote part of it; no line of it may look like one of ours.
            say("\n    | ".join(result.reason.splitlines()))
    for stream, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        for line in text.splitlines():
            say(f"{stream}| {line}")


@sandbox_app.command("self-test")
def try_backends(*, as_json: Json = False) -> None:
    """Try out every sandbox of this platform; exit code 1 where the default does not hold."""
    from app.commands.doctor import told, try_all

    rows = try_all(elsewhere=True)
    holds = any(row["default"] and row["works"] for row in rows)
    if as_json:
        print_json({"holds": holds, "backends": rows})
    else:
        for row in rows:
            say(told(row))
        say("the default holds" if holds else "the default does NOT hold; nothing runs by default")
    leave(0 if holds else FAILED)
