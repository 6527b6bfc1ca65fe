"""`new` and `resume`: the main job, with live progress and a clean way out."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from app import options
from app.console import (
    Progress,
    a_person_is_here,
    ask,
    database,
    ends_at_once,
    interview,
    leave,
    note,
    print_json,
    say,
)
from app.making import invent
from app.seeds import tell_seed

if TYPE_CHECKING:
    from agents.protocols import Choices
    from graph.new.context import RunContext, RunSettings
    from graph.new.requests import Remedy
    from graph.new.results import RunResult
    from graph.run.folder import RunFolder
    from graph.run.handle import RunHandle

WAITING = 3  # exit code of a run that waits for a person's answer


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The settings of `RunSettings` that are options, by their names there."""

    seed: options.Seed = None
    quick: Annotated[bool, typer.Option("--quick", help="Fewer matches, smaller searches.")] = False
    approve: Annotated[bool, typer.Option("--approve", help="Ask before coding.")] = False
    retrieval: options.Retrieves = True
    own_games: Annotated[
        bool, typer.Option("--own-games", help="Let the roles see games of earlier runs.")
    ] = False
    corpus: Annotated[
        bool,
        typer.Option(
            "--corpus/--no-corpus", help="Let the designer see mechanics of traditional games."
        ),
    ] = True
    candidates: Annotated[
        int, typer.Option("--candidates", min=1, max=8, help="Drafts of the code, side by side.")
    ] = 1
    extras: Annotated[
        bool,
        typer.Option("--extras", help="Ask for a value function and resamplers; not if --quick."),
    ] = False
    learn: options.Learns = 0.0
    refine: options.RefineBy = None
    max_rounds: Annotated[int, typer.Option("--rounds", min=0, max=100, help="Refinements.")] = 6

    def given(self) -> dict[str, Any]:
        """The settings that were given.

        Raises:
            typer.BadParameter: If there is no such strategy of refinement.
        """
        from graph.run.settings import RefineStrategy

        known = get_args(RefineStrategy)
        if self.refine is not None and self.refine not in known:
            raise typer.BadParameter(f"--refine is {self.refine!r}; known: {', '.join(known)}")
        return {name: value for name, value in vars(self).items() if value is not None}


if TYPE_CHECKING:
    RevisedOptions = RunOptions
else:
    RevisedOptions = options.as_they_stand(RunOptions)


