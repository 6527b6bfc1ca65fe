"""Eval: what is it worth to see what is hidden?

The same search, with the same settings, plays against itself: one side with its honest belief, the
other one with the true state as its only determinization (`agents.belief.cheat`). Every deal is
played twice, the sides changing seats. The share of the win, and the gap of the returns, of the
side that sees all is what information is worth to that search in that game: it says how far better
beliefs could carry it, and nothing of how strong it is. It is thresholded only where it is certain.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from hashlib import sha256
from statistics import fmean
from typing import cast

from pydantic import JsonValue

from agents.players import parse_spec
from evals.omniscience import HONEST, OMNISCIENT, REASON, Deal, Setup, play_deal
from evals.options import EvalOptions
from evals.results import EvalError, EvalResult, Score
from games import library
from games.contract import Json
from tools.playtest import (
    Estimate,
    Journal,
    JournalError,
    NoSamplesError,
    mean_interval,
    process_pool,
    share_interval,
)
from tools.playtest.jobs import sandbox_of_process

Tell = Callable[[str], None]

SETUPS = (
    Setup(
        "leduc poker, deals in turn",
        "leduc_poker",
        "ismcts:simulations=100",
        quick=40,
        full=1200,
        every_deal=3,
    ),
    Setup(
        "battleship, 4 by 4",
        "battleship",
        "ismcts:simulations=100",
        parameters={"rows": 4, "columns": 4, "ships": "3,2"},
        quick=8,
        full=200,
        at_least=0.9,
    ),
    Setup(
        "battleship, 10 by 10",
        "battleship",
        "osla:passes=1,leaf=value",
        quick=5,
        full=100,
        at_least=0.9,
    ),
    Setup("whist", "whist", "ismcts:simulations=20", players=4, quick=4, full=60),
    Setup("go fish", "go_fish", "ismcts:simulations=20", quick=2, full=60),
    Setup(
        "capture the flag, small",
        "small_capture_the_flag",
        "ismcts:simulations=50,leaf=value",
        quick=8,
        full=200,
    ),
)
_SLACK = 0.03


def run(seed: int, tell: Tell, options: EvalOptions) -> EvalResult:
    """Play every game from both sides.

    Raises:
        EvalError: If the folder belongs to another evaluation, or no game could be scored.
    """
    return measured(SETUPS, seed, tell, options)


def measured(setups: Sequence[Setup], seed: int, tell: Tell, options: EvalOptions) -> EvalResult:
    """As `run`, with these games."""
    rows: list[dict[str, JsonValue]] = []
    with _pool(options.workers) as pool, sandbox_of_process(OMNISCIENT) as sandbox:
        for setup in setups:
            try:
                deals = _dealt(setup, seed, options, pool)
            except JournalError as error:
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
            str(row["game"]): "; ".join(cast("list[str]", row["reasons"])) or "no deal was played"
            for row in rows
            if row["wins"] is None
        },
    )


@contextmanager
def _pool(workers: int) -> Iterator[Executor | None]:
    """Processes, each with an honest and an omniscient sandbox; None for this one alone."""
    if workers == 1:
        with sandbox_of_process(HONEST), sandbox_of_process(OMNISCIENT):
            yield None
        return
    pool = process_pool(workers, HONEST)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _played(
    setup: Setup, seed: int, missing: Sequence[int], pool: Executor | None
) -> Iterator[tuple[int, Json]]:
    """What each missing deal comes to, as soon as it is known."""
    deals = [Deal(setup, index, seed) for index in missing]
    if pool is None:
        yield from ((deal.index, play_deal(deal)) for deal in deals)
        return
    jobs = {pool.submit(play_deal, deal): deal.index for deal in deals}
    yield from ((jobs[job], job.result()) for job in as_completed(jobs))


def _dealt(
    setup: Setup, seed: int, options: EvalOptions, pool: Executor | None
) -> list[Mapping[str, Json]]:
    """What every deal came to, those that the folder holds among them."""
    count = setup.quick if options.quick else setup.full
    words = setup.label.replace(",", "").split()
    path = None if options.folder is None else options.folder / f"{'-'.join(words)}.jsonl"
    played: dict[int, Json] = {}
    with Journal(path, _identity(setup, seed)) if path is not None else nullcontext() as book:
        played |= book.entries if book else {}
        missing = [index for index in range(count) if index not in played]
        for index, played[index] in _played(setup, seed, missing, pool):
            if book:
                book.append(index, played[index])
    return [cast("Mapping[str, Json]", played[index]) for index in range(count)]


def _identity(setup: Setup, seed: int) -> dict[str, Json]:
    """What the journal of a game belongs to; how many deals are played is no part of it."""
    fields = {name: value for name, value in asdict(setup).items() if name not in _AMOUNTS}
    source_id = sha256(library.source(setup.game).encode()).hexdigest()
    return {**fields, "source_id": source_id, "player": str(parse_spec(setup.spec)), "seed": seed}


_AMOUNTS = ("quick", "full", "at_least")


def _row(setup: Setup, deals: Sequence[Mapping[str, Json]]) -> dict[str, JsonValue]:
    whole = [deal for deal in deals if not deal["reasons"]]

    def estimated(name: str, interval: Callable[[Sequence[float]], Estimate]) -> JsonValue:
        values = [fmean(cast("list[float]", deal[name])) for deal in whole]
        try:
            return interval(values).model_dump(mode="json")
        except NoSamplesError:
            return None

    reasons = [reason for deal in deals for reason in cast("list[str]", deal["reasons"])]
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
        "reasons": cast("list[JsonValue]", sorted(set(reasons))),
    }


def _scores(
    setups: Sequence[Setup], rows: Sequence[Mapping[str, JsonValue]], *, quick: bool
) -> Iterator[Score]:
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
        lost = cast("int", row["deals"]) - wins.n
        name = f"{setup.label}: wins of who sees all"
        yield Score(name=name, value=wins.value, at_least=bound, scored=wins.n, unscored=lost)
        name = f"{setup.label}: its gain in returns"
        yield Score(name=name, value=gain.value, scored=gain.n, unscored=lost)


def _said(row: Mapping[str, JsonValue]) -> str:
    if row["wins"] is None or row["gain"] is None:
        return f"{row['game']}: not to be estimated from {row['whole_deals']} deals"
    wins, gain = (Estimate.model_validate(row[name]) for name in ("wins", "gain"))
    return (
        f"{row['game']}: who sees all wins {wins.value:.3f} ({wins.low:.3f} to {wins.high:.3f}), "
        f"gains {gain.value:.3f} ({gain.low:.3f} to {gain.high:.3f}), over {wins.n} deals"
    )
