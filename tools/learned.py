"""Learned sources as game modules: what the contract needs beside the functions that were learned.

A learned source (Code World Models App. H) defines the functions of play, and may define its
inference and value functions. It was never told the first state, the parameters and the zones:
`learned.txt` adds them.
"""

import pprint
from collections.abc import Mapping
from importlib.resources import files

from games.contract import Json, ModuleFault, State
from games.text import bound_by, syntax_tree

_WIDTH = 96
ADDED = ("GAME", "ZONES", "initial_state", "get_events", "visible")


def learned_module(
    source: str,
    *,
    name: str,
    num_players: int,
    initial_state: State,
    parameters: Mapping[str, Json],
) -> str:
    """A learned source as the text of a game module.

    `GAME["learned"]` is true in it: such a module need not refuse illegal actions, and declares no
    zones, so that what the rules hide cannot be told from it.

    Args:
        source: Defines get_current_player, get_player_name, get_legal_actions, apply_action,
            get_rewards and get_observations; or more, as the contract names it.
        name: The game's.
        num_players: Seats, the only number that the module takes.
        initial_state: The state before any ply.
        parameters: The environment's effective ones; the module takes these values alone.

    Raises:
        ModuleFault: If the source does not parse, or binds a name that is added to it.
    """
    try:
        tree = syntax_tree(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise ModuleFault("unreadable", "module", str(error), line=line) from error
    for node in tree.body:
        for bound in sorted(bound_by(node) & {*ADDED}):
            raise ModuleFault(
                "bad_value",
                bound,
                "is defined in a learned source; required: another name, as "
                f"{', '.join(ADDED)} are added to it",
                line=node.lineno,
            )
    told = {key: {"default": value, "meaning": "As recorded."} for key, value in parameters.items()}
    game = {
        "name": name,
        "summary": f"A model of {name}, learned from recorded matches.",
        "min_players": num_players,
        "max_players": num_players,
        "parameters": told,
        "learned": True,
    }
    added = (files("tools") / "learned.txt").read_text(encoding="utf-8")
    return f"{source.rstrip()}\n\n\n" + added.format(
        game=_literal(game),
        num_players=num_players,
        parameters=_literal(dict(parameters)),
        initial_state=_literal(initial_state),
    )


def _literal(value: object) -> str:
    """A JSON value as Python code; a call that returns it makes it anew each time."""
    return pprint.pformat(value, width=_WIDTH, sort_dicts=False)
