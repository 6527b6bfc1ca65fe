"""Games as Python holds them: loaded by a name, or designed from words."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from app.console import database
from app.making import invent
from app.options import Isolation
from app.python.shown import (
    ArgumentError,
    Displayed,
    ShownTable,
    quietly,
    require_kinds,
    settings_told,
)
from games.text import one_line

if TYPE_CHECKING:
    from app.python.matches import Chooser, MatchResults, ShownMatch
    from games.checks import Finding
    from games.values import Json
    from graph.new.context import RunSettings
    from graph.new.results import RunResult
    from graph.run.events import Event
    from graph.run.folder import RunFolder

Hears: TypeAlias = "Callable[[Event], None]"


@dataclass(frozen=True, repr=False)
class LoadedGame(Displayed):
    """A game that can be played.

    Attributes:
        name: By which commands find it: of the library, or a file's path.
        title: Its own name.
        summary: What it is, in a sentence.
        players: Seats.
        parameters: All of them, with their values.
        rulebook: Its rules, in Markdown.
    """

    name: str
    title: str
    summary: str
    players: int
    parameters: "Mapping[str, Json]"
    rulebook: str = field(default="")

    @property
    def pairs(self) -> list[str]:
        """The parameters as a command is given them."""
        return [f"{name}={json.dumps(value)}" for name, value in self.parameters.items()]

    def play(self, players: "Sequence[str | Chooser]", seed: int | None = None) -> "ShownMatch":
        """One match; see `rulewright.play`."""
        from app.python.matches import play_one_match

        return play_one_match(self, players, seed=seed)

    def match(
        self, players: Sequence[str], *, games: int = 20, seed: int | None = None
    ) -> "MatchResults":
        """Matches, counted; see `rulewright.match`."""
        from app.python.matches import match_players

        return match_players(self, players, games=games, seed=seed)

    def shown(self) -> ShownTable:
        """The game in a few words."""
        rows = [("players", str(self.players)), ("settings", settings_told(self.parameters))]
        return ShownTable(one_line(f"{self.title}: {self.summary}"), ("", ""), rows)


Named: TypeAlias = "str | Path | LoadedGame"


def load_game(
    game: Named, *, players: int = 0, parameters: "Mapping[str, Json] | None" = None
) -> LoadedGame:
    """A game by its library name, its module's file, or a run's folder or name.

    Args:
        game: Which one.
        players: Seats; 0 for the usual number.
        parameters: Replace the game's own.

    Raises:
        GameNotFoundError: If there is none of that name.
        ArgumentError: If it refuses a parameter.
        TournamentError: If it has no such parameter, or does not take so many players.
        ModuleFault: If its module does not load.

    >>> game = load_game("tic_tac_toe", parameters={"size": 4})
    >>> game.players, game.parameters["size"], game.rulebook.splitlines()[0]
    (2, 4, '# Tic-tac-toe on a 4 by 4 board')
    """
    from app.table.session import open_table
    from graph.run.sandboxes import open_sandbox

    require_kinds(seats_or_usual=players, parameters=parameters)
    if not isinstance(game, str | Path | LoadedGame):
        told = one_line(repr(game))[:100]
        raise ArgumentError(f"game is {told}; required: a name, a path, or what load gave")
    if isinstance(game, LoadedGame) and not players and not parameters:
        return game
    name = game.name if isinstance(game, LoadedGame) else str(game)
    pairs = [f"{key}={json.dumps(value)}" for key, value in (parameters or {}).items()]
    with quietly(), Isolation().chosen(), open_sandbox() as sandbox, ExitStack() as stack:
        table = open_table(name, players, pairs, sandbox, stack)
        info, setup = table.module.info, table.setup
        return LoadedGame(
            *(setup.name, str(info["name"]), str(info.get("summary", ""))),
            *(setup.num_players, dict(setup.parameters), table.rulebook()),
        )


@dataclass(frozen=True, repr=False)
class DesignedGame(Displayed):
    """A run that made a game from words, or says why it made none.

    Attributes:
        folder: Where all of it lies.
        end: How it ended, such as "made".
        told: What the command would say at its end.
        question: What it waits for a person to answer; empty where it waits for nothing.
        findings: Of all checks.
        game: What can be played; None where there is no game.
    """

    folder: Path
    end: str
    told: str
    question: str
    findings: "tuple[Finding, ...]"
    game: LoadedGame | None

    @property
    def report(self) -> Path:
        """The report's page."""
        return self.folder / "report.html"

    @property
    def rulebook(self) -> str:
        """The rules, in Markdown.

        Raises:
            ArgumentError: If there is no game.
        """
        return self.require_game().rulebook

    def require_game(self) -> LoadedGame:
        """The game.

        Raises:
            ArgumentError: If there is none.
        """
        if self.game is None:
            raise ArgumentError(f"this run made no game: {self.told}")
        return self.game

    def play(self, players: "Sequence[str | Chooser]", seed: int | None = None) -> "ShownMatch":
        """One match; see `rulewright.play`."""
        return self.require_game().play(players, seed)

    def answer(self, words: str, hears: "Hears | None" = None) -> "DesignedGame":
        """The run once its question is answered, or a sentence is added to the chat.

        Raises:
            ArgumentError: If it asks nothing.
        """
        from graph.new.requests import read_request
        from graph.run.folder import RunFolder

        require_kinds(words=words, hears=hears)
        if not self.question:
            raise ArgumentError("this run asks nothing; rulewright revise changes its game")
        folder = RunFolder(self.folder)
        with quietly(), folder.held(), Isolation().chosen():
            settings = read_request(folder).settings
            return _run(folder, settings, hears, words)

    def shown(self) -> ShownTable:
        """The run's end, and a row for what each check found."""
        told = Counter((one.check, one.outcome) for one in self.findings)
        rows = [(check, outcome, str(number)) for (check, outcome), number in told.items()]
        title = self.game.title if self.game else "no game"
        below = [self.question] if self.question else [f"report: {self.report}"]
        heading = one_line(f"{title}: {self.end}")
        return ShownTable(heading, ("check", "outcome", "findings"), rows, below)


