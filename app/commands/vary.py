"""`vary`: a game becomes others, by its settings or in words, each checked and played."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from app import options
from app.console import Progress, database, ends_at_once, give, leave, note, say
from app.seeds import tell_seed

if TYPE_CHECKING:
    from graph.new.results import RunResult
    from graph.run.folder import RunFolder
    from graph.vary.worded import WordedReport
    from graph.vary.wording import MadeGame, WordedVariant

_EXACTLY = "Make exactly this game; its rules leave nothing out."
_EXIT = {"varied": 0, "fewer": 1, "none": 1}


@dataclass(frozen=True, kw_only=True)
class VaryOptions:
    """The settings of `VarySettings` that are options, by their names there."""

    n: Annotated[int, typer.Option("--n", min=1, max=64, help="Variants wanted.")] = 8
    keep: Annotated[
        str, typer.Option("--keep", metavar="WORDS", help="What shall stay as it is.")
    ] = ""
    free_seats: Annotated[
        bool, typer.Option("--free-seats", help="Change the number of players too.")
    ] = False
    seed: options.Seed = None
    quick: Annotated[bool, typer.Option("--quick", help="Fewer candidates and matches.")] = False


@dataclass(frozen=True, kw_only=True)
class _InWords:
    """Options of a variation in words."""

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
    words: _InWords,
    out: options.OutFolder = None,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Make variants of a game that play differently: each checked, played, and measured."""
    from graph.run.folder import create_folder, runs_folder
    from graph.vary.bases import base_of
    from graph.vary.settings import VaryRequest, VarySettings, write_variation

    options.readable_words(asked.keep, "--keep")
    if words.with_model:
        with place.chosen():
            _vary_in_words(game, asked, words.make, out, as_json=as_json)
    base = base_of(options.game_called(game))
    settings = options.model_filled(asked, VarySettings)
    if asked.seed is None:
        tell_seed(settings.seed)
    folder = create_folder(out, title=f"vary {base.title}", runs=runs_folder())
    with folder.held(), place.chosen():
        write_variation(VaryRequest(base=base, settings=settings), folder)
        go_on_varying(folder, as_json=as_json)


def go_on_with_other(folder: "RunFolder", given: Mapping[str, object], *, as_json: bool) -> None:
    """Go on with a run that is none of `new`; nothing where it is one.

    Raises:
        typer.BadParameter: If a way to go on is `given` that is for runs of `new` alone.
    """
    from app.commands.learn import go_on_learning, go_on_with_syntheses
    from graph.learn.settings import is_learning, read_syntheses
    from graph.vary.settings import is_variation
    from graph.vary.wording import is_wording

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
    if is_wording(folder):
        if asked:
            raise typer.BadParameter("a run of `vary` is resumed with nothing beside its name")
        go_on_wording(folder, as_json=as_json)


def go_on_varying(folder: "RunFolder", *, as_json: bool) -> NoReturn:
    """Run a run of `vary` to its end, from wherever it stands."""
    from graph.run.sandboxes import describe_grade
    from graph.vary.report import final_table, read_varied
    from graph.vary.runs import has_varied, make_varying, run_varying

    stopped = f"stopped; what was finished is kept. Go on with: rulewright resume {folder.path}"
    if not has_varied(folder):
        with (
            ends_at_once(lambda: stopped),
            Progress(quiet=as_json) as progress,
            ExitStack() as held,
        ):
            context = make_varying(folder)
            held.enter_context(context.sandbox)
            note(describe_grade(context.sandbox.grade))
            run_varying(folder, context, tell=progress, database=database())
    report = read_varied(folder)
    told = {**report.model_dump(mode="json"), "folder": str(folder.path)}
    give(told, lambda: say(final_table(report, folder)), as_json=as_json)
    leave(_EXIT[report.end])