@options.grouped
def new_run(
    prompt: Annotated[
        str | None,
        typer.Argument(help="The game, in your own words; without them, three questions."),
    ] = None,
    *,
    family: Annotated[
        str | None,
        typer.Option("--family", metavar="NAME", help="The library's family or preset to take."),
    ] = None,
    players: Annotated[
        int | None, typer.Option("--players", min=1, help="How many play, whatever the words say.")
    ] = None,
    parameters: options.Parameters = None,
    out: options.OutFolder = None,
    asked: RunOptions,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Design, code, check, play and report a game from your own words."""
    from agents.protocols import Choices
    from graph.new.context import RunSettings
    from graph.new.requests import Request, write_request
    from graph.run.folder import create_folder, runs_folder

    if prompt is None and family is None:
        prompt, players = interview(players, as_json=as_json)
    choices = Choices(
        family=family, num_players=players, settings=options.given_parameters(parameters or [])
    )
    settings = RunSettings.model_validate(asked.given())
    words = options.readable_words(prompt or "", "the prompt")
    if not words.strip() and family is None:
        raise typer.BadParameter("the prompt is empty; say the game in your own words")
    _require_known(choices)
    if asked.seed is None:
        tell_seed(settings.seed)
    folder = create_folder(out, title=words or family or "", runs=runs_folder())
    with folder.held(), place.chosen():
        write_request(Request(prompt=words, choices=choices, settings=settings), folder)
        carry_on(folder, settings, fresh=True, given=None, as_json=as_json)


def _require_known(choices: "Choices") -> None:
    """Refuse what the library does not have before anything is made."""
    from graph.new.opening import require_choices
    from graph.run.opening import model_settings

    require_choices(choices, settings=model_settings().model is None)


@dataclass(frozen=True, kw_only=True)
class _Resuming:
    """The ways to go on with a run."""

    answer: Annotated[
        str | None, typer.Option("--answer", help="Answer to what the run waits for.")
    ] = None
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="design", help="Make the game anew from design.yaml."),
    ] = None
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", min=1, help="Refine so many times more, where it gave up."),
    ] = None
    drop_test: Annotated[
        str | None,
        typer.Option("--drop-test", metavar="ID", help="Give up a claim of the validator."),
    ] = None
    accept: Annotated[
        bool, typer.Option("--accept", help="Take the game though not all checks passed.")
    ] = False
    discard_edits: Annotated[
        bool, typer.Option("--discard-edits", help="Write anew what you changed in its files.")
    ] = False
    discard_checkpoints: Annotated[
        bool, typer.Option("--discard-checkpoints", help="Go on without broken checkpoints.")
    ] = False

    def remedy(self, *, anew: bool) -> "Remedy":
        """The one remedy that is asked for; an empty one where it is none.

        Raises:
            typer.BadParameter: If there are two ways to go on.
        """
        from graph.new.requests import Remedy

        remedy = Remedy(rounds=self.rounds or 0, drop=self.drop_test or "", accept=self.accept)
        asked = sum(map(bool, remedy.model_dump().values()))
        if asked + anew + (self.answer is not None) > 1:
            raise typer.BadParameter(
                "--rounds, --drop-test, --accept, --answer and --from design are separate ways to "
                "go on; give one of them"
            )
        return remedy


@options.grouped
def resume_named(
    run: Annotated[str, typer.Argument(help="Folder or name of a run.")],
    *,
    asked: _Resuming,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Go on with a run that was stopped, killed, gave up, or waits for an answer."""
    from app.commands.vary import go_on_with_other
    from graph.new.requests import Remedy, begin_again, by_form, read_form, read_request
    from graph.run.folder import find_folder, runs_folder

    if asked.source not in (None, "design"):
        raise typer.BadParameter(f"--from is {asked.source!r}; known: design")
    answer = None if asked.answer is None else options.readable_words(asked.answer, "the answer")
    edits, checkpoints = asked.discard_edits, asked.discard_checkpoints
    remedy = asked.remedy(anew=asked.source is not None)  # before anything is begun again
    folder = find_folder(run, runs_folder(), to_go_on=True)
    with folder.held(), place.chosen():
        go_on_with_other(folder, vars(asked), as_json=as_json)
        request, form = read_request(folder), None
        if asked.source is not None:
            form = by_form(request, read_form(folder), folder)
            _require_known(form.choices)
        if form is not None or edits or checkpoints:
            begin_again(folder, database(), form=form, edits=edits)
        if edited := folder.edited():
            note(f"kept as you changed them: {', '.join(edited)}")
        carry_on(
            folder,
            request.remedied(remedy).settings,
            fresh=False,
            given=answer,
            as_json=as_json,
            remedy=None if remedy == Remedy() else remedy,
        )


@options.grouped
def revise_run(
    run: Annotated[str, typer.Argument(help="Folder or name of a run.")],
    message: Annotated[str, typer.Argument(help="What to change, or a question on the game.")],
    *,
    asked: RevisedOptions,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Change a finished game in your own words, or ask about it; the game before it stays."""
    if not (message := options.readable_words(message, "the message").strip()):
        raise typer.BadParameter("the message is empty; say what to change, or ask something")
    revised(run, message, asked.given(), place, as_json)


def revised(run: str, words: str, given: dict[str, Any], at: options.Isolation, json: bool) -> None:
    """Change a finished game by a message, and print its result."""
    from graph.new.requests import read_request, write_request
    from graph.run.folder import find_folder, runs_folder

    folder = find_folder(run, runs_folder(), to_go_on=True)
    with folder.held(), at.chosen():
        request = read_request(folder).answered(words)
        require_finished(folder)
        # Part of what was asked, so that the run can be made again with it.
        settings = request.settings.but(given)
        write_request(request.model_copy(update={"settings": settings}), folder)
        carry_on(folder, settings, fresh=False, given=None, as_json=json)


def require_finished(folder: "RunFolder") -> None:
    """Refuse a run that made no game yet.

    Raises:
        RunFolderError: Saying how to go on with it.
    """
    from graph.run.folder import RunFolderError

    if not all((folder.path / name).exists() for name in ("run.json", "design.json")):
        raise RunFolderError(
            f"the run in {folder.path} has no finished game yet; go on with it first: "
            f"rulewright resume {folder.path}"
        )


def carry_on(
    folder: "RunFolder",
    settings: "RunSettings",
    *,
    fresh: bool,
    given: str | None,
    as_json: bool,
    remedy: "Remedy | None" = None,
) -> None:
    """Begin or go on with a run, with live progress, and print its result."""
    from graph.new.opening import make_context
    from graph.new.runs import open_run
    from graph.run.checkpoints import BrokenCheckpointsError
    from graph.run.events import Opens
    from graph.run.folder import RunFolderError

    interactive = a_person_is_here() and not as_json
    stopped = f"stopped; what was finished is kept. Go on with: rulewright resume {folder.path}"

    with ends_at_once(lambda: stopped), Progress(quiet=as_json) as progress, ExitStack() as held:
        with _taken_back(folder, fresh=fresh):
            progress(Opens())
            address = database()
            context = make_context(
                settings, interactive=interactive, exchanges=folder.exchanges, tell=note
            )
            context.invents = invent
        held.enter_context(context.retrieval.store)
        held.enter_context(context.sandbox)
        _announce(context)
        try:
            with open_run(folder, context, database=address, remedy=remedy) as run:
                unused = _talked(run, progress, given, interactive=interactive)
                result = run.result()
        except (BrokenCheckpointsError, RunFolderError):
            raise  # its message says how to go on
        except BaseException:
            progress.pause()
            note(stopped)
            raise
    if unused is not None:
        raise RunFolderError(
            f"the run in {folder.path} has ended and asks nothing: the answer {unused!r} was not "
            f"used. To change its game: rulewright revise {folder.path} '...'; or edit "
            f"design.yaml there, then: rulewright resume {folder.path} --from design"
        )
    _finish(result, as_json=as_json)


def _talked(
    run: "RunHandle[RunResult]", progress: Progress, given: str | None, *, interactive: bool
) -> str | None:
    """Let a run go on, with a person's answers; an answer `given` that nobody asked for."""
    while True:
        for event in run.events():
            progress(event)
        progress.pause()
        question = run.question
        if question is None:
            return given
        if not given and interactive:
            given = _answered(question.ask, question.description)
        if not given:
            return given
        run.answer(given)
        given = None


@contextmanager
def _taken_back(folder: "RunFolder", *, fresh: bool) -> Iterator[None]:
    """A fresh folder goes again where the block fails: nothing was begun that could be resumed."""
    try:
        yield
    except BaseException:
        if fresh:
            (folder.state / "request.json").unlink(missing_ok=True)
            for path in (folder.journals, folder.state, folder.path):
                with suppress(OSError):
                    path.rmdir()
        raise


def _announce(context: "RunContext") -> None:
    """One line on who works and where; with a model, what the run may cost."""
    from graph.new.opening import describe_roles
    from graph.run.sandboxes import describe_grade

    note(describe_roles(context))
    note(describe_grade(context.sandbox.grade))


def _answered(wanted: str, description: str | None) -> str | None:
    """The answer of a person; None leaves the run waiting."""
    if description is None:
        say(wanted)
        return ask("Your answer [none]: ") or None
    say(description.removesuffix(wanted))
    answer = ask(f"{wanted} [yes]: ")
    return answer if answer is None else answer or "yes"


def _finish(result: "RunResult", *, as_json: bool) -> None:
    from graph.new.results import closing_text, exit_code, result_object

    if as_json:
        print_json(result_object(result))
    else:
        say(closing_text(result))
    leave(WAITING if result.question is not None else exit_code(result.state))
