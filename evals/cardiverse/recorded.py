"""Recorded runs with a model: what the coder and the strategist gave in each."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agents.model.recording import place
from agents.protocols import Design, Heuristic
from agents.roles.strategist import HeuristicsReply
from agents.roles.texts import rules_text
from agents.roles.tool_calls import SUBMIT, EditReply, Workbench, edited
from evals.results import EvalError, Row
from games.checks.run import CheckSettings
from graph.new.context import RunContext
from graph.new.opening import open_model
from graph.run.opening import model_settings
from tools.checking import check_source

RECORDINGS = Path(__file__).parents[2] / "tests" / "recordings"
_BLOCK = re.compile(r"^```(?:python)?[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_BRIEF = re.compile(r"<brief>\n(.*?)\n</brief>", re.DOTALL)
_POLICY = "The strategist's, as recorded."


@dataclass(frozen=True)
class Generation:
    """The modules that one coder wrote for one task.

    Attributes:
        task: The recording's name.
        coder: "recorded", "live" or "live -ret".
        brief: The person's words.
        rules: The description that the code is to follow.
        players: Seats.
        sources: Every candidate in order; the last is the coder's answer.
    """

    task: str
    coder: str
    brief: str
    rules: str
    players: int
    sources: tuple[str, ...]


def recorded_generation(path: Path) -> Generation:
    """A recording's brief and design, and its coder's draft with every edit applied.

    Raises:
        EvalError: If it holds no replies of these kinds.
    """
    try:
        exchanges = exchanged(path)
        brief = _BRIEF.findall(exchanges[0]["request"]["body"]["messages"][-1]["content"])[-1]
        said = _said(exchanges)
        design = json.loads(
            [message for place, message in said if place == "design"][-1]["content"]
        )
        _, sources = _modules(said)
        rules = "\n".join(f"{rule['id']}: {rule['text']}" for rule in design["rules"])
        seats = int(design["num_players"])
        if not sources:
            raise ValueError("no module")  # noqa: TRY301 - one sentence for all of them
    except (IndexError, KeyError, TypeError, ValueError) as error:
        problem = f"{path.name} holds no brief, design, module and edits that can be read"
        raise EvalError(f"{problem} ({error!r}); record it anew") from error
    return Generation(path.stem, "recorded", brief, rules, seats, tuple(sources))


def exchanged(path: Path) -> list[Any]:
    """The exchanges of a recording, as they lie in the file."""
    exchanges: list[Any] = json.loads(path.read_text(encoding="utf-8"))["exchanges"]
    return exchanges


def _said(exchanges: Sequence[Any]) -> list[tuple[str, Any]]:
    """Place and message of every completion."""
    return [
        (e["place"], e["response"]["choices"][0]["message"])
        for e in exchanges
        if "choices" in e["response"]
    ]


def written(path: Path) -> list[str]:
    """Every module of a recording in order, so that the last is the coder's answer."""
    drafts, answers = _modules(_said(exchanged(path)))
    *before, last = [*drafts, *answers[-1:]] or [""]
    return [*dict.fromkeys(one for one in before if one != last), last] if last else []


def _modules(said: Sequence[tuple[str, Any]]) -> tuple[list[str], list[str]]:
    """The drafts of a coder, and its answers: in a block, by edits, or as a named draft."""
    drafts: list[str] = []
    found: list[str] = []
    nothing: Any = None  # no tool is run again
    bench, at = Workbench(nothing), ""
    for asked_at, message in said:
        if not asked_at.startswith(("code/", "refine/")):  # a recoded module has other rules
            continue
        if asked_at != at:
            bench, at = Workbench(nothing, *found[-1:]), asked_at
        for call in message.get("tool_calls") or ():
            with suppress(ValueError, KeyError):  # a call that was refused then, too
                given = json.loads(call["function"]["arguments"])
                if given.get("source"):
                    drafts.append(bench.source(bench.keep(given["source"])))
                if given.get("edits"):
                    source = _edited(bench.source(given["draft"]), given["edits"])
                    drafts.append(bench.source(bench.keep(source)))
                if call["function"]["name"] == SUBMIT:
                    found.append(bench.source(given["draft"]))
        text = message.get("content") or ""
        found += _BLOCK.findall(text)
        if not asked_at.startswith("code/") and text.lstrip().startswith("{"):
            found.append(_edited(found[-1], json.loads(text)["edits"]))
    return drafts, found or drafts[-1:]


def _edited(source: str, edits: Sequence[Mapping[str, str]]) -> str:
    return edited(source, [EditReply.model_validate(edit) for edit in edits])


def recorded_heuristics(path: Path, rules: str) -> tuple[Heuristic, ...]:
    """The heuristics that a recording's strategist wrote for a game with these rules.

    A later reply replaces what has its name, as a repair does.

    Args:
        path: The recording.
        rules: As in `Generation`: a run that was revised asked for heuristics of other rules too.
    """
    found: dict[str, Heuristic] = {}
    for exchange in json.loads(path.read_text(encoding="utf-8"))["exchanges"]:
        if exchange["place"] != "strategize" or "choices" not in exchange["response"]:
            continue
        asked = exchange["request"]["body"]["messages"][-1]["content"]
        if not all(line.partition(": ")[2] in asked for line in rules.splitlines()):
            continue
        with suppress(ValidationError):  # policies in words
            text = exchange["response"]["choices"][0]["message"]["content"]
            for one in HeuristicsReply.model_validate_json(text).heuristics:
                found[one.name] = Heuristic(name=one.name, policy=_POLICY, source=one.source)
    return tuple(found.values())


DRAFTS = RECORDINGS / "drafts"
CHECKED = ("checks of the first module", "checks of the answer")
"""Shares of the named checks that pass: before a coder saw what they find, and after."""
ARMS: Mapping[str, str] = {"": "recorded +ret", "-ret": "recorded -ret"}


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
    """The recorded drafts of both arms; and those that are not recorded."""
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
