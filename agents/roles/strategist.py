"""The strategist, asked of a chat model: policies in words and as code."""

import ast
import json
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.model.chat import ChatModel
from agents.model.errors import ReplyError
from agents.model.replies import ask_structured
from agents.prompting import load_prompt
from agents.protocols import Design, Heuristic, RoleError
from agents.roles.texts import rules_text

HEURISTICS = 2
ALLOWED_IMPORTS = frozenset(
    {"collections", "functools", "itertools", "json", "math", "re", "string", "__future__"}
)
_SHOWN_FUNCTIONS = ("get_observations", "get_legal_actions", "parse_action")
_SAMPLES, _SAMPLE_LENGTH = 4, 2_500


class HeuristicReply(BaseModel):
    """One policy."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="In snake_case.")
    policy: str = Field(description="The policy in words.")
    source: str = Field(description="Python source that defines score(observation, action).")


class HeuristicsReply(BaseModel):
    """Two different policies."""

    model_config = ConfigDict(extra="forbid")

    heuristics: list[HeuristicReply]


class ModelStrategist:
    """See `agents.protocols.Strategist`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def heuristics(
        self, design: Design, source: str, samples: Sequence[Mapping[str, JsonValue]]
    ) -> Sequence[Heuristic]:
        """See `Strategist.heuristics`; two of them, in one call."""
        shown = [
            json.dumps(dict(sample), separators=(",", ":"))[:_SAMPLE_LENGTH]
            for sample in samples[:_SAMPLES]
        ]
        messages = load_prompt("strategist_heuristics").fill(
            rules=rules_text(design), functions=_functions(source), samples="\n".join(shown)
        )
        return ask_structured(self.model, messages, HeuristicsReply, _to_heuristics)


def _functions(source: str) -> str:
    """The functions of a module that show how observations and actions are written."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise RoleError(f"the module does not parse at line {error.lineno}: {error.msg}") from error
    found = [
        ast.get_source_segment(source, node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name in _SHOWN_FUNCTIONS
    ]
    return "\n\n\n".join(found)


def _to_heuristics(reply: HeuristicsReply) -> list[Heuristic]:
    if len(reply.heuristics) != HEURISTICS:
        raise ReplyError(f"it has {len(reply.heuristics)} heuristics; required: {HEURISTICS}")
    if len({item.name for item in reply.heuristics}) != HEURISTICS:
        raise ReplyError("the heuristics have the same name; required: different ones")
    for item in reply.heuristics:
        _require_score(item)
    try:
        return [Heuristic(**item.model_dump()) for item in reply.heuristics]
    except ValidationError as error:
        problem = error.errors()[0]
        raise ReplyError(f"{problem['msg']}, got {problem['input']!r}") from error


def _require_score(item: HeuristicReply) -> None:
    """Read the source without running it; the sandbox runs it later."""
    try:
        tree = ast.parse(item.source)
    except (SyntaxError, ValueError) as error:
        raise ReplyError(f"the source of {item.name} does not parse: {error}") from error
    scores = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "score"]
    if not scores or len(scores[-1].args.args) != 2:  # noqa: PLR2004 - observation, action
        raise ReplyError(f"the source of {item.name} must define score(observation, action)")
    wrong = sorted(_imported(tree) - ALLOWED_IMPORTS)
    if wrong:
        raise ReplyError(
            f"the source of {item.name} imports {', '.join(wrong)}; allowed: "
            f"{', '.join(sorted(ALLOWED_IMPORTS))}"
        )


def _imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names
