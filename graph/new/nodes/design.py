"""Design: the mechanic designer turns the brief into rules."""

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import NoFitError, RoleError
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.reporting import write_design
from graph.new.requests import (
    doubts_of,
)
from graph.new.state import AfterDesign, RunState, after_design, folder_of
from graph.run.events import Designed, writer_of


def design(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterDesign]:
    """Design the game and write its rulebook, so that a person can read it early."""
    context = context_of(runtime, state.folder)
    if state.brief is None:
        raise ValueError("design runs after intake; the state holds no brief")
    try:
        with place("design"):
            made = context.roles.designer.design(state.brief, context.retrieval.mechanics)
    except NoFitError as error:
        ended = {"end": "no_fit", "reason": str(error), "fit": error.fit}
        return Command(goto="report", update=ended)
    except RoleError as error:
        return Command(goto="report", update={"end": "gave_up", "reason": str(error)})
    write_design(folder_of(state), made, state.brief)
    designed = Designed(title=made.title, rules=len(made.rules), family=made.family)
    writer_of(runtime.stream_writer)(designed)
    unclear = context.interactive and bool(doubts_of(made))
    wanted = (context.settings.approve or unclear) and not state.approved
    return Command(goto=after_design(approve=wanted), update={"design": made, "asks": wanted})
