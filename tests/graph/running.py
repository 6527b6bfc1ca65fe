"""A run from its beginning, or on from where it stands, with a function that answers."""

from collections.abc import Callable

from graph.new.context import RunContext
from graph.new.requests import Remedy
from graph.new.results import RunResult
from graph.new.runs import GameRun, open_run
from graph.run.events import Tell
from graph.run.folder import RunFolder
from graph.run.handle import Question

Answer = Callable[[Question], str | None]


def start_run(
    prompt: str, folder: RunFolder, context: RunContext, tell: Tell = lambda _: None
) -> RunResult:
    """Begin a run, with nobody there to answer."""
    with open_run(folder, context, prompt=prompt) as run:
        return _finished(run, tell, lambda _: None)


def resume_run(
    folder: RunFolder,
    context: RunContext,
    *,
    tell: Tell = lambda _: None,
    answer: Answer = lambda _: None,
    database: str | None = None,
    remedy: Remedy | None = None,
) -> RunResult:
    """Go on; what the run asks, `answer` answers, or None leaves it waiting."""
    if not folder.asked:
        raise AssertionError(f"{folder.path} has no request")
    with open_run(folder, context, database=database, remedy=remedy) as run:
        return _finished(run, tell, answer)


def _finished(run: GameRun, tell: Tell, answer: Answer) -> RunResult:
    for event in run.events():
        tell(event)
    while (question := run.question) is not None and (words := answer(question)) is not None:
        run.answer(words)
        for event in run.events():
            tell(event)
    return run.result()
