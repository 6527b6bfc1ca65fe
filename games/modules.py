"""A module's raw functions, wherever they run; the loader, and the seeding of what may draw."""

import json
import random
import sys
import types
from collections.abc import Sequence
from typing import Any, Protocol

from games.values import (
    OPTIONAL_FUNCTIONS,
    REQUIRED_CONSTANTS,
    REQUIRED_FUNCTIONS,
    FaultKind,
    IllegalActionError,
    Json,
    ModuleFault,
    require_json,
)


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
        except ValueError as error:
            if function == "apply_action":
                raise IllegalActionError(str(error)) from error
            raise _raised(function, error) from error
        except Exception as error:
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
        ModuleFault: With kind "unreadable" and the line, if it does not parse or load.
    """
    module = types.ModuleType(name)
    try:
        exec(code or compiled(source, name), module.__dict__)
    except SyntaxError as error:
        raise ModuleFault("unreadable", "module", str(error.msg), line=error.lineno) from error
    except Exception as error:
        raise _raised("module", error, kind="unreadable") from error
    return module.__dict__


def compiled(source: str, name: str = "game") -> types.CodeType:
    """The code of a module's source; raises as `compile` does."""
    return compile(source, f"<{name}>", "exec", dont_inherit=True)


def reseed(words: Sequence[int]) -> None:
    """Seed `random`, and `numpy.random` where numpy is loaded, from non-negative integers.

    It is the only randomness a module may use, in its inference functions alone. The same
    words give the same numbers afterwards, in this worker and in any other.
    """
    random.seed(",".join(str(word) for word in words))
    if "numpy" in sys.modules:
        import numpy as np

        # The module's own code may use the global generator, so that is what must be seeded.
        np.random.seed(np.random.SeedSequence(list(words)).generate_state(4))  # noqa: NPY002


def _raised(function: str, error: BaseException, kind: FaultKind = "raised") -> ModuleFault:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<"):
            line = trace.tb_lineno
        trace = trace.tb_next
    return ModuleFault(kind, function, f"{type(error).__name__}: {error}", line=line)
