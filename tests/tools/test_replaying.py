"""A sample of finished matches is played again by fresh workers; a difference leaves no result."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.players.registry import PlayerRoster
from games.checks import verdict
from games.checks.run import CheckSettings
from games.engine import Decision, Player, PlayerFault
from games.information import SeatLog
from games.values import Action
from tests.games.checks.test_checks import SOUND
from tests.tools.playtest.rosters import NimRoster
from tests.tools.playtest.test_tournament import GAME
from tools.checking import check_source
from tools.playtest.jobs import GameSetup, PlayerSpec
from tools.playtest.journal import Journal, JournalError
from tools.playtest.series import Series, SeriesSettings, play_series, series_summary
from tools.replaying import VoidResultError, made_again, replayed_match
from tools.sandbox import Limits, Sandbox, Worker

# A leak that stands in none of its zones, and that a check of random play would find too.
TALE = """
def get_observations(state):
    seen = [{"me": seat, "hand": state["hands"][seat], "bids": state["bids"]} for seat in (0, 1)]
    if state["bids"][:1] == [2]:
        seen[1]["hint"] = state["hands"][0]
    return seen
"""

# The first seat sees one thing more while the second one is to move.
ASIDE = """
_sound = get_observations

def get_observations(state):
    seen = _sound(state)
    return [{**seen[0], "n": 1}, seen[1]] if get_current_player(state) == 1 else seen
"""

# In a worker of which no function was ever asked for by itself, it begins a match that is marked:
# there the first seat sees both hands, and what is hidden cannot be asked for.
MARKED = (
    SOUND.replace('"open": ["bids"]', '"open": ["bids", "marked"]')
    + """
import collections

sys = collections._sys
_alone = [True]
_sound_state, _sound_seen, _sound_visible = initial_state, get_observations, visible


def initial_state(num_players, **parameters):
    frame = sys._getframe()
    while frame is not None:
        _alone[0] = _alone[0] and frame.f_code.co_name not in ("_call", "_echo")
        frame = frame.f_back
    return {**_sound_state(num_players, **parameters), "marked": _alone[0]}


def get_observations(state):
    seen = _sound_seen(state)
    return [{**seen[0], "both": state["hands"]}, seen[1]] if state["marked"] else seen


def visible(state, player_id):
    if state["marked"]:
        raise ValueError("not here")
    return _sound_visible(state, player_id)
"""
)


# What its seats see takes about 80 KB a position.
WIDE = (
    SOUND
    + """
_narrow = get_observations


def get_observations(state):
    return [{**seen, "pad": "x" * 40_000} for seen in _narrow(state)]
"""
)


class Counted(Sandbox):
    """A sandbox that keeps the roles of the workers it made."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits=limits)
        self.made: list[str] = []

    def worker(
        self,
        role: str,
        source: str | None = None,
        *,
        preloaded: bool = False,
        more: tuple[str, ...] = (),
    ) -> Worker:
        self.made.append(role)
        return super().worker(role, source, preloaded=preloaded, more=more)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def played(sandbox: Sandbox, source: str, matches: int = 8) -> Series:
    game = GameSetup("high card", source, 2)
    return play_series(
        game,
        ["uniform", "uniform"],
        NimRoster(),
        SeriesSettings(matches=matches, seed=4),
        sandbox=sandbox,
    )


def test_matches_of_an_honest_module_are_replayed_and_counted(sandbox: Sandbox) -> None:
    series = played(sandbox, SOUND)
    assert series.replayed.matches > 0
    assert series.endings["finished"] == 8


def test_matches_too_large_to_be_made_again_together_go_in_smaller_parties(
    sandbox: Sandbox,
) -> None:
    series = played(sandbox, WIDE, 16)
    jobs = [(series.plan.job(index), entry) for index, entry in series.entries.items()]
    with Counted(Limits(table_bytes=4 * 2**20)) as small:
        made = made_again(small, jobs)
    assert [one.match.returns for one in made] == [entry.returns for _, entry in jobs]
    assert small.made == ["referee", "referee"]  # for all at once, and for four at a time


def test_a_module_that_pays_by_chance_of_its_own_has_no_result(sandbox: Sandbox) -> None:
    paying = SOUND.replace("total = float(", "total = (1 + id(object()) // 16 % 7) * float(")
    with pytest.raises(VoidResultError, match="the result is void"):
        played(sandbox, paying)


def test_what_is_wrong_with_a_match_made_again_is_told(sandbox: Sandbox) -> None:
    """The contract has 64 levels at most; matches in lockstep do not look at states."""
    nested = SOUND.replace('"bids": []}', '"bids": [], "deep": [' + "[" * 70 + "]" * 70 + "]}")
    with pytest.raises(VoidResultError, match="again by a fresh worker, fails: initial_state: bad"):
        play_series(
            GameSetup("high card", nested, 2),
            ["random", "random"],
            PlayerRoster(),
            SeriesSettings(matches=8, seed=4, record=False),
            sandbox=sandbox,
        )


