"""Learned models held against each other: which of them may play, and which value function helps.

Code World Models §4.3 and App. D.4 (value functions), App. F (rejection). Nobody asks the game
itself: a model hosts, and players search in models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from games.engine import RandomPlayer, play_match
from games.library import defaults
from games.values import ModuleFault, State, is_number, show
from tools.playtest.intervals import Estimate, Unmeasured
from tools.playtest.jobs import GameSetup, MatchEntry, Roster, SandboxRecipe, sandbox_of_process
from tools.playtest.results import TournamentResult
from tools.playtest.runner import Workers
from tools.playtest.schedule import TournamentSettings
from tools.playtest.series import SeriesSettings, play_series
from tools.playtest.tournament import play_tournament
from tools.sandbox import Sandbox
from tools.sandbox.reading import foreign_game
from tools.sources import read_source

_EVEN = 0.5
_PLAIN = "plain"
_TRIED = 4  # random matches whose states a value function is tried on
_BETWEEN = 6  # of those states, one in so many is not an end

Sampled: TypeAlias = tuple[State, tuple[float, ...] | None]
"""A state, and where it is an end what entering it paid each seat."""


@dataclass(frozen=True)
class ModelContest:
    """The matches in which models are held against each other.

    Attributes:
        folder: Where journals lie, and the models that are made to be compared.
        roster: Of the players; it must know "cwm".
        seed: Of all matches.
        simulations: A decision.
        rollouts: Of a new leaf without a value function.
        deals: Of two players; each is played in both seats.
        tolerated: Share of the observed range of utility that a model may be behind the best.
        max_plies: Plies after which a match counts as a failure.
        workers: Where matches are played.
    """

    folder: Path
    roster: Roster
    seed: int = 0
    simulations: int = 1000
    rollouts: int = 10
    deals: int = 50
    tolerated: float = 0.1
    max_plies: int = 1000
    workers: Workers = Workers()

    @property
    def recipe(self) -> SandboxRecipe:
        """The recipe by which a process makes its sandbox."""
        return SandboxRecipe(preload=self.roster.preload)

    def spec(self, model: Path) -> str:
        """The player of a model."""
        return f"cwm:model={model},simulations={self.simulations},rollouts={self.rollouts}"

    def journal(self, *about: str) -> Path:
        """The file of the matches of some sources."""
        asked = f"{self.folder.resolve()}/{self.seed}/{self.max_plies}/{self.spec(Path())}"
        key = sha256("\0".join((asked, *about)).encode()).hexdigest()
        return self.folder / f"{key[:16]}.jsonl"


def model_game(name: str, source: str) -> GameSetup:
    """A model as the game of a match.

    Raises:
        ModuleFault: If its `GAME` cannot be read.
    """
    game = foreign_game(source)
    seats = game.get("min_players")
    return GameSetup(name, source, seats if isinstance(seats, int) else 2, defaults(game))


@dataclass(frozen=True)
class ValueChoice:
    """The choice among the proposed value functions.

    Attributes:
        chosen: Its index; None where none is sure to be better than rollouts.
        faults: Of proposals that did not enter: index to reason.
        scores: Of those that did, by index: the score against the same search without it.
        tournament: All of them against each other; None where none entered.
    """

    chosen: int | None
    faults: Mapping[int, str]
    scores: Mapping[int, Estimate | Unmeasured]
    tournament: TournamentResult | None


def choose_value(
    name: str, model: str, proposals: Sequence[str], contest: ModelContest
) -> ValueChoice:
    """Let value functions compete inside the model, with each other and with rollouts.

    One that is no number, or at an end not what the end pays, does not enter. The best of the
    others is used where the 95 % interval of its score against rollouts lies above a half.

    Args:
        name: The game's.
        model: The text of a module without a value function.
        proposals: Source of `value_function`, each with what it needs.
        contest: How they compete.

    Raises:
        ModuleFault: If the model itself cannot be played.
    """
    game, faults = model_game(name, model), dict[int, str]()
    contest.folder.mkdir(parents=True, exist_ok=True)
    files = {_PLAIN: _written(contest.folder / f"{_PLAIN}.py", model)}
    with sandbox_of_process(contest.recipe) as sandbox:
        samples = _sampled(game, contest, sandbox)
        for index, proposal in enumerate(proposals):
            text = f"{model.rstrip()}\n\n\n{proposal.strip()}\n"
            fault = _fault_of(text, samples, sandbox)
            if fault:
                faults[index] = fault
            else:
                files[str(index)] = _written(contest.folder / f"value_{index}.py", text)
        if len(files) == 1:
            return ValueChoice(None, faults, {}, None)
        specs = {key: contest.spec(file) for key, file in files.items()}
        found = play_tournament(
            game,
            [*specs.values()],
            TournamentSettings(deals=contest.deals, seed=contest.seed, max_plies=contest.max_plies),
            contest.roster,
            journal=contest.journal(model, *proposals),
            workers=contest.workers,
            sandbox=contest.recipe,
        )
    names = {contest.roster.effective(spec).name: key for key, spec in specs.items()}
    scores = {
        int(names[pair.second]): _turned(pair.score)
        for pair in found.pairs
        if names[pair.first] == _PLAIN
    }
    sure = {i: one for i, one in scores.items() if isinstance(one, Estimate) and one.low > _EVEN}
    best = max(sure, key=lambda index: sure[index].value, default=None)
    return ValueChoice(best, faults, scores, found)


def _written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def _turned(score: Estimate | Unmeasured) -> Estimate | Unmeasured:
    """The other one's score."""
    if isinstance(score, Unmeasured):
        return score
    ends = {"value": 1 - score.value, "low": 1 - score.high, "high": 1 - score.low}
    return score.model_copy(update=ends)


