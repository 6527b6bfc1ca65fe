"""Eval: how long do the command's help and a quick run take?

The figures are medians over repeats of the real command in processes of its own. The store is built
first, in a temporary home: a quick run is measured from a warm one.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, PIPE

from evals.bench.timings import machine
from evals.results import EvalError, EvalOptions, EvalResult, Row, score_over
from graph.run.sandboxes import choice_in_variables


def seconds_of(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run a command to its end; the wall time that it took.

    Raises:
        EvalError: If it did not succeed, with the end of its errors.
    """
    begun = time.monotonic()
    done = subprocess.run(
        command, env=dict(environment), stdout=DEVNULL, stderr=PIPE, text=True, check=False
    )
    took = time.monotonic() - begun
    if done.returncode:
        said = done.stderr.strip()[-400:]
        raise EvalError(f"{' '.join(command)} ended with {done.returncode}: {said}")
    return took


PROMPT = (
    "a trick-taking game for three players where taking hearts costs points and the last trick "
    "counts double"
)
AT_MOST_S = {"--help": 0.5, "new --quick": 30.0}
_HELPS = 7
_RUNS = 3


def run(options: EvalOptions) -> EvalResult:
    """Measure both; in a quick run each but once, after a first one that finds cold files."""
    helps, news = (2, 1) if options.quick else (_HELPS, _RUNS)
    command, samples = _command(), list[Row]()
    with tempfile.TemporaryDirectory(prefix="rulewright-speed-") as name:
        home = Path(name)
        chosen = choice_in_variables()
        environment = {**_environment(), **chosen, "RULEWRIGHT_HOME": str(home / "home")}
        new = [PROMPT, "--quick", "--seed", str(options.seed), "--out"]
        runs = [("new --quick", ["new", *new, str(home / str(n))]) for n in range(news)]
        for what, arguments in [("--help", ["--help"])] * helps + [("index", ["index"]), *runs]:
            took = seconds_of([command, *arguments], environment)
            samples.append({"command": what, "wall_s": took})
            options.tell(f"{samples[-1]}")
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