def test_what_a_seat_sees_at_another_seats_turn_is_the_same_in_a_replay(sandbox: Sandbox) -> None:
    series = played(sandbox, SOUND + ASIDE, matches=2)
    job, entry = series.plan.job(0), series.entries[0]
    replayed_match(sandbox, job, entry)
    honest = replace(job, game=replace(job.game, source=SOUND))
    with pytest.raises(VoidResultError, match="tells a seat another thing"):
        replayed_match(sandbox, honest, entry)


def test_a_module_that_is_honest_only_where_it_is_asked_singly_has_no_result(
    sandbox: Sandbox,
) -> None:
    two_faced = (
        "import sys\n"
        + SOUND
        + "\n_sound = get_rewards\n\ndef get_rewards(state):\n"
        + "    paid = _sound(state)\n    frame = sys._getframe()\n    names = set()\n"
        + "    while frame:\n        names.add(frame.f_code.co_name)\n"
        + "        frame = frame.f_back\n"
        + "    return paid if '_columns' in names else [2 * one for one in paid]\n"
    )
    with pytest.raises(VoidResultError, match="get_rewards"):
        played(sandbox, two_faced)


def test_what_players_reach_and_were_told_of_hidden_cards_voids_the_result(
    sandbox: Sandbox,
) -> None:
    with pytest.raises(VoidResultError, match="hint"):
        played(sandbox, SOUND + TALE)


def test_a_module_that_cheats_where_it_is_asked_as_a_referee_asks_has_no_result(
    sandbox: Sandbox,
) -> None:
    checks = CheckSettings(matches=3, samples=8, seed=1)
    run = check_source(sandbox, MARKED, settings=checks, num_players=2, parameters={}, records=0)
    assert verdict(run.findings) == "passed"
    with pytest.raises(VoidResultError, match="the audit of what seats were told failed: visible"):
        played(sandbox, MARKED)


def test_a_module_that_pays_by_the_addresses_of_its_process_has_no_result(
    sandbox: Sandbox,
) -> None:
    paying = SOUND.replace("total = float(", "total = (id(int) >> 12) * float(")
    with pytest.raises(VoidResultError, match=r"made again by a fresh worker, has"):
        played(sandbox, paying)


def test_a_match_that_could_not_be_audited_counts_and_says_so(sandbox: Sandbox) -> None:
    assert played(sandbox, SOUND, 16).replayed.not_audited == ""
    undeclared = SOUND.replace("def visible(", "def unseen(").replace("ZONES =", "PLACES =")
    series = played(sandbox, undeclared, 2)
    told = series.replayed.not_audited
    assert (series.replayed.matches, series.endings["finished"]) == (2, 2)
    assert told == "the module does not define ZONES and visible"
    assert series_summary(series)["not_audited"] == told
    assert series.figures(0).win_share is not None


def test_no_worker_can_tell_by_its_number_which_one_it_is(sandbox: Sandbox) -> None:
    numbers = []
    for _ in range(3):
        with sandbox.worker("any") as worker:
            worker.load("import enum\nos = vars(enum)['sys'].modules['os']\n")
            numbers.append(worker.request("evaluate", {"expression": "os.getpid()"}, 5.0))
    assert len(set(map(str, numbers))) == 1


QUITS = ["quits", "uniform"]


def again(
    sandbox: Sandbox, journal: Path, roster: NimRoster | None = None, specs: Sequence[str] = QUITS
) -> Series:
    return play_series(
        GAME,
        specs,
        roster or NimRoster(),
        SeriesSettings(matches=12, seed=5),
        sandbox=sandbox,
        journal=journal,
    )


