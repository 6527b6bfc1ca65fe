"""Transition tests: a source that knows the rules holds them all; a mistake is found and shown."""

import pytest

from games.trajectories import OpenPosition, OpenTrajectory
from games.values import CHANCE, TERMINAL, Json
from tests.tools.predicting.material import (
    COIN,
    ODDS,
    TIC_TAC_TOE,
    changed,
    matches_of,
    memorising,
)
from tools.predicting.playing import random_play
from tools.predicting.steady import arguments_kept, asked_again, imports, late_answers, names_told
from tools.predicting.transition import RecordQuestions, predicted, record_examples
from tools.sandbox import Limits, Sandbox
from tools.sources import learned_module

MATCHES = matches_of("openspiel:tic_tac_toe", 6)
asked = RecordQuestions.of
RECORDS = sum(len(match.positions) for match in MATCHES)


def test_a_source_that_knows_the_rules_predicts_every_record(sandbox: Sandbox) -> None:
    found = predicted(sandbox, TIC_TAC_TOE, asked(MATCHES))
    assert (found.right, found.records, found.failures) == (RECORDS, RECORDS, ())
    assert found.distinct_right == found.distinct < found.records  # all begin on the same board
    ends = [row for row in found.rows if row.phase == "end"]
    assert [(row.action, row.records) for row in ends] == [("the end", len(MATCHES))]
    assert sum(row.records for row in found.rows) == RECORDS


@pytest.mark.parametrize(
    ("old", "new", "function"),
    [
        ('"xo"[mark == "x"]', '"x"', "apply_action"),
        ("str(player_id))", '"somebody")', "get_player_name"),
        ('[1.0, -1.0], "o": [-1.0, 1.0]', '[1.0, 0.0], "o": [0.0, 1.0]', "get_rewards"),
        ("return [state, state]", 'return [state, {"board": []}]', "get_observations"),
        ('NAMES[state["current_player"]]', "0", "get_current_player"),
        ('if held == "."]', 'if held == "."][:-1]', "get_legal_actions"),
    ],
)
def test_every_prediction_of_a_record_is_compared(
    sandbox: Sandbox, old: str, new: str, function: str
) -> None:
    found = predicted(sandbox, changed(TIC_TAC_TOE, (old, new)), asked(MATCHES))
    assert found.accuracy < 1
    (told,) = [f for f in found.failures if f.function == function]
    for part in ("call: ", "expected: ", "actual: "):
        assert part in told.evidence


def test_legal_actions_are_a_set_and_rewards_are_numbers(sandbox: Sandbox) -> None:
    source = changed(
        TIC_TAC_TOE, ('if held == "."]', 'if held == "."][::-1]'), ("[0.0, 0.0]", "[0, -0.0]")
    )
    assert predicted(sandbox, source, asked(MATCHES)).accuracy == 1


def test_a_failing_test_shows_its_difference_its_line_and_its_output(sandbox: Sandbox) -> None:
    source = changed(
        TIC_TAC_TOE,
        ('return {"board": board, "current_player"', 'return {"bord": board, "current_player"'),
        ("    over = winner", "    print('marking', mark)\n    over = winner"),
        ("    won = winner", "    1 / 0\n    won = winner"),
    )
    failures = predicted(sandbox, source, asked(MATCHES)).failures
    told = {found.function: found for found in reversed(failures)}
    assert [one.function for one in failures].count("apply_action") == 2  # one of x, one of o
    assert '- "board": [' in told["apply_action"].evidence
    assert "last output:\nmarking x" in told["apply_action"].evidence
    assert "ZeroDivisionError" in told["get_rewards"].evidence
    line = told["get_rewards"].line
    assert line is not None
    assert source.splitlines()[line - 1] == "    1 / 0"


def test_a_wrong_answer_is_shown_with_its_keys_in_the_models_own_order(sandbox: Sandbox) -> None:
    wrong = changed(TIC_TAC_TOE, ("return [state, state]", 'return [{"z": 1, "a": 2}] * 2'))
    (told,) = predicted(sandbox, wrong, asked(MATCHES)).failures
    assert told.evidence.index("'z'") < told.evidence.index("'a'")


@pytest.mark.parametrize("source", ["def get_rewards(state:", "import numpy.nothing", "1 / 0"])
def test_nothing_holds_of_a_source_that_does_not_load(sandbox: Sandbox, source: str) -> None:
    found = predicted(sandbox, source, asked(MATCHES))
    assert (found.right, found.records) == (0, RECORDS)
    assert found.failures[0].check == "load"


