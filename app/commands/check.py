"""`check`: is this module a game, and does it keep its promises?"""

from typing import TYPE_CHECKING, Annotated

import typer

from app.console import leave, note, print_json, say
from app.options import Backend, Json, NoIsolation, Seats, Seed, sandbox_of
from games.text import quoted

if TYPE_CHECKING:
    from games.checks.findings import Finding


def check_game(
    game: Annotated[str, typer.Argument(help="A module file, a run's folder or a library name.")],
    *,
    players: Seats = 0,
    seed: Seed = 0,
    deadline: Annotated[float, typer.Option("--deadline", min=1, help="Seconds in all.")] = 120.0,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
    as_json: Json = False,
) -> None:
    """Check a module against the contract, its own rules of sight, and random play."""
    from games.checks.findings import verdict
    from games.checks.run import CheckSettings
    from graph.run.sandboxes import describe_grade, open_sandbox
    from tools.checking import check_source
    from tools.sources import find_game

    found = find_game(game)
    settings = CheckSettings(seed=seed)
    with sandbox_of(sandbox, no_isolation), open_sandbox() as opened:
        grade = opened.grade
        note(describe_grade(grade))
        run = check_source(
            opened,
            found.source,
            settings=settings,
            num_players=players or None,
            parameters={},
            deadline_s=deadline,
            records=0,
        )
    outcome = verdict(run.findings)
    if as_json:
        print_json(
            {
                "game": found.name,
                "outcome": outcome,
                "findings": [finding.model_dump(mode="json") for finding in run.findings],
                "settings": settings.model_dump(mode="json"),
                "players": players,
                "deadline_s": deadline,
                "sandbox": grade.model_dump(mode="json"),
                "output": run.output,
            }
        )
    else:
        for finding in run.findings:
            say(_told(finding))
        say(f"{found.name}: {outcome} (sandbox grade: {grade.name})")
    leave(0 if outcome == "passed" else 1)


def _told(finding: "Finding") -> str:
    where = f" line {finding.line}" if finding.line else ""
    at = f" [{finding.function}{where}]" if finding.function else where
    return f"{finding.outcome:<16} {finding.check}{at} {quoted(finding.evidence)}".rstrip()
