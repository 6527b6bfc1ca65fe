"""Registry of the evaluations."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from importlib import import_module

from pydantic import BaseModel, ConfigDict

from evals.results import EvalError, EvalOptions, EvalResult, Tell, read_data


class EvalInfo(BaseModel):
    """One evaluation.

    Attributes:
        name: Its name for `rulewright eval run`.
        question: What it asks.
        module: The module whose `run(seed, tell)` runs it; `run(seed, tell, options)` where it
            takes any.
        takes: Names of the options of `EvalOptions` that it takes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    question: str
    module: str
    takes: tuple[str, ...] = ()

    def run(self, seed: int, tell: Tell, options: EvalOptions | None = None) -> EvalResult:
        """Run it; its module is imported only now.

        Raises:
            EvalError: If an option was chosen that this evaluation does not take.
        """
        chosen = options or EvalOptions()
        self._require(chosen)
        procedure: Callable[..., EvalResult] = import_module(self.module).run
        return procedure(seed, tell, chosen) if self.takes else procedure(seed, tell)

    def _require(self, chosen: EvalOptions) -> None:
        for field in fields(chosen):
            if field.name in self.takes or getattr(chosen, field.name) == field.default:
                continue
            able = ", ".join(info.name for info in known_evals() if field.name in info.takes)
            flag = "jobs" if field.name == "workers" else field.name
            raise EvalError(
                f"{self.name} takes no --{flag}; run it without, or one of those that do: "
                f"{able or 'none'}"
            )


@cache
def known_evals() -> tuple[EvalInfo, ...]:
    """Every evaluation."""
    return tuple(EvalInfo.model_validate(row) for row in read_data("data/evals.yaml"))


def find_eval(name: str) -> EvalInfo:
    """The evaluation called `name`.

    Raises:
        EvalError: Listing those there are.
    """
    known = {info.name: info for info in known_evals()}
    if name not in known:
        raise EvalError(f"no evaluation called {name!r}; there are {', '.join(known)}")
    return known[name]