def test_a_source_that_knows_the_matches_by_heart_fails_on_others(sandbox: Sandbox) -> None:
    source = memorising(MATCHES[:4])
    assert predicted(sandbox, source, asked(MATCHES[:4])).accuracy == 1
    assert predicted(sandbox, source, asked(MATCHES[4:])).accuracy < 0.7


@pytest.mark.parametrize(
    ("odds", "more", "right"),
    [
        ((0.75, 0.25), ODDS, True),  # each in the order of its own actions
        ((0.75, 0.25), ODDS.replace("[0.25, 0.75]", "[0.75, 0.25]"), False),
        ((0.75, 0.25), ODDS.replace("[0.25, 0.75]", "[1.0]"), False),
        (
            (0.75, 0.25),
            '\ndef get_chance_probabilities(state):\n    return {"heads": 0.75, "tails": 0.25}\n',
            False,
        ),
        ((0.75, 0.25), "", False),
        ((0.5, 0.5), "", True),
        ((0.5, 0.5), ODDS, False),
        ((), ODDS, True),
        ((), "", True),
    ],
)
def test_odds_of_chance_are_compared_where_they_were_recorded(
    sandbox: Sandbox, odds: tuple[float, ...], more: str, right: bool
) -> None:
    def met(face: str, legal: tuple[str, ...]) -> OpenPosition:
        state: dict[str, Json] = {"face": face}
        player = CHANCE if legal else TERMINAL
        given = odds if legal else ()
        return OpenPosition(state, player, legal, len(legal), (0.0,), (state,), given)

    match = OpenTrajectory(0, (met("", ("heads", "tails")), met("heads", ())), ("heads",))
    found = predicted(sandbox, COIN + more, asked([match]))
    assert (found.accuracy == 1) is right
    assert [one.function for one in found.failures] == ["get_chance_probabilities"] * (not right)
    if not right:
        assert "'heads': " in found.failures[0].evidence
    assert any("get_chance_probabilities" in text for text in record_examples([match], 4)) == (
        odds == (0.75, 0.25)
    )


@pytest.mark.parametrize("legal", ["[]", "None", "1 / 0"])
def test_a_source_without_outcomes_or_odds_is_wrong_about_both(
    sandbox: Sandbox, legal: str
) -> None:
    state: dict[str, Json] = {"face": ""}
    here = OpenPosition(state, CHANCE, ("heads", "tails"), 2, (0.0,), (state,), (0.5, 0.5))
    match = OpenTrajectory(0, (here,), (), truncated=True)
    source = changed(COIN, ('[] if state["face"] else ["tails", "heads"]', legal))
    found = predicted(sandbox, source, asked([match]))
    assert found.accuracy == 0
    wrong = {one.function for one in found.failures}
    assert wrong == {"get_legal_actions", "get_chance_probabilities"}


UNSTEADY = {
    "memory": ("over = winner", "SEEN.append(1)\n    board[0] = len(SEEN)\n    over = winner"),
    "chance": ("over = winner", "board[0] = random.random()\n    over = winner"),
}


@pytest.mark.parametrize("kind", UNSTEADY)
def test_answers_that_rest_on_memory_or_chance_are_found(sandbox: Sandbox, kind: str) -> None:
    source = "import random\nSEEN = []\n" + changed(TIC_TAC_TOE, UNSTEADY[kind])
    found = asked_again(sandbox, source, MATCHES[:3])
    assert {one.function for one in found} == {"apply_action"}
    assert asked_again(sandbox, TIC_TAC_TOE, MATCHES[:3]) == []


def test_a_function_that_answers_by_what_another_one_was_asked_is_found(sandbox: Sandbox) -> None:
    """Each position is asked for its seat first: so all that was recorded is predicted."""
    source = "LAST = {}\n" + changed(
        COIN,
        ("    return -4 if", '    LAST["face"] = state["face"]\n    return -4 if'),
        ("return [0.0]", 'return [float(LAST.get("face") == "heads")]'),
    )
    toss = OpenPosition({"face": ""}, CHANCE, ("heads", "tails"), 2, (0.0,), ({"face": ""},))
    matches = []
    for number, (face, paid) in enumerate((("heads", 1.0), ("tails", 0.0))):
        end = OpenPosition({"face": face}, TERMINAL, (), 0, (paid,), ({"face": face},))
        matches.append(OpenTrajectory(number, (toss, end), (face,)))
    assert predicted(sandbox, source, asked(matches)).accuracy == 1
    assert {one.function for one in asked_again(sandbox, source, matches)} == {"get_rewards"}


