"""`learn`: rules and recorded matches become a playable model of the game."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeAlias, get_args

import typer

from app.console import Progress, database, ends_at_once, give, leave, note, say
from app.options import Isolation, Json, OutFolder, Seed, grouped, model_filled
from app.seeds import tell_seed
from games.text import number_of

if TYPE_CHECKING:
    from graph.learn.settings import LearnRequest
    from graph.run.events import Event
    from graph.run.folder import RunFolder

_LONGEST_RULES = 200_000  # characters
_INFERENCE = {
    "auto": "auto",
    "history": "resample_history",
    "state": "resample_state",
    "none": "none",
}
_EXIT = {"passed": 0, "incomplete": 1, "gave_up": 1}


_Rules: TypeAlias = Annotated[Path, typer.Option("--rules", help="The rules as a text file.")]
_Trajectories: TypeAlias = Annotated[
    Path, typer.Option("--trajectories", help="Recorded matches (rulewright record).")
]


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """The settings of `LearnSettings` that are options, by their names there."""

    closed_deck: Annotated[
        bool, typer.Option("--closed-deck", help="The matches are one seat's view.")
    ] = False
    refine: Annotated[
        str, typer.Option("--refine", help="How to refine: tree or conversation.")
    ] = "tree"
    max_calls: Annotated[
        int,
        typer.Option(
            "--max-calls",
            min=1,
            help="Calls of the model at most; one whose reply is of no use is asked again, up to "
            "RULEWRIGHT_RETRIES times.",
        ),
    ] = 20
    active: Annotated[
        int, typer.Option("--active", min=0, help="Further matches to ask the environment for.")
    ] = 0
    environment: Annotated[
        str, typer.Option("--environment", metavar="ENV", help="The environment itself.")
    ] = ""
    keep_learning: Annotated[
        bool,
        typer.Option(
            "--keep-learning", help="What surprises it in play is refined (--environment)."
        ),
    ] = False
    values: Annotated[
        int, typer.Option("--values", min=0, max=8, help="Value functions to ask for.")
    ] = 0
    tensors: Annotated[
        int,
        typer.Option(
            "--tensors",
            min=0,
            help="Calls at most for functions that turn observations into arrays (for train).",
        ),
    ] = 0
    inference: Annotated[
        str,
        typer.Option(
            "--inference", help="What draws the hidden: history, state, none, or auto: as needed."
        ),
    ] = "auto"
    arena: Annotated[
        int | None,
        typer.Option(
            "--arena-matches",
            min=0,
            help="Matches against each opponent (--environment); each deal is played in all seats.",
        ),
    ] = None
    arena_simulations: Annotated[
        int | None, typer.Option("--simulations", min=1, help="Of a decision in the arena.")
    ] = None
    seed: Seed = None
    quick: Annotated[bool, typer.Option("--quick", help="Fewer matches and draws.")] = False


@grouped
def learn_model(
    *,
    rules: _Rules,
    trajectories: _Trajectories,
    asked: LearnOptions,
    syntheses: Annotated[
        int,
        typer.Option(
            "--syntheses",
            min=1,
            max=20,
            help="Independent runs, each with a seed of its own; their models are compared.",
        ),
    ] = 1,
    out: OutFolder = None,
    place: Isolation,
    as_json: Json = False,
) -> None:
    """Learn a playable model of a game from its rules and recorded matches."""
    begun = learning_begun(rules, trajectories, asked, out, syntheses=syntheses)
    with begun as folder, place.chosen():
        if syntheses > 1:
            go_on_with_syntheses(folder, as_json=as_json)
        go_on_learning(folder, as_json=as_json)


@contextmanager
def learning_begun(
    rules: Path, trajectories: Path, asked: LearnOptions, out: Path | None, *, syntheses: int = 1
) -> "Iterator[RunFolder]":
    """The folder of a new run of `learn`, held while it is learned in.

    Raises:
        typer.BadParameter: If what is asked for cannot be learned so.
    """
    from graph.learn.matches import ASKED_OF_CLOSED
    from graph.learn.runs import require_model
    from graph.learn.settings import (
        LearnRequest,
        LearnSettings,
        Syntheses,
        write_learning,
        write_syntheses,
    )
    from graph.run.folder import create_folder, runs_folder
    from graph.run.settings import RefineStrategy
    from tools.sources import with_whole_path

    if asked.refine not in get_args(RefineStrategy):
        raise typer.BadParameter(f"--refine is {asked.refine!r}; known: tree, conversation")
    if asked.active and not asked.environment:
        raise typer.BadParameter("--active asks the environment for matches; give --environment")
    if asked.keep_learning and not asked.environment:
        raise typer.BadParameter("--keep-learning plays in the environment; give --environment")
    words = _rules_in(rules)
    if asked.inference not in _INFERENCE:
        known = ", ".join(_INFERENCE)
        raise typer.BadParameter(f"--inference is {asked.inference!r}; known: {known}")
    if asked.arena and not asked.environment:
        raise typer.BadParameter("--arena-matches are played there; give --environment")
    if asked.closed_deck and asked.inference not in ("auto", "history"):
        raise typer.BadParameter("of a closed deck histories are drawn; leave --inference away")
    if asked.closed_deck and (asked.active or asked.keep_learning):
        raise typer.BadParameter(ASKED_OF_CLOSED)
    seats = _require_usable(trajectories, asked.environment, closed=asked.closed_deck)
    require_model()
    deals = None if asked.arena is None else -(-asked.arena // seats)
    asked = replace(
        asked,
        arena=deals,
        inference=_INFERENCE[asked.inference],
        environment=with_whole_path(asked.environment) if asked.environment else "",
    )
    settings = model_filled(asked, LearnSettings)
    if asked.seed is None:
        tell_seed(settings.seed)
    folder = create_folder(out, title=f"learn {trajectories.stem}", runs=runs_folder())
    request = LearnRequest(rules=words, trajectories=str(trajectories.resolve()), settings=settings)
    with folder.held():
        if syntheses > 1:
            write_syntheses(Syntheses(count=syntheses, each=request), folder)
        else:
            write_learning(request, folder)
        yield folder


def go_on_learning(folder: "RunFolder", *, more: int = 0, as_json: bool) -> NoReturn:
    """Run a run of `learn` to its end, from wherever it stands; with `more` calls where it gave up.

    Raises:
        RunFolderError: If it has ended otherwise, and takes no more calls.
    """
    from graph.learn.runs import goes_on

    if (request := goes_on(folder, more)) is None:
        _finish(folder, as_json=as_json)
    stopped = f"stopped; what was finished is kept. Go on with: rulewright resume {folder.path}"
    with ends_at_once(lambda: stopped), Progress(quiet=as_json) as progress:
        learn_to_the_end(folder, request, progress)
    _finish(folder, as_json=as_json)


def go_on_with_syntheses(folder: "RunFolder", *, as_json: bool) -> NoReturn:
    """Run several runs of `learn` to their ends, from wherever they stand, and compare them."""
    from graph.learn.runs import compared_runs, goes_on
    from graph.learn.settings import read_syntheses

    runs = asked.runs(folder) if (asked := read_syntheses(folder)) else {}
    stopped = f"stopped; what was finished is kept. Go on with: rulewright resume {folder.path}"
    with ends_at_once(lambda: stopped), Progress(quiet=as_json) as progress:
        for name, run in runs.items():
            if (request := goes_on(run, 0)) is not None:
                note(f"{name} of {len(runs)}, seed {request.settings.seed}: {run.path}")
                learn_to_the_end(run, request, progress)
        told = compared_runs(folder, runs)
    shown = {**told.model_dump(mode="json"), "folder": str(folder.path)}
    give(shown, lambda: say(told.words(folder)), as_json=as_json)
    leave(min((_EXIT[str(told.syntheses[name].end)] for name in told.kept), default=2))


def learn_to_the_end(
    folder: "RunFolder", request: "LearnRequest", tell: "Callable[[Event], None]"
) -> None:
    """Ask the modeller until the model is right, or its calls are used."""
    from graph.learn.runs import make_learning, run_learning
    from graph.run.sandboxes import describe_grade

    with ExitStack() as held:
        context = make_learning(folder, request)
        held.enter_context(context.sandbox)
        each = number_of(context.budget.settings.retries + 1, "request")
        calls = f"{number_of(context.settings.max_calls, 'call')} at most, each of up to {each}"
        note(f"modeller: {context.identity}, {calls}")
        note(describe_grade(context.sandbox.grade))
        run_learning(folder, context, tell=tell, database=database())


def _finish(folder: "RunFolder", *, as_json: bool) -> NoReturn:
    from graph.learn.report import final_words, read_report

    report = read_report(folder)
    result = {**report.model_dump(mode="json"), "folder": str(folder.path)}
    give(result, lambda: say(final_words(report, folder)), as_json=as_json)
    leave(_EXIT[str(report.end)] if report.accuracy is not None else 2)


def _rules_in(path: Path) -> str:
    """The rules, where they can be read.

    Raises:
        typer.BadParameter: If the file cannot be read, is empty or too long.
    """
    from games.environments.reading import open_plain

    try:
        with TextIOWrapper(open_plain(path), encoding="utf-8") as file:
            text = file.read(_LONGEST_RULES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(
            f"--rules {path} cannot be read ({error}); required: a text file in UTF-8"
        ) from error
    if not text.strip():
        raise typer.BadParameter(f"--rules {path} is empty; required: the rules of the game")
    if len(text) > _LONGEST_RULES:
        raise typer.BadParameter(
            f"--rules {path} is too long; at most {_LONGEST_RULES} characters are read"
        )
    return text


def _require_usable(trajectories: Path, environment: str, *, closed: bool) -> int:
    """Refuse what cannot be used before a folder is made: header, deck and environment.

    Returns:
        Seats of the recorded matches.
    """
    from games.environments.reading import read_trajectories
    from graph.learn.environment import environment_like

    header, _ = read_trajectories(trajectories)
    if (header.deck == "closed") != closed:
        raise typer.BadParameter(
            f"{trajectories} holds {header.deck}-deck matches; "
            + ("leave --closed-deck away" if closed else "give --closed-deck")
        )
    if environment:
        environment_like(environment, header)
    return header.num_players
