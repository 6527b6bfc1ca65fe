"""Graph that `langgraph.json` names: without a checkpointer, because the server brings one."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Literal

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field

from games import library
from graph.run.events import FolderMade, writer_of
from graph.run.folder import RunFolder, RunFolderError, create_folder, runs_folder
from graph.run.sandboxes import open_sandbox
from graph.vary.bases import base_of
from graph.vary.report import final_table, read_varied
from graph.vary.runs import NODES, STEPS, has_varied, make_varying
from graph.vary.settings import (
    MOST_VARIANTS,
    VaryRequest,
    VarySettings,
    is_variation,
    write_variation,
)
from graph.vary.state import VaryState
from tools.sources import find_game

if TYPE_CHECKING:
    from tools.sandbox import Sandbox


class VaryInput(BaseModel):
    """A game to vary."""

    game: str = Field(default="connect_four", description="A library name, or a run's name.")
    n: int = Field(default=8, ge=1, le=MOST_VARIANTS, description="Variants wanted.")
    keep: str = Field(default="", max_length=2000, description="What shall stay as it is.")
    quick: bool = Field(default=False, description="Fewer candidates and matches.")
    seed: int | None = Field(default=None, ge=0, lt=2**63, description="Drawn where none is given.")


class VaryOutput(BaseModel):
    """The variants, as a table in words.

    Attributes:
        summary: The table, and how it came to be.
        folder: Of the run, with the variants' folders.
    """

    summary: str = ""
    folder: str = ""


def intake(state: VaryInput, runtime: Runtime[None]) -> Command[Literal["base"]]:
    """Make the run's folder; the game is the library's, or a run's beside it."""
    base = base_of(find_game(_known(state.game)))
    settings = VarySettings.model_validate(state.model_dump(exclude={"game"}, exclude_none=True))
    folder = create_folder(None, title=f"vary {base.title}", runs=runs_folder())
    write_variation(VaryRequest(base=base, settings=settings), folder)
    writer_of(runtime.stream_writer)(FolderMade(folder=str(folder.path)))
    fresh = {**vars(VaryState()), "folder": str(folder.path)}  # a thread keeps the run before
    return Command(goto="base", update={**fresh, "summary": ""})


def _known(game: str) -> str:
    """The name of a game that a client may have varied: no path leads out of the runs."""
    place = runs_folder() / game
    if game in library.names():
        return game
    if place.is_dir() and place.resolve().parent == runs_folder().resolve():
        return str(place)
    known = ", ".join(library.names())
    raise RunFolderError(f"{game!r} is no run under {runs_folder()}, and no game of {known}")


@cache
def _sandbox() -> "Sandbox":
    """One sandbox for all runs of the process."""
    opened = open_sandbox()
    opened.start()
    return opened


def _in_folder(node: Callable[..., Command[Any]]) -> Any:  # noqa: ANN401 - LangGraph's type of a node
    """The node in the folder that the state names, with resources that the process shares."""

    @wraps(node)
    def run(state: VaryState, runtime: Runtime[Any]) -> Command[Any]:
        # A server's client may send an update of the state, and so a folder.
        folder, runs = RunFolder(runs_folder().resolve() / state.folder), runs_folder().resolve()
        if folder.path.resolve().parent != runs or not is_variation(folder):
            raise RunFolderError(f"{state.folder!r} is no run of `vary` in {runs}; begin a new one")
        with folder.held():
            context = make_varying(folder, _sandbox())
            command = node(state, runtime.override(context=context))
            if not has_varied(folder):
                return command
            told = {"summary": final_table(read_varied(folder), folder)}
            return replace(command, update={**(command.update or {}), **told})

    return run


def _served() -> StateGraph[VaryState, None, VaryInput, VaryOutput]:
    builder = StateGraph(VaryState, input_schema=VaryInput, output_schema=VaryOutput)
    builder.add_node("intake", intake)
    for node in NODES:
        builder.add_node(node.__name__, _in_folder(node))
    builder.add_edge(START, "intake")
    return builder


_LIMIT: Any = {"recursion_limit": STEPS}
graph: Any = _served().compile(name="vary").with_config(_LIMIT)
