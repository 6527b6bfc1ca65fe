"""Modules that fail behind an honest player's back, in whole matches of real workers."""

import re

import numpy as np
import pytest

from agents.players.registry import SeatedPlayer
from agents.players.specs import PlayerSpecError
from games.engine import Match, PlayerFault, play_match
from games.values import ModuleFault
from tests.agents.belief.logs import logs_of
from tests.agents.players.conftest import Seat
from tests.agents.small_games import KUHN, TIC_TAC_TOE, game
from tools.sandbox import Sandbox, SandboxTable

SEATS = "\n\ndef get_player_name(player_id):\n    return str(player_id)\n"
STATE = "\n\ndef resample_state(history, player_id):\n    "
HISTORY = "\n\ndef resample_history(history, player_id):\n    "
# The seat's own card and the bets are right, so that the state looks as it should to the seat.
FITS = """
    seen = history[-1][0]
    hands = [seen["hand"]] * 2
    hands[1 - player_id] = OTHER
    return {"deck": [], "hands": hands, "bets": seen["bets"]}
"""
SPEC = "ismcts:simulations=20,deadline=2"

RESAMPLERS = {
    "a state: raises": STATE + "raise RuntimeError('no idea')",
    "a state: ends the program": STATE + "raise SystemExit",
    "a state: is no state": STATE + "return 3",
    "a state: is the start": STATE + "return initial_state(2)",
    "a state: is no JSON": STATE + FITS.replace("OTHER", "{'Q'}"),
    "a state: breaks the rules": STATE + FITS.replace("OTHER", "'X'"),
    "a state: is no function": "\n\nresample_state = 5\n",
    "a history: raises": HISTORY + "return {}['no idea']",
    "a history: is impossible": HISTORY + "return ['deal Q', 'deal Q', 'p', 'b']",
    "a history: is too long": HISTORY + "return ['deal Q', 'deal J', 'b', 'p', 'b', 'b']",
    "a history: is no history": HISTORY + "return [[], None]",
    "a history: is no function": "\n\nresample_history = 5\n",
}
HANGING = {
    "a state": STATE + "while True: pass",
    "a history": HISTORY + "while True: pass",
    "all memory": STATE + "return [0] * 10**10",
}
SLOW = (
    STATE + "sum(range(4_000_000))" + FITS.replace("OTHER", "'JQK'['JQK'.index(seen['hand']) - 1]")
)


def kuhn(sandbox: Sandbox, source: str, players: list[SeatedPlayer], match: int = 0) -> Match:
    with sandbox.worker("referee") as referee:
        referee.load(source)
        return play_match(SandboxTable(referee), players, parameters={}, seed=7, match=match)


@pytest.mark.parametrize("resampler", RESAMPLERS.values(), ids=RESAMPLERS)
def test_a_resampler_at_fault_is_counted_skipped_and_reported_and_nobody_forfeits(
    sandbox: Sandbox, seat: Seat, resampler: str
) -> None:
    source = KUHN + SEATS + resampler
    match = kuhn(sandbox, source, [seat(SPEC, source, at=at) for at in range(2)])
    assert (match.ending, match.culprit) == ("finished", None), match.reason
    efforts = [ply.effort.row() for ply in match.plies if ply.player >= 0]
    assert len(efforts) >= 2
    for effort in efforts:
        assert (effort["belief"], effort["simulations_done"]) == ("exact", 20)
        failed = effort["belief_failures"], effort["belief_errors"]
        assert failed > (0, 0)


@pytest.mark.parametrize("resampler", HANGING.values(), ids=HANGING)
def test_a_resampler_that_hangs_costs_time_once_and_no_match(
    sandbox: Sandbox, seat: Seat, resampler: str
) -> None:
    source = KUHN + SEATS + resampler
    players = [seat(SPEC, source, at=at) for at in range(2)]
    match = kuhn(sandbox, source, players)
    assert (match.ending, match.culprit) == ("finished", None), match.reason
    first = {ply.player: ply.effort.row() for ply in reversed(match.plies) if ply.player >= 0}
    for effort in first.values():
        assert (effort["belief"], effort["belief_errors"]) == ("exact", 1)
        assert effort["simulations_done"] == 20


