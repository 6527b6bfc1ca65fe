"""Node: word the next variant, and read it again until no ambiguity or conflict is left."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.roles.variation import reword_rules, settle_rules
from graph.run.checkpoints import moved
from graph.run.events import Reworded, writer_of
from graph.vary.wording import WordedVariant, WordingContext, WordingState

_OPEN = "after {} readings something was still ambiguous or in conflict: {}"


def reword(
    state: WordingState, runtime: Runtime[WordingContext]
) -> Command[Literal["reword", "rank"]]:
    """Word one variant; the node comes back for the next."""
    waiting = [one for one in state.variants if one.game is None and not one.reason]
    if not waiting:
        return moved("rank", state, state)
    made = _made(waiting[0], runtime.context)
    writer_of(runtime.stream_writer)(
        Reworded(
            variant=made.number,
            title=made.game.title if made.game else "",
            problems=len(made.game.problems) if made.game else 0,
            reason=made.reason,
        )
    )
    return moved("reword" if waiting[1:] else "rank", state, state.with_variant(made))


def _made(variant: WordedVariant, context: WordingContext) -> WordedVariant:
    settings, base = context.request.settings, context.request.base
    model, replaced = context.chat.of_role("designer"), [str(one) for one in variant.replaced]
    try:
        with place(f"vary/{variant.number}"):
            game = reword_rules(
                model,
                title=base.title,
                players=base.players,
                rules=base.rules,
                replaced=replaced,
                keep=settings.keep,
            )
        with place(f"settle/{variant.number}"):
            game = settle_rules(model, game, replaced, rounds=settings.readings)
    except MalformedReplyError as error:
        return variant.model_copy(update={"reason": f"the model gave none: {error}"})
    reason = "" if game.settled else _OPEN.format(settings.readings, game.problems[-1])
    return variant.model_copy(update={"game": game, "reason": reason})
