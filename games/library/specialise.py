"""Fix a family's parameters in its source: the same code with other defaults."""

import ast
import json
import pprint
import re
from collections.abc import Mapping

from games.contract import Json, ModuleFault
from games.text import syntax_tree
from games.values import show


class UnknownParameterError(ValueError):
    """A parameter that the family does not have."""


def read_game(source: str) -> dict[str, Json]:
    """The `GAME` literal of a module, read without running it.

    Raises:
        ModuleFault: If the source does not parse or `GAME` is not one plain literal.
    """
    game: dict[str, Json] = ast.literal_eval(_assignment(source))
    return game


def specialise(
    source: str, *, name: str, summary: str, num_players: int, parameters: Mapping[str, Json]
) -> str:
    """Return `source` with `GAME` rewritten: name, summary, number of players, defaults.

    Everything outside the `GAME` literal stays as it is, byte for byte.

    Raises:
        UnknownParameterError: Naming the parameters the family has.
        ModuleFault: If `GAME` cannot be read.
    """
    game = read_game(source)
    declared = _declared(game)
    unknown = sorted(parameters.keys() - declared.keys())
    if unknown:
        raise UnknownParameterError(
            f"{game.get('name')} has no parameter {', '.join(unknown)}; it has "
            f"{', '.join(sorted(declared))}"
        )
    fixed = {
        **game,
        "name": name,
        "summary": summary,
        "min_players": num_players,
        "max_players": num_players,
    }
    if declared:
        fixed["parameters"] = {
            key: {**field, "default": parameters.get(key, field["default"])}
            for key, field in declared.items()
        }
    node = _assignment(source)
    lines = source.splitlines(keepends=True)
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = "".join(lines[:first]) + lines[first][: node.col_offset]
    after = lines[last][node.end_col_offset :] + "".join(lines[last + 1 :])
    return before + pprint.pformat(fixed, width=96, sort_dicts=False) + after


def renumbered(source: str, numbers: Mapping[str, str]) -> str:
    """The source with other rule numbers in its docstrings; a rule that has none is left out.

    >>> renumbered("Rules: R2, R9, R4.", {"R2": "R1", "R4": "R3"})
    'Rules: R1, R3.'
    """

    def line(found: re.Match[str]) -> str:
        kept = [numbers[rule] for rule in re.findall(r"R\d+", found[2]) if rule in numbers]
        kept.sort(key=lambda rule: int(rule[1:]))
        return f"{found[1]}Rules: {', '.join(kept)}." if kept else ""

    return re.sub(r"(\n\s*|^)Rules:\s*(R\d+(?:,\s*R\d+)*)\.", line, source)


def _declared(game: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    """The parameters that a `GAME` declares: name to default, range and meaning."""
    declared = game.get("parameters")
    fields = declared if isinstance(declared, dict) else {}
    return {name: field for name, field in fields.items() if isinstance(field, dict)}


def defaults(game: Mapping[str, Json]) -> dict[str, Json]:
    """The effective parameters of a module that is started without any.

    Raises:
        ModuleFault: If the module does not declare them as it must.
    """
    declared = game.get("parameters") or {}
    found: dict[str, Json] = {}
    for name, field in declared.items() if isinstance(declared, dict) else [("parameters", None)]:
        if not isinstance(field, dict) or "default" not in field:
            raise ModuleFault(
                "bad_value",
                "GAME",
                f"has {name}: {show(field)[:80]}; required under parameters: for every name a dict "
                "with its default",
            )
        found[name] = field["default"]
    return found


def as_declared(value: Json, field: Json) -> Json:
    """A parameter's value as its declaration types it, however a person wrote it.

    >>> as_declared(7, {"choices": ["none", "7"]}), as_declared("7", {"range": [1, 9]})
    ('7', 7)
    >>> as_declared("true", {"choices": [False, True]}), as_declared("x", {"choices": [1, 2]})
    (True, 'x')
    """
    if not isinstance(field, dict):
        return value
    choices = field.get("choices")
    if isinstance(choices, list):
        return next((one for one in choices if _written(one) == _written(value)), value)
    if field.get("range") and isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,18}", value):
        return int(value)
    return value


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _assignment(source: str) -> ast.Dict:
    try:
        tree = syntax_tree(source)
    except SyntaxError as error:
        raise ModuleFault("unreadable", "module", str(error.msg), line=error.lineno) from error
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and any(isinstance(target, ast.Name) and target.id == "GAME" for target in targets)
            and isinstance(node.value, ast.Dict)
        ):
            return node.value
    raise ModuleFault("missing", "GAME", "must be one plain dict literal at the top of the module")
