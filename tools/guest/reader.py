"""A throw-away process that reads a source, so that no text can hold up or fill the host.

It writes what it was asked for: the syntax tree, the comments, or the `GAME`, or why there is none.
"""

import io
import json
import os
import pickle
import resource
import sys
import tokenize
from collections.abc import Callable
from typing import NoReturn

from games.text import literal_game, syntax_tree
from games.values import ModuleFault, json_writer, require_json

MOST_BYTES, MOST_S = 512 * 2**20, 2  # of processor time
MOST_TOLD = 64 * 2**20  # bytes; a tree takes about six times its source
_TOO_MUCH = 3
_DEEP = 20_000  # a tree is written deeper than it is parsed


def main() -> NoReturn:
    """Read standard input; the only argument is what is asked for."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))
    if sys.platform == "linux":  # elsewhere it is not kept to
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    source = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    try:
        told = ASKED[sys.argv[1]](source)
    except (MemoryError, RecursionError):
        os._exit(_TOO_MUCH)
    if len(told) > MOST_TOLD:
        os._exit(_TOO_MUCH)
    sys.stdout.buffer.write(told)
    sys.stdout.flush()
    os._exit(0)


def _tree(source: str) -> bytes:
    try:
        tree = syntax_tree(source)
    except (SyntaxError, ValueError) as error:
        return pickle.dumps((type(error) is not ValueError, error.args))
    sys.setrecursionlimit(_DEEP)
    return pickle.dumps(tree)


def _comments(source: str) -> bytes:
    """Line, text, and what stands before it, of each comment of a source that parses."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = [
        (token.start[0], token.string, token.line[: token.start[1]].strip())
        for token in tokens
        if token.type == tokenize.COMMENT
    ]
    return json.dumps(found).encode()


def _game(source: str) -> bytes:
    try:
        game = literal_game(source)
        require_json(game, "GAME")
        return json_writer(sort_keys=False, ascii_only=True)({"game": game}).encode()
    except ModuleFault as fault:
        told = {"kind": fault.kind, "function": fault.function, "message": fault.message}
        return json.dumps({"fault": {**told, "line": fault.line}}).encode()


ASKED: dict[str, Callable[[str], bytes]] = {"tree": _tree, "comments": _comments, "game": _game}


if __name__ == "__main__":
    main()
