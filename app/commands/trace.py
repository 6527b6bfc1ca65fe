"""`trace` and `runs`: a run's local trace as a tree, and what runs there are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from app.console import print_json, say
from app.options import Json
from games.text import one_line, plain_text

if TYPE_CHECKING:
    from rich.tree import Tree

    from app.calls import TracedCall
    from graph.run.folder import RunFolder
    from graph.run.traces import Span


def show_trace(
    run: Annotated[str, typer.Argument(help="Folder or name of a run.")],
    *,
    prompts: Annotated[bool, typer.Option("--prompts", help="Show prompts in full.")] = False,
    as_json: Json = False,
) -> None:
    """Show what a run did: each call's role and reply, tools and results, findings, edits."""
    from app.calls import calls_of, found_in
    from graph.run.folder import find_folder, runs_folder
    from graph.run.traces import read_spans

    folder = find_folder(run, runs_folder())
    roots = read_spans(folder.trace)
    calls, found = calls_of(roots), found_in(roots)
    if as_json:
        told = {"calls": [*calls.values()], "findings": sum(found.values(), [])}
        print_json({"run": str(folder.path), **told, "spans": [root.as_dict() for root in roots]})
        return
    if not roots:
        say(f"{folder.trace} holds no spans; runs traced to LangSmith are shown there")
        return
    from rich.console import Console
    from rich.tree import Tree

    for root in roots:
        tree = Tree(_line(root))
        _grow(tree, root, calls, found, prompts=prompts)
        Console(highlight=False).print(tree)


_ASKING = ("question", "no_fit")  # ends that an answer can change
_WIDE = 100  # characters of a brief in the list

# The list's name for what stands in a file of a run, under a key.
_OF_NEW = {"end": ("run.json", "end"), "title": ("design.json", "title")}
_OF_CHAT = {**_OF_NEW, "prompt": ("run.json", "prompt")}
_OF_SYNTHESES = {"end": ("syntheses.json", "end"), "title": ("syntheses.json", "environment")}
_OF_LEARN = {"end": ("learn.json", "end"), "title": ("learn.json", "environment")}
_OF_VARY = {"end": ("vary.json", "end"), "title": ("vary.json", "title")}


def list_runs(*, as_json: Json = False) -> None:
    """List the runs under `runs` (or `RULEWRIGHT_RUNS`): what each was asked, and how it stands."""
    from graph.run.folder import runs_folder

    rows = known_runs()
    if as_json:
        print_json({"folder": str(runs_folder()), "runs": rows})
        return
    for row in rows:
        name, end, title = one_line(row.name), one_line(row.end), one_line(row.title or "")
        say(f"{name}  {end}  {title}\n    {_brief(row.prompt)}")
        if row.revisions:
            say(f"    revised: {', '.join(row.revisions)}")
        if (way := _way_on(row)) is not None:
            say(f"    {way}")
    if not rows:
        say(f"there is no run under {runs_folder()}; make one: rulewright new")


@dataclass(frozen=True)
class ListedRun:
    """A run in the list, as it is printed."""

    name: str
    end: str = "unfinished"
    title: str | None = None
    prompt: str | None = None
    asks: str | None = None
    chat: bool = False
    revisions: tuple[str, ...] = ()


def known_runs() -> list[ListedRun]:
    """All runs by name, with how each stands; one that cannot be read says so."""
    from graph.run.folder import RunFolder, RunFolderError, runs_folder

    rows = []
    for path in sorted(state.parent for state in runs_folder().glob("*/.state")):
        try:
            rows.append(_standing(RunFolder(path)))
        except RunFolderError as error:
            rows.append(ListedRun(path.name, end="unreadable", prompt=str(error)))
    return rows


