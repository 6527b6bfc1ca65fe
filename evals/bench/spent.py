"""What a command costs: wall time and the processor time of every process it starts.

    python -m evals.bench.spent COMMAND [ARGUMENT ...]

A sandbox's workers may outlive the command by a moment and would then be nobody's children: this
process adopts them (Linux, `PR_SET_CHILD_SUBREAPER`), waits for the last, and writes one JSON
object on stdout. The command's own output is dropped; its errors go on to stderr.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.results import EvalError

_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h


@dataclass(frozen=True)
class Spent:
    """What one command cost.

    Attributes:
        wall_s: Seconds until it ended.
        processor_s: User and system seconds of it and all its descendants.
    """

    wall_s: float
    processor_s: float


def spent(command: Sequence[str], environment: Mapping[str, str]) -> Spent:
    """Run a command to its end and say what it cost.

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
    fields = json.loads(done.stdout)
    return Spent(fields["wall_s"], fields["processor_s"])


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


if __name__ == "__main__":
    sys.exit(main())