def _sampled(game: GameSetup, contest: ModelContest, sandbox: Sandbox) -> list[Sampled]:
    """States of random matches in the model: every end, and some on the way."""
    samples: list[Sampled] = []
    for number in range(_TRIED):
        with game.refereed(sandbox) as table:
            match = play_match(
                table,
                [RandomPlayer()] * game.num_players,
                parameters=game.parameters,
                seed=contest.seed,
                match=number,
                max_plies=contest.max_plies,
            )
        if match.final_state is not None and match.returns is not None:
            samples.append((match.final_state, match.plies[-1].rewards))
        samples += [(ply.state, None) for ply in match.plies[::_BETWEEN]]
    return samples


def _fault_of(text: str, samples: Sequence[Sampled], sandbox: Sandbox) -> str:
    """The reason why a value function may not enter; "" where it may."""
    try:
        seats = int(str(foreign_game(text)["min_players"]))
        with sandbox.worker("value", text) as worker:
            worker.load(text)
            for state, paid in samples:
                for seat in range(seats):
                    value = worker.call("value_function", [state, seat])
                    if not is_number(value):
                        return f"value_function gave {show(value)}; required: a number"
                    if paid is not None and value != paid[seat]:
                        pays = f"for seat {seat} at an end that pays {paid[seat]:g}"
                        return f"value_function gave {show(value)} {pays}"
    except ModuleFault as fault:
        return str(fault)
    return ""


@dataclass(frozen=True)
class Rejection:
    """The models that may play.

    Attributes:
        kept: Names of those that are not behind the best by more than is tolerated; empty where
            no match finished.
        means: Mean utility by name.
        matches: How many were played.
        failures: Matches of each model that failed, which both of their players lose.
    """

    kept: tuple[str, ...]
    means: Mapping[str, float]
    matches: int
    failures: Mapping[str, int]


def reject_models(game: str, models: Mapping[str, Path], contest: ModelContest) -> Rejection:
    """Let models compete, each pair with each of the two as the host (App. F).

    A match that fails, by whatever failing of a player or of the host, is lost by both: each is
    given the least utility that was observed in all matches.

    Args:
        game: Its name.
        models: Files of modules by name.
        contest: How they compete: `deals` for each host of a pair.
    """
    contest.folder.mkdir(parents=True, exist_ok=True)
    paid: dict[str, list[float | None]] = {name: [] for name in models}
    count = 0
    with sandbox_of_process(contest.recipe):  # one for all the series
        for first, second in combinations_with_replacement(models, 2):
            for host in {first: None, second: None}:
                for entry, seated in _hosted(game, host, (first, second), models, contest):
                    count += 1
                    for seat, entrant in enumerate(seated):
                        got = entry.returns[seat] if entry.returns else None
                        paid[(first, second)[entrant]].append(got)
    seen = [value for values in paid.values() for value in values if value is not None]
    failures = {name: values.count(None) for name, values in paid.items()}
    if not seen:
        return Rejection((), {}, count, failures)
    least, most = min(seen), max(seen)
    means = {
        name: fmean(least if value is None else value for value in values)
        for name, values in paid.items()
    }
    behind = max(means.values()) - contest.tolerated * (most - least)
    kept = tuple(name for name, mean in means.items() if mean >= behind)
    return Rejection(kept, means, count, failures)


def _hosted(
    game: str, host: str, pair: tuple[str, str], models: Mapping[str, Path], contest: ModelContest
) -> list[tuple[MatchEntry, tuple[int, ...]]]:
    """The matches of a pair in the model of one of them, with who sat where."""
    text, *others = (read_source(models[name], "a model") for name in (host, *pair))
    series = play_series(
        model_game(game, text),
        [contest.spec(models[name]) for name in pair],
        contest.roster,
        SeriesSettings(
            matches=2 * contest.deals,
            seed=contest.seed,
            max_plies=contest.max_plies,
            replay=False,
            record=False,
        ),
        sandbox=contest.recipe,
        journal=contest.journal(text, *others, *(str(models[name]) for name in pair)),
        workers=contest.workers,
    )
    return [(entry, series.seated(match)) for match, entry in series.entries.items()]
