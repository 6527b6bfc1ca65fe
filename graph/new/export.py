"""The graph that `langgraph.json` names: without a checkpointer, because the server brings one."""

from typing import TYPE_CHECKING, Any

from graph.new.build import build, recursion_limit
from graph.run.context import RunContext
from graph.run.settings import RunSettings

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

# Any: what stands here is for servers, which send JSON and no `RunState`.
graph: "CompiledStateGraph[Any, RunContext, Any, Any]" = (
    build()
    .compile(name="rulewright")
    .with_config({"recursion_limit": recursion_limit(RunSettings().max_rounds)})
)
