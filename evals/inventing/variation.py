"""Eval: of eight variants of each family, how many pass all checks, and how far apart do they play?

Without a model: `vary` walks the family's settings. A variant counts where the whole `check` passes
it and where, on fresh deals, it is further from the base than the base hardly ever is from itself
under two seeds (the chance distance). Every distance is given in chance distances, so that families
can be held beside each other: 1 is told apart, and no more.

The thresholds were written down before the first whole run. A family whose settings give few other
games may give fewer variants; so the share is asked of all families together, and of connect four
by itself.
"""

import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean, median

from evals.results import EvalOptions, EvalResult, Row, score_over
from games import library
from graph.run.folder import RunFolder
from graph.vary.bases import base_of
from graph.vary.report import VaryReport
from graph.vary.runs import make_varying, run_varying
from graph.vary.settings import VaryRequest, VarySettings, is_variation, write_variation
from tools.sources import find_game
from tools.variation.profile import profile_distance

NAMED = "connect_four"
KEPT_AT_LEAST = 0.75
NOVELTY_AT_LEAST = 2.0
APART_AT_LEAST = 1.0
_VARIANTS = 8
_QUICK, _QUICK_GAMES = 2, (NAMED, "poker")


def run(options: EvalOptions) -> EvalResult:
    """Vary connect four and every family; quick: two of connect four and of poker."""
    usual = _QUICK_GAMES if options.quick else (NAMED, *library.families())
    n = _QUICK if options.quick else _VARIANTS
    settings = VarySettings(seed=options.seed, n=n, quick=options.quick)
    rows, grade = list[Row](), {}
    with tempfile.TemporaryDirectory() as place:
        for game in options.games or usual:
            report = _varied(game, settings, (options.folder or Path(place)) / game)
            rows.append(variation_row(report))
            grade = report.sandbox.model_dump(mode="json") if report.sandbox else {}
            options.tell(f"{game}: {rows[-1]}")
    about = {"settings": settings.model_dump(mode="json"), "sandbox": grade, "roles": "no model"}
    return score_variation(rows, about)


def _varied(game: str, settings: VarySettings, path: Path) -> VaryReport:
    """The run of a game in its folder; one that was ended goes on."""
    folder = RunFolder(path)
    folder.make()
    if not is_variation(folder):
        base = base_of(find_game(game))
        write_variation(VaryRequest(base=base, settings=settings), folder)
    with folder.held(), make_varying(folder) as context:
        return run_varying(folder, context).report


def variation_row(report: VaryReport) -> Row:
    """The row of one game: variants wanted and kept, and distances in chance distances."""
    profiles = [one.profile for one in report.variants]
    between = [
        profile_distance(one, other, report.units) / report.chance
        for one, other in combinations(profiles, 2)
    ]
    novelty = [one.novelty / report.chance for one in report.variants]
    return {
        "id": report.base,
        "wanted": report.settings.n,
        "kept": len(report.variants),
        "tried": report.tried,
        "chance": report.chance,
        "novelty_least": min(novelty, default=None),
        "novelty_median": median(novelty) if novelty else None,
        "apart_least": min(between, default=None),
        "fair": sum(
            found.fairness is not None and found.fairness.answer != "no"
            for found in (one.figures for one in report.variants)
            if found is not None
        ),
        "dropped": report.dropped,
        "differences": [one.difference for one in report.variants],
    }


def score_variation(rows: Sequence[Row], effective: Row) -> EvalResult:
    """The scores over all games, and of connect four by itself where it was varied."""
    shares = [row["kept"] / row["wanted"] for row in rows]
    scores = [
        score_over(shares, "variants that pass all checks and differ", at_least=KEPT_AT_LEAST),
        score_over(
            [row["novelty_median"] for row in rows],
            "median distance to the base, in chance distances",
            fmean,
            at_least=NOVELTY_AT_LEAST,
        ),
        score_over(
            [row["apart_least"] for row in rows],
            "nearest two variants of a game, in chance distances",
            median,
            at_least=APART_AT_LEAST,
        ),
    ]
    named = [share for share, row in zip(shares, rows, strict=True) if row["id"] == NAMED]
    if named:
        name = "variants of connect four that pass and differ"
        scores.append(score_over(named, name, at_least=KEPT_AT_LEAST))
    return EvalResult(scores=tuple(scores), samples=tuple(rows), effective=effective)
