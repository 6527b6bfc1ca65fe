"""The play-test of games whose best play is known by counting."""

import json

import pytest

from agents.protocols import Heuristic
from graph.new.playing import measured, play_of_run
from graph.new.results import players_object
from graph.run.folder import RunFolder
from tests.graph.conftest import MakeContext
from tools.playtest.of_run.played import PlayTest
from tools.reporting.content import Evaluation
from tools.reporting.verdict import verdict_of

# Two players name a number three times each; at the end it pays by the sums.
SUMS = """
GAME = {"name": "sums", "summary": "Name numbers.", "min_players": 2, "max_players": 2}
ZONES = {}

def initial_state(num_players, **parameters):
    if parameters:
        raise ValueError("no parameters")
    return {"said": []}

def get_current_player(state):
    return -4 if len(state["said"]) == 6 else len(state["said"]) % 2

def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, "player %d" % (player_id + 1))

def get_legal_actions(state):
    return [] if len(state["said"]) == 6 else ["1", "2", "3"]

def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError("not legal")
    return {"said": state["said"] + [int(action)]}

def get_rewards(state):
    if len(state["said"]) < 6:
        return [0.0, 0.0]
    sums = [float(sum(state["said"][0::2])), float(sum(state["said"][1::2]))]
    return PAYS

def get_observations(state):
    return [{"said": state["said"], "you": seat} for seat in range(2)]

def get_events(state, action):
    return [["%s is named." % action]] * 2

def visible(state, player_id):
    return {}
"""
TEAM = SUMS.replace("PAYS", "[sum(sums)] * 2")
RIVALS = SUMS.replace("PAYS", "sums")
LARGE = "def score(observation, action):\n    return float(action)\n"
SMALL = "def score(observation, action):\n    return -float(action)\n"


@pytest.fixture
def tested(make_context: MakeContext, folder: RunFolder) -> object:
    def test(source: str, *sources: str) -> tuple[PlayTest, Evaluation]:
        play = play_of_run(make_context(), source, 2, folder)
        heuristics = [
            Heuristic(name=f"h{number}", policy="", source=one)
            for number, one in enumerate(sources)
        ]
        return play, measured(play, heuristics, "ours").evaluation

    return test


def test_a_team_is_measured_by_its_score_for_each_kind_of_player(tested: object) -> None:
    assert callable(tested)
    play, evaluation = tested(TEAM, LARGE)
    assert evaluation.shared
    assert {rung.measure for rung in evaluation.ladder} == {"return"}
    scores = {one.player: one.figures["score"].value for one in evaluation.plays}
    assert scores["greedy:heuristic=ensemble"] == 18  # six times three
    assert 6 <= scores["random"] < 18
    assert "wins" not in " ".join(line.text for line in verdict_of(evaluation))


def test_a_heuristic_that_loses_to_random_play_stands_below_it(tested: object) -> None:
    assert callable(tested)
    _, evaluation = tested(RIVALS, SMALL)
    assert not evaluation.shared
    assert evaluation.players[0] == "greedy:heuristic=ensemble"
    written = json.loads(json.dumps(players_object(evaluation)))
    assert written["players"] == list(evaluation.players)
    for one in written["comparisons"]:
        below, above = one["against"], one["player"]
        if one["value"] < one["even"]:
            below, above = above, below
        assert written["players"].index(below) < written["players"].index(above)


def test_good_players_are_measured_beside_random_ones(tested: object) -> None:
    assert callable(tested)
    _, evaluation = tested(RIVALS, LARGE)
    assert [one.player for one in evaluation.plays] == [
        "random",
        "greedy:heuristic=ensemble",
        "uct:simulations=6",
    ]
    greedy = evaluation.plays[1]
    assert greedy.figures["ties"].value == 1  # both name three each time
    assert greedy.figures["turns"].value == 6


def test_the_ladder_has_four_rungs_where_there_are_heuristics_and_a_search(tested: object) -> None:
    assert callable(tested)
    _, evaluation = tested(RIVALS, LARGE, LARGE + "\n")
    assert {*evaluation.players} == {
        "random",
        "greedy:heuristic=h0",
        "greedy:heuristic=ensemble",
        "uct:simulations=6",
    }
    assert all(rung.figure.of == "deals" for rung in evaluation.ladder if rung.figure.of)


def test_a_declared_goal_that_no_match_reached_is_told(tested: object) -> None:
    assert callable(tested)
    # Three numbers of at most 3 make at most 9.
    declared = '"max_players": 2, "parameters": {"target_score": {"default": 40, "range": [5, 50]}}'
    far = RIVALS.replace('"max_players": 2', declared)
    far = far.replace(
        '{"said": state["said"], "you": seat}',
        '{"said": state["said"], "scores": [sum(state["said"][0::2]), sum(state["said"][1::2])]}',
    )
    _, evaluation = tested(far, LARGE)
    (said,) = evaluation.unreached
    assert said.startswith("No match scored more than 9; the target score is 40 (")


def test_an_action_that_good_players_never_choose_is_told(tested: object) -> None:
    assert callable(tested)
    _, evaluation = tested(RIVALS, LARGE)
    # Six or more matches of six decisions offer each number at least 36 times.
    assert (evaluation.never, evaluation.always) == (("1", "2"), ("3",))