def test_a_resampler_that_is_slow_is_left_in_time_for_the_search_to_be_done(
    sandbox: Sandbox, seat: Seat
) -> None:
    source = KUHN + SEATS + SLOW
    spec = "ismcts:simulations=200,deadline=8"
    match = kuhn(sandbox, source, [seat(spec, source), seat("random", at=1)])
    assert (match.ending, match.culprit) == ("finished", None), match.reason
    first = next(ply.effort.row() for ply in match.plies if ply.player == 0)
    assert (first["belief"], first["simulations_done"]) == ("resample_state+exact", 200)
    assert first["belief_errors"] == 1


@pytest.mark.parametrize("name", ["a state: breaks the rules", "a state: raises"])
def test_where_the_bad_sampler_is_the_only_one_a_random_action_is_played_and_recorded(
    sandbox: Sandbox, seat: Seat, name: str
) -> None:
    source = KUHN + SEATS + RESAMPLERS[name]
    spec = f"{SPEC},belief=module"
    match = kuhn(sandbox, source, [seat(spec, source, at=at) for at in range(2)])
    assert (match.ending, match.culprit) == ("finished", None), match.reason
    for effort in (ply.effort.row() for ply in match.plies if ply.player >= 0):
        assert (effort["belief"], effort["fallback"]) == ("none_found", "random_legal")


def test_a_sampler_that_does_not_exist_cannot_be_asked_for(seat: Seat) -> None:
    with pytest.raises(PlayerSpecError, match=r"does not define; use belief=auto"):
        seat("ismcts:belief=module", KUHN)


def spoiled(function: str, body: str) -> str:
    """Kuhn poker in which a function does something else once seat 0 has bet."""
    return KUHN + SEATS + (
        f"\n_honest = {function}\n\ndef {function}(state, *rest):\n"
        f"    if state['bets'] == 'b':\n        {body}\n    return _honest(state, *rest)\n"
    )  # fmt: skip


SEARCHED = (
    "get_current_player",
    "get_legal_actions",
    "apply_action",
    "get_rewards",
    "get_observations",
    "get_events",
)


@pytest.mark.parametrize("function", SEARCHED)
def test_a_hang_inside_a_players_search_is_laid_to_the_module_not_to_the_player(
    sandbox: Sandbox, seat: Seat, function: str
) -> None:
    source = spoiled(function, "while True: pass")
    spec = "moismcts:simulations=40,deadline=0.5"
    match = kuhn(sandbox, source, [seat(spec, source), seat("random", at=1)])
    assert (match.ending, match.culprit) == ("fault", None)
    assert match.fault_line is not None
    assert "timed_out" in match.reason
    assert re.match(function if function != "get_current_player" else "get_", match.reason)
    assert "while True" in source.splitlines()[match.fault_line - 1]


HANGS = {
    "in one long call of C": "sum(range(10**13))",
    "and swallows the alarm": "exec('while True:\\n try:\\n  while True: pass\\n except "
    "BaseException: pass')",
}


@pytest.mark.parametrize("body", HANGS.values(), ids=HANGS)
def test_a_hang_that_only_a_kill_ends_is_laid_to_the_module(
    sandbox: Sandbox, seat: Seat, body: str
) -> None:
    source = spoiled("apply_action", body)
    spec = "ismcts:simulations=40,deadline=0.5"
    match = kuhn(sandbox, source, [seat(spec, source), seat("random", at=1)])
    assert (match.ending, match.culprit) == ("fault", None)
    assert "timed_out" in match.reason


NONSENSE = {
    "no seat": ("get_current_player", "return 7", "get_current_player: bad_value"),
    "no legal action": ("get_legal_actions", "return []", "get_legal_actions: bad_value"),
    "no list of actions": ("get_legal_actions", "return 3", "get_legal_actions: bad_value"),
    "no state": ("apply_action", "return None", "TypeError: 'NoneType'"),
    "no observations": ("get_observations", "return []", "get_observations: bad_value"),
    "no events": ("get_events", "return None", "get_events: bad_value"),
    "raises": ("apply_action", "raise RuntimeError('never')", "RuntimeError: never"),
    "refuses": ("apply_action", "raise ValueError('no')", "ValueError: no"),
    "ends the program": ("apply_action", "raise SystemExit(3)", "SystemExit: 3"),
    "takes all memory": ("apply_action", "return [0] * 10**10", "out_of_memory"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "body", "reason"), NONSENSE.values(), ids=NONSENSE)
