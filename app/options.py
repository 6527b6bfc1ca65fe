"""Options that several commands share, and a game's parameters as a person gives them."""

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass, make_dataclass, replace
from os import fsencode
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, get_args

import typer

from app.console import note, say

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import BaseModel

    from games.engine import Ending
    from games.values import Json as Value
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox
    from tools.sources import GameSource

SettingsT = TypeVar("SettingsT", bound="BaseModel")
GroupT = TypeVar("GroupT", bound="DataclassInstance")

HostSearch = Annotated[
    bool,
    typer.Option(
        "--host-search",
        help="Search on the host, where a module cannot reach the search: slower, the same moves.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        max=2**64 - 1,  # no checkpoint keeps more
        help="Seeds every random choice; else 64 bits are drawn and told.",
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        metavar="NAME",
        help="Where generated code runs: linux, seatbelt, e2b or process; else the platform's.",
    ),
]
NoIsolation = Annotated[
    bool,
    typer.Option("--i-accept-no-isolation", help="With --sandbox process, which confines nothing."),
]
Retrieves = Annotated[
    bool, typer.Option("--retrieval/--no-retrieval", help="Show library games to the roles.")
]
Learns = Annotated[
    float, typer.Option("--learn", metavar="MINUTES", min=0, max=1440, help="Train players of it.")
]
RefineBy = Annotated[
    str | None,
    typer.Option(
        "--refine", help="How to refine: conversation, or tree (usual with several candidates)."
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=64, help="Matches at the same time.")]
Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="KIND",
        help="What plays them side by side: threads, processes, ray or ray:ADDRESS.",
    ),
]
Game = Annotated[
    str, typer.Argument(help="A library name, a module file, or a run's folder or name.")
]
OptionalGame = Annotated[
    str | None, typer.Argument(help="A library name, a module file, or a run's folder or name.")
]
Junit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Also write the outcome as JUnit, for a CI job."),
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="ENDINGS",
        help="End with code 1 where a match was one of: forfeit, void (a fault, or no end).",
    ),
]
Environment = Annotated[
    str | None,
    typer.Option(
        "--environment",
        metavar="NAME",
        help="Instead of a game: what plays by itself, such as openspiel:chess or module:Class.",
    ),
]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the game: NAME=VALUE.")
]
MaxPlies = Annotated[int, typer.Option("--max-plies", min=1)]
Seats = Annotated[int, typer.Option("--players", min=0, help="Seats; 0: the usual.")]
JournalFile = Annotated[
    Path | None, typer.Option("--journal", help="File to go on from after a stop.")
]


def _named(text: str) -> Path:
    """A path that was given; an empty one would be the working folder."""
    if not text:
        raise typer.BadParameter("it is empty; required: a folder, which may be new")
    return Path(text)


OutFolder = Annotated[
    Path | None, typer.Option("--out", parser=_named, metavar="FOLDER", help="Folder to write.")
]


@dataclass(frozen=True, kw_only=True)
class Isolation:
    """The place where generated code runs."""

    sandbox: Backend = None
    no_isolation: NoIsolation = False

    def chosen(self) -> AbstractContextManager[None]:
        """Let generated code run there, inside the block."""
        from graph.run.sandboxes import sandbox_chosen

        return sandbox_chosen(self.sandbox, self.no_isolation)

    @contextmanager
    def opened(self) -> "Iterator[Sandbox]":
        """A sandbox there; its grade is said first."""
        from graph.run.sandboxes import describe_grade, open_sandbox

        with self.chosen(), open_sandbox() as opened:
            note(describe_grade(opened.grade))
            yield opened


