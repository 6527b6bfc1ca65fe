"""`check`: is this module a game, and does it keep its promises?"""

from app.console import leave, note, print_json, say


def check_game(game: str, *, players: int, seed: int, deadline: float, as_json: bool) -> None:
    """Check one module; exit code 1 unless everything passed."""
    from games.checks.findings import verdict
    from games.checks.run import CheckSettings
    from graph.sandboxes import describe_grade, open_sandbox
    from tools.checking import check_source
    from tools.sources import find_game

    found = find_game(game)
    settings = CheckSettings(seed=seed)
    with open_sandbox() as sandbox:
        grade = sandbox.grade
        note(describe_grade(grade))
        run = check_source(
            sandbox,
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
            where = f" line {finding.line}" if finding.line else ""
            at = f" [{finding.function}{where}]" if finding.function else where
            say(f"{finding.outcome:<16} {finding.check}{at} {finding.evidence}".rstrip())
        say(f"{found.name}: {outcome} (sandbox grade: {grade.name})")
    leave(0 if outcome == "passed" else 1)