def _standing(folder: "RunFolder") -> ListedRun:
    """A run's request, its standing, and its question.

    Raises:
        RunFolderError: If it cannot be read.
    """
    from graph.learn.settings import is_learning, read_learning, read_syntheses
    from graph.new.requests import question_left, read_request
    from graph.vary.settings import is_variation, read_variation

    folder.require_plain()
    prompt, chat, asks, written = None, False, None, _OF_LEARN
    if (several := read_syntheses(folder)) is not None:
        prompt, written = f"learn from {several.each.trajectories}", _OF_SYNTHESES
    elif is_learning(folder):
        prompt = f"learn from {read_learning(folder).trajectories}"
    elif is_variation(folder):
        prompt, written = f"vary {read_variation(folder).base.name}", _OF_VARY
    elif not folder.asked and (folder.path / "run.json").exists():
        written, chat = _OF_CHAT, True
    else:
        request = read_request(folder)
        prompt, written, asks = request.prompt, _OF_NEW, question_left(request, folder)
    found = {name: _text_at(folder, file, key) for name, (file, key) in written.items()}
    end = found["end"] or "unfinished"
    if folder.is_held:
        end, asks = "working", None
    elif asks and end not in _ASKING:
        end = "waiting"
    elif not asks and end in _ASKING:
        end = "unfinished"
    return ListedRun(
        name=folder.path.name,
        end=end,
        title=found["title"],
        prompt=prompt or found.get("prompt"),
        asks=asks or None,
        chat=chat,
        revisions=tuple(str(one.path) for one in folder.revisions),
    )


def _text_at(folder: "RunFolder", file: str, key: str) -> str | None:
    """The text under a key of a run's file; None where there is none."""
    found = folder.read_json(file) if (folder.path / file).exists() else None
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, str) else None


def _way_on(row: ListedRun) -> str | None:
    """A run's question and the way to go on; None where it is finished, or a chat's.

    >>> _way_on(ListedRun("mine", "waiting", asks="No game. Which one? There are 12."))
    "asks: No game. Which one? Go on: rulewright resume mine --answer '...'"
    >>> _way_on(ListedRun("mine", "gave_up"))
    'go on, or hear how: rulewright resume mine'
    """
    on = f"rulewright resume {one_line(row.name)}"
    if row.asks:
        asks, mark, _ = " ".join(row.asks.split()).partition("?")
        word = "yes" if row.end == "no_fit" else "..."
        return f"asks: {_brief(asks + mark)} Go on: {on} --answer '{word}'"
    ways = {} if row.chat else {"unfinished": "go on", "gave_up": "go on, or hear how"}
    return f"{ways[row.end]}: {on}" if row.end in ways else None


def _brief(prompt: str | None) -> str:
    words = " ".join((prompt or "").split())
    return words if len(words) <= _WIDE else f"{words[: _WIDE - 1]}…"


def _grow(
    tree: "Tree",
    span: "Span",
    calls: "dict[str, TracedCall]",
    found: dict[str, list[str]],
    *,
    prompts: bool,
) -> None:
    for child in span.children:
        call = calls.get(child.id)
        branch = tree.add(_line(child) if call is None else _call_line(call))
        for text in _told(call, prompts=prompts) if call else ():
            branch.add(_safe(text))
        _grow(branch, child, calls, found, prompts=prompts)
    for text in found.get(span.id, ()):
        tree.add(_safe(f"found: {text}"))


def _line(span: "Span") -> str:
    took = f"{span.seconds:.3f} s" if span.seconds is not None else "not ended"
    wrong = f", error: {span.error.splitlines()[0][:120]}" if span.error else ""
    return _safe(f"{span.name} ({took}{wrong})")


def _call_line(call: "TracedCall") -> str:
    took = "not ended" if call.seconds is None else f"{call.seconds:.1f} s"
    tokens = (
        "" if call.tokens_in is None else f", {call.tokens_in} tokens in, {call.tokens_out} out"
    )
    return _safe(f"{call.role or 'model'} at {call.place} ({took}{tokens})")


def _told(call: "TracedCall", *, prompts: bool) -> list[str]:
    tools = [f"{asked}\n  -> {answer or '(not answered)'}" for asked, answer in call.tools]
    says = [f"says: {call.gist}"] if call.gist else []
    wrong = [f"error: {call.error}"] if call.error else []
    return [*(call.prompt if prompts else ()), *says, *tools, *call.edits, *wrong]


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(plain_text(text))