@dataclass(frozen=True, kw_only=True)
class Playing:
    """The way in which many matches are played."""

    jobs: Jobs = 1
    executor: Executor = "threads"
    journal: JournalFile = None
    host_search: HostSearch = False
    fail_on: FailOn = ""

    def __post_init__(self) -> None:
        """Refuse an ending that is none, before anything is played."""
        for name in filter(None, self.fail_on.split(",")):
            if name not in _FAILING:
                raise typer.BadParameter(
                    f"{name!r}; required: {' or '.join(_FAILING)}, or both with a comma between",
                    param_hint="--fail-on",
                )

    def failed(self, endings: "Mapping[Ending, int]") -> bool:
        """True where a match ended as `--fail-on` names; how many did is noted."""
        named = [name for name in _FAILING if name in self.fail_on.split(",")]
        counts = {name: sum(endings[ending] for ending in _FAILING[name]) for name in named}
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        if told:
            note(f"failed: {told} (--fail-on {self.fail_on})")
        return bool(told)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every field of its groups, which are dataclasses, as an option of its own.

    >>> def show(*, place: Isolation) -> None:
    ...     print(place.sandbox)
    >>> list(inspect.signature(grouped(show)).parameters)
    ['sandbox', 'no_isolation']
    >>> grouped(show)(sandbox="linux", no_isolation=False)
    linux
    """
    asked = inspect.signature(command).parameters.values()
    groups = {
        one.name: group
        for one in asked
        if isinstance(group := one.annotation, type) and is_dataclass(group)
    }

    def called(**given: object) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    options = [
        option
        for one in asked
        for option in (_options_of(groups[one.name]) if one.name in groups else [one])
    ]
    called.__doc__, called.__name__ = command.__doc__, command.__name__
    setattr(called, "__signature__", inspect.Signature(options))  # noqa: B010 - no attribute to mypy
    return called


def _options_of(group: "type[DataclassInstance]") -> list[inspect.Parameter]:
    """The fields of a group, as a command's parameters."""
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=field.type,
        )
        for field in fields(group)
    ]


def as_they_stand(group: type[GroupT]) -> type[GroupT]:
    """A group whose options change nothing where they are not given: their default is None."""
    asked = []
    for one in fields(group):
        kind, *about = get_args(one.type)
        asked.append((one.name, Annotated[kind | None, *about], None))
    return make_dataclass(group.__name__, asked, bases=(group,), frozen=True, kw_only=True)


def model_filled(group: object, model: type[SettingsT]) -> SettingsT:
    """The settings that a group of the same names asks for; an option that is None is left out."""
    return model.model_validate(
        {name: value for name, value in vars(group).items() if value is not None}
    )


def readable_words(text: str, what: str, longest: int = 0) -> str:
    """The text, where it can be read.

    Args:
        text: As it was given.
        what: Says which text it is.
        longest: Characters that it may have; 0 for those of a prompt.

    Raises:
        typer.BadParameter: If it is too long, or was no UTF-8 on the command line.
    """
    if len(text) > (longest := longest or _LONGEST_PROMPT):
        raise typer.BadParameter(
            f"{what} has {len(text)} characters; at most {longest} are read. "
            "Say it in a few sentences"
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise typer.BadParameter(
            f"{what} holds a byte that is no UTF-8, at character {error.start + 1}; type it anew, "
            "or save it as UTF-8"
        ) from error
    return text


def say_not_audited(why: str) -> None:
    """Say first that a result is not audited, where it is not."""
    from games.text import one_line

    if why:
        say(f"not audited: {one_line(why)}")


def require_new(file: Path, force: bool) -> None:
    """Refuse a file that cannot be written, or is there already.

    Raises:
        typer.BadParameter: Saying which.
    """
    is_long = len(fsencode(file.name)) > _LONGEST_NAME
    if is_long or (file.exists() and not file.is_file()):  # a pipe would wait for its reader
        raise typer.BadParameter(f"{str(file)[:_SHOWN]} can be no plain file; name another")
    if file.exists() and not force:
        raise typer.BadParameter(f"{file} is there already; choose another name, or say --force")
    if not file.parent.is_dir():
        raise typer.BadParameter(f"{file.parent} is no folder; make it first")


_FAILING: "dict[str, tuple[Ending, ...]]" = {
    "forfeit": ("forfeit",),
    "void": ("fault", "unfinished"),
}
_HINT = "--set"
_LONGEST_PROMPT = 100_000
_SHOWN = 80
_LONGEST_NAME = 250  # bytes; what is written first has a longer one
_RANGE = re.compile(r"\brange\((-?\d+), (-?\d+)\)")


def given_parameters(pairs: Sequence[str]) -> "dict[str, Value]":
    """NAME=VALUE pairs; a value is JSON, or else a word. Which names exist, the game knows.

    Raises:
        typer.BadParameter: If a pair is none, or its value is none that JSON can hold.

    >>> given_parameters(["rows=5", "wrap=true", "trump=hearts"])
    {'rows': 5, 'wrap': True, 'trump': 'hearts'}
    """
    given: dict[str, Value] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"{_shown(pair)}; required: NAME=VALUE", param_hint=_HINT)
        try:
            value = _value(text)
        except ValueError as error:
            raise typer.BadParameter(
                f"{_shown(pair)}; required: a finite number of a usual size, true, false, other "
                "JSON, or a word",
                param_hint=_HINT,
            ) from error
        if given.setdefault(name, value) != value:
            raise typer.BadParameter(
                f"{_shown(name)} is given twice, with different values; leave one of them out",
                param_hint=_HINT,
            )
    return given


