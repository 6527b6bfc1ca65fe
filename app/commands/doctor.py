"""`doctor`: what works on this machine, and which sandboxes hold on it."""

import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from app.console import database, leave, print_json, say
from app.options import Isolation, Json, grouped

if TYPE_CHECKING:
    from agents.model.settings import ModelSettings
    from games.values import Json as Value
    from tools.sandbox import Grade, Sandbox, backends

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
_WAIT_S = 5


class _Row(TypedDict):
    """A backend, as it is printed; `works` is None where it was not tried."""

    backend: str
    default: bool
    works: bool | None
    says: str
    grade: NotRequired["Grade"]
    held: NotRequired[list[str]]
    not_held: NotRequired[list[str]]
    start_ms: NotRequired[dict[str, float]]


class _Part(TypedDict):
    """A part of this machine, as it is printed."""

    works: bool
    says: str
    free_bytes: NotRequired[int]
    grade: NotRequired["Grade"]
    backends: NotRequired[list[_Row]]
    identity: NotRequired[str]
    settings: NotRequired["Value"]


@grouped
def examine(*, place: Isolation, as_json: Json = False) -> None:
    """Say what works on this machine, and what does not."""
    from importlib.metadata import version

    parts = {
        "python": _python,
        "disk": _disk,
        "sandbox": _sandbox,
        "embeddings": _embeddings,
        "model": _model,
        "store": _store,
        "database": _database,
        "tracing": _tracing,
    }
    with place.chosen():
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


def _tried(part: Callable[[], _Part]) -> _Part:
    from app.console import explained

    try:
        return part()
    except Exception as error:
        message = explained(error)
        if message is None:
            raise
        return {"works": False, "says": message}


def _python() -> _Part:
    return {"works": True, "says": f"{sys.version.split()[0]} on {sys.platform}"}


def _disk() -> _Part:
    from shutil import disk_usage

    from graph.run.folder import home

    place = next(path for path in (home(), *home().parents) if path.exists())
    free = disk_usage(place).free
    return {
        "works": free > _LOW_DISK,
        "says": f"{free // 2**20} MiB free at {place}",
        "free_bytes": free,
    }


def _sandbox() -> _Part:
    from graph.run.sandboxes import open_sandbox

    with open_sandbox() as sandbox, sandbox.worker("doctor") as worker:
        worker.load("def main():\n    return 6 * 7\n")
        works = worker.call("main") == 42  # noqa: PLR2004 - the value that the module above returns
        grade = sandbox.grade
    return {
        "works": works,
        "says": f"grade {grade.name}: {', '.join(grade.layers)}; {grade.reason}",
        "grade": grade,
        "backends": try_all(elsewhere=False),
    }


def _embeddings() -> _Part:
    from graph.run.opening import store_settings
    from vectorstore.embedders import choose_embedder

    remarks: list[str] = []
    embedder = choose_embedder(store_settings(), remarks.append)
    if not embedder.identity.startswith(("remote", "chroma")):
        embedder.embed(["a deck of cards"])  # damaged weights show at the first text
    else:
        remarks.append("not tried: it needs the network")
    said = "; ".join([f"{embedder.identity}, {embedder.dimension} numbers a text", *remarks])
    return {"works": True, "says": said, "identity": embedder.identity}


def _model() -> _Part:
    from graph.run.opening import model_settings

    settings = model_settings()
    if settings.model is None:
        says = "none configured (set RULEWRIGHT_MODEL): the composer works without one"
        return {"works": True, "says": says}
    place = f"{settings.model} at {settings.effective()['base_url'] or 'the default endpoint'}"
    wrong = "" if settings.offline or settings.replay else _refused(settings)
    not_tried = "; not tried, as it is replayed or offline"
    says = f"{place}{not_tried if settings.offline or settings.replay else wrong or '; it answers'}"
    return {"works": not wrong, "says": says, "settings": settings.effective()}


def _refused(settings: "ModelSettings") -> str:
    """Why the endpoint cannot be asked; empty where it answers, be it that it lists no models."""
    import httpx2
    import openai

    key, place = settings.api_key or "none", settings.base_url
    try:
        openai.OpenAI(api_key=key, base_url=place, timeout=_WAIT_S, max_retries=0).models.list()
    except openai.AuthenticationError:
        return "; it refuses the key: check OPENAI_API_KEY"
    except openai.APIConnectionError:
        return "; it does not answer: see that a server runs there, and check OPENAI_BASE_URL"
    except openai.APIError:
        return ""  # another refusal is an answer too
    except (ValueError, ImportError, OSError, httpx2.InvalidURL) as error:
        return f"; it cannot be asked ({error}): check the proxy and SSL_CERT_FILE"
    return ""


def _store() -> _Part:
    from graph.run.opening import store_settings
    from vectorstore.client import close_client, open_client, store_place

    settings = store_settings()
    if settings.host is not None:
        close_client(open_client(settings, settings.path))
    return {"works": True, "says": store_place(settings)}


def _database() -> _Part:
    address = database()
    if address is None:
        return {"works": True, "says": "SQLite, in every run folder"}
    import psycopg

    psycopg.connect(address, connect_timeout=_WAIT_S).close()
    return {"works": True, "says": "the Postgres database of RULEWRIGHT_DATABASE answers"}