def _vary_in_words(
    game: str, asked: VaryOptions, make: int, out: options.OutFolder, *, as_json: bool
) -> NoReturn:
    """Begin a run that varies a game in words.

    Raises:
        SettingsError: If no model is configured.
        StoreError: If the mechanic store is of another embedder.
    """
    from graph.run.folder import create_folder, runs_folder
    from graph.run.opening import open_embedder
    from graph.vary.breeding import clusters_here
    from graph.vary.rulebooks import rulebook_named
    from graph.vary.worded import require_chat_settings
    from graph.vary.wording import WordingRequest, WordingSettings, write_wording

    if asked.free_seats:
        raise typer.BadParameter("--free-seats is of settings; with a model say it in --keep")
    require_chat_settings()
    base = rulebook_named(game)
    given = {name: value for name, value in vars(asked).items() if value is not None}
    del given["free_seats"]
    settings = WordingSettings.model_validate({**given, "make": min(make, asked.n)})
    if asked.seed is None:
        tell_seed(settings.seed)
    with open_embedder(note) as store:
        clusters = clusters_here(store)
    folder = create_folder(out, title=f"vary {base.title}", runs=runs_folder())
    with folder.held():
        write_wording(WordingRequest(base=base, settings=settings), clusters, folder)
        go_on_wording(folder, as_json=as_json)


def go_on_wording(folder: "RunFolder", *, as_json: bool) -> NoReturn:
    """Run a variation in words to its end, and make the games of the least similar variants."""
    from graph.vary.runs import has_varied
    from graph.vary.worded import (
        open_wording,
        read_worded,
        with_made,
        worded_table,
        write_worded,
    )

    stopped = f"stopped; what was finished is kept. Go on with: rulewright resume {folder.path}"
    if not has_varied(folder):
        with ends_at_once(lambda: stopped), Progress(quiet=as_json) as progress:
            with open_wording(folder, database=database()) as run:
                for event in run.events():
                    progress(event)
                report = run.result()
            made = {row.number: _made(folder, row, report, progress) for row in report.to_make}
            write_worded(with_made(report, made), folder)
    report = read_worded(folder)
    told = {**report.model_dump(mode="json"), "folder": str(folder.path)}
    give(told, lambda: say(worded_table(report, folder)), as_json=as_json)
    leave(_EXIT[report.end])


def _made(
    folder: "RunFolder", row: "WordedVariant", report: "WordedReport", progress: Progress
) -> "MadeGame":
    """A variant coded, checked and played by a run of `new` of its own, which goes on if begun."""
    from graph.new.context import RunSettings
    from graph.new.opening import make_context
    from graph.new.requests import Request, read_request, write_request
    from graph.new.runs import open_run
    from graph.run.folder import RunFolder

    game = RunFolder(folder.path / row.folder / "game")
    if not game.asked:
        game.make()
        page = (folder.path / row.folder / "rules.md").read_text(encoding="utf-8")
        # A heading is no demand of a person, and would have to be quoted as one.
        rules = "\n".join(line for line in page.splitlines() if line and line[:2] != "##")
        settings = RunSettings(seed=report.settings.seed, quick=report.settings.quick)
        write_request(Request(prompt=f"{_EXACTLY}\n\n{rules}", settings=settings), game)
    settings = read_request(game).settings
    context = make_context(settings, exchanges=game.exchanges, keeps_own_games=False, tell=note)
    with game.held(), context.retrieval.store, context.sandbox, open_run(game, context) as run:
        for event in run.events():
            progress(event)
        return _came_of(run.result(), f"{row.folder}/game")


def _came_of(result: "RunResult", place: str) -> "MadeGame":
    from graph.new.results import exit_code
    from graph.vary.report import fair_text
    from graph.vary.wording import MadeGame

    state = result.state
    played, best, span = state.evaluation, None, None
    if played is not None:
        best, span = (played.plays[-1].figures if played.plays else None), played.span
    length, choices = (best.get(name) if best else None for name in ("turns", "options"))
    skill = span.figure.value if span is not None and span.measure == "win_share" else None
    return MadeGame(
        end="question" if result.question is not None else str(state.end),
        passed=exit_code(state) == 0,
        reason=state.reason or ("" if exit_code(state) == 0 else "not all checks passed"),
        folder=place,
        fairness=fair_text(played.fairness) if played is not None and played.fairness else "",
        length=length.value if length else None,
        choices=choices.value if choices else None,
        skill=skill,
    )
