"""Machines at the service of others: `new` makes what is put into words, `vary` what is wished."""

from contextlib import ExitStack, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from app.console import note

if TYPE_CHECKING:
    from graph.new.results import RunResult
    from graph.run.events import Tell
    from graph.run.folder import RunFolder
    from graph.vary.report import MadeGame
    from graph.vary.settings import WordingSettings
    from tools.balancing.wishes import Wish

_BUDGET = 4000  # matches of a search in a conversation


def make_game(
    folder: "RunFolder", prompt: str, asked: "WordingSettings", tell: "Tell"
) -> "MadeGame":
    """A game coded, checked and played by a run of `new` of its own, which goes on if begun."""
    from graph.new.context import RunSettings
    from graph.new.opening import make_context
    from graph.new.requests import Request, read_request, write_request
    from graph.new.runs import open_run
    from graph.run.handle import standing_alone

    if not folder.asked:
        folder.make()
        settings = RunSettings(seed=asked.seed, quick=asked.quick)
        write_request(Request(prompt=prompt, settings=settings), folder)
    settings = read_request(folder).settings

    def made(tell: "Tell") -> "MadeGame":
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

    return standing_alone(made, tell)


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


def invent(wish: "Wish", folder: "RunFolder", seed: int, tell: "Tell") -> str:
    """The answer to a wish on a run's game: its variants, or settings that reach other figures.

    Variants are a run of their own beside it. A search that was stopped goes on when it is asked
    for again. Where no setting can be searched there is no answer: a rule has to change.
    """
    from graph.run.folder import RunFolderError
    from graph.run.handle import standing_alone
    from tools.balancing.space import NothingToSearchError
    from tools.balancing.targets import TargetError

    try:
        if wish.variants:
            return standing_alone(partial(_varied, wish, folder, seed), tell)
        return _fairer(wish, folder, seed)
    except NothingToSearchError:
        return ""
    except (RunFolderError, TargetError) as error:
        return str(error)


def _varied(wish: "Wish", folder: "RunFolder", seed: int, tell: "Tell") -> str:
    from graph.run.folder import RunFolder
    from graph.vary.report import final_table, read_varied
    from graph.vary.runs import begin_varying, has_varied, make_varying, run_varying
    from graph.vary.settings import is_variation

    number = "-".join(folder.path.relative_to(folder.root.path.parent).parts)
    place = RunFolder(folder.root.path.parent / f"{number}-varied-{wish.variants}")
    if not is_variation(place):
        given = {"n": wish.variants, "quick": True, "seed": seed}
        begin_varying(str(folder.path), given, with_model=False, out=place.path)
    if not has_varied(place):
        with place.held(), make_varying(place) as context:
            run_varying(place, context, tell=tell)
    return final_table(read_varied(place), place)


def _fairer(wish: "Wish", folder: "RunFolder", seed: int) -> str:
    from app.commands.balance import Balancing, balance_lines, balanced
    from app.table.session import open_table
    from graph.run.sandboxes import open_sandbox

    asked = Balancing(target=wish.target, budget=_BUDGET, seed=seed)
    with open_sandbox() as sandbox, ExitStack() as held:
        table = open_table(str(folder.path), 0, [], sandbox, held)
        found = balanced(
            *(str(folder.path), table, asked, sandbox),
            ends=lambda _: nullcontext(),
            tell=lambda _: None,
        )
    return "\n".join(balance_lines(found))
