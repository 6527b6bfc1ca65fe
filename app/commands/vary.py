"""`vary`: a game becomes others, by its settings or in words, each checked and played."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from app import options
from app.console import Progress, database, ends_at_once, give, leave, note, say
from app.making import make_game
from app.seeds import tell_seed

if TYPE_CHECKING:
    from graph.run.folder import RunFolder

_EXIT = {"varied": 0, "fewer": 1, "none": 1}


@dataclass(frozen=True, kw_only=True)
class VaryOptions:
    """The settings of a variation that are options, by their names there."""

    n: Annotated[int, typer.Option("--n", min=1, max=64, help="Variants wanted.")] = 8
    keep: Annotated[
        str, typer.Option("--keep", metavar="WORDS", help="What shall stay as it is.")
    ] = ""
    free_seats: Annotated[
        bool, typer.Option("--free-seats", help="Change the number of players too.")
    ] = False
    seed: options.Seed = None
    quick: Annotated[bool, typer.Option("--quick", help="Fewer candidates and matches.")] = False
    with_model: Annotated[
        bool, typer.Option("--with-model", help="Let the model put bred mechanics into its rules.")
    ] = False
    make: Annotated[
        int,
        typer.Option(
            "--make", min=0, max=64, help="With a model: variants that are coded and played."
        ),
    ] = 3


@options.grouped
def vary_game(
    game: options.Game,
    *,
    asked: VaryOptions,
    out: options.OutFolder = None,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Make variants of a game that play differently: each checked, played, and measured."""
    from graph.vary.runs import begin_varying
    from graph.vary.settings import MOST_KEPT

    options.readable_words(asked.keep, "--keep", MOST_KEPT)
    if asked.with_model and asked.free_seats:
        raise typer.BadParameter("--free-seats is of settings; with a model say it in --keep")
    given = {name: value for name, value in vars(asked).items() if value is not None}
    with place.chosen():
        folder, request = begin_varying(game, given, with_model=asked.with_model, out=out)
        if asked.seed is None:
            tell_seed(request.settings.seed)
        with folder.held():
            go_on_varying(folder, as_json=as_json)


def go_on_with_other(folder: "RunFolder", given: Mapping[str, object], *, as_json: bool) -> None:
    """Go on with a run that is none of `new`; nothing where it is one.

    Raises:
        typer.BadParameter: If a way to go on is `given` that is for runs of `new` alone.
    """
    from app.commands.learn import go_on_learning, go_on_with_syntheses
    from graph.learn.settings import is_learning, read_syntheses
    from graph.vary.settings import is_variation

    asked = {name for name, value in given.items() if value}
    if is_learning(folder):
        if asked - {"rounds"}:
            raise typer.BadParameter("a run of `learn` is resumed with --rounds alone, or nothing")
        go_on_learning(folder, more=int(str(given["rounds"] or 0)), as_json=as_json)
    if read_syntheses(folder) is not None:
        if asked:
            told = "several runs of `learn` are resumed with nothing beside their folder's name"
            raise typer.BadParameter(f"{told}; one of them by its own folder")
        go_on_with_syntheses(folder, as_json=as_json)
    if is_variation(folder):
        if asked:
            raise typer.BadParameter("a run of `vary` is resumed with nothing beside its name")
        go_on_varying(folder, as_json=as_json)


def go_on_varying(folder: "RunFolder", *, as_json: bool) -> NoReturn:
    """Run a run of `vary` to its end, from wherever it stands."""
    from graph.vary.report import final_table, read_varied
    from graph.vary.runs import has_varied, make_varying, run_varying

    stopped = f"stopped; what was finished is kept. Go on with: rulewright resume {folder.path}"
    if not has_varied(folder):
        with (
            ends_at_once(lambda: stopped),
            Progress(quiet=as_json) as progress,
            make_varying(folder, maker=make_game) as context,
        ):
            if context.remark:
                note(context.remark)
            run_varying(folder, context, tell=progress, database=database())
    report = read_varied(folder)
    told = {**report.model_dump(mode="json"), "folder": str(folder.path)}
    give(told, lambda: say(final_table(report, folder)), as_json=as_json)
    leave(_EXIT[report.end])
