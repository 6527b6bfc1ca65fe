"""Pages of a design: a run that goes on in a thread, its stages live, its questions in place."""

import logging
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.console import database, explained, words
from app.making import invent
from app.web.pages import Refusal, form_of, page, see, seed_given, wants_part, web_of
from app.web.settings import WebLimits
from games.text import one_line, quoted
from graph.run.folder import RunFolder, RunFolderError, create_folder, find_folder, runs_folder

if TYPE_CHECKING:
    from agents.protocols import Design
    from graph.new.results import RunResult
    from graph.run.events import Event
    from graph.run.handle import Question, RunHandle
    from tools.sandbox import Sandbox
    from vectorstore.store import Store

router = APIRouter()
_LONGEST = 20_000
_MOST_TOLD = 600  # characters of a message that are shown again
_MOST_STAGES = 400
_LOOK_S = 0.2
_PLAYABLE = ("made", "delivered")  # ends of a run after which the command says how to play
_BROKEN = (
    "This game does not pass its checks, so that it is not offered to be played. Say how to "
    "change it; rulewright resume RUN --rounds 3 tries on."
)
_UNCHECKED = "This game is not checked yet; the page of its run shows when it is."
_STOPPED = "Stopped; what was finished is kept, and it goes on from there."
_LOG = logging.getLogger(__name__)


@dataclass
class DesignRun:
    """A run in a thread.

    Attributes:
        folder: Its folder.
        heard: Told whenever there is something new.
        stages: What was done so far: seconds and words.
        doing: What is being done now.
        checked: True once its game is checked.
        question: What it waits with.
        asked: How many questions it asked: an answer names the one that it is for.
        said: Its last words, once it has ended; or why it could not go on.
        working: True while it works or waits.
    """

    folder: RunFolder
    heard: Callable[[], None]
    stages: list[tuple[float, str]] = field(default_factory=list)
    doing: str = ""
    checked: bool = False
    question: "Question | None" = None
    asked: int = 0
    said: str = ""
    working: bool = True
    news: int = 0
    _answer: str | None = None
    _handle: "RunHandle[RunResult] | None" = None
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _closing: bool = False
    _began: float = field(default_factory=time.monotonic)

    def start(self, sandbox: "Sandbox", store: "Callable[[], Store]") -> None:
        """Begin, or go on."""
        context = copy_context()  # the sandbox that was chosen
        work = lambda: context.run(self._run, sandbox, store)  # noqa: E731 - a thread's target
        threading.Thread(target=work, name=f"design-{self.folder.path.name}", daemon=True).start()

    def answer(self, given: str, asked: str) -> None:
        """Answer its question.

        Raises:
            Refusal: If it asks none, or another one than the form answers.
        """
        with self._changed:
            if self.question is None:
                raise Refusal(409, "The run asks nothing now; wait until it has ended")
            if asked != str(self.asked):
                raise Refusal(409, "The run asks something else now; load the page again")
            self._answer, self.question = given, None
            self._changed.notify_all()

    def stop(self) -> None:
        """Stop before its next step; what was finished is kept."""
        with self._changed:
            self._closing = True
            if self._handle is not None:
                self._handle.stop()
            self._changed.notify_all()

    def _run(self, sandbox: "Sandbox", store: "Callable[[], Store]") -> None:
        from graph.new.opening import make_context
        from graph.new.requests import read_request
        from graph.new.results import closing_text
        from graph.new.runs import open_run

        try:
            with self.folder.held():
                settings = read_request(self.folder).settings
                self._tell(doing=words("doing")["open"])
                context = make_context(
                    settings,
                    interactive=True,
                    exchanges=self.folder.exchanges,
                    opened=(sandbox, store()),
                )
                context.invents = invent
                with open_run(self.folder, context, database=database()) as run:
                    self._handle = run
                    self._talk(run)
                    said = _STOPPED if self._closing else closing_text(run.result())
        except Exception as error:  # noqa: BLE001 - the page says so
            told = explained(error)
            if told is None:
                _LOG.exception("the run in %s broke off", self.folder.path)
            said = told or "The run broke off by a fault of ours; go on with it to try again."
        self.working = False
        self._tell(doing="", said=said)

    def _talk(self, run: "RunHandle[RunResult]") -> None:
        """Let the run go on, with a person's answers, until it ends or is stopped."""
        while not self._closing:
            for event in run.events():
                self._hear(event)
            asked = run.question
            if asked is None:
                return
            with self._changed:
                self.asked += 1
                self.question = asked
                self._tell(doing="")
                self._changed.wait_for(lambda: self._answer is not None or self._closing)
                given, self._answer = self._answer, None
            if given is not None:
                run.answer(given)

    def _hear(self, event: "Event") -> None:
        from graph.run.events import Begins, Checked, MatchPlayed, Opens, Waits

        if isinstance(event, Checked):
            self.checked = event.outcome == "passed"
        details = quoted(", ".join(f"{name} {value}" for name, value in event.details.items()))
        doing = words("doing").get(event.node, event.node)
        if isinstance(event, Begins | Opens):
            self._tell(doing=doing)
        elif isinstance(event, MatchPlayed | Waits):
            self._tell(doing=f"{doing}: {details}")
        else:
            took = time.monotonic() - self._began
            self.stages = [*self.stages, (took, f"{event.node}: {details}")][-_MOST_STAGES:]
            self._tell(doing=self.doing)

    def _tell(self, doing: str, said: str = "") -> None:
        self.doing, self.said, self.news = doing, said or self.said, self.news + 1
        self.heard()


