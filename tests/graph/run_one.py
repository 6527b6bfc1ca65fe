"""A process of its own that makes one game, for tests that kill it: run_one.py HOME FOLDER."""

import sys
import time
from pathlib import Path

from agents.players import PRELOAD
from graph.context import RunContext
from graph.folder import RunFolder
from graph.runs import resume_run, start_run
from tests.graph.scripted import ScriptedRoles, role_set
from tests.graph.settings import SMALL
from tests.vectorstore.hashing import HashingEmbedder
from tools.retrieval import Retrieval
from tools.sandbox import Sandbox
from vectorstore.settings import StoreSettings
from vectorstore.store import open_store


def main() -> None:
    home, path = Path(sys.argv[1]), Path(sys.argv[2])
    folder = RunFolder(path)
    with (
        open_store(StoreSettings(path=home), embedder=HashingEmbedder()) as store,
        Sandbox(preload=PRELOAD) as sandbox,
    ):
        context = RunContext(
            roles=role_set(ScriptedRoles()),
            retrieval=Retrieval(store),
            sandbox=sandbox,
            runs=path.parent,
            settings=SMALL.model_copy(update={"random_matches": 60, "ladder_matches": 20}),
            store_snapshot="none",
            embedding=store.embedder.identity,
            clock=time.monotonic,
        )
        if folder.checkpoints.exists():
            resume_run(folder, context)
        else:
            folder.journals.mkdir(parents=True, exist_ok=True)
            start_run("noughts", folder, context)


if __name__ == "__main__":
    main()
