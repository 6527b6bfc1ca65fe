"""Matches that do not finish: a forfeit is lost, all else is counted apart and nobody's win."""

import pytest

from tests.tools.playtest.rosters import NimRoster
from tests.tools.playtest.test_tournament import GAME, SETTINGS, play, standing
from tests.tools.sources import nim_with
from tools.playtest.intervals import Estimate, NoSamplesError, ScoreQuestion, Unmeasured, wilson
from tools.playtest.jobs import GameSetup, MatchEntry, PlayerConfig
from tools.playtest.report import versus_advantage
from tools.playtest.results import ResultTables, TournamentSettings, ranked
from tools.playtest.schedule import one_line_up
from tools.playtest.series import play_series
from tools.sandbox import Sandbox


def test_an_illegal_action_forfeits_is_quoted_and_is_lost() -> None:
    result = play(["cheater", "fails", "uniform", "perfect"], SETTINGS.model_copy())
    assert result.endings["forfeit"] == 2 * 4 * 5
    assert any("'take everything'" in reason for reason in result.reasons)
    assert any("cannot decide" in reason for reason in result.reasons)
    cheater, uniform = standing(result, "cheater"), standing(result, "uniform")
    assert cheater.forfeits + standing(result, "fails").forfeits == 40
    assert uniform.forfeits == 0
    assert uniform.endings["forfeit"] == 16
    assert isinstance(cheater.mean_return, Unmeasured)
    first = result.pairs[1]
    assert (first.first, first.second, first.wins, first.losses) == ("cheater", "uniform", 0, 8)
    assert first.forfeits == (8, 0)
    assert isinstance(first.score, Estimate)
    assert first.score.value == 0
    assert (cheater.alpha_rank, uniform.alpha_rank) == pytest.approx((0, 0), abs=1e-6)


def test_giving_up_a_lost_match_is_worth_what_losing_it_is() -> None:
    """With perfect play the pile decides; a quitter is its twin that plays a lost match on."""
    settings = TournamentSettings(deals=12, seed=5)
    quits, twin = (play(["perfect", name], settings) for name in ("quits", "perfect_again"))
    assert quits.endings["forfeit"] == 12
    assert quits.left_out == 0
    shown = {"win_rate", "elo", "alpha_rank"}
    for ours, theirs in zip(quits.standings, twin.standings, strict=True):
        assert ours.model_dump(include=shown) == theirs.model_dump(include=shown)
    shown = {"wins", "draws", "losses", "matches", "deals", "score"}
    assert quits.pairs[0].model_dump(include=shown) == twin.pairs[0].model_dump(include=shown)


def test_a_question_is_answered_by_forfeits_too() -> None:
    question = ScoreQuestion(low=0.2, high=0.8)
    settings = TournamentSettings(deals=40, seed=5, question=question)
    (pair,) = play(["fails", "uniform"], settings).pairs
    assert pair.answer is not None
    assert pair.answer.decision == "low"
    assert pair.deals < 40


def test_a_series_and_its_ladder_count_a_lost_match_that_was_given_up(sandbox: Sandbox) -> None:
    quits, twin = (
        play_series(GAME, [name, "perfect"], NimRoster(), matches=24, seed=5, sandbox=sandbox)
        for name in ("quits", "perfect_again")
    )
    assert quits.endings["forfeit"] == 12
    assert quits.tables.win_rate(0) == twin.tables.win_rate(0)
    assert versus_advantage(quits, "quits") == versus_advantage(twin, "perfect_again")


def forfeited(*returns: float, culprit: int | None = None) -> MatchEntry:
    return MatchEntry(
        ending="finished" if culprit is None else "forfeit",
        returns=returns or None,
        plies=1,
        actions=("pass",),
        culprit=culprit,
        reason="",
        fault_line=None,
        used=(),
    )


def test_partners_and_twins_of_who_forfeits_lose_with_it() -> None:
    partners = ((0, 2), (1, 3))
    assert ranked(forfeited(culprit=2), "abcd", partners) == (0, 1, 0, 1)
    assert ranked(forfeited(culprit=2), "abcd") == (1, 1, 0, 1)
    assert ranked(forfeited(culprit=0), "aab") == (0, 0, 1)
    assert ranked(forfeited(culprit=0), "aa") == (0, 1)
    assert ranked(forfeited(culprit=0), "ab", ((0, 1),)) == (0, 0)
    assert ranked(forfeited(3, 1), "ab") == (3, 1)


def test_in_cooperation_a_forfeit_counts_as_the_least_that_was_paid() -> None:
    paid = [(2, 2), (3, 3), (5, 5), (2, 2), (4, 4), (6, 6)]
    entries = {at: forfeited(*one) for at, one in enumerate(paid)} | {6: forfeited(culprit=1)}
    settings = TournamentSettings(deals=7, seed=1)
    players = (PlayerConfig(player="uniform", settings={}),) * 2
    tables = ResultTables(one_line_up(["uniform"] * 2), settings, players, entries, {})
    assert tables.is_shared
    assert tables.mean_return(0).value == pytest.approx((22 + 2) / 7)


