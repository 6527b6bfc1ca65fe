"""Design: the mechanic designer turns the brief into rules, mechanics and parameters."""

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.models import place
from agents.protocols import RoleError
from graph.context import RunContext
from graph.defaults import context_of, folder_of
from graph.examples import mechanics_near
from graph.routing import AfterDesign, after_design
from graph.rulebook import rulebook_text
from graph.state import RunState


def design(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterDesign]:
    """Design the game and write its rulebook, so that a person can read it early."""
    context = context_of(runtime, state.folder)
    if state.brief is None:
        raise ValueError("design runs after intake; the state holds no brief")
    try:
        with place("design"):
            made = context.roles.designer.design(state.brief, mechanics_near(context.retrieval))
    except RoleError as error:
        return Command(goto="report", update={"end": "gave_up", "reason": str(error)})
    folder = folder_of(state)
    folder.write_text("rulebook.md", rulebook_text(made, state.brief))
    folder.write_text("design.json", made.model_dump_json(indent=2) + "\n")
    runtime.stream_writer(
        {"node": "design", "title": made.title, "rules": len(made.rules), "family": made.family}
    )
    wanted = context.settings.approve and not state.approved
    return Command(goto=after_design(approve=wanted), update={"design": made})
