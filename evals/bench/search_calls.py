"""Calls of a game's own functions: noted while a search makes them, and made again without it."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from games.contract import Action, State

Function: TypeAlias = Callable[..., Any]

FUNCTIONS = (
    "apply_action",
    "get_rewards",
    "get_legal_actions",
    "get_current_player",
    "get_observations",
    "get_events",
    "get_chance_probabilities",
    "resample_state",
    "resample_history",
    "value_function",
)
"""What a search calls of a module."""

_PLY = ("apply_action", "get_rewards", "get_legal_actions")


class Call(NamedTuple):
    """One call: the function's name, what it was given, and what it answered."""

    name: str
    arguments: tuple[Any, ...]
    result: Any


class Once(NamedTuple):
    """A call that is made again with what it was given then."""

    function: Function
    arguments: tuple[Any, ...]


class Run(NamedTuple):
    """Plies one after another, each applied, asked what it paid, and asked for its actions.

    Its states are made anew when it is walked again, as a rollout makes them: fresh, and let go as
    soon as the next is there.
    """

    state: State
    actions: list[Action]


Step: TypeAlias = Once | Run


def noting(namespace: Mapping[str, object], note: Callable[[Call], object]) -> dict[str, object]:
    """A module's names, whose functions tell `note` of every call once it is done."""

    def wrapped(name: str, function: Function) -> Function:
        def noted(*arguments: object) -> object:
            result = function(*arguments)
            note(Call(name, arguments, result))
            return result

        return noted

    functions = {name: found for name in FUNCTIONS if callable(found := namespace.get(name))}
    return {**namespace, **{name: wrapped(name, found) for name, found in functions.items()}}


def steps(calls: Sequence[Call], namespace: Mapping[str, object]) -> list[Step]:
    """The calls in their order, those of one rollout as a `Run`.

    Args:
        calls: What was noted.
        namespace: The module's names, which note nothing.
    """
    found: list[Step] = []
    newest: object = None  # the state that the last run led to, where nothing came after it
    at = 0
    while at < len(calls):
        call, last = calls[at], found[-1] if found else None
        if not _is_ply(calls[at : at + len(_PLY)]):
            found.append(Once(cast("Function", namespace[call.name]), call.arguments))
            newest, at = None, at + 1
            continue
        state, action = call.arguments
        if isinstance(last, Run) and state is newest:
            last.actions.append(action)
        else:
            found.append(Run(state, [action]))
        newest, at = call.result, at + len(_PLY)
    return found


def _is_ply(calls: Sequence[Call]) -> bool:
    """Whether these are the calls of one ply of a rollout."""
    return tuple(call.name for call in calls) == _PLY and all(
        call.arguments[0] is calls[0].result for call in calls[1:]
    )


def walk(program: Sequence[Step], namespace: Mapping[str, object]) -> None:
    """Make the calls again, in order, and nothing else."""
    apply_action, rewards, legal_actions = (cast("Function", namespace[name]) for name in _PLY)
    for first, second in cast("Sequence[tuple[Any, Any]]", program):
        if second.__class__ is list:
            state = first
            for action in second:
                state = apply_action(state, action)
                rewards(state)
                legal_actions(state)
        else:
            first(*second)


def walk_past(program: Sequence[Step]) -> None:
    """What `walk` does besides the calls."""
    for _first, second in program:
        if second.__class__ is list:
            for _action in second:
                pass
        else:
            pass


def seconds(program: Sequence[Step], namespace: Mapping[str, object]) -> tuple[float, float]:
    """Processor time of `walk`, and of `walk_past`; either with one reading of the clock."""
    begun = time.process_time()
    walk(program, namespace)
    walked = time.process_time()
    walk_past(program)
    return walked - begun, time.process_time() - walked
