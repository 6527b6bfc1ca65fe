import json
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import ValidationError

from games.engine import Player
from tests.tools.playtest.rosters import BIDDING, NimRoster
from tests.tools.sources import NIM
from tools.playtest.intervals import Estimate, ScoreQuestion, Unmeasured
from tools.playtest.jobs import GameSetup, MatchEntry, PlayerSpec, SandboxRecipe
from tools.playtest.journal import JournalError
from tools.playtest.results import Standing, TournamentResult
from tools.playtest.runner import RunStoppedError, Workers
from tools.playtest.schedule import TournamentSettings
from tools.playtest.tournament import play_tournament
from tools.sandbox import Limits, Sandbox

T = TypeVar("T")

GAME = GameSetup("nim", NIM, 2)
LIMITS = Limits(memory_bytes=320 * 2**20, load_s=5, call_s=5, grace_s=0.5)
RECIPE = SandboxRecipe(limits=LIMITS)
HERE = Workers()
TWO = Workers(jobs=2)
SETTINGS = TournamentSettings(deals=4, seed=11)
TRIO = ("perfect", "uniform", "slow:seconds=0.001")


def play(
    specs: Sequence[str],
    settings: TournamentSettings = SETTINGS,
    game: GameSetup = GAME,
    *,
    workers: Workers = HERE,
    journal: Path | None = None,
) -> TournamentResult:
    return play_tournament(
        game, specs, settings, NimRoster(), workers=workers, sandbox=RECIPE, journal=journal
    )


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tournament") / "trio.jsonl"


@pytest.fixture(scope="module")
def trio(journal: Path) -> TournamentResult:
    return play(TRIO, journal=journal)


def standing(result: TournamentResult, player: str) -> Standing:
    (found,) = [one for one in result.standings if one.effective.player == player]
    return found


def value(estimate: Estimate | Unmeasured) -> float:
    assert isinstance(estimate, Estimate)
    return estimate.value


