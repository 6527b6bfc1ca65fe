"""Matches that do not finish: a forfeit is lost, all else is counted apart and nobody's win."""

import pytest

from tests.tools.playtest.rosters import NimRoster
from tests.tools.playtest.test_tournament import GAME, SETTINGS, play, standing
from tests.tools.sources import nim_with
from tools.playtest.efforts import EffortSummary, NumberSummary
from tools.playtest.intervals import Estimate, NoSamplesError, ScoreQuestion, Unmeasured, wilson
from tools.playtest.jobs import GameSetup, MatchEntry, PlayerSpec
from tools.playtest.ratings import ranked
from tools.playtest.report import versus_advantage
from tools.playtest.results import ResultTables
from tools.playtest.schedule import TournamentSettings, one_line_up
from tools.playtest.series import SeriesSettings, play_series
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


def test_an_answered_question_ends_the_play_however_many_deals_were_asked() -> None:
    question = ScoreQuestion(low=0.2, high=0.8)
    settings = TournamentSettings(deals=10**18, seed=5, question=question)
    assert play(["fails", "uniform"], settings).matches < 80


def test_a_series_and_its_ladder_count_a_lost_match_that_was_given_up(sandbox: Sandbox) -> None:
    quits, twin = (
        play_series(
            GAME,
            [name, "perfect"],
            NimRoster(),
            SeriesSettings(matches=24, seed=5),
            sandbox=sandbox,
        )
        for name in ("quits", "perfect_again")
    )
    assert quits.endings["forfeit"] == 12
    assert quits.tables.win_rate(0) == twin.tables.win_rate(0)
    assert versus_advantage(quits, "quits") == versus_advantage(twin, "perfect_again")


def forfeited(*returns: float, culprit: int | None = None) -> MatchEntry:
    return MatchEntry(
        ending="finished" if culprit is None else "forfeit",
        returns=returns or None,
        plies=0,
        actions=(),
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
    players = (PlayerSpec(player="uniform", settings={}),) * 2
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
    players = tuple(PlayerSpec(player=name, settings={}) for name in ("stalls", "uniform"))
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
    assert (found.low, found.high) == (
        wilson(45, 100, "matches").low,
        wilson(55, 100, "matches").high,
    )
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


def test_matches_of_a_deal_that_go_alike_in_every_seating_tell_no_more_than_one() -> None:
    """Prizes in another order for each deal, the same for both seats: 30 samples and not 60."""
    schedule = one_line_up(["first", "second"])
    entries = {}
    for match in range(60):
        won = match // 2 % 3 == 0  # the first wins both matches of every third deal
        seated = schedule.seated(match, 1)
        entries[match] = forfeited(*(float((who == 0) == won) for who in seated))
    players = tuple(PlayerSpec(player=name, settings={}) for name in ("first", "second"))
    tables = ResultTables(schedule, TournamentSettings(deals=30, seed=1), players, entries, {})
    (pair,) = tables.pairs()
    assert isinstance(pair.score, Estimate)
    for found in (tables.win_rate(0), pair.score):
        ends = wilson(10, 30, "matches").low, 1 / 3, wilson(10, 30, "matches").high
        assert (found.low, found.value, found.high) == pytest.approx(ends)


def at_three_seats(*quits: int, matches: int = 60, friend: int = 2) -> ResultTables:
    """The first of three entrants wins, but in matches that the third forfeits."""
    schedule = one_line_up(["strong", "weak", "friend"])
    entries = {}
    for match in range(matches):
        seated = schedule.seated(match, 1)
        won = forfeited(*(float(who == 0) for who in seated))
        entries[match] = forfeited(culprit=seated.index(friend)) if match in quits else won
    players = tuple(PlayerSpec(player=name, settings={}) for name in ("strong", "weak", "friend"))
    settings = TournamentSettings(deals=matches // 3, seed=1, prior_draws=1)
    return ResultTables(schedule, settings, players, entries, {})


def test_a_forfeit_at_a_third_seat_decides_nothing_between_the_other_two() -> None:
    tables = at_three_seats(1, 5, 9)
    assert [tables.wins(who) for who in range(3)] == [57, 0, 0]
    assert tables.cautions == {}
    strong, weak, friend = (tables.win_rate(who) for who in range(3))
    assert (strong.value, weak.value, friend.value) == (1, 0, 0)
    assert (strong.n, weak.n, friend.n) == (57, 57, 60)
    assert strong.low < wilson(57, 57, "matches").low  # whatever the three would have been
    first = tables.pairs()[0]
    assert (first.wins, first.draws, first.losses, first.forfeits) == (57, 0, 0, (0, 0))


def test_who_forfeits_often_is_named_and_leaves_the_ranks_of_others_alone() -> None:
    tables = at_three_seats(*range(0, 60, 7))
    told = tables.cautions["forfeits"]
    assert told.startswith("friend forfeited more than one in 20 of its matches")
    with pytest.raises(NoSamplesError, match="friend forfeited"):
        tables.win_rate(0)
    assert tables.win_rate(2).value == 0
    assert {type(one.elo) for one in tables.standings()} == {Unmeasured}
    assert [pair.matches for pair in tables.pairs()] == [0, 0, 0]


def test_a_forfeit_between_two_players_or_two_sides_still_decides() -> None:
    schedule = one_line_up(["strong", "weak", "weak"])
    players = tuple(PlayerSpec(player=name, settings={}) for name in ("strong", "weak", "weak"))
    entries = {m: forfeited(culprit=schedule.seated(m, 1).index(1)) for m in range(6)}
    settings = TournamentSettings(deals=2, seed=1)
    tables = ResultTables(schedule, settings, players, entries, {})
    assert (tables.wins(0), tables.cautions) == (6, {})


def searched(*seats: tuple[int, int, int], budget: str = "time") -> ResultTables:
    """Matches of one player; by seat simulations in all, decisions, and forced ones of them."""
    used = tuple(
        EffortSummary(
            decisions=count,
            figures={
                "simulations_done": NumberSummary(count=count, total=done, least=0, most=done)
            },
            words={"belief": {"not_needed": forced, "known_state": count - forced}},
        )
        for done, count, forced in seats
    )
    entry = forfeited(*(float(seat == 0) for seat in range(len(seats))))
    entries = {match: entry.model_copy(update={"used": used}) for match in range(10)}
    players = (PlayerSpec(player="uct", settings={"budget": budget}),) * len(seats)
    settings = TournamentSettings(deals=10, seed=1)
    return ResultTables(one_line_up(["uct"] * len(seats)), settings, players, entries, {})


def test_a_seat_that_searches_less_than_half_as_much_draws_no_rank() -> None:
    slow = searched((900, 9, 0), (441, 9, 0))
    assert slow.simulations == {"uct:budget=time": {"0": 100, "1": 49}}
    assert slow.cautions["uneven search"].startswith("uneven search: uct:budget=time did 49 ")
    with pytest.raises(NoSamplesError, match="uneven search"):
        slow.win_rate(0)
    for fair in (searched((900, 9, 0), (459, 9, 0)), searched((9, 9, 0), (1, 9, 0), budget="x")):
        assert (fair.cautions, fair.win_rate(0).value) == ({}, 1)


def test_forced_decisions_do_not_count_in_what_a_seat_searched() -> None:
    assert searched((900, 9, 0), (200, 9, 7)).cautions == {}
    assert searched((900, 9, 0), (0, 9, 9)).simulations == {"uct:budget=time": {"0": 100}}