def test_answers_that_change_after_many_calls_of_one_worker_are_found(sandbox: Sandbox) -> None:
    """Recorded matches ask too little of a worker, and no question of theirs twice."""
    late = changed(
        TIC_TAC_TOE,
        (
            "return [state, state]",
            "SEEN.append(1)\n    return [state, state if len(SEEN) < 60 else {}]",
        ),
    )
    for source, kinds in (("SEEN = []\n" + late, {"steady"}), (TIC_TAC_TOE, set())):
        assert predicted(sandbox, source, asked(MATCHES[:3])).accuracy == 1
        assert asked_again(sandbox, source, MATCHES[:3]) == []
        module = learned_module(
            source,
            name="m",
            num_players=2,
            initial_state=MATCHES[0].positions[0].state,
            parameters={},
        )
        played = random_play(
            sandbox, module, num_players=2, parameters={}, matches=12, seed=1
        ).matches
        assert {one.check for one in late_answers(sandbox, source, played, 1)} == kinds


def test_a_function_that_changes_its_state_is_found_though_every_prediction_holds(
    sandbox: Sandbox,
) -> None:
    source = changed(TIC_TAC_TOE, ('action[0], list(state["board"])', 'action[0], state["board"]'))
    assert predicted(sandbox, source, asked(MATCHES)).accuracy == 1
    (found,) = arguments_kept(sandbox, source, MATCHES)
    assert found.function == "apply_action"
    assert "changed the state it was given" in found.evidence
    assert arguments_kept(sandbox, TIC_TAC_TOE, MATCHES) == []


def test_a_function_that_hangs_costs_its_tests_and_not_the_run() -> None:
    hangs = changed(
        TIC_TAC_TOE, ("    won = winner", "    while state:\n        pass\n    won = winner")
    )
    with Sandbox(limits=Limits(call_s=0.3)) as impatient:
        found = predicted(impatient, hangs, asked(MATCHES[:1]), deadline_s=5)
    assert found.accuracy < 1
    assert found.failures[0].function == "get_rewards"
    assert "did not return within" in found.failures[0].evidence


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("import time", True),
        ("from datetime import datetime", True),
        ("import os.path", True),
        ("import random, math", False),
        ("from collections import Counter", False),
    ],
)
def test_a_model_may_not_import_a_clock(line: str, refused: bool) -> None:
    assert bool(imports(f"x = 1\n{line}\n")) == refused


def whole(source: str) -> str:
    start = MATCHES[0].positions[0].state
    return learned_module(source, name="t", num_players=2, initial_state=start, parameters={})


def test_random_play_inside_a_model_ends_or_says_where_it_broke(sandbox: Sandbox) -> None:
    def play(source: str) -> tuple[int, str]:
        found = random_play(sandbox, whole(source), num_players=2, parameters={}, matches=3, seed=1)
        return len(found.matches), "".join(f.evidence for f in found.failures)

    assert play(TIC_TAC_TOE) == (3, "")
    endless = changed(TIC_TAC_TOE, ('"Terminal" if over else ', ""), ("= mark", '= "."'))
    assert play(endless)[0] == 0
    assert "did not end within 1000 plies" in play(endless)[1]
    broken = changed(TIC_TAC_TOE, ('"." not in board', "1 / (board.count('.') - 5) < 0"))
    assert "ZeroDivisionError" in play(broken)[1]
    assert "apply_action({" in play(broken)[1]


def test_the_first_tests_spread_over_phases_and_types() -> None:
    poker = matches_of("openspiel:leduc_poker", 4)
    shown = record_examples(poker, 5)
    assert len(shown) == 5
    assert sum("'Deal" in one.splitlines()[-1] for one in shown) < 4


@pytest.mark.parametrize("wrong", ['"dealer"', "None"])
def test_the_names_that_no_match_asks_for_are_asked_too(sandbox: Sandbox, wrong: str) -> None:
    named = changed(TIC_TAC_TOE, ('-1: "chance"', f"-1: {wrong}"))
    (found,) = names_told(sandbox, named, 2)
    assert "get_player_name(-1)" in found.evidence
    assert "expected: chance" in found.evidence
    assert names_told(sandbox, TIC_TAC_TOE, 2) == []


def test_of_outcomes_that_were_only_counted_the_number_alone_is_asked() -> None:
    (first, *_) = record_examples(matches_of("openspiel:bargaining", 1), 1)
    assert "len(get_legal_actions(state)) == 1000" in first