def test_two_processes_give_the_same_bytes_as_none(
    trio: TournamentResult, journal: Path, tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    assert play(TRIO, workers=TWO, journal=path).as_json() == trio.as_json()
    assert path.read_bytes() == journal.read_bytes()


def test_threads_give_the_same_bytes_as_well(trio: TournamentResult) -> None:
    assert play(TRIO, workers=Workers(3, "threads")).as_json() == trio.as_json()


def test_every_pair_is_published_and_adds_up(trio: TournamentResult) -> None:
    assert trio.matches == 3 * 2 * SETTINGS.deals
    assert trio.endings == {"finished": 24, "unfinished": 0, "forfeit": 0, "fault": 0}
    assert [(p.first.split(":")[0], p.second.split(":")[0]) for p in trio.pairs] == [
        ("perfect", "uniform"),
        ("perfect", "slow"),
        ("uniform", "slow"),
    ]
    assert all(pair.wins + pair.draws + pair.losses == 8 == pair.matches for pair in trio.pairs)
    assert sum(value(one.win_rate) for one in trio.standings) == pytest.approx(1.5)
    assert sum(value(one.mean_return) for one in trio.standings) == pytest.approx(0.0)


def test_effective_settings_stand_beside_what_was_used(trio: TournamentResult) -> None:
    assert trio.parameters == {"most": 2}
    slow = standing(trio, "slow")
    assert slow.name == "slow:seconds=0.001"
    assert slow.effective.settings == {"seconds": 0.001}
    assert slow.used.figures["seconds_asked"].mean == pytest.approx(0.001)
    assert slow.used.decisions == slow.used.figures["seconds_asked"].count > 0
    uniform = standing(trio, "uniform")
    assert uniform.used.words == {"algorithm": {"uniform": uniform.used.decisions}}


def test_a_result_without_effective_settings_cannot_be_made(trio: TournamentResult) -> None:
    fields = json.loads(trio.as_json())
    assert TournamentResult.model_validate(fields) == trio
    for spoil in ("effective", "used"):
        without = json.loads(trio.as_json())
        del without["standings"][0][spoil]
        with pytest.raises(ValidationError, match=spoil):
            TournamentResult.model_validate(without)
    del fields["standings"][2]["effective"]["settings"]["seconds"]
    with pytest.raises(ValidationError, match="not called by their effective settings"):
        TournamentResult.model_validate(fields)


def test_a_result_without_a_pair_cannot_be_made(trio: TournamentResult) -> None:
    fields = json.loads(trio.as_json())
    del fields["pairs"][1]
    with pytest.raises(ValidationError, match="whole pair matrix"):
        TournamentResult.model_validate(fields)


@pytest.mark.parametrize(
    ("specs", "game", "message"),
    [
        (["uniform", "clever"], GAME, "no player 'clever'; known"),
        (["uniform", "slow:minutes=3"], GAME, "no setting 'minutes'"),
        (["uniform"], GAME, "at least two"),
        (["slow", "slow:seconds=0.01"], GAME, "more than once"),
        (["uniform", "slow"], GameSetup("nim", NIM, 2, {"least": 1}), "least; known.*most"),
        (["uniform", "slow"], GameSetup("nim", NIM, 3), "takes 2 players, not 3"),
    ],
)
def test_what_is_unknown_is_refused_before_anything_is_played(
    specs: list[str], game: GameSetup, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        play(specs, game=game)


def test_a_question_stops_the_pair_it_is_answered_for_whatever_the_workers() -> None:
    settings = TournamentSettings(deals=60, seed=4, question=ScoreQuestion(low=0.4, high=0.6))
    game = GameSetup("bidding", BIDDING, 2)
    specs = ["wins:share=0.95", "wins:share=0.5", "wins:share=0.05"]
    result = play(specs, settings, game)
    answers = [pair.answer for pair in result.pairs]
    assert [answer.decision for answer in answers if answer] == ["high"] * 3
    assert all(a and a.samples == p.deals for a, p in zip(answers, result.pairs, strict=True))
    assert result.matches == 2 * sum(a.samples for a in answers if a) < 2 * 3 * 60
    assert play(specs, settings, game, workers=TWO).as_json() == result.as_json()


def test_a_question_in_many_seats_takes_all_line_ups_of_the_pair() -> None:
    settings = TournamentSettings(deals=40, seed=4, question=ScoreQuestion(low=0.4, high=0.6))
    result = play(["wins:share=0.1", "wins:share=0.9"], settings, GameSetup("b", BIDDING, 3))
    (pair,) = result.pairs
    assert pair.answer is not None
    assert pair.answer.decision == "low"
    assert result.matches == pair.answer.samples * 2 * 3 < 40 * 6


def test_a_question_is_about_two() -> None:
    settings = TournamentSettings(deals=2, seed=4, question=ScoreQuestion(low=0.4, high=0.6))
    specs = [f"wins:share={share}" for share in (0.2, 0.4, 0.8)]
    with pytest.raises(ValueError, match="two entrants"):
        play(specs, settings, GameSetup("bidding", BIDDING, 3))


@pytest.mark.parametrize(("specs", "seats"), [(4, 3), (2, 4), (3, 8)])
def test_many_seats_rank_players_as_they_are(specs: int, seats: int) -> None:
    shares = [0.05 + 0.9 * i / (specs - 1) for i in range(specs)]
    settings = TournamentSettings(deals=6, seed=6)
    game = GameSetup("bidding", BIDDING, seats)
    result = play([f"wins:share={share}" for share in shares], settings, game)
    returns = [value(one.mean_return) for one in result.standings]
    elos = [value(one.elo) for one in result.standings]
    assert returns == sorted(returns)
    assert elos == sorted(elos)
    # A bid of "high" pays 1, whoever else bids: the mean return is the share of such bids.
    assert returns == pytest.approx(shares, abs=0.25)
    assert len({one.seated for one in result.standings}) == 1
    assert sum(one.seated for one in result.standings) == result.matches * seats


def test_a_tournament_made_longer_goes_on_and_a_shorter_one_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    pair = ["perfect", "uniform"]
    longer = play(pair, journal=path)
    data = path.read_bytes()
    shorter = SETTINGS.model_copy(update={"deals": 2})
    assert play(pair, shorter, journal=path).matches == 4
    assert path.read_bytes() == data
    path.write_bytes(b"".join(data.splitlines(keepends=True)[:5]))
    left = path.with_name(path.name + ".part")
    left.write_bytes(b"of a process that was killed while it put the journal in order")
    assert play(pair, journal=path, workers=TWO).as_json() == longer.as_json()
    assert path.read_bytes() == data


def test_a_complete_journal_is_told_and_a_sample_of_it_played_again(
    trio: TournamentResult, journal: Path
) -> None:
    heard: list[int] = []
    asked: set[int] = set()
    data = journal.read_bytes()

    def hear(index: int, outcome: MatchEntry) -> None:
        heard.append(index)

    class Asked(NimRoster):
        def seat(
            self, player: PlayerSpec, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
        ) -> Player:
            asked.add(match)
            return super().seat(player, seat=seat, match=match, game=game, sandbox=sandbox)

    again = play_tournament(
        GAME, TRIO, SETTINGS, Asked(), workers=HERE, sandbox=RECIPE, journal=journal, on_match=hear
    )
    assert again.as_json() == trio.as_json()
    assert (heard, len(asked)) == (list(range(24)), 24 // 8)
    assert journal.read_bytes() == data


@pytest.mark.parametrize(
    "other",
    [
        SETTINGS.model_copy(update={"seed": 12}),
        SETTINGS.model_copy(update={"question": ScoreQuestion(low=0.4, high=0.6)}),
    ],
)
def test_the_journal_of_another_tournament_is_refused(
    other: TournamentSettings, trio: TournamentResult, journal: Path
) -> None:
    with pytest.raises(JournalError, match="belongs to other work"):
        play(TRIO, other, journal=journal)
    with pytest.raises(JournalError, match="belongs to other work"):
        play(["perfect", "uniform"], journal=journal)


def test_what_arrived_beside_a_failure_is_kept(tmp_path: Path) -> None:
    path, calls = tmp_path / "journal.jsonl", count()

    class Losing(Executor):
        """Plays four matches at once, and loses the first and the third."""

        def submit(
            self,
            fn: Callable[..., T],
            /,
            *args: Any,  # noqa: ANN401
            **kwargs: Any,  # noqa: ANN401
        ) -> Future[T]:
            future: Future[T] = Future()
            if next(calls) in {0, 2}:
                future.set_exception(BrokenExecutor("a process was lost"))
            else:
                future.set_result(fn(*args, **kwargs))
            return future

    two = Workers(2, executor=Losing())
    with pytest.raises(RunStoppedError, match="finished matches are in the journal"):
        play(TRIO, workers=two, journal=path)
    assert [json.loads(line)["index"] for line in path.read_text().splitlines()[1:]] == [1, 3]


@pytest.mark.parametrize("draws", [-1.0, 1e308, float("inf"), float("nan")])
def test_prior_draws_that_no_rating_can_take_are_refused(draws: float) -> None:
    with pytest.raises(ValidationError, match="prior_draws"):
        TournamentSettings(deals=1, seed=0, prior_draws=draws)
