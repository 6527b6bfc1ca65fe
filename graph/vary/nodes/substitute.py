"""Node: map the base's mechanics to clusters, and propose bred ones for those that are frequent."""

from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from games.streams import stream
from graph.run.checkpoints import moved
from graph.run.events import ReplacementsProposed, writer_of
from graph.vary.wording import WordingContext, WordingState, options_of, variants_of

_NONE = (
    "no mechanic of it lies in a cluster of more than three mechanics of other games that has bred "
    "ones, so it is not varied. Breed in more clusters: rulewright mechanics --breed 20"
)


def substitute(
    state: WordingState, runtime: Runtime[WordingContext]
) -> Command[Literal["reword", "rank"]]:
    """Propose a set of replacements for each variant."""
    context, settings = runtime.context, runtime.context.request.settings
    if state.graph is None:
        raise ValueError("the base was not taken apart")
    base = context.request.base.name
    options = options_of(state.graph, base, context.clusters, context.store.vectors)
    variants = variants_of(options, settings, stream(settings.seed, "vary words"))
    frequent = tuple(dict.fromkeys(one.old for one in options))
    writer_of(runtime.stream_writer)(
        ReplacementsProposed(variants=len(variants), frequent=frequent)
    )
    after = replace(state, variants=variants)
    if not variants:
        return moved("rank", state, replace(after, end="none", reason=_NONE))
    return moved("reword", state, after)