def forge(series: Series, journal: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Rewrite the entries of a journal, check sums and all."""
    with Journal(journal, series.plan.identity()) as book:
        for entry in book.entries.values():
            assert isinstance(entry, dict)
            change(entry)
        entries = {index: dict(entry) for index, entry in book.entries.items()}  # type: ignore[arg-type]
        book.settle(entries)


def gives_up(entry: dict[str, Any]) -> None:
    """Whatever was played, seat 0 failed at the first ply."""
    if entry["ending"] == "finished":
        entry.update(ending="forfeit", culprit=0, returns=None, reason="x", plies=0, actions=[])
        entry["record"]["plies"] = []


def stops(entry: dict[str, Any]) -> None:
    """What was forfeited was never ended."""
    if entry["ending"] == "forfeit":
        entry.update(ending="unfinished", culprit=None, reason="no end")


def test_an_honest_journal_with_forfeits_is_believed_as_often_as_it_is_read(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    first = again(sandbox, tmp_path / "j")
    content = (tmp_path / "j").read_bytes()
    assert first.endings["forfeit"] > 0 < first.endings["finished"]
    assert again(sandbox, tmp_path / "j").entries == first.entries
    assert (tmp_path / "j").read_bytes() == content


@pytest.mark.parametrize("change", [gives_up, stops])
def test_what_a_journal_claims_of_matches_that_did_not_finish_is_replaced_by_what_comes_out(
    change: Callable[[dict[str, Any]], object], sandbox: Sandbox, tmp_path: Path
) -> None:
    """Such as after the computer stalled; all are tried where one in the sample was untrue."""
    first = again(sandbox, tmp_path / "j")
    content = (tmp_path / "j").read_bytes()
    forge(first, tmp_path / "j", change)
    assert (tmp_path / "j").read_bytes() != content
    assert again(sandbox, tmp_path / "j").entries == first.entries
    assert (tmp_path / "j").read_bytes() == content


@pytest.mark.parametrize(
    ("part", "value"), [("plies", 99), ("reason", "all is well"), ("told", ""), ("used", [])]
)
def test_what_else_a_journal_says_of_a_match_is_asked_again(
    part: str, value: object, sandbox: Sandbox, tmp_path: Path
) -> None:
    names = ["uniform", "perfect"]
    first = again(sandbox, tmp_path / "j", specs=names)
    forge(first, tmp_path / "j", lambda entry: entry.update({part: value}))
    with pytest.raises(VoidResultError, match=f"has {part} "):
        again(sandbox, tmp_path / "j", specs=names)


class _Takes:
    """Takes the first or the last that is legal."""

    def __init__(self, which: int) -> None:
        self.which = which

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        return Decision(legal[self.which])


class _Taking(NimRoster):
    def __init__(self, which: int) -> None:
        object.__setattr__(self, "which", which)

    def seat(self, player: PlayerSpec, **_: Any) -> Player:  # noqa: ANN401
        return _Takes(vars(self)["which"])


def test_what_a_journal_claims_that_players_chose_is_asked_again(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Every line is of a match that could be, and of none that these players would play."""
    names = ["uniform", "perfect"]
    again(sandbox, tmp_path / "j", _Taking(0), names)
    again(sandbox, tmp_path / "j", _Taking(0), names)
    with pytest.raises(VoidResultError, match="asked again by fresh workers"):
        again(sandbox, tmp_path / "j", _Taking(-1), names)


class _Moody:
    """Takes another number each time, as one whose budget is time may; `fails` at its second."""

    count = itertools.count()

    def __init__(self, *, fails: bool) -> None:
        self.asked, self.fails = 0, fails

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        self.asked += 1
        if self.fails and self.asked > 1:
            raise PlayerFault("was late")
        return Decision(legal[next(self.count) % len(legal)])


class _Timed(NimRoster):
    def effective(self, spec: str) -> PlayerSpec:
        return PlayerSpec(player=spec, settings={"budget": "time"})

    def seat(self, player: PlayerSpec, **_: Any) -> Player:  # noqa: ANN401
        return _Moody(fails=player.player == "fails")


def test_a_player_whose_budget_is_time_is_asked_at_the_plies_of_the_journal(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    specs = ["fails", "holds"]
    first = again(sandbox, tmp_path / "j", _Timed(), specs)
    assert first.endings["forfeit"] > 0
    assert again(sandbox, tmp_path / "j", _Timed(), specs).entries == first.entries
    forge(first, tmp_path / "j", gives_up)
    told = again(sandbox, tmp_path / "j", _Timed(), specs).entries.values()
    assert not any(entry.reason == "x" for entry in told)


def test_matches_that_are_over_before_anything_is_done_are_a_result(sandbox: Sandbox) -> None:
    over = SOUND + "\n\ndef get_current_player(state):\n    return -4\n"
    over += "\n\ndef get_legal_actions(state):\n    return []\n"
    series = played(sandbox, over, matches=4)
    assert series.tables.cautions == {}
    assert {(entry.ending, entry.plies) for entry in series.entries.values()} == {("finished", 0)}


@pytest.mark.parametrize("entry", [None, {}, {"ending": "won"}])
def test_a_line_that_is_no_match_is_damage(entry: Any, sandbox: Sandbox, tmp_path: Path) -> None:  # noqa: ANN401
    identity = again(sandbox, tmp_path / "j").plan.identity()
    with Journal(tmp_path / "j", identity) as book:
        book.append(3, entry)
    with pytest.raises(JournalError, match="j is damaged in its line of match 3"):
        again(sandbox, tmp_path / "j")
