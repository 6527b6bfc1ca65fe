"""The graph that `langgraph.json` names: without a checkpointer, because the server brings one."""

from graph.build import build, recursion_limit
from graph.settings import RunSettings

graph = (
    build()
    .compile(name="rulewright")
    .with_config({"recursion_limit": recursion_limit(RunSettings().max_rounds)})
)