@dataclass
class Designs:
    """The runs that this server makes.

    Attributes:
        limits: How many at once.
        sandbox: Where generated code runs.
        store: Opens the store.
        heard: Told of a run of which there is something new.
    """

    limits: WebLimits
    sandbox: "Sandbox"
    store: "Callable[[], Store]"
    heard: Callable[[str], None]
    _runs: dict[str, DesignRun] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def why_not(self, folder: Path) -> str:
        """Why a run's game, or its revision's, is not offered; empty for one that passed."""
        root, end = RunFolder(folder).root, _end_of(folder)
        run = self._runs.get(root.path.name)
        is_newest = (root, *root.revisions)[-1].path.name == folder.name
        at_work = run if run is not None and run.working and is_newest else None
        if end in _PLAYABLE or (at_work is not None and at_work.checked):
            return "" if (folder / "game.py").is_file() else _UNCHECKED
        return _BROKEN if end and at_work is None else _UNCHECKED

    def get(self, name: str) -> DesignRun | None:
        """A run of this server."""
        return self._runs.get(name)

    def begin(self, prompt: str, given: dict[str, Any]) -> str:
        """A new run from a person's words; its name."""
        from agents.protocols import Choices
        from graph.new.context import RunSettings
        from graph.new.requests import Request as Asked
        from graph.new.requests import write_request

        with self._lock:
            self._require_room()
            settings = RunSettings.model_validate(given)
            folder = create_folder(None, title=prompt, runs=runs_folder())
            write_request(Asked(prompt=prompt, choices=Choices(), settings=settings), folder)
            return self._started(folder)

    def go_on(self, name: str, said: str) -> None:
        """Go on with a run; where something is said, with that message on its game.

        Raises:
            Refusal: If it works already.
            RunFolderError: If it made no game yet that words could change.
        """
        from app.commands.new import require_finished
        from graph.new.requests import read_request, write_request

        with self._lock:
            if (run := self._runs.get(name)) is not None and run.working:
                raise Refusal(409, "The run is at work; wait until it has ended, or stop it")
            self._require_room()
            folder = _folder(name)
            if said:
                require_finished(folder)
                with folder.held():
                    write_request(read_request(folder).answered(said), folder)
            self._started(folder)

    def wait_for_rest(self) -> None:
        """Wait until no run is at work."""
        while any(run.working for run in [*self._runs.values()]):
            time.sleep(_LOOK_S)

    def close(self) -> None:
        """Stop all runs."""
        for run in [*self._runs.values()]:
            run.stop()

    def _require_room(self) -> None:
        if sum(run.working for run in self._runs.values()) >= self.limits.runs:
            raise Refusal(503, "Other games are being made; wait until one has ended")

    def _started(self, folder: RunFolder) -> str:
        name = folder.path.name
        run = DesignRun(folder, lambda: self.heard(f"design/{name}"))
        self._runs[name] = run
        run.start(self.sandbox, self.store)
        return name


