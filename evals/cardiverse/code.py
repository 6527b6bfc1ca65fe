"""Eval `cardiverse-code`: Succ, Exec, ECon and PCon of generated code (Cardiverse §4.2, Table 2).

A task is the brief of one recording under `tests/recordings`. The recorded coder is scored, and a
configured model is given the same briefs. "-val" is the first candidate that plays, so mechanical
debugging without validation; "-ret" is a live run in which nothing is retrieved. "recorded +ret"
and "recorded -ret" are first drafts alone of the same recorded designs, asked for with and without
retrieval (`evals.cardiverse.recorded`): they are held against each other, not against Table 2.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import BaseModel, Field

from agents.model.chat import ChatModel, build_chat
from agents.model.replies import ask_structured
from agents.prompting import load_prompt
from agents.roles.texts import rules_text
from evals.cardiverse.recorded import (
    CHECKED,
    RECORDINGS,
    Generation,
    checked,
    recorded_drafts,
    recorded_generation,
)
from evals.results import EvalError, EvalOptions, EvalResult, Row, score_over
from games.checks.sampling import Subject, random_matches
from games.contract import Game
from games.engine import Match
from games.records import MatchRecord, to_text
from games.values import ModuleFault
from graph.new.context import RunContext, RunSettings
from graph.new.opening import make_context
from graph.new.runs import open_run
from graph.run.folder import RunFolder
from graph.run.opening import model_settings
from tools.retrieval import NothingRetrieved
from tools.sandbox import SandboxedModule, SandboxTable

# Table 2 of the paper, not comparable: other games, coder, judge and embedding. Ours on common
# games is the bar; an embedding's similarity has none.
PUBLISHED: Mapping[str, float | None] = {"Succ": 27 / 29, "Exec": 1.0, "ECon": None, "PCon": 8.99}
_TESTS, _TRIES = 10, 3
_LAST_PLIES = 12  # a player: about six rounds
_PIECE = 800  # characters, which an embedder surely reads


class ScoreReply(BaseModel, extra="forbid"):
    """How well a record fits the rules."""

    working: str = Field(description="What was compared, ply by ply, and what differs.")
    score: int = Field(ge=1, le=10, description="1 (another game) to 10 (exactly these rules).")


def live(task: Generation, context: RunContext, seed: int, *, retrieves: bool) -> Generation:
    """The configured model's game for a task's brief, with no source where it drafted none."""
    silent = NothingRetrieved(context.retrieval.store)
    settings = context.settings.model_copy(update={"seed": seed})
    retrieval = context.retrieval if retrieves else silent
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder(Path(place) / "run")
        folder.journals.mkdir(parents=True)
        run = replace(context, settings=settings, retrieval=retrieval)
        with open_run(folder, run, prompt=task.brief) as opened:
            state = opened.to_end().state
    found = tuple(candidate.source for candidate in state.candidates)
    made = replace(task, coder="live" if retrieves else "live -ret", sources=found)
    if state.design is None:
        return made
    return replace(made, rules=rules_text(state.design), players=state.design.num_players)


@dataclass
class Scorer:
    """Plays, embeds and has judged; each source is played once.

    Attributes:
        context: Sandbox and store.
        judge: The model that scores records, or None.
        matches: Random matches of a source.
        judged: Records to score.
    """

    context: RunContext
    judge: ChatModel | None
    matches: int = 100
    judged: int = 10

    def __post_init__(self) -> None:
        self._played: dict[tuple[str, int], list[Match]] = {}

    def row(self, one: Generation, *, validated: bool) -> Row:
        """The metrics of one generation: Succ, and the others where it is given."""
        row: Row = {"task": one.task, "coder": one.coder + ("" if validated else " -val")}
        for source in one.sources[-1:] if validated else one.sources:
            matches = self._matches(source, one.players)
            finished = [match for match in matches if match.ending == "finished"]
            if len(matches) >= _TESTS and matches[:_TESTS] == finished[:_TESTS]:
                row |= {"Succ": True, "Exec": len(finished) / self.matches}
                row["ECon"] = float(self._vector(source) @ self._vector(one.rules))
                if self.judge is not None:
                    row["PCon"] = fmean(self._score(one, m) for m in finished[: self.judged])
                return row
        return {**row, "Succ": False}

    def _matches(self, source: str, players: int) -> list[Match]:
        """Random matches, fewer where three did not finish; none where it does not load."""
        if (source, players) not in self._played:
            never: Any = None  # a module loaded anew is not asked for
            with self.context.sandbox.worker("eval", source) as worker:
                try:
                    worker.load(source)
                except ModuleFault:
                    return []
                game, table = Game(SandboxedModule(worker)), SandboxTable(worker)
                subject = Subject(game, table, players, {}, never, never)
                seed = self.context.settings.seed
                self._played[source, players] = random_matches(
                    subject, matches=self.matches, seed=seed, max_plies=2000
                )
        return self._played[source, players]

    def _vector(self, text: str) -> Any:  # noqa: ANN401 - [D], of length 1
        pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
        total = self.context.retrieval.store.vectors(pieces).sum(axis=0)
        return total / (total @ total) ** 0.5

    def _score(self, one: Generation, match: Match) -> float:
        """The judge's score of the last plies and the ending of one match."""
        record = MatchRecord(one.task, {}, ("random",) * one.players, 0, 0, match)
        head, *plies = to_text(record).split("\n\nply ")
        last = plies[-_LAST_PLIES * one.players :]
        head += f"\n\n({len(plies) - len(last)} earlier plies are left out)"
        shown = "\n\nply ".join([head, *last])
        messages = load_prompt("validator_score").fill(rules=one.rules, record=shown)
        assert self.judge is not None
        return ask_structured(self.judge, messages, ScoreReply, lambda reply: float(reply.score))


