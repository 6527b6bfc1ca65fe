"""A process of its own that makes one game, for tests that kill it: HOME FOLDER [ENDPOINT [SAID]].

What is said of the game is added once, and then belongs to what was asked.
"""

import sys
import time
from pathlib import Path

from agents.model.settings import ModelSettings
from agents.players.registry import PRELOAD
from graph.new.requests import read_request, write_request
from graph.new.runs import resume_run, start_run
from graph.run.context import RunContext
from graph.run.folder import RunFolder
from graph.run.opening import open_model
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL
from tests.vectorstore.hashing import HashingEmbedder
from tools.retrieval import Retrieval
from tools.sandbox import Sandbox
from vectorstore.documents import StoreSettings
from vectorstore.indexing import ensure_indexed
from vectorstore.store import open_store

PROMPT = "noughts for two players"
LONG = {"random_matches": 60, "ladder_matches": 20}


def main() -> None:
    home, path, *more = map(str, sys.argv[1:])
    url, said = more[:1], tuple(more[1:])
    folder = RunFolder(Path(path))
    roles, budget = role_set(ScriptedRoles()), None
    if url:
        settings = ModelSettings(model="scripted", api_key="none", base_url=url[0], retries=0)
        roles, budget = open_model(settings, folder.exchanges)
    with (
        open_store(StoreSettings(path=Path(home)), embedder=HashingEmbedder()) as store,
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


if __name__ == "__main__":
    main()
