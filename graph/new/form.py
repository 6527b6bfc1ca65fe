"""Form of a design, `design.yaml`: family, seats and settings, for a person to edit."""

import json
import re
from textwrap import wrap
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.composer.lexicon import GameCard, game_of
from agents.protocols import NEW_FAMILY, Choices, Design
from games.library import families
from graph.run.folder import RunFolder, RunFolderError

FORM = "design.yaml"
_HEAD = """\
# The form of this game. Edit it, then: rulewright resume RUN --from design
# Rulebook, code, play-test and report follow, and this file is written anew."""
_REQUIRED = "Required: family, num_players and, under parameters, NAME: VALUE"


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    family: str
    num_players: int = Field(ge=1)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


def form_text(design: Design) -> str:
    """The design as a form; a library family's settings with their meanings and bounds.

    What is no plain word stands as JSON, which YAML reads as what it is.
    """
    card = game_of(design.family) if design.family in families() else None
    seats = f"  # {card.min_players} to {card.max_players}" if card else ""
    lines = [_HEAD, f"family: {design.family}", f"num_players: {design.num_players}{seats}"]
    lines.append("parameters:" if design.parameters else "parameters: {}")
    for name, value in design.parameters.items():
        lines += [f"  # {line}" for line in wrap(_about(card, name), 96)]
        lines.append(f"  {_shown(name)}: {_shown(value)}")
    return "\n".join(lines) + "\n"


def read_form(folder: RunFolder) -> Choices:
    """What a person chose in the form.

    Raises:
        RunFolderError: If there is none, or it is no form.
    """
    import yaml

    path = folder.path / FORM
    try:
        text = path.read_text(encoding="utf-8")
        _require_single(yaml.compose(text, yaml.SafeLoader))
        form = _Form.model_validate(yaml.safe_load(text))
        json.dumps(form.parameters, allow_nan=False).encode()
    except OSError as error:
        raise RunFolderError(
            f"{path} cannot be read ({error.strerror}); a run writes it as soon as it has a design"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RunFolderError(f"{path} is no form: {where} {first['msg']}. {_REQUIRED}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise RunFolderError(f"{path} cannot be read: {why}. {_REQUIRED}") from error
    return Choices(
        family=None if form.family == NEW_FAMILY else form.family,
        num_players=form.num_players,
        settings=form.parameters,
    )


def _require_single(root: Any) -> None:  # noqa: ANN401 - a node of YAML's, or None
    """Of two lines with one name, YAML drops the first: an edit would be lost without a word."""
    nodes = [root]
    for node in nodes:
        pairs = node.value if node is not None and node.id == "mapping" else ()
        nodes += [value for _, value in pairs]
        names = [key.value for key, _ in pairs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} stands there twice")


def _shown(value: JsonValue) -> str:
    """A value as YAML reads it.

    >>> _shown("ten_second"), _shown("no"), _shown("a: b"), _shown(True)
    ('ten_second', '"no"', '"a: b"', 'true')
    """
    import yaml

    word = isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value)
    return str(value) if word and yaml.safe_load(str(value)) == value else json.dumps(value)


def _about(card: GameCard | None, name: str) -> str:
    """What a setting means and what it may be; empty where nobody has said it."""
    if card is None:
        return ""
    field = card.parameters[name]
    known = map(_shown, field.choices or ())
    bounds = ", ".join(known) if field.range is None else f"{field.range[0]} to {field.range[1]}"
    return f"{field.meaning} ({bounds})"
