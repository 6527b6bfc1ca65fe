"""`trace` and `runs`: a run's local trace as a tree, and what runs there are."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from app.console import print_json, say
from app.options import Json
from games.text import plain_text

_SHOWN = 300

if TYPE_CHECKING:
    from rich.tree import Tree

    from graph.run.traces import Span


def show_trace(
    run: Annotated[str, typer.Argument(help="Folder or name of a run.")],
    *,
    prompts: Annotated[bool, typer.Option("--prompts", help="Show prompts in full.")] = False,
    as_json: Json = False,
) -> None:
    """Show a run's trace as a tree with times, tokens and prompts."""
    from graph.run.folder import find_folder, runs_folder
    from graph.run.traces import read_spans

    folder = find_folder(run, runs_folder())
    roots = read_spans(folder.trace)
    if as_json:
        print_json({"run": str(folder.path), "spans": [root.as_dict() for root in roots]})
        return
    if not roots:
        say(f"{folder.trace} holds no spans; runs traced to LangSmith are shown there")
        return
    from rich.console import Console
    from rich.tree import Tree

    for root in roots:
        tree = Tree(_line(root))
        _grow(tree, root, prompts=prompts)
        Console(highlight=False).print(tree)


def list_runs(*, as_json: Json = False) -> None:
    """List the runs under `runs` (or `RULEWRIGHT_RUNS`): what each was asked, and how it stands."""
    from graph.new.requests import read_request
    from graph.run.folder import RunFolder, RunFolderError, runs_folder

    rows = []
    for path in sorted(state.parent for state in runs_folder().glob("*/.state")):
        folder = RunFolder(path)
        row = {"name": path.name, "end": "unfinished", "title": None, "prompt": None}
        try:
            row["prompt"] = read_request(folder).prompt
            for file, key in (("run.json", "end"), ("design.json", "title")):
                found = folder.read_json(file) if (path / file).exists() else None
                row |= {key: found[key]} if isinstance(found, dict) and key in found else {}
        except RunFolderError as error:
            row |= {"end": "unreadable", "prompt": str(error)}
        rows.append(row)
    if as_json:
        print_json({"folder": str(runs_folder()), "runs": rows})
        return
    for row in rows:
        say(f"{row['name']}  {row['end']}  {row['title'] or ''}\n    {row['prompt']}")
    if not rows:
        say(f"there is no run under {runs_folder()}; make one: rulewright new")


def _grow(tree: "Tree", span: "Span", *, prompts: bool) -> None:
    for child in span.children:
        branch = tree.add(_line(child))
        if child.run_type == "llm":
            for text in _prompt_lines(child, full=prompts):
                branch.add(text)
        _grow(branch, child, prompts=prompts)


def _line(span: "Span") -> str:
    took = f"{span.seconds:.3f} s" if span.seconds is not None else "not ended"
    tokens = f", {span.tokens} tokens" if span.tokens is not None else ""
    wrong = f", error: {span.error.splitlines()[0][:120]}" if span.error else ""
    return plain_text(f"{span.name} ({took}{tokens}{wrong})").replace("[", "\\[")


def _prompt_lines(span: "Span", *, full: bool) -> list[str]:
    text = json.dumps(span.inputs, ensure_ascii=False)
    shown = text if full or len(text) <= _SHOWN else text[:_SHOWN] + "… (--prompts shows all)"
    return [plain_text(shown).replace("[", "\\[")]