def _tracing() -> _Part:
    from tempfile import TemporaryDirectory

    from graph.run.traces import langsmith_configured

    if langsmith_configured():
        return {"works": True, "says": "to LangSmith"}
    with TemporaryDirectory() as folder:
        Path(folder, "trace.jsonl").write_text("", encoding="utf-8")
    key = "set, but tracing is off" if os.environ.get("LANGSMITH_API_KEY") else "not set"
    says = f"to trace.jsonl in every run folder (LANGSMITH_API_KEY is {key})"
    return {"works": True, "says": says}


_TRACING = "trace a process"
_NUMPY = "import numpy\n"


def default_name() -> str | None:
    """The name of this platform's own backend; None where it has none."""
    from tools.sandbox import SandboxUnavailableError
    from tools.sandbox.local import default_backend

    try:
        return default_backend().name
    except SandboxUnavailableError:
        return None


def try_all(*, elsewhere: bool) -> list[_Row]:
    """A row a backend, in the order in which they are to be preferred.

    Args:
        elsewhere: Whether to also start a machine of a service, which takes its time and costs
            money.
    """
    from tools.sandbox.local import NAMES

    here = (default_name(), "e2b", "process")
    return [_tried_backend(name, elsewhere=elsewhere) for name in NAMES if name in here]


def told(row: _Row, *, briefly: bool = False) -> str:
    """A backend's row for a terminal."""
    mark = "NO " if row["works"] is False else "-  "
    if row["works"] and "grade" in row and row["grade"].name != "none":
        mark = "ok "
    name = f"{mark} {row['backend']}{' (default)' if row['default'] else ''}"
    if "grade" not in row:
        return f"{name}: {row['says']}"
    times = row["start_ms"]
    starts = (
        f"starts in {times['without_numpy']:.0f} ms, with numpy {times['with_numpy']:.0f} ms, "
        "its own test included"
    )
    if briefly:
        return f"{name}: grade {row['grade'].name}; {starts}"
    lines = [f"{name}: {row['says']}", f"    {starts}"]
    if row["held"]:
        lines.append(f"    could not: {', '.join(row['held'])}")
    if row["not_held"]:
        lines.append(f"    COULD: {', '.join(row['not_held'])}")
    return "\n".join(lines)


def _tried_backend(name: str, *, elsewhere: bool) -> _Row:
    from tools.sandbox import SandboxUnavailableError
    from tools.sandbox.local import backend_named

    row: _Row = {"backend": name, "default": name == default_name(), "works": None, "says": ""}
    if name == "e2b" and os.environ.get("E2B_API_KEY") and not elsewhere:
        says = "not tried: a machine costs money; rulewright sandbox self-test tries it"
        return {**row, "says": says}
    backend = backend_named(name, accept_no_isolation=name == "process")
    try:
        return _measured_backend(backend, row)
    except SandboxUnavailableError as error:
        return {**row, "works": False, "says": str(error)}


def _measured_backend(backend: "backends.Backend", row: _Row) -> _Row:
    """The row with the backend's strength: trusted code tries to get out of a fresh worker.

    Raises:
        SandboxUnavailableError: If it cannot start, or its own start-up test fails.
    """
    from tools.guest.confine.canaries import CANARIES
    from tools.sandbox import Sandbox

    with Sandbox(backend) as sandbox:
        plain = _start_ms(sandbox, "")
        numpy = _start_ms(sandbox, _NUMPY)
        grade = sandbox.grade
        succeeded = _canaries_out(sandbox)
        traced = _traces(sandbox) if backend.name == "linux" else None
    names = CANARIES + ((_TRACING,) if traced is not None else ())
    succeeded += (_TRACING,) if traced else ()
    return {
        **row,
        "works": grade.name == "none" or not succeeded,
        "says": f"grade {grade.name}: {', '.join(grade.layers)}; {grade.reason}",
        "grade": grade,
        "held": [name for name in names if name not in succeeded],
        "not_held": list(succeeded),
        "start_ms": {"without_numpy": plain, "with_numpy": numpy},
    }


def _start_ms(sandbox: "Sandbox", source: str) -> float:
    """Milliseconds until a first worker has loaded a module, the start-up test included."""
    started = time.perf_counter()
    with sandbox.loaded("self-test", source):
        return round((time.perf_counter() - started) * 1000, 1)


def _canaries_out(sandbox: "Sandbox") -> tuple[str, ...]:
    with sandbox.loaded("self-test", "") as worker:
        out = worker.request("canaries", {}, sandbox.limits.load_s)
    return tuple(map(str, out)) if isinstance(out, list) else (repr(out)[:200],)


def _traces(sandbox: "Sandbox") -> bool:
    """True where a worker that asks to be traced lives on."""
    from games.values import ModuleFault

    with sandbox.loaded("self-test", "") as worker:
        try:
            worker.request("trip", {"machine": platform.machine()}, sandbox.limits.call_s)
        except ModuleFault:
            return worker.ended_by is None or worker.ended_by.cause != "blocked_call"
    return True
