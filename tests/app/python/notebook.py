"""A notebook's cells in one namespace, without Jupyter: outputs as a notebook stores them.

`python -m tests.app.python.notebook FILE --write` stores in the file what its cells give.
"""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def outputs_of(code: str, namespace: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(text)})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        drawn = value._repr_html_() if hasattr(value, "_repr_html_") else ""
        if drawn and not drawn.startswith("<iframe"):  # with the page's whole style
            data["text/html"] = lines(drawn)
        outputs.append(
            {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}
        )
    return outputs


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def run(notebook: dict[str, Any]) -> None:
    """Put into each cell of code what it gives."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = outputs_of("".join(cell["source"]), namespace)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    book = json.loads(file.read_text(encoding="utf-8"))
    run(book)
    text = json.dumps(book, indent=1, ensure_ascii=False) + "\n"
    if "--write" in sys.argv:
        file.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
