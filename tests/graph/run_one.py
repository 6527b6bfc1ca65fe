"""A process of its own that makes one game, for tests that kill it.

What is said of the game is added once, and then belongs to what was asked.
"""

import time
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from agents.model.settings import ModelSettings
from agents.players.registry import PRELOAD
from graph.new.context import RunContext
from graph.new.opening import open_model
from graph.new.requests import read_request, write_request
from graph.run.folder import RunFolder
from tests.graph.running import resume_run, start_run
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL
from tests.vectorstore.hashing import HashingEmbedder
from tools.retrieval import Retrieval
from tools.sandbox import Sandbox
from vectorstore.documents import StoreSettings
from vectorstore.indexing import ensure_indexed
from vectorstore.store import open_store

PROMPT = "noughts for two players"
LONG = {"random_matches": 44, "ladder_matches": 8}


# What a run imports is imported once; each process is forked from one that did nothing else.
_STARTER = get_context("forkserver")
_STARTER.set_forkserver_preload([__name__, "chromadb", "langchain_openai", "agents.players.search"])


def started(home: Path, folder: Path, url: str = "", *said: str) -> BaseProcess:
    """A process that makes a game in a folder, by a model where there is an endpoint."""
    process = _STARTER.Process(target=_make, args=(home, folder, url, said))
    process.start()
    return process


def _make(home: Path, path: Path, url: str, said: tuple[str, ...]) -> None:
    folder = RunFolder(path)
    roles, budget = role_set(ScriptedRoles()), None
    if url:
        settings = ModelSettings(model="scripted", api_key="none", base_url=url, retries=0)
        roles, budget = open_model(settings, folder.exchanges)
    with (
        open_store(StoreSettings(path=home), embedder=HashingEmbedder()) as store,
        Sandbox(preload=PRELOAD) as sandbox,
    ):
        ensure_indexed(store)
        context = RunContext(
            roles=roles,
            budget=budget,
            retrieval=Retrieval(store),
            sandbox=sandbox,
            runs=folder.path.parent,
            # A run that is killed by its files must have matches enough to be killed in.
            settings=SMALL if url else SMALL.model_copy(update=LONG),
            store_snapshot="none",
            embedding=store.embedder.identity,
            clock=time.monotonic,
        )
        folder.journals.mkdir(parents=True, exist_ok=True)
        start_run(PROMPT, folder, context)
        request = read_request(folder)
        if said and request.answers != said:
            write_request(request.model_copy(update={"answers": said}), folder)
        resume_run(folder, context)
