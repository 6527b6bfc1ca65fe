"""Node: the base's mechanic graph, from what is known of it or as the model reads its rules."""

from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import MechanicsRead, writer_of
from graph.vary.wording import WordingContext, WordingState


def mechanics(
    state: WordingState, runtime: Runtime[WordingContext]
) -> Command[Literal["substitute"]]:
    """Take the base apart."""
    context = runtime.context
    book = context.request.base.taken_apart(lambda: context.chat)
    count = len(book.graph.nodes) if book.graph else 0
    writer_of(runtime.stream_writer)(MechanicsRead(mechanics=count, problems=book.problems))
    return moved("substitute", state, replace(state, graph=book.graph, problems=book.problems))