def run(options: EvalOptions) -> EvalResult:
    """Score recorded coders and the configured model; quick: 20 matches, 2 records, one try.

    Raises:
        EvalError: If there is neither a recorded coder nor, so, a task for a model.
    """
    made: list[Generation] = []
    unscored: dict[str, str] = {}
    for path in sorted(RECORDINGS.glob("*.json")):
        try:
            made.append(recorded_generation(path))
        except EvalError as error:
            unscored[path.name] = str(error)
    if not made:
        raise EvalError(f"no recording in {RECORDINGS} holds a coder, so nothing can be scored")
    context = make_context(RunSettings(seed=options.seed, quick=True), keeps_own_games=False)
    model = model_settings()
    judge = build_chat(model) if model.model else None
    for task in tuple(made) if judge else ():
        for number in range(1 if options.quick else _TRIES):
            made += [
                live(task, context, options.seed + number, retrieves=kind) for kind in (True, False)
            ]
    scorer = Scorer(context, judge, *((20, 2) if options.quick else ()))
    rows = [scorer.row(one, validated=kind) for one in made for kind in (True, False)]
    drafts, lacking = recorded_drafts(context)
    rows += [scorer.row(one, validated=True) | checked(one, context) for one in drafts]
    for row in rows:
        options.tell(str(row))
    effective: Row = {
        "matches": scorer.matches,
        "records judged": scorer.judged if judge else 0,
        "model": model.model or "none: recorded coders alone",
        "embedding": context.embedding,
        "store": context.store_snapshot,
        "sandbox": context.sandbox.grade.model_dump(mode="json"),
        "published": dict(PUBLISHED),
    }
    return score_rows(rows, effective, {**unscored, **lacking})


def score_rows(rows: Sequence[Row], effective: Row, unscored: Mapping[str, str]) -> EvalResult:
    """Means by coder: Succ over tasks (@pass: any try of a task), the rest over what passed it."""
    scores, missing = [], dict(unscored)
    for coder in dict.fromkeys(str(row["coder"]) for row in rows):
        own = [row for row in rows if row["coder"] == coder]
        tasks = dict.fromkeys(row["task"] for row in own)
        measured = {**PUBLISHED, **{m: None for m in CHECKED if any(m in row for row in own)}}
        for metric, published in measured.items():
            values = [row[metric] for row in own if metric in row]
            if metric == "Succ":
                values = [any(r["Succ"] for r in own if r["task"] == task) for task in tasks]
            bar = published if coder in ("recorded", "live") else None
            if values:
                scores.append(score_over(values, f"{coder} {metric}", at_least=bar))
            else:
                missing[f"{coder} {metric}"] = "no try passed Succ, or no model judges the records"
    return EvalResult(
        scores=tuple(scores), samples=tuple(rows), effective=effective, unscored=missing
    )
