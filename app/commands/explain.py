"""`explain`: one rule or mechanic of a made game; and the game without the mechanic."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.commands.compare import PlayedBoth, show_played
from app.console import give, note, say
from games.text import one_line

if TYPE_CHECKING:
    from tools.sandbox import Sandbox

_MOST_ROWS = 10
_PARTS = (
    *("without", "leads_to", "led_to_by", "rules", "settings", "mechanics", "clauses", "lines"),
    *("findings", "fired", "never_fired", "not_followed", "faults"),
)


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """Further play: with the mechanic, or without it."""

    follow: Annotated[
        int,
        typer.Option("--follow", min=0, max=10_000, help="Follow so many new matches instead."),
    ] = 0
    ablate: Annotated[
        bool,
        typer.Option("--ablate", help="Take the mechanic out by its setting, and play both games."),
    ] = False


@options.grouped
def explain_part(
    run: Annotated[str, typer.Argument(help="Folder or name of a run, or of a revision.")],
    rule: Annotated[
        str, typer.Argument(help="Id of one of its rules or mechanics, such as R12 or M3.")
    ],
    *,
    tried: _Tried,
    played: PlayedBoth,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Show a rule or a mechanic: what it is, its lines of code, and where play met it."""
    from graph.new.comparing import game_to_compare
    from graph.new.explaining import explained_mechanic, explained_rule, folder_named
    from graph.run.sandboxes import open_sandbox

    id_, folder = rule.strip().upper(), folder_named(run)
    is_mechanic = id_.startswith("M")
    if (tried.ablate or tried.follow) and not is_mechanic:
        said = f"--ablate and --follow take a mechanic, such as M3; {one_line(id_)} is none"
        raise typer.BadParameter(said)
    with place.chosen(), open_sandbox() as opened:
        if tried.ablate:
            found = {"run": str(folder.path), **_ablated(run, id_, played, opened)}
            give(found, lambda: _show_ablated(found), as_json=as_json)
            return
        if is_mechanic:
            new = played.actions(game_to_compare(run).setup, tried.follow, opened)
            found = explained_mechanic(folder, id_, opened, new)
        else:
            found = explained_rule(folder, id_, opened)
        found = {"run": str(folder.path), **found}
    give(found, lambda: _show(found), as_json=as_json)


def _ablated(run: str, id_: str, played: PlayedBoth, sandbox: "Sandbox") -> dict[str, Any]:
    """The figures of a run's game with a mechanic and without it."""
    from graph.new.comparing import ablation
    from graph.run.settings import versions

    node, setup, changed = ablation(run, id_)
    return {
        "mechanic": node.id,
        "name": node.name,
        "without": node.without,
        **played.about(),
        "played": played.compared((setup, changed), sandbox),
        "sandbox": sandbox.grade,
        "versions": versions(),
    }


def _show_ablated(found: dict[str, Any]) -> None:
    settings = ", ".join(f"{name}={value}" for name, value in found["without"].items())
    say(f"{found['mechanic']}: {one_line(found['name'])}; before: as it is, after: {settings}")
    for one in found["played"]:
        show_played(one)


def _show(found: dict[str, Any]) -> None:
    if "mechanic" in found:
        depth = "" if found["depth"] is None else f", depth {found['depth']}"
        say(f"{found['mechanic']} ({found['kind']}{depth}): {one_line(found['name'])}")
    else:
        say(f"{found['rule']} ({found['section']}): {found['text']}")
    for name in _PARTS:
        part = found.get(name, [])
        rows = [f"{k}={v}" for k, v in part.items()] if isinstance(part, dict) else part
        if rows:
            say(f"\n{name.replace('_', ' ').capitalize()}:")
        for row in rows[:_MOST_ROWS]:
            say("  " + _as_line(row))
        if more := rows[_MOST_ROWS:]:
            say(f"  and {len(more)} more")
    note(f"fired in {found['fired_in']} of {found['followed']} matches that were followed")


def _as_line(row: "str | dict[str, Any]") -> str:
    """A row of an explanation; code stands below its lines."""
    if isinstance(row, str):
        return row
    if "code" in row:
        return f"game.py, lines {row['first']} to {row['last']}:\n{row['code']}"
    if "ply" in row:
        player = row["players"].partition(":")[0]
        return f"match {row['match']} of {player}, ply {row['ply'] + 1}: {row['action']}"
    return ": ".join(str(value) for value in row.values() if value)
