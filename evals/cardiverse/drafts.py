"""First drafts of recorded designs: the same request to a coder, with and without retrieval.

A recorded run cannot show what retrieval does: what is retrieved is no part of a recorded request.
So either arm is asked for and answered on its own, under `tests/recordings/drafts/`: `NAME.json`
with what the store holds, `NAME-ret.json` where nothing is found. The design is that of the
recorded run NAME; only the first draft is asked for, with its rounds of tools.
"""

from collections.abc import Mapping

from agents.model.recording import place
from agents.protocols import Design
from agents.roles.texts import rules_text
from evals.cardiverse.recorded import (
    RECORDINGS,
    Generation,
    exchanged,
    recorded_generation,
    written,
)
from evals.results import EvalError, Row
from games.checks.run import CheckSettings
from graph.run.context import RunContext
from graph.run.opening import model_settings, open_model
from tools.checking import check_source
from tools.retrieval import Retrieval
from vectorstore.documents import Example

DRAFTS = RECORDINGS / "drafts"
CHECKED = ("checks of the first module", "checks of the answer")
"""Shares of the named checks that pass: before a coder saw what they find, and after."""
ARMS: Mapping[str, str] = {"": "recorded +ret", "-ret": "recorded -ret"}


class NothingRetrieved(Retrieval):
    """A store in which nothing is found."""

    def examples(self, *_: object, **__: object) -> list[Example]:
        """Nothing."""
        return []

    snippets = snippets_for_rule = drafting_snippets = mechanics = examples


def draft_names() -> list[str]:
    """Every recorded design in both arms, as `record` takes them."""
    return [f"{path.stem}{arm}" for path in sorted(RECORDINGS.glob("*.json")) for arm in ARMS]


def recorded_design(name: str, context: RunContext) -> Design:
    """The design of a recorded run, from its designer's recorded replies."""
    path = RECORDINGS / f"{name}.json"
    asked = str(exchanged(path)[0]["request"]["body"]["model"])
    given = {"model": asked, "replay": path, "record": None}
    roles, _ = open_model(model_settings().model_copy(update=given))
    with place("intake/clarify"):
        brief = roles.designer.clarify(recorded_generation(path).brief)
    with place("design"):
        return roles.designer.design(brief, context.retrieval.mechanics)


def recorded_drafts(context: RunContext) -> tuple[list[Generation], dict[str, str]]:
    """What both arms wrote, as far as they are recorded, and which are not."""
    made, lacking = [], {}
    for name in draft_names():
        path, task = DRAFTS / f"{name}.json", name.removesuffix("-ret")
        arm = ARMS[name[len(task) :]]
        if not path.exists():
            lacking[f"{task} {arm}"] = f"python -m scripts.recordings record drafts/{name}"
            continue
        design = recorded_design(task, context)
        sources = written(path)
        if not sources:
            raise EvalError(f"{path.name} holds no module; record it anew")
        made.append(
            Generation(task, arm, "", rules_text(design), design.num_players, tuple(sources))
        )
    return made, lacking


def checked(one: Generation, context: RunContext) -> Row:
    """The share of checks that pass of the first module a coder wrote, and of its answer."""
    row: Row = {"modules": len(one.sources)}
    for metric, source in zip(CHECKED, (one.sources[0], one.sources[-1]), strict=True):
        findings = check_source(
            context.sandbox,
            source,
            settings=CheckSettings(),
            num_players=one.players,
            parameters={},
            records=0,
        ).findings
        names = {found.check for found in findings}
        wrong = sorted({found.check for found in findings if found.outcome != "passed"})
        row |= {metric: 1 - len(wrong) / len(names), f"not passed, {metric}": ", ".join(wrong)}
    return row
