"""`eval list`, `eval run` and `eval table`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.console import give, leave, note, print_json, say
from app.options import Isolation, Json, Junit, given_parameters, grouped, require_new

if TYPE_CHECKING:
    from evals.results import EvalResult

eval_app = typer.Typer(help="Scripted evaluations.", no_args_is_help=True, rich_markup_mode=None)


@dataclass(frozen=True, kw_only=True)
class _Also:
    """The amount that is measured, where there is one, and further places of the result."""

    games: Annotated[
        str, typer.Option("--games", metavar="NAME,...", help="These games or tasks alone.")
    ] = ""
    matches: Annotated[
        int, typer.Option("--matches", min=0, help="Matches of each; 0: the usual number.")
    ] = 0
    simulations: Annotated[
        int, typer.Option("--simulations", min=0, help="Of a decision; 0: the usual number.")
    ] = 0
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of its tasks: NAME=VALUE, such as syntheses=5."),
    ] = None
    langsmith: Annotated[
        bool, typer.Option("--langsmith", help="Also as a dataset and an experiment of LangSmith.")
    ] = False
    junit: Junit = None


@eval_app.command("list")
def list_evals(*, as_json: Json = False) -> None:
    """List the evaluations."""
    from evals.results import known_evals

    infos = known_evals()
    if as_json:
        rows = [{"name": i.name, "question": i.question, "options": [*i.takes]} for i in infos]
        print_json({"evals": rows})
        return
    for info in infos:
        say(f"{info.name:<18} {info.question}")


@eval_app.command("table")
def show_tables(
    name: Annotated[str, typer.Argument(help="Whose tables: cwm (Code World Models).")],
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RESULT...", help="What eval run --json wrote, besides those kept."),
    ] = None,
    *,
    tables: Annotated[
        str, typer.Option("--tables", metavar="NUMBER,...", help="These tables alone.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Show a paper's tables beside results of ours."""
    from evals.cwm.tables import cells_told, read_results, table_cells

    if name != "cwm":
        raise typer.BadParameter(f"no tables of {name!r}; known: cwm", param_hint="NAME")
    read = read_results(results or ())
    cells = table_cells(read, [*filter(None, tables.split(","))])
    told = {"cells": [vars(cell) for cell in cells], "of": [one.effective for one in read]}
    give(told, lambda: say(cells_told(cells, read)), as_json=as_json)


@eval_app.command("run")
@grouped
def run_eval(
    name: Annotated[str, typer.Argument(help="Name of an evaluation.")],
    *,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seeds every random choice.")
    ] = 0,  # fixed: figures are compared from one version to the next
    quick: Annotated[
        bool, typer.Option("--quick", help="The small variant, of at most two minutes.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            metavar="PATH",
            help="Keep finished games there; a run that was ended goes on from them.",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option("--jobs", min=1, max=64, help="Processes that play at the same time.")
    ] = 1,
    also: _Also,
    place: Isolation,
    as_json: Json = False,
) -> None:
    """Run an evaluation; it fails below its thresholds."""
    from app.junit import cases_of_evaluation, write_junit
    from evals.results import EvalOptions, find_eval
    from graph.run.sandboxes import chosen_backend, describe_grade
    from tools.sandbox import Grade

    if also.junit is not None:
        require_new(also.junit, force=True)
    options = EvalOptions(
        seed,
        note,
        quick=quick,
        folder=folder,
        workers=workers,
        games=tuple(filter(None, also.games.split(","))),
        matches=also.matches,
        simulations=also.simulations,
        settings=given_parameters(also.settings or ()),
    )
    with place.chosen():
        chosen_backend()  # a choice that cannot be kept is an error, whatever the evaluation runs
        result = find_eval(name).run(options)
    grade = result.effective.get("sandbox")
    if isinstance(grade, dict):
        note(describe_grade(Grade.model_validate(grade)))
    if also.junit is not None:
        write_junit(also.junit, name, cases_of_evaluation(result))
    give(result.model_dump(mode="json"), lambda: say(result.as_text()), as_json=as_json)
    if also.langsmith:
        _as_experiment(result)
    leave(0 if result.passed else 1)


def _as_experiment(result: "EvalResult") -> None:
    from evals.results import as_experiment
    from graph.run.traces import experiment_client, langsmith_configured

    upload = langsmith_configured()
    name = as_experiment(result, experiment_client(upload=upload), upload=upload)
    why = (
        ""
        if upload
        else " here; to upload it, set LANGSMITH_API_KEY, and no LANGSMITH_TRACING=false"
    )
    note(f"LangSmith: experiment {name}{why}")
