"""The command, with checks and play of few matches; `eval run smoke` has those of a quick run."""

import os
import sys
from collections.abc import Callable
from typing import Any

from app.cli import main
from graph.new.context import RunSettings

FEW = {
    "ladder_matches": 4,
    "random_matches": 8,
    "heuristic_matches": 4,
    "large_budget": 20,
}


def smaller(validate: Callable[[Any], RunSettings]) -> Callable[[dict[str, Any]], RunSettings]:
    """`RunSettings.model_validate`, where sizes that are not given are these.

    Heuristics are fitted where the environment has `LESSONS`.
    """

    def filled(given: dict[str, Any]) -> RunSettings:
        checks = {"matches": 3, "samples": 8, "seed": given.get("seed", 0)}
        lessons = int(os.environ.get("LESSONS", "0"))
        return validate({**FEW, "check": checks, "lessons": lessons, **given})

    return filled


if __name__ == "__main__":
    setattr(RunSettings, "model_validate", smaller(RunSettings.model_validate))  # noqa: B010
    sys.exit(main(sys.argv[1:]))
