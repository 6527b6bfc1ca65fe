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
from games.corpus import corpus_names
from graph.run.events import FolderMade, with_waits, writer_of
from graph.run.folder import RunFolder, RunFolderError, runs_folder
from graph.run.sandboxes import open_sandbox
from graph.vary.report import final_table, read_varied
from graph.vary.runs import NODES, STEPS, begin_varying, has_varied, make_varying
from graph.vary.settings import MOST_KEPT, MOST_VARIANTS, is_variation
from graph.vary.state import VaryState

if TYPE_CHECKING:
    from graph.vary.wording import GameMaker
    from tools.sandbox import Sandbox


class VaryInput(BaseModel):
    """A game to vary."""

    game: str = Field(default="connect_four", description="A library name, or a run's name.")
    n: int = Field(default=8, ge=1, le=MOST_VARIANTS, description="Variants wanted.")
    keep: str = Field(default="", max_length=MOST_KEPT, description="What shall stay as it is.")
    quick: bool = Field(default=False, description="Fewer candidates and matches.")
    seed: int | None = Field(
        default=None, ge=0, le=2**64 - 1, description="Drawn where none is given."
    )
    with_model: bool = Field(default=False, description="Let the model vary the rules in words.")
    make: int = Field(default=3, ge=0, le=MOST_VARIANTS, description="Of those: coded and played.")


class VaryOutput(BaseModel):
    """The variants, as a table in words.

    Attributes:
        summary: The table, and how it came to be.
        folder: Of the run, with the variants' folders.
    """

    summary: str = ""
    folder: str = ""


def intake(state: VaryInput, runtime: Runtime[None]) -> Command[Literal["base"]]:
    """Make the run's folder; the game is the library's, the corpus's, or a run's beside it."""
    given = state.model_dump(exclude={"game", "with_model"}, exclude_none=True)
    folder, _ = begin_varying(_known(state), given, with_model=state.with_model)
    writer_of(runtime.stream_writer)(FolderMade(folder=str(folder.path)))
    fresh = {**vars(VaryState()), "folder": str(folder.path)}  # a thread keeps the run before
    return Command(goto="base", update={**fresh, "summary": ""})


def _known(asked: VaryInput) -> str:
    """The name of a game that a client may have varied: no path leads out of the runs."""
    place, names = runs_folder() / asked.game, [*library.names()]
    names += corpus_names() if asked.with_model else ()
    if asked.game in names:
        return asked.game
    if place.is_dir() and place.resolve().parent == runs_folder().resolve():
        return str(place)
    known = ", ".join(names)
    raise RunFolderError(f"{asked.game!r} is no run under {runs_folder()}, and no game of {known}")


@cache
def _sandbox() -> "Sandbox":
    """One sandbox for all runs of the process."""
    opened = open_sandbox()
    opened.start()
    return opened


def _in_folder(node: Callable[..., Command[Any]], maker: "GameMaker | None") -> Any:  # noqa: ANN401 - LangGraph's type of a node
    """The node in the folder that the state names, with resources that the process shares."""

    @wraps(node)
    def run(state: VaryState, runtime: Runtime[Any]) -> Command[Any]:
        # A server's client may send an update of the state, and so a folder.
        folder, runs = RunFolder(runs_folder().resolve() / state.folder), runs_folder().resolve()
        if folder.path.resolve().parent != runs or not is_variation(folder):
            raise RunFolderError(f"{state.folder!r} is no run of `vary` in {runs}; begin a new one")
        with folder.held(), make_varying(folder, _sandbox(), maker) as context:
            command: Command[Any] = with_waits(node)(state, runtime.override(context=context))
            if not has_varied(folder):
                return command
            told = {"summary": final_table(read_varied(folder), folder)}
            return replace(command, update={**(command.update or {}), **told})

    return run


def served_variation(maker: "GameMaker | None" = None) -> Any:  # noqa: ANN401 - LangGraph's compiled type
    """The graph of a server.

    Args:
        maker: Makes games of what is put into words; None where nobody can.
    """
    builder = StateGraph(VaryState, input_schema=VaryInput, output_schema=VaryOutput)
    builder.add_node("intake", intake)
    for node in NODES:
        builder.add_node(node.__name__, _in_folder(node, maker))
    builder.add_edge(START, "intake")
    limit: Any = {"recursion_limit": STEPS}
    return builder.compile(name="vary").with_config(limit)
