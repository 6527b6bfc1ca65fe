"""Eval: do eight fixed prompts of eight families become checked, playable games?"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from evals.results import EvalOptions, EvalResult, Row, read_data, score_over
from games.checks.run import CheckSettings
from graph.new.context import RunSettings
from graph.new.opening import make_context
from graph.new.results import RunResult
from graph.new.runs import open_run
from graph.run.folder import RunFolder

_QUICK = 3  # samples


def run(options: EvalOptions) -> EvalResult:
    """Run the whole machine on every sample, with small matches and searches; quick: on three."""
    settings = RunSettings(
        seed=options.seed,
        quick=True,
        records_judged=1,
        ladder_matches=4,
        random_matches=12,
        heuristic_matches=4,
        small_budget=4,
        large_budget=8,
        check=CheckSettings(seed=options.seed, matches=4, samples=12),
    )
    context = make_context(settings, keeps_own_games=False)
    rows, samples = [], read_data("data/smoke.yaml")[: _QUICK if options.quick else None]
    with tempfile.TemporaryDirectory() as place:
        for index, sample in enumerate(samples):
            folder = RunFolder(Path(place) / str(index))
            folder.journals.mkdir(parents=True)
            with open_run(folder, context, prompt=sample["prompt"]) as made:
                rows.append(judge_run(sample, made.to_end()))
            options.tell(f"{sample['family']}: {rows[-1]}")
    return score(
        rows,
        {
            "settings": settings.model_dump(mode="json"),
            "roles": context.roles.identity,
            "sandbox": context.sandbox.grade.model_dump(mode="json"),
            "store": context.store_snapshot,
        },
    )


def judge_run(sample: Row, result: RunResult) -> Row:
    """The row of one sample: its end beside the end that its words demand.

    Args:
        sample: Its `prompt`, and what that demands outright: `family`, `players`, `parameters`.
        result: Of its run.
    """
    design = result.state.design
    parameters = design.parameters if design else {}
    evaluation = result.state.evaluation
    return {
        "prompt": sample["prompt"],
        "wanted": {name: value for name, value in sample.items() if name != "prompt"},
        "made": result.state.end == "made",
        "as_asked": design is not None
        and (design.family, design.num_players) == (sample["family"], sample["players"])
        and all(parameters.get(name) == value for name, value in sample["parameters"].items()),
        "all_finished": None if evaluation is None else not evaluation.unfinished,
        "reason": result.state.reason,
    }


def score(rows: Sequence[Row], effective: Row) -> EvalResult:
    """Shares over the samples; all of them must be made, as asked, and play to their end."""
    names = (
        ("made", "games made and passed"),
        ("as_asked", "games as their words demand"),
        ("all_finished", "games whose matches all finished"),
    )
    scores = tuple(
        score_over([row[key] for row in rows], name, at_least=1.0) for key, name in names
    )
    return EvalResult(scores=scores, samples=tuple(rows), effective=effective)
