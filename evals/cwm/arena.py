"""Eval: does a search in a learned model play as well as a search in the game itself?

The arena of Code World Models §5.2: `cwm` meets `gt` and random play, each deal in both seats, with
the environment as the referee. `protocol=paper` hides the legal actions and draws hidden states by
the model's inference function alone; `protocol=ours` tells them, and enumerates where the function
fails. A forfeit is a loss. Where there are several models of a game, they reject each other first
(App. F), and those that are left share the deals. The paper's rows stand beside ours.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from agents.players.endpoint import ModelTable
from agents.players.registry import PlayerRoster
from agents.strategy.models import ModelContest, reject_models
from evals.cwm.held import (
    TIMED,
    HeldModel,
    by_seat_told,
    games_with_models,
    games_with_tasks,
    held_models,
    live_models,
    published_name,
    referee_of,
    search_rates,
)
from evals.results import (
    EvalError,
    EvalOptions,
    EvalResult,
    NothingScoredError,
    Row,
    Score,
    read_data,
    resized,
    score_over,
)
from graph.run.opening import model_settings
from tools.playtest.intervals import Estimate, NoSamplesError, share_interval
from tools.playtest.jobs import MatchEntry, SandboxRecipe, sandbox_of_process
from tools.playtest.runner import Workers
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.predicting.arena import (
    decided,
    followed,
    forfeits,
    paid_over,
    seated,
    used_by_first,
)
from tools.predicting.transition import RecordQuestions, predicted
from tools.sandbox import Sandbox

SEATS = 2
PROTOCOLS = {"paper": "protocol=paper,belief=module", "ours": "protocol=ours,belief=auto"}
LLM_PROTOCOLS = {"paper": "legal=no,rethinks=0", "ours": "legal=yes"}
EVEN_WITHIN = 7.0  # points
RATE_AT_LEAST = 0.8
_DEADLINE_S = 600.0
_FOLLOWED = 40  # matches whose transitions a model is asked for
_PUBLISHED = read_data("cwm/published.json")


@dataclass(frozen=True)
class ArenaSize:
    """Amount of play.

    Attributes:
        deals: Of a game, a protocol and an opponent; each is played in both seats.
        simulations: A decision.
        rollouts: Of a new leaf.
        rejecting: Deals of two models in each host.
        seconds: A timed decision.
        games: Which; none for all that have a model.
    """

    deals: int
    simulations: int = 1000
    rollouts: int = 10
    rejecting: int = 50
    seconds: float = 1.0
    games: tuple[str, ...] = ()


FULL = ArenaSize(400)
QUICK = ArenaSize(
    6, simulations=60, rollouts=1, rejecting=2, games=("tic_tac_toe", "leduc_poker", "quadranto")
)


def run(options: EvalOptions, size: ArenaSize | None = None) -> EvalResult:
    """Play the arena of every game that has a model; with an endpoint, against an LLM too.

    Raises:
        NothingScoredError: If no deal finished.
    """
    usual = size or (QUICK if options.quick else FULL)
    asked = replace(options, matches=-(-options.matches // SEATS))
    live = model_settings() if options.settings else None
    size = resized(
        usual, asked, games_with_tasks() if live else games_with_models(), matches="deals"
    )
    if live and not (live.model and size.games):
        required = "set RULEWRIGHT_MODEL, and name the games with --games"
        raise EvalError(f"--set is of models that are learned now; {required}")
    samples: list[Row] = []
    roster = _roster()
    recipe = SandboxRecipe(preload=PlayerRoster().preload)
    with sandbox_of_process(recipe) as sandbox, tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        for game in size.games or games_with_models():
            found = (
                live_models(game, folder / "models", options.settings, live)
                if live
                else held_models(game, folder / "models")
            )
            models, rejected = _left(game, found, size, options, folder)
            for protocol in PROTOCOLS:
                for opponent in ("gt", "random", *(["llm"] if roster.models else [])):
                    place = (game, models, protocol, opponent, size, options, folder)
                    arena = _Arena(*place, roster)
                    samples.append({**arena.row(sandbox), "rejected": rejected})
                    options.tell(_told(samples[-1]))
            if game in TIMED:
                text, setup = models[0].text, referee_of(game)
                samples.append(search_rates(game, setup, text, size.seconds, sandbox))
                options.tell(f"{game}: {samples[-1]}")
    return EvalResult(
        scores=tuple(_scores(samples, full=size == FULL)),
        samples=tuple(samples),
        effective={
            "deals": size.deals,
            "simulations": size.simulations,
            "rollouts": size.rollouts,
            "protocols": dict(PROTOCOLS),
            "published": _PUBLISHED["source"],
            "set": dict(options.settings),
            **({"llm": roster.models.about()} if roster.models else {}),
        },
    )


def _roster() -> PlayerRoster:
    """The players, with the model that the environment names, if any."""
    settings = model_settings()
    if settings.model is None:
        return PlayerRoster()
    return PlayerRoster(models=ModelTable.opened(settings, {settings.model}))


def _left(
    game: str, models: Sequence[HeldModel], size: ArenaSize, options: EvalOptions, folder: Path
) -> tuple[Sequence[HeldModel], list[str]]:
    """The models that may play, and the labels of those that may not (App. F)."""
    if len(models) == 1:
        return models, []
    contest = ModelContest(
        folder=folder / game,
        roster=PlayerRoster(),
        seed=options.seed,
        simulations=size.simulations,
        rollouts=size.rollouts,
        deals=size.rejecting,
        workers=Workers(options.workers),
    )
    found = reject_models(game, {one.label: one.file for one in models}, contest)
    left = [one for one in models if one.label in found.kept] or models
    return left[: size.deals], [one.label for one in models if one not in left]


@dataclass(frozen=True)
class _Arena:
    """One table of the arena."""

    game: str
    models: Sequence[HeldModel]
    protocol: str
    opponent: str
    size: ArenaSize
    options: EvalOptions
    folder: Path
    roster: PlayerRoster

    def row(self, sandbox: Sandbox) -> Row:
        """The table's row: scores, forfeits, decisions, and the paper's rows."""
        played = [(model, self._series(model, number)) for number, model in enumerate(self.models)]
        entries = [one for _, series in played for one in seated(series)]
        scores = [_score(entry, seat) for entry, seat in entries]
        deals = [fmean(scores[first : first + SEATS]) for first in range(0, len(scores), SEATS)]
        return {
            "game": self.game,
            "protocol": self.protocol,
            "opponent": self.opponent,
            "models": [f"{one.label}" for one in self.models],
            "n": len(self.models),
            "points over even": _points(deals),
            "forfeits": forfeits(entries),
            "reasons": dict(Counter(entry.reason for entry, _ in entries if entry.reason)),
            **decided(used_by_first(entries)).model_dump(),
            "transitions online": self._followed(played, sandbox),
            **table_of(entries, _PUBLISHED, self.game, self.opponent),
        }

    def _series(self, model: HeldModel, number: int) -> Series:
        """The deals of one model: as many as of any other, or one more."""
        share = self.size.deals // len(self.models)
        deals = share + (number < self.size.deals % len(self.models))
        given = f"simulations={self.size.simulations},rollouts={self.size.rollouts}"
        other = {"gt": f"gt:{given}", "random": "random"}.get(self.opponent, "")
        if self.roster.models is not None and not other:
            named = self.roster.models.settings.model
            other = f"llm:model={named},{LLM_PROTOCOLS[self.protocol]}"
        name = f"{self.game}-{self.protocol}-{self.opponent}-{model.label}.jsonl"
        return play_series(
            referee_of(self.game),
            [f"cwm:model={model.file},{given},{PROTOCOLS[self.protocol]}", other],
            self.roster,
            SeriesSettings(matches=SEATS * deals, seed=self.options.seed, record=False),
            sandbox=SandboxRecipe(preload=self.roster.preload),
            journal=self.folder / name.replace(" ", "_") if self.options.folder else None,
            workers=Workers(self.options.workers, "threads" if self.roster.models else "processes"),
        )

    def _followed(self, played: Sequence[tuple[HeldModel, Series]], sandbox: Sandbox) -> Row:
        """Count the distinct transitions of the matches that a model predicts (Tables 1 and 2).

        None are asked of a model of a closed deck: its states are its own.
        """
        agreed = distinct = 0
        for model, series in played if published_name(self.game) == self.game else ():
            asked = RecordQuestions.of(followed(series, sandbox, _FOLLOWED))
            found = predicted(sandbox, model.text, asked, deadline_s=_DEADLINE_S)
            agreed, distinct = agreed + found.distinct_right, distinct + found.distinct
        return {"agreed": agreed, "distinct": distinct}


def _score(entry: MatchEntry, seat: int) -> float:
    """1 for a win, a half for a draw; a forfeit is lost, and won by the other."""
    if entry.returns is None:
        return float(entry.culprit not in (None, seat))
    mine, other = entry.returns[seat], entry.returns[1 - seat]
    return (mine > other) + (mine == other) / 2


def _points(deals: Sequence[float]) -> Row:
    try:
        found: Estimate = share_interval(deals, "deals").minus(1 / SEATS)
    except NoSamplesError as error:
        return {"value": None, "problem": str(error)}
    return {name: round(100 * getattr(found, name), 2) for name in ("value", "low", "high")}


def by_seat(entries: Sequence[tuple[MatchEntry, int]], seat: int) -> Row:
    """Wins, losses and draws as shares, and mean payoffs of both, where cwm sat in one seat."""
    mine = [entry for entry, at in entries if at == seat]
    scores = Counter(_score(entry, seat) for entry in mine)
    paid = [entry.returns for entry in mine if entry.returns is not None]
    return {
        "wins": [round(scores[value] / len(mine), 3) for value in (1.0, 0.0, 0.5)],
        "payoffs": [round(fmean(one[who] for one in paid), 3) for who in (seat, 1 - seat)]
        if paid
        else None,
        "forfeits": [
            round(fmean(one.culprit == who for one in mine), 3) for who in (seat, 1 - seat)
        ],
        "n": len(mine),
    }


def table_of(
    entries: Sequence[tuple[MatchEntry, int]], tables: Row, game: str, opponent: str
) -> Row:
    """The results against an opponent, with the paper's rows of the game beside them."""
    published = tables["games"].get(
        published_name(game), {"not comparable": "no game of the paper"}
    )
    return {
        "matches": len(entries),
        "payoff over the other's": paid_over(entries, SEATS).model_dump(),
        "by seat": [by_seat(entries, seat) for seat in range(SEATS)],
        "published": {
            deck: {"table": rows["table"], **rows[opponent]}
            for deck, rows in published.items()
            if deck != "not comparable"
        },
        "not comparable": published.get("not comparable", ""),
    }


