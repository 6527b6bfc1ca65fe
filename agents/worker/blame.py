"""Fault attribution: whether the module, its sampler or nobody is to blame for a failing.

Search calls the raw functions (`games.rules`). A module whose values break the contract
makes the search itself choke on them; the same work done once more with functions that are held
against the contract ends at the first such value, named as the module's.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from agents.belief.belief import Belief
from agents.belief.evidence import MODULE_ERRORS
from agents.belief.module import DeadlineError
from games.contract import TERMINAL, Action, Game, LocalModule, Module, ModuleFault, State
from games.rules import Rules, bind
from tools.guest.faults import MODULE_FILE

Done = TypeVar("Done")
Culprit: TypeAlias = Literal["module", "sampler", "nobody"]


def attributed(
    namespace: Mapping[str, object],
    num_players: int,
    work: Callable[[Rules], Done],
    once_more: Callable[[Rules], Done],
) -> Done:
    """Do something with the module's raw functions; where it chokes, find out whose fault it is.

    Args:
        namespace: The module's names.
        num_players: Seats at the table.
        work: What is to be done.
        once_more: The same from the beginning, where `work` choked outside of the module's code.

    Raises:
        ModuleFault: If a value of the module breaks the contract.
        Exception: What the module raised, or what was raised in spite of values that are right.
    """
    try:
        return work(bind(namespace, num_players))
    except MODULE_ERRORS as error:
        if passes_module(error):
            raise
        return once_more(contracted(namespace, num_players))


def culprit_of(error: BaseException, belief: Belief, *, hangs: bool) -> Culprit:
    """Whose failing ended a search of a belief's determinizations.

    In states that the belief "random" filled, which need not be any of the game's, the module may
    choke and hang: nobody's. In a state that the module's own sampler gave, the sampler's: the
    belief asks it no more from then on.

    Args:
        error: What ended the search.
        belief: Gave the determinizations.
        hangs: Whether one call of the module took the time.
    """
    is_late = isinstance(error, DeadlineError)
    if belief.name == "random":
        spoilt = hangs if is_late else isinstance(error, MODULE_ERRORS) or passes_module(error)
        if spoilt:
            return "nobody"
    if is_late or isinstance(error, ModuleFault) or not belief.distrust_module():
        return "module"
    return "sampler"


def passes_module(error: BaseException) -> bool:
    """Whether an error came out of the module's own code."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == MODULE_FILE:
            return True
        trace = trace.tb_next
    return False


class _Loaded(LocalModule):
    """A module that is loaded already."""

    def __init__(self, namespace: Mapping[str, object]) -> None:
        self.source = ""
        self.namespace = dict(namespace)


def contracted(namespace: Mapping[str, object], num_players: int) -> Rules:
    """The functions of a loaded module; each raises `ModuleFault` where it breaks the contract."""
    raw, game = bind(namespace, num_players), Game(_Loaded(namespace))

    def player(state: State) -> int:
        to_move = game.current_player(state)
        if to_move >= num_players:
            raise ModuleFault(
                "bad_value",
                "get_current_player",
                f"returned {to_move}; required: a seat below {num_players}, of so many players",
            )
        return to_move

    def legal(state: State) -> list[Action]:
        actions = game.legal_actions(state)
        if not actions and game.current_player(state) != TERMINAL:
            raise ModuleFault(
                "bad_value", "get_legal_actions", "returned no action before the game has ended"
            )
        return actions

    def chances(state: State) -> list[float]:
        return game.chance_probabilities(state, legal(state))

    return Rules(
        num_players=num_players,
        current_player=player,
        legal_actions=legal,
        apply_action=game.apply_action,
        rewards=lambda state: game.rewards(state, num_players),
        observations=lambda state: game.observations(state, num_players),
        events=raw.events
        if "get_events" not in namespace
        else lambda state, action: game.events(state, action, num_players),
        chance_probabilities=None if raw.chance_probabilities is None else chances,
        value=None if raw.value is None else partial(_value, game.module),
        key=raw.key,
    )


def _value(module: Module, state: State, seat: int) -> float:
    worth = module.call("value_function", state, seat)
    if isinstance(worth, bool) or not isinstance(worth, int | float):
        raise ModuleFault("bad_value", "value_function", f"returned {worth!r:.80}, no number")
    return worth
