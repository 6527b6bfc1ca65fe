"""Eval: how long do the command's help and a quick run take?

The command's figures are medians over repeats of the real command in processes of its own; a busy
machine shows in the wall times, so the processor times stand beside them. The store is built
first, in a temporary home: a quick run is measured from a warm one.

    python -m evals.bench.speed COMMAND [ARGUMENT ...]

writes the cost of one command as a JSON object. A sandbox's workers may outlive the command by a
moment and would then be nobody's children: that process adopts them (Linux,
`PR_SET_CHILD_SUBREAPER`) and waits for the last. The command's own output is dropped; its errors
go on to stderr.
"""

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from evals.bench.timings import machine
from evals.results import EvalError, EvalResult, Row, Tell, score_over
from graph.run.sandboxes import choice_in_variables

_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h


def spent(command: Sequence[str], environment: Mapping[str, str]) -> Row:
    """Run a command to its end; `wall_s` until then, and `processor_s` of it and all below it.

    Raises:
        EvalError: If it could not be started or did not succeed, with the end of its errors.
    """
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, *command],
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip()[-400:]
        raise EvalError(f"{' '.join(command)} ended with {done.returncode}: {said}")
    cost: Row = json.loads(done.stdout)
    return cost


def main() -> int:
    """Run the command of this process's arguments."""
    if ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0):
        raise EvalError("this system does not let a process adopt orphans; run it on Linux")
    begun = time.monotonic()
    code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False).returncode
    wall = time.monotonic() - begun
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = {"wall_s": wall, "processor_s": used.ru_utime + used.ru_stime}
    sys.stdout.write(json.dumps(answer))
    return code


PROMPT = (
    "a trick-taking game for three players where taking hearts costs points and the last trick "
    "counts double"
)
AT_MOST_S = {"--help": 0.5, "new --quick": 30.0}
_HELPS = 7
_RUNS = 3


def run(seed: int, tell: Tell) -> EvalResult:
    """Measure both."""
    command, samples = _command(), list[Row]()
    with tempfile.TemporaryDirectory(prefix="rulewright-speed-") as name:
        home = Path(name)
        chosen = choice_in_variables()
        environment = {**_environment(), **chosen, "RULEWRIGHT_HOME": str(home / "home")}
        new = [PROMPT, "--quick", "--seed", str(seed), "--out"]
        runs = [("new --quick", ["new", *new, str(home / str(n))]) for n in range(_RUNS)]
        for what, arguments in [("--help", ["--help"])] * _HELPS + [("index", ["index"]), *runs]:
            samples.append({"command": what, **spent([command, *arguments], environment)})
            tell(f"{samples[-1]}")
        sandbox = json.loads((home / "0" / "run.json").read_text(encoding="utf-8"))["sandbox"]
    return EvalResult(
        scores=tuple(
            score_over(
                [one["wall_s"] for one in samples if one["command"] == what],
                f"seconds of {what}",
                median,
                at_most=bar,
            )
            for what, bar in AT_MOST_S.items()
        ),
        samples=tuple(samples),
        effective={**machine(), "prompt": PROMPT, "sandbox": sandbox},
    )


def _command() -> str:
    """The installed command of this environment.

    Raises:
        EvalError: If it is not installed.
    """
    beside = Path(sys.executable).parent
    found = shutil.which("rulewright", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None:
        raise EvalError(f"the command is not installed in {beside}; install the project there")
    return found


def _environment() -> Mapping[str, str]:
    """This process's variables without ours, so that no model and no other store is used."""
    ours = ("RULEWRIGHT_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


if __name__ == "__main__":
    sys.exit(main())
