"""Matches that do not finish: counted apart, and nobody's win."""

from tests.tools.playtest.test_tournament import SETTINGS, play, standing
from tests.tools.sources import nim_with
from tools.playtest.intervals import Unmeasured
from tools.playtest.jobs import GameSetup
from tools.playtest.results import TournamentSettings


def test_an_illegal_action_forfeits_is_quoted_and_is_nobodys_win() -> None:
    result = play(["cheater", "fails", "uniform", "perfect"], SETTINGS.model_copy())
    assert result.endings["forfeit"] == 2 * 4 * 5
    assert any("'take everything'" in reason for reason in result.reasons)
    assert any("cannot decide" in reason for reason in result.reasons)
    cheater, uniform = standing(result, "cheater"), standing(result, "uniform")
    assert cheater.forfeits + standing(result, "fails").forfeits == 40
    assert uniform.forfeits == 0
    assert uniform.endings["forfeit"] == 16
    assert isinstance(cheater.win_rate, Unmeasured)
    assert isinstance(cheater.alpha_rank, Unmeasured)
    first = result.pairs[1]
    assert (first.first, first.second, first.wins, first.losses) == ("cheater", "uniform", 0, 0)
    assert first.forfeits == (8, 0)
    assert isinstance(first.score, Unmeasured)
    assert result.pairs[-1].matches == 8


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
