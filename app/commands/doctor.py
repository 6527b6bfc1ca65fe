"""`doctor`: what works on this machine."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.commands.sandbox import told
from app.console import leave, print_json, say
from app.options import Backend, Json, NoIsolation, sandbox_of

_PACKAGES = (
    "rulewright",
    "langgraph",
    "langchain-openai",
    "chromadb",
    "e2b-code-interpreter",
    "numpy",
    "pydantic",
)
_LOW_DISK = 200 * 2**20


def examine(
    *, sandbox: Backend = None, no_isolation: NoIsolation = False, as_json: Json = False
) -> None:
    """Say what works on this machine, and what does not."""
    from importlib.metadata import version

    parts = {
        "python": _python,
        "disk": _disk,
        "sandbox": _sandbox,
        "embeddings": _embeddings,
        "model": _model,
        "tracing": _tracing,
    }
    with sandbox_of(sandbox, no_isolation):
        report = {name: _tried(part) for name, part in parts.items()}
    versions = {name: version(name) for name in _PACKAGES}
    works = all(part["works"] for part in report.values())
    if as_json:
        print_json({"works": works, "parts": report, "versions": versions})
    else:
        for name, part in report.items():
            say(f"{'ok ' if part['works'] else 'NO '} {name:<11} {part['says']}")
            for row in part.get("backends", ()):
                say(f"      {told(row, briefly=True)}")
        say("versions: " + ", ".join(f"{name} {number}" for name, number in versions.items()))
    leave(0 if works else 1)


def _tried(part: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    from app.errors import explained

    try:
        return {"works": True, **part()}
    except Exception as error:
        message = explained(error)
        if message is None:
            raise
        return {"works": False, "says": message}


def _python() -> dict[str, Any]:
    return {"says": f"{sys.version.split()[0]} on {sys.platform}"}


def _disk() -> dict[str, Any]:
    from shutil import disk_usage

    from graph.run.folder import home

    place = next(path for path in (home(), *home().parents) if path.exists())
    free = disk_usage(place).free
    return {
        "works": free > _LOW_DISK,
        "says": f"{free // 2**20} MiB free at {place}",
        "free_bytes": free,
    }


def _sandbox() -> dict[str, Any]:
    from app.trials import try_all
    from graph.run.sandboxes import open_sandbox

    with open_sandbox() as sandbox, sandbox.worker("doctor") as worker:
        worker.load("def main():\n    return 6 * 7\n")
        works = worker.call("main") == 42  # noqa: PLR2004
        grade = sandbox.grade
    return {
        "works": works,
        "says": f"grade {grade.name}: {', '.join(grade.layers)}; {grade.reason}",
        "grade": grade.model_dump(mode="json"),
        "backends": try_all(elsewhere=False),
    }


def _embeddings() -> dict[str, Any]:
    from graph.run.opening import store_settings
    from vectorstore.embedders import choose_embedder

    remarks: list[str] = []
    embedder = choose_embedder(store_settings(), remarks.append)
    if not embedder.identity.startswith(("remote", "chroma")):
        embedder.embed(["a deck of cards"])  # damaged weights show at the first text
    else:
        remarks.append("not tried: it needs the network")
    said = "; ".join([f"{embedder.identity}, {embedder.dimension} numbers a text", *remarks])
    return {"says": said, "identity": embedder.identity}


def _model() -> dict[str, Any]:
    from graph.run.opening import model_settings

    settings = model_settings()
    if settings.model is None:
        return {"says": "none configured (set RULEWRIGHT_MODEL): the composer works without one"}
    return {
        "says": f"{settings.model} at {settings.effective()['base_url'] or 'the default endpoint'}",
        "settings": settings.effective(),
    }


def _tracing() -> dict[str, Any]:
    from tempfile import TemporaryDirectory

    from graph.run.traces import langsmith_configured

    if langsmith_configured():
        return {"says": "to LangSmith"}
    with TemporaryDirectory() as folder:
        Path(folder, "trace.jsonl").write_text("", encoding="utf-8")
    key = "set, but tracing is off" if os.environ.get("LANGSMITH_API_KEY") else "not set"
    return {"says": f"to trace.jsonl in every run folder (LANGSMITH_API_KEY is {key})"}
