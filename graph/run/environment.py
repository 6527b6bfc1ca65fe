"""Environment variables of the product: one list, with types, defaults and meanings."""

import os
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from agents.model.settings import ModelSettings, variable_of


class Variable(NamedTuple):
    """One environment variable.

    Attributes:
        name: As it is set.
        kind: Its values: text, integer, number, yes or no, path, or the known words.
        default: The value where it is not set; empty where there is none.
        meaning: With the unit.
    """

    name: str
    kind: str
    default: str
    meaning: str


_CHECKPOINTS = "Postgres address for checkpoints; SQLite in the run's folder where not set."
_EMBEDDERS = "auto | minilm | lexical | chroma | remote"
_BACKENDS = "linux | seatbelt | e2b | process"
_OTHERS = (
    Variable("RULEWRIGHT_HOME", "path", "", "Folder of the store, else one of the user's cache."),
    Variable("RULEWRIGHT_RUNS", "path", "runs", "Folder of new runs that name none."),
    Variable("RULEWRIGHT_DATABASE", "text", "", _CHECKPOINTS),
    Variable("RULEWRIGHT_EMBEDDINGS", _EMBEDDERS, "auto", "Who embeds texts."),
    Variable("RULEWRIGHT_EMBEDDING_MODEL", "text", "", "Model of the embedder `remote`."),
    Variable("RULEWRIGHT_EMBEDDING_DIMENSION", "integer", "1536", "Numbers in its vectors."),
    Variable("RULEWRIGHT_STORE_HOST", "text", "", "Host of a Chroma server, else embedded."),
    Variable("RULEWRIGHT_STORE_PORT", "integer", "8000", "Port of the Chroma server."),
    Variable("RULEWRIGHT_LOCK_WAIT_S", "number", "120", "Seconds to wait for the store's writer."),
    Variable("RULEWRIGHT_SANDBOX", _BACKENDS, "", "Where generated code runs, else by platform."),
    Variable("RULEWRIGHT_ACCEPT_NO_ISOLATION", "yes or no", "", "Goes with `process` alone."),
    Variable("E2B_API_KEY", "text", "", "Key of the E2B service, for the sandbox `e2b`."),
    Variable("E2B_DOMAIN", "text", "", "Domain of an E2B service of your own."),
    Variable(
        "LANGSMITH_API_KEY", "text", "", "Key of LangSmith, else traces go to the run's folder."
    ),
    Variable("LANGSMITH_TRACING", "yes or no", "true", "`false` keeps traces in the run's folder."),
    Variable("XDG_CACHE_HOME", "path", "~/.cache", "The user's cache, for RULEWRIGHT_HOME."),
)
_DEFAULTS = {variable.name: variable.default for variable in _OTHERS}
_KINDS: dict[Any, str] = {bool: "yes or no", int: "integer", float: "number", str: "text"}


def value_of(name: str) -> str | None:
    """The value of a variable that is not the model's; its default where not set or empty."""
    return os.environ.get(name) or _DEFAULTS[name] or None


def variables() -> tuple[Variable, ...]:
    """Every environment variable that the product reads, the model's first."""
    return (
        *(
            Variable(
                variable_of(name),
                _kind(field.annotation),
                _default(field.default),
                field.description or "",
            )
            for name, field in ModelSettings.model_fields.items()
        ),
        *_OTHERS,
    )


def _default(value: object) -> str:
    if value is False:
        return "no"
    return "" if value is None else str(value)


def _kind(annotation: Any) -> str:  # noqa: ANN401 - what pydantic keeps of a field
    known = [one for one in get_args(annotation) if one is not NoneType]
    if get_origin(annotation) is Literal:
        return " | ".join(known)
    return _kind(known[0]) if known else _KINDS.get(annotation, "path")