def test_what_breaks_the_contract_inside_a_search_is_the_modules_fault_by_name(
    sandbox: Sandbox, seat: Seat, function: str, body: str, reason: str
) -> None:
    source = spoiled(function, body)
    spec = "moismcts:simulations=40,deadline=5"
    match = kuhn(sandbox, source, [seat(spec, source), seat("random", at=1)])
    assert (match.ending, match.culprit) == ("fault", None)
    assert reason in match.reason


def test_a_heuristic_that_raises_or_hangs_is_its_players_own_fault(seat: Seat) -> None:
    rules, _, start = game(TIC_TAC_TOE)
    log, legal = logs_of(rules, start, ["0"])[1], [str(square) for square in range(1, 9)]
    for body, told in (("return {}[0]", "raised KeyError"), ("while True: pass", "no decision")):
        source = {"bad": f"def score(observation, action):\n    {body}\n"}
        spec = "osla:leaf=heuristic,deadline=0.5"
        player = seat(spec, TIC_TAC_TOE, at=1, heuristics=source)
        with pytest.raises(PlayerFault, match=told):
            player.choose(log, legal, np.random.default_rng(0))


def test_a_module_that_fails_while_it_is_tried_is_named_before_the_match(seat: Seat) -> None:
    for body, told in (
        ("raise OSError('no')", "OSError: no"),
        ("return 3", "bad_value"),
        ("while True: pass", "get_legal_actions: timed_out"),
    ):
        source = f"{TIC_TAC_TOE}\n\ndef get_legal_actions(state):\n    {body}\n"
        with pytest.raises(ModuleFault, match=told):
            seat("uct:deadline=0.5", source)


def test_a_game_too_slow_to_be_tried_is_played_by_sampled_states_and_refused_by_uct(
    seat: Seat,
) -> None:
    slow = re.sub(r"(def \w+\(.*\):\n)", r"\1    sum(range(120_000))\n", TIC_TAC_TOE)
    seat("pimc:deadline=0.25", slow)
    with pytest.raises(PlayerSpecError, match="could not be told in time.*use ismcts"):
        seat("uct:deadline=0.25", slow)


@pytest.mark.parametrize("spec", ["ismcts:simulations=10", "uct:simulations=10", "random"])
def test_a_game_that_never_ends_is_unfinished_at_the_move_limit(
    sandbox: Sandbox, seat: Seat, spec: str
) -> None:
    endless = TIC_TAC_TOE + SEATS + (
        "\n\ndef apply_action(state, action):\n"
        "    return {**state, 'turn': 1 - state['turn']}\n"
    )  # fmt: skip
    players = [seat(spec, endless), seat("random", at=1)]
    with sandbox.worker("referee") as referee:
        referee.load(endless)
        table = SandboxTable(referee)
        match = play_match(table, players, parameters={}, seed=1, max_plies=6)
    assert (match.ending, match.culprit, len(match.plies)) == ("unfinished", None, 6)


def test_an_action_legal_only_in_the_players_own_model_is_quoted_where_it_forfeits(
    sandbox: Sandbox, seat: Seat
) -> None:
    source = KUHN + SEATS + RESAMPLERS["a state: is the start"]
    spec = f"{SPEC},belief=module,protocol="
    match = kuhn(sandbox, source, [seat(spec + "paper", source), seat("random", at=1)])
    assert (match.ending, match.culprit) == ("forfeit", 0)
    assert "chose 'deal" in match.reason
    ours = kuhn(sandbox, source, [seat(spec + "ours", source), seat("random", at=1)])
    assert ours.ending == "finished"
    (first, *_) = (ply.effort.row() for ply in ours.plies if ply.player == 0)
    assert first["fallback"] == "random_legal"
