"""Node: write each variant's folder, `vary.json` and `report.html`, whatever the run came to."""

from collections import Counter
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.composer.designer import family_design
from graph.run.checkpoints import moved
from graph.run.events import Reported, writer_of
from graph.run.sandboxes import grades_of
from graph.run.settings import versions
from graph.vary.bases import BaseGame
from graph.vary.report import TOLD, VariantRow, VaryReport, variations_page
from graph.vary.state import Variant, VaryContext, VaryState


def report(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["__end__"]]:
    """Write all that a person opens; the report comes last."""
    context, folder = runtime.context, runtime.context.folder
    game, rows = context.request.base, []
    for number, one in enumerate(state.kept, 1):
        place = f"variants/{number}"
        texts = {"game.py": game.module(one.twist), "rulebook.md": game.rulebook(one.twist)}
        texts |= {f"players/{name}.py": source for name, source in game.heuristics.items()}
        texts |= _design(game, one)
        folder.write_together({f"{place}/{name}": text for name, text in texts.items()})
        rows += _row(state, context, one, number, place)
    figures = state.noise.result.figures
    if figures is None or state.end is None:
        raise ValueError("the run has no end, or the base no figures")
    told = VaryReport(
        base=game.name,
        title=game.title,
        end=state.end,
        reason=state.reason,
        chance=state.noise.chance,
        units=state.noise.units,
        profile=state.noise.mean,
        figures=figures,
        variants=tuple(rows),
        tried=len(state.candidates),
        dropped=dict(Counter(one.reason for one in state.candidates if one.reason)),
        kept=state.held,
        not_understood=state.unread,
        not_varied=state.unranged,
        settings=context.settings,
        versions=versions(),
        sandbox=grades_of(folder, context.sandbox.grade)[0],
    )
    folder.write_text("report.html", variations_page(told, folder))
    folder.write_json(TOLD, told.model_dump(mode="json"))
    writer_of(runtime.stream_writer)(Reported(end=state.end, folder=str(folder.path)))
    return moved("__end__", state, state)


def _design(game: BaseGame, one: Variant) -> dict[str, str]:
    """The design of a variant by its file, for `compare` and `explain`; of no family, none."""
    if not game.family:
        return {}
    setup = game.setup(one.twist)
    design = family_design(game.family, setup.parameters, setup.num_players)
    return {"design.json": design.model_dump_json(indent=2) + "\n"}


def _row(
    state: VaryState, context: VaryContext, one: Variant, number: int, place: str
) -> list[VariantRow]:
    """The row of a variant; none of one that was not played to its end."""
    if one.final is None or one.final.figures is None:
        return []
    game = context.request.base
    return [
        VariantRow(
            number=number,
            title=game.titled(one.twist),
            difference=game.difference(one.twist),
            changed=one.twist,
            novelty=state.novelty(one),
            figures=one.final.figures,
            profile=one.final.profile,
            folder=place,
            command=game.command(one.twist),
            checks=len(one.findings or ()),
        )
    ]