def _folder(name: str) -> RunFolder:
    """The folder of a run that is named in an address."""
    if Path(name).name != name or name.startswith("."):
        raise Refusal(404, "There is no such run")
    try:
        return find_folder(str(runs_folder() / name), runs_folder())
    except RunFolderError as error:
        raise Refusal(404, "There is no such run; the shelf shows all") from error


def _end_of(folder: Path) -> str:
    """The end of a run by its `run.json`; empty before that is written."""
    if not (folder / "run.json").is_file():
        return ""
    told = RunFolder(folder).read_json("run.json")
    return str(told.get("end")) if isinstance(told, dict) else "unknown"


def kept_design(folder: Path) -> "Design | None":
    """The design in a folder of a run; None where there is none that can be read."""
    from agents.protocols import Design

    try:
        return Design.model_validate(RunFolder(folder).read_json("design.json"))
    except (RunFolderError, ValueError):
        return None


def rules_of(folder: Path) -> str:
    """The rules of a design, as Markdown."""
    design = kept_design(folder)
    if design is None:
        return "There is no rulebook yet."
    rules = "\n".join(f"- {rule.id}: {rule.text}" for rule in design.rules)
    return f"# {design.title}\n\n{design.summary}\n\n{rules}"


def _told(folder: RunFolder) -> list[str]:
    """All that a person said to a run, in order; nothing of a request that cannot be read."""
    from graph.new.requests import read_request

    try:
        asked = read_request(folder)
    except RunFolderError:
        return []
    return [one_line(words)[:_MOST_TOLD] for words in (asked.prompt, *asked.answers)]


@router.get("/design")
def design_form(request: Request) -> Response:
    """The form for a new game."""
    return page(request, "ask")


@router.post("/design")
def begin(request: Request) -> Response:
    """Begin a run."""
    form = form_of(request)
    prompt = form.get("prompt", "").strip()
    if not prompt or len(prompt) > _LONGEST:
        raise Refusal(400, f"Say the game in 1 to {_LONGEST} characters")
    given: dict[str, Any] = {"quick": form.get("thorough") != "on"}
    if form.get("seed"):
        given["seed"] = seed_given(form["seed"])
    return see(f"/design/{web_of(request).designs.begin(prompt, given)}")


@router.get("/design/{name}")
def watch(request: Request, name: str) -> Response:
    """A run: its stages, its question, its rules, and what can be said of it."""
    folder = _folder(name)
    newest = (folder, *folder.revisions)[-1]
    run = web_of(request).designs.get(name)
    book = newest.path / "rulebook.md"
    return page(
        request,
        "stages" if wants_part(request) else "design",
        name=name,
        run=run,
        told=_told(folder),
        design=kept_design(newest.path),
        rulebook=book.read_text("utf-8") if book.is_file() else rules_of(newest.path),
        revisions=[one.path.name for one in folder.revisions],
        key=name if newest == folder else f"{name}@{newest.path.name}",
        why_not=web_of(request).designs.why_not(newest.path),
        finished=(newest.path / "report.html").is_file(),
    )


@router.get("/design/{name}/events")
async def design_events(request: Request, name: str) -> Response:
    """A stream that tells that there is something new of a run."""
    web = web_of(request)
    if web.designs.get(name) is None:
        raise Refusal(404, "This server does not make that run")

    def mark() -> str:
        run = web.designs.get(name)  # what is said later makes another
        return str(run.news) if run else ""

    return web.streams.answer(f"design/{name}", f"design/{name}", mark)


@router.post("/design/{name}/{deed}")
def act_on_run(request: Request, name: str, deed: str) -> Response:
    """Answer a run's question, say something of its game, go on, or stop."""
    designs, form = web_of(request).designs, form_of(request)
    said = form.get("words", "").strip()[:_LONGEST]
    run = designs.get(name)
    if deed == "stop" and run is not None:
        run.stop()
    elif deed == "answer" and run is not None:
        run.answer(said, form.get("asked", ""))
    elif deed == "say" and said:
        designs.go_on(name, said)
    elif deed == "undo":
        designs.go_on(name, "undo")
    elif deed == "go":
        designs.go_on(name, "")
    else:
        raise Refusal(400, "Nothing was said, or the run does not know that")
    return see(f"/design/{name}")
