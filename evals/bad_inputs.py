"""Eval: forty bad inputs by somebody who had not seen the code; does each end as it should?

A sample is a shell script over the command, run in an empty folder with a bare environment. It
passes where its exit code is allowed, one of its words is in the output, and no forbidden text is.
FIX names a folder that all share: FIX/home has a built store, FIX/run is a finished quick run.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from evals.bench.timings import stats
from evals.results import EvalError, EvalOptions, EvalResult, Row, read_data, score_over

_LIMIT_S = 180
_LONGEST = 5_000_000  # bytes of output that are read
_SHOWN = 1000
_FIXTURE, _QUICK = "$FIX", 4
_FAULT = "FAULT:"  # with which a script says what it found itself
_SIGNALS = ("SIGINT", "SIGHUP", "SIGTERM", "SIGPIPE", "SIGQUIT")


def run(options: EvalOptions) -> EvalResult:
    """Run every sample, one after another; the seed plays no part. Quick: some without FIX."""
    samples = bad_inputs()
    if options.quick:
        samples = [one for one in samples if _FIXTURE not in str(one)][:_QUICK]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bad-inputs-") as name:
        fixture = Path(name) / "fixture"
        if not options.quick:
            _make_fixture(fixture)
        for sample in samples:
            rows.append(_tried(sample, fixture))
            options.tell(f"{sample['id']}: {rows[-1]['reasons'] or 'as it should'}")
    score = score_over(
        [not row["reasons"] for row in rows], "inputs that ended as they should", at_least=1
    )
    return EvalResult(scores=(score,), samples=tuple(rows), effective={"limit_s": _LIMIT_S})


def bad_inputs() -> list[dict[str, Any]]:
    """The samples, as they were written."""
    samples: list[dict[str, Any]] = read_data("data/bad_inputs.yaml")
    return samples


def reasons_against(sample: Mapping[str, Any], code: int | None, output: str) -> list[str]:
    """Why a sample failed; `code` is None where its time ran out.

    >>> sample = {"allowed_exit": [2], "stderr_must": ["disk"], "never": ["Traceback", "FAULT:"]}
    >>> reasons_against(sample, 2, "error: the DISK is full"), reasons_against(sample, 0, "disk")
    ([], ['exit 0, allowed [2]'])
    """
    if code is None:
        return [f"not ended after {_LIMIT_S} s"]
    found = []
    if code not in sample["allowed_exit"]:
        found.append(f"exit {code}, allowed {sample['allowed_exit']}")
    lines = output.splitlines()
    for word in sample["never"]:
        if word == _FAULT:
            found += [line for line in lines if line.startswith(_FAULT)]
        elif word in output:
            found.append(f"{word!r} in the output")
    words = sample.get("stderr_must") or []
    if words and not any(word in output.lower() for word in words):
        found.append(f"none of {words} in the output")
    return found


def _tried(sample: Mapping[str, Any], fixture: Path) -> Row:
    with tempfile.TemporaryDirectory(
        prefix=f"bad-{sample['id']}-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        for part in ("work", "home", "tmp"):
            (folder / part).mkdir()
        for file, content in (sample.get("files") or {}).items():
            data = bytes.fromhex(content["hex"]) if isinstance(content, dict) else content.encode()
            place = folder / "work" / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        environment = _environment(folder) | {"FIX": str(fixture)} | (sample.get("env") or {})
        code, output = _run(["bash", "-c", sample["shell"]], folder, environment)
    reasons: list[JsonValue] = [*reasons_against(sample, code, output)]
    told = ascii(output[-_SHOWN:])
    asked = {key: sample.get(key) for key in ("id", "what", "shell", "files", "env")}
    return {**asked, "reasons": reasons, "output": told}


def _environment(folder: Path) -> dict[str, str]:
    """A bare one: nothing of the caller's settings reaches a sample."""
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    home, spare = str(folder / "home"), str(folder / "tmp")
    return {"PATH": path, "HOME": home, "TMPDIR": spare, "LANG": "C.UTF-8"}


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[int | None, str]:
    """Exit code and output; whatever the command leaves running in its session is ended."""
    with (folder / "output").open("w+b") as sink:
        process = subprocess.Popen(
            command,
            cwd=folder / "work",
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_plain_signals,
        )
        try:
            code: int | None = process.wait(_LIMIT_S)
        except subprocess.TimeoutExpired:
            code = None
        for pid, (state, _parent, _group, session, *_rest) in stats():
            if int(session) == process.pid and state != "Z":
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        process.wait()
        sink.seek(0)
        output = sink.read(_LONGEST).decode("utf-8", "replace")
    return (128 - code if code is not None and code < 0 else code), output


def _plain_signals() -> None:
    """Signals as a terminal's shell gives them, whatever the caller ignores."""
    for name in _SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def _make_fixture(folder: Path) -> None:
    """A home with a built store, and a finished quick run."""
    for part in ("home", "tmp", "work"):
        (folder / part).mkdir(parents=True)
    if shutil.which("rulewright", path=_environment(folder)["PATH"]) is None:
        raise EvalError("there is no command rulewright beside this Python; install the program")
    asked = ["rulewright", "new", "tic tac toe", "--quick", "--out", str(folder / "run")]
    code, output = _run(asked, folder, _environment(folder))
    if code != 0:
        raise EvalError(f"the finished run that samples need could not be made: {output[-_SHOWN:]}")
