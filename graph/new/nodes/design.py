"""Design: the mechanic designer turns the brief into rules."""

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import NoFitError, RoleError
from games.text import quoted
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.reporting import write_design
from graph.new.requests import doubts_of
from graph.new.state import AfterDesign, RunState, folder_of, go_on, need_brief
from graph.run.events import Designed, writer_of


def design(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterDesign]:
    """Design the game and write its rulebook, so that a person can read it early."""
    context = context_of(runtime, state.folder, state.seed)
    brief = need_brief(state)
    try:
        with place("design"):
            made = context.roles.designer.design(brief, context.retrieval.mechanics)
    except NoFitError as error:
        return go_on("report", state, state.ending("no_fit", str(error), error.fit))
    except RoleError as error:
        return go_on("report", state, state.ending("gave_up", str(error)))
    write_design(folder_of(state), made, brief)
    designed = Designed(title=made.title, rules=len(made.rules), family=made.family)
    writer_of(runtime.stream_writer)(designed)
    unclear = context.interactive and bool(doubts_of(made))
    wanted = (context.settings.approve or unclear) and not state.approved
    seats = f"{made.num_players} player{'s' * (made.num_players > 1)}"
    said = quoted(f"Designed {made.title} for {seats}: {len(made.rules)} rules.")
    after = state.designed(made).made_by(context.roles)
    after = after.waiting(asks=wanted).saying(said, "design")
    goto: AfterDesign = "approve" if wanted else "code"
    return go_on(goto, state, after)
