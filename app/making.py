"""Games that a variation puts into words, made by the machine of `new`."""

from typing import TYPE_CHECKING

from app.console import note

if TYPE_CHECKING:
    from graph.new.results import RunResult
    from graph.run.events import Tell
    from graph.run.folder import RunFolder
    from graph.vary.report import MadeGame
    from graph.vary.settings import WordingSettings


def make_game(
    folder: "RunFolder", prompt: str, asked: "WordingSettings", tell: "Tell"
) -> "MadeGame":
    """A game coded, checked and played by a run of `new` of its own, which goes on if begun."""
    from graph.new.context import RunSettings
    from graph.new.opening import make_context
    from graph.new.requests import Request, read_request, write_request
    from graph.new.runs import open_run
    from graph.run.handle import apart

    if not folder.asked:
        folder.make()
        settings = RunSettings(seed=asked.seed, quick=asked.quick)
        write_request(Request(prompt=prompt, settings=settings), folder)
    settings = read_request(folder).settings

    def made() -> "MadeGame":
        context = make_context(
            settings, exchanges=folder.exchanges, keeps_own_games=False, tell=note
        )
        with (
            folder.held(),
            context.retrieval.store,
            context.sandbox,
            open_run(folder, context) as run,
        ):
            for event in run.events():
                tell(event)
            return _came_of(run.result())

    return apart(made)


def _came_of(result: "RunResult") -> "MadeGame":
    from graph.new.results import exit_code
    from graph.vary.report import MadeGame, fair_text

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
        fairness=fair_text(played.fairness) if played is not None and played.fairness else "",
        length=length.value if length else None,
        choices=choices.value if choices else None,
        skill=skill,
    )
