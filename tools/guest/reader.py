"""A throw-away process that tries to read a source, so that no text can hold up or fill the host.

It says by its exit code that the source can be read, or is refused, within the bounds; and where
that is asked for, it writes the `GAME` of the source as JSON.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from typing import NoReturn

from games.text import literal_game, syntax_tree
from games.values import ModuleFault, json_writer, require_json

MOST_BYTES, MOST_S = 512 * 2**20, 2  # of processor time
GAME = "game"
TOO_MUCH = 3


def main() -> NoReturn:
    """Read standard input; the only argument is what is asked for."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))
    if sys.platform == "linux":  # elsewhere it is not kept to
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    source = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    try:
        told = _game(source) if sys.argv[1] == GAME else _tried(source)
        sys.stdout.write(told)
        sys.stdout.flush()
    except (MemoryError, RecursionError):
        os._exit(TOO_MUCH)
    os._exit(0)


def _tried(source: str) -> str:
    with suppress(SyntaxError, ValueError):  # who asks parses it as well, and hears it there
        syntax_tree(source)
    return ""


def _game(source: str) -> str:
    try:
        game = literal_game(source)
        require_json(game, "GAME")
        return json_writer(sort_keys=False, ascii_only=True)(game)
    except ModuleFault as fault:
        told = {"kind": fault.kind, "function": fault.function, "message": fault.message}
        return json.dumps({"fault": {**told, "line": fault.line}})


if __name__ == "__main__":
    main()