def game_called(name: str) -> "GameSource":
    """A game by its library name, its file or folder, or the name of the run that made it.

    Raises:
        GameNotFoundError: If there is none of that name.
    """
    from games import library
    from graph.run.folder import runs_folder
    from tools.sources import find_game

    in_runs = runs_folder() / name
    is_run = name not in library.names() and not Path(name).exists()
    return find_game(str(in_runs) if is_run and in_runs.is_dir() else name)


def accepted_parameters(game: "GameSetup", sandbox: "Sandbox") -> "dict[str, Value]":
    """All parameters of a game: its defaults, and over them what was given, which it accepts.

    Raises:
        typer.BadParameter: If the module refuses what was given, but not its own defaults.
        TournamentError: If a parameter is unknown, or the game does not take so many players.
        ModuleFault: If the module does not load.
    """
    from games.contract import Game, player_numbers, players_text
    from tools.playtest.schedule import TournamentError
    from tools.playtest.tournament import effective_parameters
    from tools.sandbox import SandboxedModule

    game = game.renamed_from
    if game.environment:
        return dict(game.parameters)
    with sandbox.loaded("parameters", game.source) as worker:
        numbers = player_numbers(Game(SandboxedModule(worker)).info)
    if game.num_players not in numbers:
        takes = players_text(numbers)
        raise TournamentError(f"{game.name} takes {takes} players, not {game.num_players}")
    parameters = effective_parameters(game, sandbox)
    if not game.parameters or (refusal := _refusal(game, parameters, sandbox)) is None:
        return parameters
    defaults = effective_parameters(replace(game, parameters={}), sandbox)
    if _refusal(game, defaults, sandbox) is not None:
        return parameters  # not for what was given: the matches will show the module's fault
    given = ", ".join(_shown(f"{name}={value}") for name, value in game.parameters.items())
    raise typer.BadParameter(f"{game.name} refuses {given}: {refusal}", param_hint=_HINT)


def _value(text: str) -> "Value":
    """Read a value.

    Raises:
        ValueError: If no JSON can hold it, or a module could not be sent it.
    """
    from games.values import ModuleFault, require_json

    text.encode()  # a byte of the command line that was no UTF-8 fails here
    try:
        value: Value = json.loads(text)
    except json.JSONDecodeError:
        return {"True": True, "False": False, "None": None}.get(text, text)  # as help prints them
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    try:
        require_json(value, "parameter")
    except ModuleFault as fault:  # NaN, Infinity and 1e999, which Python reads
        raise ValueError(str(fault)) from fault
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _refusal(
    game: "GameSetup", parameters: "Mapping[str, Value]", sandbox: "Sandbox"
) -> str | None:
    """The words in which the module refuses these parameters at its first state, if it does."""
    from games.values import ModuleFault

    refused = "ValueError: "
    with sandbox.loaded("parameters", game.source) as worker:
        try:
            worker.call("initial_state", [game.num_players], parameters)
        except ModuleFault as fault:
            ours = fault.kind == "raised" and fault.message.startswith(refused)
            said = fault.message.removeprefix(refused)
            return _RANGE.sub(lambda m: f"{m[1]} to {int(m[2]) - 1}", said) if ours else None
    return None


def _shown(pair: str) -> str:
    return pair if len(pair) <= _SHOWN else pair[: _SHOWN - 1] + "…"
