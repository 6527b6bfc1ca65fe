"""Environments by name: `library:whist`, `openspiel:leduc_poker`, a module file."""

from collections.abc import Callable, Mapping

from games import library
from games.environments.environment import Environment, EnvironmentNotFoundError
from games.environments.of_module import of_library
from games.values import Json


def environment_named(
    text: str,
    parameters: Mapping[str, Json] | None = None,
    players: int = 0,
    *,
    of_file: Callable[[str, Mapping[str, Json], int], Environment] | None = None,
) -> Environment:
    """The environment that somebody names.

    Args:
        text: A name, as `Environment.name` gives it; of a library game the part after the colon
            does too.
        parameters: Replace defaults; unknown ones are refused.
        players: Seats; 0 for the usual number.
        of_file: Opens what is named as a module file; it is given the path, the parameters and the
            seats. A module's code runs in a sandbox, which this room does not have.

    Raises:
        EnvironmentNotFoundError: Listing what is known.
    """
    given = parameters or {}
    kind, _, rest = text.partition(":")
    if kind == "library":
        return of_library(rest, given, players)
    if text in library.names():
        return of_library(text, given, players)
    if of_file is not None:
        return of_file(text, given, players)
    raise EnvironmentNotFoundError(
        f"no environment {text!r}; known: library:NAME for a game of the library "
        f"({', '.join(library.names())})"
    )
