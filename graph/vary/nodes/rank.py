"""Node: compare the variants with all known games and with each other; choose the least similar."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import WordedChosen, writer_of
from graph.vary.wording import WordedVariant, WordingContext, WordingState, known_texts
from tools.variation.novelty import closest_within, text_vector


def rank(state: WordingState, runtime: Runtime[WordingContext]) -> Command[Literal["__end__"]]:
    """Choose those that are made; QMS is read off the same similarities."""
    context, settings = runtime.context, runtime.context.request.settings
    kept = _compared(state.kept, context)
    least = sorted(kept, key=lambda one: (one.similarity, one.number))[: settings.make]
    after = state
    for one in kept:
        after = after.with_variant(one.model_copy(update={"chosen": one in least}))
    if state.end is None:
        end: Literal["varied", "fewer", "none"] = "varied" if len(kept) >= settings.n else "fewer"
        reason = "" if end == "varied" else f"{len(kept)} of {settings.n} variants were worded"
        after = replace(after, end=end if kept else "none", reason=reason)
    writer_of(runtime.stream_writer)(WordedChosen(chosen=len(least), of=len(kept)))
    return moved("__end__", state, after)


def _compared(kept: Sequence[WordedVariant], context: WordingContext) -> list[WordedVariant]:
    """The variants with the known game and the variant that each is most like."""
    embed, base = context.store.vectors, context.request.base
    known = known_texts(but=base.name)
    games = np.stack([text_vector(text, embed) for text in known.values()])
    texts = [one.game.text for one in kept if one.game]
    if not texts:
        return []
    variants = np.stack([text_vector(text, embed) for text in texts])
    likeness = variants @ games.T
    within = closest_within(variants) if len(kept) > 1 else None
    return [
        one.model_copy(
            update={
                "closest": round(float(row.max()), 6),
                "like": [*known][int(row.argmax())],
                "within": None if within is None else round(float(within[at]), 6),
            }
        )
        for at, (one, row) in enumerate(zip(kept, likeness, strict=True))
    ]
