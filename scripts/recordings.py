"""Recorded runs with a model: record one, or say which no longer replay and why.

python -m scripts.recordings check
python -m scripts.recordings record NAME   (the endpoint is the environment's, as for any run)

NAME is a game of runs.yaml, or `learned/` and a task of learned.yaml. A task with a `base` begins
with its exchanges, and asks for what is new. NAME is also `drafts/` and a recorded game: its first
draft alone, asked for with retrieval, or as `drafts/GAME-ret` without.
"""

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from agents.model.errors import ModelError
from agents.model.recording import place
from evals.cardiverse.recorded import draft_names, recorded_design
from evals.cwm import synthesis
from graph.new.coding import GraphCoderTools
from graph.new.context import RunContext, RunSettings
from graph.new.opening import make_context
from graph.new.requests import Request, write_request
from graph.new.runs import open_run
from graph.run.folder import create_folder
from graph.run.opening import model_settings
from tools.retrieval import NothingRetrieved

FOLDER = Path(__file__).parents[1] / "tests" / "recordings"
MODEL = "answered-by-hand"
LABEL = "answered by hand, from the text of the requests alone"
MIXED = "answered by hand, some of it by one who knew the code: see runs.yaml"
TOOL_ROUNDS = 2


def runs() -> dict[str, dict[str, Any]]:
    """What was asked in each recorded run, by its name."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "runs.yaml").read_text())
    return found


def label_of(name: str) -> str:
    """Who answered, and knowing what."""
    return MIXED if runs().get(name, {}).get("mixed") else LABEL


def settings_of(name: str) -> RunSettings:
    """A recorded run's settings, with a small play-test.

    What is said of the finished game is answered from its play-test: no clock may cut that. Of
    other games no prompt quotes it.
    """
    small = {"ladder_matches": 4, "random_matches": 6, "heuristic_matches": 4}
    small |= {"small_budget": 3, "large_budget": 6, "lessons": 0}
    clock = {"playtest_s": None if "said" in runs()[name] else 1.0}
    return RunSettings.model_validate(
        {"seed": runs()[name]["seed"], "quick": True, **small, **clock}
    )


def request_of(name: str) -> Request:
    """All that is said in a recorded run, of its finished game too."""
    run = runs()[name]
    said = tuple(run.get("said", ()))
    return Request(prompt=run["prompt"], settings=settings_of(name), answers=said)


def main() -> int:
    """Record or check, as the arguments say."""
    known = [*runs(), *(f"learned/{name}" for name in synthesis.tasks())]
    known += [f"drafts/{name}" for name in draft_names()]
    if sys.argv[1:] == ["check"]:
        return max([_check(name) for name in known], default=0)
    if len(sys.argv) != 3 or sys.argv[1] != "record" or sys.argv[2] not in known:  # noqa: PLR2004 - a verb and a name
        sys.stderr.write(f"{__doc__}\nknown: {', '.join(known)}\n")
        return 2
    path = FOLDER / f"{sys.argv[2]}.json"
    task = synthesis.tasks().get(sys.argv[2].removeprefix("learned/"))
    if task and task.base and not path.exists():
        path.write_bytes(synthesis.recording_of(task.base).read_bytes())
    os.environ["RULEWRIGHT_RECORD"] = str(path)
    told = _run(sys.argv[2])
    kept = json.loads(path.read_text())
    kept |= {"label": label_of(sys.argv[2]), "ended": told}
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write(f"{told}\n")
    return 0


def _check(name: str) -> int:
    if not (FOLDER / f"{name}.json").exists():
        sys.stdout.write(f"{name}: not recorded\n")
        return 0
    os.environ["RULEWRIGHT_REPLAY"] = str(FOLDER / f"{name}.json")
    try:
        told = _run(name)
    except ModelError as error:
        sys.stdout.write(f"{name}: {error}\n")
        return 1
    sys.stdout.write(f"{name}: replays, {told}\n")
    return 0


def _run(name: str) -> str:
    """How a recorded run ends."""
    os.environ |= {"RULEWRIGHT_MODEL": MODEL, "RULEWRIGHT_TOOL_ROUNDS": str(TOOL_ROUNDS)}
    with tempfile.TemporaryDirectory() as folder:
        if name.startswith("learned/"):
            task = synthesis.tasks()[name.removeprefix("learned/")]
            report = synthesis.learned(task, Path(folder), model_settings()).result.report
            return f"{report.end}: {report.reason or report.accuracy}"
        game = name.removeprefix("drafts/").removesuffix("-ret")
        context = make_context(settings_of(game), keeps_own_games=False)
        with context.retrieval.store, context.sandbox:
            if name.startswith("drafts/"):
                source = first_draft(name.removeprefix("drafts/"), context)
                return f"a first draft of {source.count(chr(10))} lines"
            home = create_folder(Path(folder) / "run", title=name, runs=Path(folder))
            write_request(request_of(name), home)
            with open_run(home, context) as run:
                state = run.to_end().state
            return f"{state.end}: {state.summary}"


def first_draft(name: str, context: RunContext) -> str:
    """Ask the context's coder for the module of a recorded design, once.

    Args:
        name: One of `draft_names`.
        context: Its coder is asked; its store is searched, but for an arm without retrieval.

    Raises:
        ReplayMissError: If the design's own recording no longer replays.
    """
    design = recorded_design(name.removesuffix("-ret"), context)
    retrieval = context.retrieval
    if name.endswith("-ret"):
        retrieval = NothingRetrieved(retrieval.store)
    tools = GraphCoderTools(replace(context, retrieval=retrieval), design)
    with place("code/draft"):
        return context.roles.coder.draft(design, tools)


if __name__ == "__main__":
    raise SystemExit(main())
