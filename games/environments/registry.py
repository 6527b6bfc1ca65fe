"""Environments by name: `library:whist`, `openspiel:leduc_poker`, a module file."""

from collections.abc import Callable, Mapping
from importlib.resources import files

from games import library
from games.environments.environment import (
    Environment,
    EnvironmentNotFoundError,
    of_library,
    of_own,
    own_games,
)
from games.environments.openspiel.adapter import ENCODINGS, of_openspiel
from games.environments.twin import TwinEnvironment
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
    if kind == "twin":
        seed, _, name = rest.partition(":")
        if not seed.isdecimal():
            raise EnvironmentNotFoundError(f"{text!r}: required is twin:SEED:NAME, SEED a number")
        return TwinEnvironment(environment_named(name, given, players, of_file=of_file), int(seed))
    if kind == "openspiel" and (plain := rest.partition("(")[0]) in ENCODINGS:
        return _as_it_is(of_openspiel(rest, _rules(plain)), given, players)
    if kind == "own" and rest in own_games():
        return _as_it_is(of_own(rest, _rules(rest)), given, players)
    if kind == "library" or text in library.names():
        return of_library(rest or text, given, players)
    if of_file is not None and kind not in ("openspiel", "own", "library"):
        return of_file(text, given, players)
    raise EnvironmentNotFoundError(f"no environment {text!r}; known are {known()}")


def _as_it_is(
    environment: Environment, parameters: Mapping[str, Json], players: int
) -> Environment:
    """The environment, if nothing else is asked of it than what it is."""
    if parameters or players not in (0, environment.num_players):
        raise EnvironmentNotFoundError(
            f"{environment.name} is played by {environment.num_players} with its own parameters: "
            "leave out --set and --players"
        )
    return environment


def known() -> str:
    """Every name there is, for a message."""
    return "; ".join(
        (
            f"openspiel:NAME ({', '.join(sorted(ENCODINGS))})",
            f"own:NAME ({', '.join(own_games())})",
            f"library:NAME ({', '.join(library.names())})",
            "twin:SEED:NAME for any of these under other names",
            "a module file, or a folder with game.py",
        )
    )


def _rules(name: str) -> str:
    return (files("games.environments") / "rules" / f"{name}.md").read_text(encoding="utf-8")
