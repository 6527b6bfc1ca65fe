"""Eval: what is it worth to see what is hidden?

The same search, with the same settings, plays against itself: one side with its honest belief, the
other one with the true state as its only determinization (`evals.leakage.omniscient`). Every deal
is played twice, the sides changing seats. The share of the win, and the gap of the returns, of the
side that sees all is what information is worth to that search in that game: it says how far better
beliefs could carry it, and nothing of how strong it is. It is thresholded only where it is certain.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from hashlib import sha256
from statistics import fmean
from typing import Any

from pydantic import JsonValue

from agents.players.registry import parse_spec
from evals.leakage.omniscience import HONEST, OMNISCIENT, REASON, Deal, DealSetup, play_deal
from evals.results import EvalError, EvalOptions, EvalResult, Row, Score, Tell, read_data
from games import library
from games.contract import Json
from tools.playtest.intervals import Estimate, NoSamplesError, mean_interval, share_interval
from tools.playtest.jobs import sandbox_of_process
from tools.playtest.journal import JournalError, journal_at
from tools.playtest.runner import RunStoppedError, Workers, play_all

SETUPS = tuple(DealSetup(**row) for row in read_data("data/information.yaml"))
_SLACK = 0.03


def run(
    seed: int, tell: Tell, options: EvalOptions, setups: Sequence[DealSetup] = SETUPS
) -> EvalResult:
    """Play every game from both sides.

    Raises:
        EvalError: If the folder belongs to another evaluation, or no game could be scored.
    """
    rows: list[Row] = []
    with (
        Workers(options.workers).opened() as workers,
        sandbox_of_process(HONEST),
        sandbox_of_process(OMNISCIENT) as sandbox,
    ):
        for setup in setups:
            try:
                deals = _dealt(setup, seed, options, workers)
            except (JournalError, RunStoppedError) as error:
                raise EvalError(str(error)) from error
            rows.append(_row(setup, deals))
            tell(_said(rows[-1]))
        grade = sandbox.grade
    return EvalResult(
        name="information",
        scores=tuple(_scores(setups, rows, quick=options.quick)),
        samples=tuple(rows),
        effective={
            "seed": seed,
            "quick": options.quick,
            "workers": options.workers,
            "omniscient": {
                "reason": REASON,
                "preloads": [*OMNISCIENT.preload],
                "modules": "of the library alone",
                "ranked": False,
            },
            "sandbox": grade.model_dump(mode="json"),
        },
        unscored={
            str(row["game"]): "; ".join(row["reasons"]) or "no deal was played"
            for row in rows
            if row["wins"] is None
        },
    )


def _dealt(setup: DealSetup, seed: int, options: EvalOptions, workers: Workers) -> list[Row]:
    """What every deal came to, those that the folder holds among them."""
    count = setup.quick if options.quick else setup.full
    words = setup.label.replace(",", "").split()
    path = None if options.folder is None else options.folder / f"{'-'.join(words)}.jsonl"
    deals = ((index, Deal(setup, index, seed)) for index in range(count))
    with journal_at(path, _identity(setup, seed)) as journal:
        played: dict[int, Any] = dict(play_all(deals, play_deal, journal=journal, workers=workers))
    return [played[index] for index in range(count)]


def _identity(setup: DealSetup, seed: int) -> dict[str, Json]:
    """What the journal of a game belongs to; how many deals are played is no part of it."""
    fields = {name: value for name, value in asdict(setup).items() if name not in _AMOUNTS}
    source_id = sha256(library.source(setup.game).encode()).hexdigest()
    return {**fields, "source_id": source_id, "player": str(parse_spec(setup.spec)), "seed": seed}


_AMOUNTS = ("quick", "full", "at_least")


def _row(setup: DealSetup, deals: Sequence[Row]) -> Row:
    whole = [deal for deal in deals if not deal["reasons"]]

    def estimated(name: str, interval: Callable[[Sequence[float]], Estimate]) -> JsonValue:
        values = [fmean(deal[name]) for deal in whole]
        try:
            return interval(values).model_dump(mode="json")
        except NoSamplesError:
            return None

    reasons = [reason for deal in deals for reason in deal["reasons"]]
    return {
        "game": setup.label,
        "module": setup.game,
        "parameters": dict(setup.parameters),
        "player": str(parse_spec(setup.spec)),
        "seats": setup.players,
        "deals": len(deals),
        "whole_deals": len(whole),
        "wins": estimated("wins", share_interval),
        "gain": estimated("gain", mean_interval),
        "reasons": sorted(set(reasons)),
    }


def _scores(setups: Sequence[DealSetup], rows: Sequence[Row], *, quick: bool) -> Iterator[Score]:
    """Wins and gain of whoever sees all, a game at a time; quick thresholds leave room for chance.

    That is three points, or two standard errors of a share measured on so few deals.
    """
    for setup, row in zip(setups, rows, strict=True):
        if row["wins"] is None or row["gain"] is None:
            continue
        wins, gain = (Estimate.model_validate(row[name]) for name in ("wins", "gain"))
        bound = setup.at_least
        if bound is not None and quick:
            bound -= max(_SLACK, 2 * math.sqrt(bound * (1 - bound) / wins.n))
        lost = row["deals"] - wins.n
        name = f"{setup.label}: wins of who sees all"
        yield Score(name=name, value=wins.value, at_least=bound, scored=wins.n, unscored=lost)
        name = f"{setup.label}: its gain in returns"
        yield Score(name=name, value=gain.value, scored=gain.n, unscored=lost)


def _said(row: Row) -> str:
    if row["wins"] is None or row["gain"] is None:
        return f"{row['game']}: not to be estimated from {row['whole_deals']} deals"
    wins, gain = (Estimate.model_validate(row[name]) for name in ("wins", "gain"))
    return (
        f"{row['game']}: who sees all wins {wins.value:.3f} ({wins.low:.3f} to {wins.high:.3f}), "
        f"gains {gain.value:.3f} ({gain.low:.3f} to {gain.high:.3f}), over {wins.n} deals"
    )