def test_a_game_without_end_is_unfinished_at_the_ply_limit() -> None:
    endless = GameSetup(
        "nim", nim_with("apply_action", "return {**arguments[0], 'turn': 0, 'pile': 3}\n"), 2
    )
    settings = TournamentSettings(deals=2, seed=1, max_plies=9)
    result = play(["perfect", "uniform"], settings, endless)
    assert result.endings["unfinished"] == 4
    assert result.reasons == {"no end after 9 plies": 4}
    assert isinstance(standing(result, "perfect").elo, Unmeasured)


def test_a_module_that_hangs_is_unfinished_and_a_broken_one_is_at_fault() -> None:
    hangs = "if arguments[0]['pile'] == 3:\n    while True: pass\n"
    body = hangs + "if arguments[0]['pile'] == 2:\n    raise RuntimeError('broken')\nreturn [0, 0]"
    settings = TournamentSettings(deals=6, seed=2, ply_s=0.3)
    result = play(
        ["perfect", "uniform"], settings, GameSetup("nim", nim_with("get_rewards", body), 2)
    )
    assert result.endings["unfinished"] + result.endings["fault"] == 12
    assert result.endings["unfinished"] > 0 < result.endings["fault"]
    assert any("timed_out" in reason for reason in result.reasons)
    assert any("broken" in reason for reason in result.reasons)


def test_finished_matches_of_a_broken_block_are_left_out_and_counted() -> None:
    # The pile is 4 or 3; a pile of 1 breaks the module, which some orders of play never reach.
    body = "if arguments[0]['pile'] == 1:\n    raise RuntimeError('one')\n"
    body += "won = arguments[0]['won']\nreturn [0, 0] if won < 0 else [1 - 2 * won, 2 * won - 1]"
    result = play(
        ["uniform", "slow:seconds=0"],
        SETTINGS.model_copy(update={"deals": 12}),
        GameSetup("nim", nim_with("get_rewards", body), 2),
    )
    (pair,) = result.pairs
    assert result.endings["fault"] > 0
    assert result.left_out > 0
    assert pair.matches % 2 == 0
    assert pair.matches + result.left_out == result.endings["finished"]


def lost_by_the_first(matches: int, void: int) -> ResultTables:
    """Wins of seat 0 in every match; of the first entrant's losses some do not end."""
    lost = [match for match in range(matches) if match % 2 == 1][:void]
    entries = {
        match: forfeited(1, 0).model_copy(
            update={"ending": "unfinished", "returns": None} if match in lost else {}
        )
        for match in range(matches)
    }
    players = tuple(PlayerConfig(player=name, settings={}) for name in ("stalls", "uniform"))
    settings = TournamentSettings(deals=matches // 2, seed=1)
    return ResultTables(one_line_up(["stalls", "uniform"]), settings, players, entries, {})


def test_a_player_that_stalls_in_lost_matches_has_no_result_or_one_that_holds_its_losses() -> None:
    often, seldom = lost_by_the_first(100, 6), lost_by_the_first(100, 5)
    assert often.no_result.startswith("no result: in 6 of 100 matches the game failed or did not")
    with pytest.raises(NoSamplesError, match="6 of 100"):
        often.win_rate(0)
    (pair,) = often.pairs()
    assert isinstance(pair.score, Unmeasured)
    assert {type(one.elo) for one in often.standings()} == {Unmeasured}
    assert seldom.no_result == ""
    found = seldom.win_rate(0)
    assert (found.low, found.high) == (wilson(45, 100).low, wilson(55, 100).high)
    (pair,) = seldom.pairs()
    assert isinstance(pair.score, Estimate)
    assert (pair.score.low, pair.score.high) == (found.low, found.high)


def test_a_module_that_fails_where_one_seat_has_lost_gives_no_result() -> None:
    body = "won = arguments[0]['won']\nif won == 1:\n    raise RuntimeError('not this')\n"
    body += "return [0, 0] if won < 0 else [1, -1]"
    spoilt = GameSetup("nim", nim_with("get_rewards", body), 2)
    result = play(["uniform", "perfect"], SETTINGS.model_copy(update={"deals": 6}), spoilt)
    assert 0 < result.endings["fault"] < result.matches
    assert (
        f"no result: in {result.endings['fault']} of {result.matches} matches" in result.no_result
    )
    for standing_ in result.standings:
        shown = standing_.win_rate, standing_.mean_return, standing_.elo, standing_.alpha_rank
        assert all(isinstance(one, Unmeasured) for one in shown)
