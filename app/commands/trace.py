"""`trace`: a run's local trace as a tree with times, tokens and prompts."""

import json
from typing import TYPE_CHECKING

from app.console import print_json, say
from games.text import plain_text

_SHOWN = 300

if TYPE_CHECKING:
    from rich.tree import Tree

    from graph.traces import Span


def show_trace(run: str, *, prompts: bool, as_json: bool) -> None:
    """Print the trace of a run."""
    from graph.folder import find_folder
    from graph.places import runs_folder
    from graph.traces import read_spans

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
