"""One-step look-ahead: every action is applied, and the state after it valued; the best is played.

All actions are valued in the same determinization, then all in the next one (common random
worlds, which take the worlds' own differences out of the comparison). The action of the largest
mean value for its seat is played, of equals one at random. A simulation is one action valued once;
under a budget of calls or time the last pass over the actions may be incomplete.

Reference:
    Perez-Liebana et al. (2019), General Video Game AI, section 2 (one step look ahead); Gaina et
    al. (2020), TAG: a Tabletop Games Framework, the OSLA player.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from agents.search.bandit import Bandit
from agents.search.leaves import Leaves
from agents.search.meter import Clock, Meter
from agents.search.policies import Score, drawing
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from games.contract import Action, State


def osla(
    rules: Rules,
    seat: int,
    determinize: Callable[[], State],
    settings: SearchSettings,
    generator: np.random.Generator,
    *,
    passes: int = 1,
    heuristics: Sequence[Score] = (),
    clock: Clock | None = None,
) -> SearchResult:
    """Search from what one seat knows; see `agents.search.flatmc.flatmc` for the other arguments.

    Args:
        rules: The module's functions.
        seat: The seat that decides.
        determinize: Called once a pass.
        settings: What to do. A budget of simulations is that of `passes`, whatever it says.
        generator: The only source of randomness of the search itself.
        passes: Times every action is valued, at least 1, under a budget of simulations.
        heuristics: The game's heuristics, for leaf="heuristic".
        clock: Seconds, where the budget is time.

    Raises:
        ValueError: If there is less than one pass, or as `flatmc`.
        ModuleFault: As `flatmc`.
    """
    if passes < 1:
        raise ValueError(f"passes is {passes}; required: at least 1")
    first = determinize()
    actions = len(rules.legal_actions(first))
    meter = Meter(rules, replace(settings, simulations=passes * actions), clock, counting=True)
    leaves = Leaves(meter.rules, settings, generator, heuristics)
    bandit = Bandit(meter.rules, seat, leaves, settings, drawing(generator))
    turns = _turns(bandit, first, determinize)

    def simulate() -> None:
        state, action = next(turns)
        bandit.count(action, bandit.worth(state, action))

    meter.run(simulate)
    return bandit.result(meter, bandit.best_mean())


def _turns(
    bandit: Bandit, first: State, determinize: Callable[[], State]
) -> Iterator[tuple[State, Action]]:
    """Every action of a determinization, then of the next one, without end."""
    state = first
    while True:
        for action in bandit.enter(state):
            yield state, action
        state = determinize()
