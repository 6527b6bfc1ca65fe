"""The coder, asked for the optional functions of a game that is accepted."""

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agents.model.chat import ChatModel
from agents.model.errors import ReplyError
from agents.prompting import load_prompt
from agents.protocols import Design
from agents.roles.coder import read_module
from agents.roles.texts import design_text
from games.text import syntax_tree

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_WANTED = ("value_function", "resample_state", "resample_history")


class ModelExtender:
    """See `agents.protocols.Extender`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def extend(self, design: Design, source: str) -> Mapping[str, str]:
        """See `Extender.extend`: one block with functions whose names the module does not have."""
        messages = load_prompt("coder_extras").fill(design=design_text(design), source=source)

        def read(message: "AIMessage") -> Mapping[str, str]:
            return optional_functions(read_module(message), source)

        return self.model.ask(messages, read)


def optional_functions(block: str, source: str) -> dict[str, str]:
    """The optional functions in a block, each with all of its helpers.

    Raises:
        ReplyError: If it is no Python, holds anything but functions, or defines again what the
            module has: the accepted game must stay as it is.
    """
    try:
        body = syntax_tree(block).body
        taken = _names(syntax_tree(source))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ReplyError(f"the block is no Python: {error}") from error
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    if len(functions) < len(body):
        raise ReplyError("the block holds more than functions; required: functions alone")
    again = sorted(node.name for node in functions if node.name in taken)
    if again:
        raise ReplyError(f"the module has {', '.join(again)} already; leave these as they are")
    helpers = [node for node in functions if node.name not in _WANTED]
    return {
        node.name: "\n\n\n".join(ast.unparse(part) for part in (*helpers, node))
        for node in functions
        if node.name in _WANTED
    }


def _names(module: ast.Module) -> set[str]:
    """What a module names anywhere but within its functions."""
    names: set[str] = set()
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                names.add(part.id)
            elif isinstance(part, ast.alias):
                names.add((part.asname or part.name).partition(".")[0])
    return names