def _scores(samples: Sequence[Row], *, full: bool) -> Iterator[Score]:
    played = [one for one in samples if "opponent" in one]
    against = {
        opponent: [one for one in played if one["opponent"] == opponent]
        for opponent in ("gt", "random")
    }
    even = [one["points over even"] for one in against["gt"]]
    paid = [one["payoff over the other's"] for one in against["random"]]
    if not played or any(one["value"] is None for one in (*even, *paid)):
        raise NothingScoredError("a table of the arena has too few deals that finished")
    yield score_over([one["forfeits"] for one in played], "forfeits of cwm", sum, at_most=0)
    far = [max(abs(one["low"]), abs(one["high"])) for one in even]
    name = "against gt: farthest end of an interval, points from even"
    yield score_over(far, name, max, at_most=EVEN_WITHIN if full else None)
    name = "against random play: least payoff over its own, lower end"
    yield score_over([one["low"] for one in paid], name, min, at_least=0 if full else None)
    asked = [one["transitions online"] for one in played]
    if distinct := sum(one["distinct"] for one in asked):
        share = sum(one["agreed"] for one in asked) / distinct
        yield Score(name="transitions predicted online", value=share, scored=distinct)
    decided = sum(one["decisions"] for one in played)
    surprises = sum(one["surprises"] for one in played)
    yield Score(name="surprises a decision", value=surprises / decided, scored=decided)
    if ratios := [one["ratio"] for one in samples if "ratio" in one]:
        name = "simulations a second over the library's module, least"
        yield score_over(ratios, name, min, at_least=RATE_AT_LEAST)


def _told(row: Row) -> str:
    """A table in words, with the paper's rows beside it."""
    points = row["points over even"]
    told = f"not measured: {points.get('problem')}"
    if points["value"] is not None:
        told = f"{points['value']} points ({points['low']} to {points['high']})"
    return (
        f"{row['game']}, {row['protocol']}, against {row['opponent']}: {told} in {row['matches']} "
        f"matches, n = {row['n']} models; {by_seat_told(row, 'nothing to compare')}"
    )
