"""A module's raw functions, wherever they run: loaded, seeded, and bound as search calls them.

Search calls them unchecked and without a copy.
"""

import json
import marshal
import random
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from traceback import walk_tb
from typing import Any, Protocol, TypeAlias

from games.values import (
    OPTIONAL_FUNCTIONS,
    REQUIRED_CONSTANTS,
    REQUIRED_FUNCTIONS,
    Action,
    FaultKind,
    IllegalActionError,
    Json,
    ModuleFault,
    Observation,
    State,
    canonical_key,
    require_json,
)

Heuristic: TypeAlias = Callable[[Observation, Action], float]
HEURISTIC = "score"  # the function that a fault of a heuristic names
STATE_KEY = "__state_key__"
"""The function that tells states apart where an environment is served; no module has one."""
NAMES_NUMPY = "__names_numpy__"
"""Set in every loaded module: False for one whose source does not so much as name numpy."""
_SERVING = "games.environments.served"  # held by the workers of such environments alone
_VERSION = 2  # of marshal: later ones encode which objects are the same, besides their values


class Module(Protocol):
    """The raw functions of one module, wherever they run."""

    @property
    def names(self) -> frozenset[str]:
        """Contract names (functions and constants) that the module defines."""

    def constant(self, name: str) -> Json:
        """Return `GAME` or `ZONES`.

        Raises:
            ModuleFault: If the module does not define it, or it is not JSON.
        """

    def call(self, function: str, *arguments: Json, **keywords: Json) -> Json:
        """Call one function and return its plain value, not yet held against the contract.

        Raises:
            IllegalActionError: If `apply_action` raised ValueError.
            ModuleFault: If anything else went wrong in the module.
        """

    def call_echo(self, function: str, arguments: list[Json]) -> tuple[Json, list[Json]]:
        """Call one function and also return its arguments as it left them.

        Raises:
            IllegalActionError: If `apply_action` raised ValueError.
            ModuleFault: If anything else went wrong in the module.
        """


class LocalModule:
    """A module loaded into this process: for trusted library sources and inside workers only."""

    def __init__(self, source: str, name: str = "game", code: types.CodeType | None = None) -> None:
        """Compile and run `source`; see `load_namespace`.

        Raises:
            ModuleFault: With kind "unreadable" and the line, if it does not parse or load.
        """
        self.source = source
        self.namespace = load_namespace(source, name, code)

    @property
    def names(self) -> frozenset[str]:
        """See `Module.names`."""
        known = (*REQUIRED_FUNCTIONS, *OPTIONAL_FUNCTIONS, *REQUIRED_CONSTANTS)
        return frozenset(name for name in known if name in self.namespace)

    def constant(self, name: str) -> Json:
        """See `Module.constant`."""
        if name not in self.namespace:
            raise ModuleFault("missing", name, f"the module must define {name}")
        value: Json = self.namespace[name]
        return value

    def call(self, function: str, *arguments: Json, **keywords: Json) -> Json:
        """See `Module.call`."""
        target = self.namespace.get(function)
        if not callable(target):
            raise ModuleFault("missing", function, f"the module must define {function}()")
        try:
            value: Json = target(*arguments, **keywords)
        except Exception as error:
            if function == "apply_action" and isinstance(error, ValueError):
                raise IllegalActionError(str(error)) from error
            raise _raised(function, error) from error
        require_json(value, function)
        return value

    def call_echo(self, function: str, arguments: list[Json]) -> tuple[Json, list[Json]]:
        """See `Module.call_echo`."""
        given: list[Json] = json.loads(json.dumps(arguments))
        return self.call(function, *given), given


def load_namespace(
    source: str, name: str = "game", code: types.CodeType | None = None
) -> dict[str, Any]:
    """Run a module's source and return its namespace.

    Args:
        source: The source.
        name: The module's.
        code: What the source compiles to (see `compiled`), where that is known already.

    Raises:
        ModuleFault: With kind "unreadable" and the line, if it does not parse or load; or if it
            defines what no module may.
    """
    module = types.ModuleType(name)
    try:
        exec(code or compiled(source, name), module.__dict__)
    except SyntaxError as error:
        raise ModuleFault.of_syntax(error) from error
    except Exception as error:
        raise _raised("module", error, kind="unreadable") from error
    if STATE_KEY in module.__dict__ and _SERVING not in sys.modules:
        told = "is not a module's to define: states are told apart by their values; leave it out"
        raise ModuleFault("bad_value", STATE_KEY, told)
    module.__dict__[NAMES_NUMPY] = "numpy" in source
    return module.__dict__


def compiled(source: str, name: str = "game") -> types.CodeType:
    """The code of a module's source; raises as `compile` does."""
    return compile(source, f"<{name}>", "exec", dont_inherit=True)


def reseed(words: Sequence[int], *, numpy: bool = True) -> None:
    """Seed `random`, and `numpy.random` where numpy is loaded, from non-negative integers.

    It is the only randomness a module may use, in its inference functions alone. The same
    words give the same numbers afterwards, in this worker and in any other.

    Args:
        words: The integers.
        numpy: False leaves numpy alone, for a module that cannot reach it: it takes longer.
    """
    random.seed(",".join(str(word) for word in words))
    if numpy and "numpy" in sys.modules:
        import numpy as np

        # The module's own code may use the global generator, so that is what must be seeded.
        np.random.seed(np.random.SeedSequence(list(words)).generate_state(4))  # noqa: NPY002 - see the comment above


