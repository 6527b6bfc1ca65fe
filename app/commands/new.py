"""`new` and `resume`: the main job, with live progress and a clean way out."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.console import a_person_is_here, ask, database, leave, note, print_json, say

if TYPE_CHECKING:
    from graph.context import RunContext
    from graph.folder import RunFolder
    from graph.results import RunResult
    from graph.settings import RunSettings

WAITING = 3  # exit code of a run that waits for a person's answer
_LONGEST_PROMPT = 100_000


def new_run(  # noqa: PLR0913 - one parameter an option
    prompt: str,
    *,
    out: Path | None,
    seed: int,
    quick: bool,
    approve: bool,
    own_games: bool,
    refine: str,
    rounds: int,
    as_json: bool,
) -> None:
    """Start a run; see `app.cli.new`."""
    from graph.folder import create_folder
    from graph.places import runs_folder
    from graph.runs import write_request
    from graph.settings import settings_for

    if refine not in ("conversation", "tree"):
        raise typer.BadParameter(f"--refine is {refine!r}; known: conversation, tree")
    if len(prompt) > _LONGEST_PROMPT:
        raise typer.BadParameter(
            f"the prompt has {len(prompt)} characters; at most {_LONGEST_PROMPT} are read. "
            "Say the game in a few sentences"
        )
    settings = settings_for(seed=seed, quick=quick, approve=approve, own_games=own_games)
    settings = settings.model_copy(update={"refine": refine, "max_rounds": rounds})
    folder = create_folder(out, title=prompt, runs=runs_folder())
    write_request(prompt, folder, settings)
    _run(folder, settings, prompt=prompt, given=None, as_json=as_json)


def resume_named(run: str, *, answer: str | None, as_json: bool) -> None:
    """Go on with a run; see `app.cli.resume`."""
    from graph.folder import find_folder
    from graph.places import runs_folder
    from graph.runs import read_request

    folder = find_folder(run, runs_folder())
    _, settings = read_request(folder)
    _run(folder, settings, prompt=None, given=answer, as_json=as_json)


def _run(
    folder: "RunFolder",
    settings: "RunSettings",
    *,
    prompt: str | None,
    given: str | None,
    as_json: bool,
) -> None:
    from app.interrupt import ends_at_once
    from app.progress import Progress
    from graph.defaults import make_context
    from graph.runs import resume_run, start_run

    interactive = a_person_is_here() and not as_json
    answers = iter([given] if given is not None else [])
    stopped = f"stopped; what was finished is kept. Go on with: rulewright resume {folder.path}"

    def answer(question: dict[str, Any]) -> str | None:
        ready = next(answers, None)
        if ready is not None or not interactive:
            return ready
        progress.pause()
        return _ask(question)

    with Progress(quiet=as_json) as progress, ExitStack() as held:
        with _taken_back(folder, fresh=prompt is not None):
            progress({"node": "open"})
            address = database()
            context = make_context(settings, interactive=interactive, exchanges=folder.exchanges)
        held.enter_context(context.retrieval.store)
        held.enter_context(context.sandbox)
        _announce(context)
        ways: dict[str, Any] = {"tell": progress, "answer": answer, "database": address}
        try:
            with ends_at_once(lambda: stopped):
                if prompt is None:
                    result = resume_run(folder, context, **ways)
                else:
                    result = start_run(prompt, folder, context, **ways)
        except BaseException:
            progress.pause()
            note(stopped)
            raise
    _finish(result, as_json=as_json)


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
    from graph.resources import describe_roles
    from graph.sandboxes import describe_grade

    note(describe_roles(context))
    note(describe_grade(context.sandbox.grade))


def _ask(question: dict[str, Any]) -> str | None:
    rulebook = question.get("rulebook")
    if isinstance(rulebook, str):
        say(Path(rulebook).read_text(encoding="utf-8"))
    answer = ask(f"{question['ask']} [yes]: ")
    return answer if answer is None else answer or "yes"


def _finish(result: "RunResult", *, as_json: bool) -> None:
    from graph.summary import exit_code, final_text, result_object

    if as_json:
        print_json(result_object(result))
    elif result.question is not None:
        say(str(result.question["ask"]))
        say(f"answer with: rulewright resume {result.folder.path} --answer '...'")
    else:
        say(final_text(result.state))
    leave(WAITING if result.question is not None else exit_code(result.state))
