"""`eval list` and `eval run`."""

from pathlib import Path

from app.console import leave, note, print_json, say


def list_evals(*, as_json: bool) -> None:
    """Every evaluation with what it asks."""
    from evals.registry import known_evals

    infos = known_evals()
    if as_json:
        print_json(
            {
                "evals": [
                    {"name": i.name, "question": i.question, "options": [*i.takes]} for i in infos
                ]
            }
        )
        return
    for info in infos:
        say(f"{info.name:<18} {info.question}")


def run_eval(
    name: str, *, seed: int, quick: bool, folder: Path | None, workers: int, as_json: bool
) -> None:
    """Run one evaluation; exit code 1 below its thresholds."""
    from evals.registry import EvalOptions, find_eval
    from graph.sandboxes import chosen_backend, describe_grade
    from tools.sandbox import Grade

    chosen_backend()  # a choice that cannot be kept is an error, whatever the evaluation runs
    options = EvalOptions(quick=quick, folder=folder, workers=workers)
    result = find_eval(name).run(seed, note, options)
    grade = result.effective.get("sandbox")
    if isinstance(grade, dict):
        note(describe_grade(Grade.model_validate(grade)))
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        say(result.as_text())
    leave(0 if result.passed else 1)
