"""Registry of the evaluations."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from typing import TypeAlias

from evals.options import EvalOptions
from evals.results import EvalError, EvalResult

__all__ = ["EvalError", "EvalInfo", "EvalOptions", "EvalResult", "find_eval", "known_evals"]

Tell: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class EvalInfo:
    """One evaluation.

    Attributes:
        name: Its name for `rulewright eval run`.
        question: What it asks.
        module: The module whose `run(seed, tell)` runs it; `run(seed, tell, options)` where it
            takes any.
        takes: Names of the options of `EvalOptions` that it takes.
    """

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


_EVALS = (
    EvalInfo(
        "smoke",
        "Do eight prompts of eight families become checked, playable games without a model?",
        "evals.smoke",
    ),
    EvalInfo(
        "paraphrase",
        "Does changing one clause of a brief change the game in exactly that clause?",
        "evals.paraphrase",
    ),
    EvalInfo(
        "fit",
        "Is a game made only where a family is what the brief asks for, with seats and settings?",
        "evals.fit",
        takes=("quick",),
    ),
    EvalInfo(
        "bad-inputs",
        "Do forty bad inputs end as they should, with a sentence and without a traceback?",
        "evals.bad_inputs",
    ),
    EvalInfo(
        "mutants",
        "Which planted leaks and rule bugs do the checks find, and do they blame sound games?",
        "evals.mutants.evaluation",
        takes=("quick",),
    ),
    EvalInfo(
        "speed",
        "How long do the command's help, a quick run and a search simulation take?",
        "evals.bench.speed",
    ),
    EvalInfo(
        "sandbox",
        "Can hostile code do harm or forge a result, and what does keeping it from that cost?",
        "evals.sandbox.evaluation",
    ),
    EvalInfo(
        "sandbox-soak",
        "Do 10,000 workers and 1,000,000 requests leave anything behind?",
        "evals.sandbox.soak",
    ),
    EvalInfo(
        "tournaments",
        "How many matches a second do two workers play, against one and against a plain pool?",
        "evals.bench.tournaments",
    ),
    EvalInfo(
        "search",
        "How quick is the search beside OpenSpiel's, and what does it cost besides the game?",
        "evals.bench.search",
        takes=("quick",),
    ),
    EvalInfo(
        "strength",
        "Does UCT ever lose at tic-tac-toe, and how does it fare against OpenSpiel's MCTSBot?",
        "evals.strength",
        takes=("quick",),
    ),
    EvalInfo(
        "solving",
        "How far from equilibrium are the solver and the searches, on games that can be solved?",
        "evals.solving",
        takes=("quick",),
    ),
    EvalInfo(
        "leakage",
        "Does any player's decision depend on what is hidden from its seat?",
        "evals.leakage.audit",
        takes=("quick",),
    ),
    EvalInfo(
        "information",
        "What does a search gain where it sees what is hidden from it?",
        "evals.information",
        takes=("quick", "folder", "workers"),
    ),
    EvalInfo(
        "cardiverse-players",
        "How much better than random play are heuristics that were made without a model?",
        "evals.cardiverse.players",
        takes=("quick", "folder", "workers"),
    ),
    EvalInfo(
        "cwm-arena",
        "Does a search in a learned model play as well as a search in the game itself?",
        "evals.cwm.arena",
        takes=("quick", "folder", "workers"),
    ),
    EvalInfo(
        "cwm-inference",
        "Do learned models draw what is hidden, as often as it is so?",
        "evals.cwm.inference",
        takes=("quick",),
    ),
    EvalInfo(
        "cwm-ppo",
        "Does a network that was trained inside a learned model play the game itself?",
        "evals.cwm.ppo",
        takes=("quick", "workers"),
    ),
    EvalInfo(
        "cwm-synthesis",
        "What do models that were learned from rules and five matches predict of fresh matches?",
        "evals.cwm.synthesis",
        takes=("quick",),
    ),
    EvalInfo(
        "battleship-tag",
        "Are the thesis' Battleship tournaments in TAG what its programs really give?",
        "evals.lechat2026.tag",
        takes=("quick", "folder", "workers"),
    ),
    EvalInfo(
        "battleship-ludii",
        "Do the thesis' tournaments in Ludii come out, and does its layer keep the fleets hidden?",
        "evals.lechat2026.ludii",
        takes=("quick", "folder", "workers"),
    ),
    EvalInfo(
        "battleship-fixed",
        "What do the thesis' ideas for Battleship give once they are really applied?",
        "evals.lechat2026.fixed",
        takes=("quick", "folder", "workers"),
    ),
    EvalInfo(
        "rlcard-heuristics",
        "How do heuristics made without a model fare against RLCard's own rule agents?",
        "evals.cardiverse.rlcard",
        takes=("quick", "folder", "workers"),
    ),
    EvalInfo(
        "cardiverse-code",
        "Does generated code run, and does it follow its rules, as Cardiverse measures it?",
        "evals.cardiverse.code",
        takes=("quick",),
    ),
)


def known_evals() -> tuple[EvalInfo, ...]:
    """Every evaluation."""
    return _EVALS


def find_eval(name: str) -> EvalInfo:
    """The evaluation called `name`.

    Raises:
        EvalError: Listing those there are.
    """
    for info in _EVALS:
        if info.name == name:
            return info
    raise EvalError(
        f"no evaluation called {name!r}; there are {', '.join(info.name for info in _EVALS)}"
    )