def _raised(function: str, error: BaseException, kind: FaultKind = "raised") -> ModuleFault:
    steps = walk_tb(error.__traceback__)
    lines = [line for at, line in steps if at.f_code.co_filename.startswith("<")]
    told = f"{type(error).__name__}: {error}"
    return ModuleFault(kind, function, told, line=lines[-1] if lines else None)


@dataclass(frozen=True, slots=True)
class Rules:
    """A module's functions, bound once so that the hot loops look nothing up.

    Nothing here is held against the contract: the module's checks did that before. The values
    are the module's own, possibly shared between states, so they are never changed.

    Attributes:
        num_players: Seats at the table.
        current_player: 0..n-1, -1 at a chance node, -4 at the end.
        legal_actions: Legal actions, or the outcomes of a chance node; empty at the end.
        apply_action: The next state.
        rewards: `[num_players]`: the rewards of entering the state.
        observations: `[num_players]`: what each seat may see.
        events: `[num_players]` lists of sentences: what each seat perceives of an action. A
            module without `get_events` tells nobody anything.
        chance_probabilities: Aligned with the outcomes; None where all chance is uniform.
        value: Leaf estimate for one seat; None where the module defines none.
        key: Equal for equal states; of an environment that is served, its own.
    """

    num_players: int
    current_player: Callable[[State], int]
    legal_actions: Callable[[State], list[Action]]
    apply_action: Callable[[State, Action], State]
    rewards: Callable[[State], list[float]]
    observations: Callable[[State], list[Observation]]
    events: Callable[[State, Action], list[list[str]]]
    chance_probabilities: Callable[[State], list[float]] | None = None
    value: Callable[[State, int], float] | None = None
    key: Callable[[State], str] = canonical_key


def bind(namespace: Mapping[str, object], num_players: int) -> Rules:
    """Bind the functions of a loaded module.

    Raises:
        ModuleFault: With kind "missing" if the module lacks a function that search needs.
    """

    def silent(_state: State, _action: Action) -> list[list[str]]:
        return [[] for _ in range(num_players)]

    return Rules(
        num_players=num_players,
        current_player=_required(namespace, "get_current_player"),
        legal_actions=_required(namespace, "get_legal_actions"),
        apply_action=_required(namespace, "apply_action"),
        rewards=_required(namespace, "get_rewards"),
        observations=_required(namespace, "get_observations"),
        events=_optional(namespace, "get_events") or silent,
        chance_probabilities=_optional(namespace, "get_chance_probabilities"),
        value=_optional(namespace, "value_function"),
        key=_optional(namespace, STATE_KEY) or canonical_key,
    )


def first_state(
    namespace: Mapping[str, object], num_players: int, parameters: Mapping[str, Json] | None = None
) -> State:
    """The state before any ply.

    Raises:
        ModuleFault: With kind "missing" if the module has no `initial_state`.
    """
    state: State = _required(namespace, "initial_state")(num_players, **(parameters or {}))
    return state


def _required(namespace: Mapping[str, object], name: str) -> Callable[..., Any]:
    function = namespace.get(name)
    if not callable(function):
        raise ModuleFault("missing", name, f"search needs the module to define {name}()")
    return function


def _optional(namespace: Mapping[str, object], name: str) -> Callable[..., Any] | None:
    return None if namespace.get(name) is None else _required(namespace, name)


def scoring(name: str, source: str) -> Heuristic:
    """The `score` function of a heuristic; each call sees a copy of the observation.

    Raises:
        ModuleFault: If the source does not load or defines no `score`; from the function, if
            it raises, or what it returns is no finite number.
    """
    function = load_namespace(source, name).get("score")
    if not callable(function):
        raise ModuleFault("missing", HEURISTIC, f"heuristic {name!r} must define score()")

    def checked(observation: Observation, action: Action) -> float:
        try:
            value = function(marshal.loads(marshal.dumps(observation)), action)  # just dumped
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


def require_seat(rules: Rules, state: State, seat: int) -> None:
    """Hold a determinization against the seat that decides.

    Raises:
        ValueError: If another player is to move there.
    """
    player = rules.current_player(state)
    if player != seat:
        raise ValueError(f"the determinization has player {player} to move; required: seat {seat}")


def require_turn(player: int, actions: int, num_players: int) -> None:
    """Hold a new node's player against its legal actions.

    Raises:
        ModuleFault: With kind "bad_value" if a match that is not over has no legal action, one
            that is over has some, or the seat is not at the table.
    """
    if player >= num_players or (player < 0 and player not in (-1, -4)):
        raise ModuleFault(
            "bad_value",
            "get_current_player",
            f"returned {player!r}; required: a seat below {num_players}, -1 or -4",
        )
    if (player == -4) != (actions == 0):  # noqa: PLR2004 - the contract's terminal player
        raise ModuleFault(
            "bad_value",
            "get_legal_actions",
            f"gave {actions} actions where get_current_player gave {player}; required: none at "
            "the end of the match (-4) and at least one before it",
        )


def canonical(state: State | tuple[State | tuple[str, ...], ...]) -> bytes:
    """A key of a state, or of several: equal keys mean equal values, of equal order and types.

    >>> canonical({"a": [1]}) == canonical({"a": [1.0]})
    False
    """
    return marshal.dumps(state, _VERSION)