def design_game(
    prompt: str,
    *,
    family: str | None = None,
    players: int | None = None,
    parameters: "Mapping[str, Json] | None" = None,
    quick: bool = False,
    seed: int | None = None,
    out: Path | str | None = None,
    hears: "Hears | None" = None,
) -> DesignedGame:
    """Design, code, check, play and report a game from your own words.

    Args:
        prompt: The game, in your own words.
        family: The library's family or preset to take.
        players: How many play, whatever the words say.
        parameters: Settings of the game.
        quick: Whether fewer matches and smaller searches do.
        seed: Repeats a run; without it one is drawn.
        out: Its folder; without it a new one among the runs.
        hears: Hears of what the run does.

    Raises:
        ArgumentError: If the words are empty or too long.
        RunFolderError: If the folder cannot be used.
        RoleError: If the library has no such family or setting.
        ModelError: If a model is set that cannot be asked.
    """
    from agents.protocols import Choices
    from app.options import readable_words
    from graph.new.context import RunSettings
    from graph.new.opening import require_choices
    from graph.new.requests import Request, write_request
    from graph.run.folder import create_folder, runs_folder
    from graph.run.opening import model_settings

    require_kinds(prompt=prompt, family=family, seats_or_usual=players, parameters=parameters)
    require_kinds(quick=quick, seed=seed, out=out, hears=hears)
    with quietly():
        words = readable_words(prompt, "the prompt")
        if not words.strip() and family is None:
            raise ArgumentError("the prompt is empty; say the game in your own words")
        choices = Choices(family=family, num_players=players, settings=dict(parameters or {}))
        require_choices(choices, settings=model_settings().model is None)
        given = {} if seed is None else {"seed": seed}
        settings = RunSettings.model_validate({"quick": quick, **given})
        place = None if out is None else Path(out)
        folder = create_folder(place, title=words or family or "", runs=runs_folder())
        with folder.held(), Isolation().chosen():
            write_request(Request(prompt=words, choices=choices, settings=settings), folder)
            return _run(folder, settings, hears)


def _run(
    folder: "RunFolder", settings: "RunSettings", hears: "Hears | None", given: str = ""
) -> DesignedGame:
    """The run, until it ends or asks something; an answer is `given` to what it asks."""
    from graph.new.opening import make_context
    from graph.new.runs import open_run

    with ExitStack() as held:
        context = make_context(
            settings, interactive=False, exchanges=folder.exchanges, tell=lambda _: None
        )
        context.invents = invent
        held.enter_context(context.retrieval.store)
        held.enter_context(context.sandbox)
        run = held.enter_context(open_run(folder, context, database=database()))
        for words in ("", given) if given else ("",):
            if words and run.question is not None:
                run.answer(words)
            for event in run.events():
                if hears is not None:
                    hears(event)
        asks = run.question
        return _designed(run.result(), asks.ask if asks else "")


def _designed(result: "RunResult", question: str) -> DesignedGame:
    from graph.new.results import closing_text
    from graph.new.state import folder_of

    state = result.state
    folder = (folder_of(state) if state.folder else result.folder).path
    shown = None if state.accepted is None else state.candidate(state.accepted)
    return DesignedGame(
        folder=folder,
        end="waiting" if result.question else str(state.end),
        told=closing_text(result),
        question=question,
        findings=tuple(shown.findings or ()) if shown else (),
        game=load_game(folder) if (folder / "game.py").is_file() and shown else None,
    )
