"""A heuristic's source as a checked function, beside the module it is a heuristic of."""

import marshal
from collections.abc import Callable
from math import isfinite
from typing import cast

from agents.search.policies import Score
from games.contract import Action, ModuleFault, Observation, load_namespace

HEURISTIC = "score"  # the function that a fault of a heuristic names


def scoring(name: str, source: str) -> Score:
    """The `score` function of a heuristic; each call sees a copy of the observation.

    Raises:
        ModuleFault: If the source does not load or defines no `score`; from the function, if
            it raises, or what it returns is no finite number.
    """
    function = load_namespace(source, name).get("score")
    if not callable(function):
        raise ModuleFault("missing", HEURISTIC, f"heuristic {name!r} must define score()")
    score = cast("Callable[[Observation, Action], object]", function)

    def checked(observation: Observation, action: Action) -> float:
        try:
            value = score(marshal.loads(marshal.dumps(observation)), action)  # noqa: S302 - just dumped
        except Exception as error:
            told = f"heuristic {name!r} raised {type(error).__name__}: {error}"
            raise ModuleFault("raised", HEURISTIC, told) from error
        if not isinstance(value, int | float) or not isfinite(value):
            raise ModuleFault(
                "bad_value",
                HEURISTIC,
                f"heuristic {name!r} returned {value!r:.80}; required: a finite number",
            )
        return float(value)

    return checked
