"""Games that are none are found with figures; small games that are some pass."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import pytest

from games import library
from games.checks import Finding
from games.checks.choices import check_choices
from games.checks.sampling import Subject, random_matches, trusted_subject
from games.engine import Match
from games.table import Position, Table
from games.values import Action, Json, ModuleFault

# A game for two over the list `m` of what was done: who acts, what is legal, what the end pays.
GAME = """
GAME = {{"name": "trial", "summary": "A trial.", "min_players": 2, "max_players": 2}}
ZONES = {{}}

def initial_state(num_players, **parameters):
    return {{"m": []}}

def get_current_player(state):
    m = state["m"]
    return {player}

def get_legal_actions(state):
    m = state["m"]
    return [] if get_current_player(state) == -4 else ({legal})

def apply_action(state, action):
    return {{"m": state["m"] + [action]}}

def get_rewards(state):
    m = state["m"]
    return ({pays}) if get_current_player(state) == -4 else [0.0, 0.0]

def get_observations(state):
    return [{{"n": len(state["m"])}}] * 2

def get_events(state, action):
    return [[], []]

def visible(state, player_id):
    return {{}}
"""
LEFT_OF_5 = "5 - sum(int(x[-1]) for x in m)"
TAKES = f"['take %d' % n for n in range(1, {LEFT_OF_5} + 1)]"
LAST_WINS = "[1.0, -1.0] if len(m) % 2 else [-1.0, 1.0]"
SIX = "['a', 'b', 'c', 'd', 'e', 'f']"


def judged(
    player: str, legal: str, pays: str, *, seed: int = 0, matches: int = 12
) -> list[Finding]:
    subject = trusted_subject(GAME.format(player=player, legal=legal, pays=pays), 2)
    played = random_matches(subject, matches=matches, seed=seed, max_plies=100)
    return check_choices(subject, played, seed=seed)


def of_library(name: str, players: int, parameters: dict[str, int]) -> list[Finding]:
    subject = trusted_subject(library.source(name), players, dict(parameters))
    return check_choices(
        subject, random_matches(subject, matches=6, seed=0, max_plies=3000), seed=0
    )


# What a person who reads the rules sees: words of the rules -> words that the evidence must hold.
NO_GAMES = {
    "one action at every turn": (
        ("-4 if len(m) == 4 else len(m) % 2", "['go']", LAST_WINS),
        ("nobody ever decides", "160 turns of 40"),
    ),
    "heads or tails, once": (
        ("-4 if m else 0", "['heads', 'tails']", "[1.0, -1.0] if m == ['heads'] else [-1.0, 1.0]"),
        ("over at once", "40 random matches"),
    ),
    "one heap, take as many as you like, the last one wins": (
        (f"-4 if {LEFT_OF_5} == 0 else len(m) % 2", TAKES, LAST_WINS),
        ("first turn", "'take 5'", "40 of 40 deals", "1.00 of the wins"),
    ),
    "left or right, four times, and the deal decides": (
        (
            "-4 if len(m) == 5 else -1 if not m else len(m) % 2",
            "['deal a', 'deal b'] if not m else ['left', 'right']",
            "[1.0, -1.0] if m[0] == 'deal a' else [-1.0, 1.0]",
        ),
        ("no choice counts", "40 deals was played 4 times"),
    ),
    "the second always wins": (
        ("-4 if len(m) == 6 else len(m) % 2", "['left', 'right']", "[-1.0, 1.0]"),
        ("player 2 won all 40 random matches", "all 12 in which the others knew everything"),
    ),
}

GAMES = {
    "nim: one heap of five, one or two a turn": (
        f"-4 if {LEFT_OF_5} == 0 else len(m) % 2",
        f"['take %d' % n for n in range(1, min(2, {LEFT_OF_5}) + 1)]",
        LAST_WINS,
    ),
    "rock, paper, scissors": (
        "-4 if len(m) == 2 else len(m)",
        "['rock', 'paper', 'scissors']",
        "[[0.0, 0.0], [1.0, -1.0], [-1.0, 1.0]][('rps'.index(m[0][0]) - 'rps'.index(m[1][0])) % 3]",
    ),
    "who folds loses, else the higher number wins": (
        "-4 if 'fold' in m or len(m) == 4 else len(m) % 2",
        "['fold', '1', '2']",
        "([-1.0, 1.0] if len(m) % 2 else [1.0, -1.0]) if 'fold' in m else "
        "[1.0, -1.0] if int(m[0]) + int(m[2]) > int(m[1]) + int(m[3]) else [-1.0, 1.0]",
    ),
    "who guesses the hidden letter first wins": (
        "-1 if not m else -4 if m[0] in [x[-1] for x in m[1:]] else (len(m) - 1) % 2",
        f"{SIX} if not m else ['guess ' + x for x in {SIX} if 'guess ' + x not in m]",
        "[1.0, -1.0] if len(m) % 2 == 0 else [-1.0, 1.0]",
    ),
    "who accuses wrongly loses": (
        "-1 if not m else -4 if m[-1][:3] == 'acc' else (len(m) - 1) % 2",
        f"{SIX} if not m else ['accuse ' + x for x in {SIX}] + ['wait'] * (len(m) < 5)",
        "[1.0, -1.0] if (m[-1][-1] == m[0]) == (len(m) % 2 == 0) else [-1.0, 1.0]",
    ),
    "random play never wins as the second, play that looks ahead does": (
        "-4 if len(m) == 10 else len(m) % 2",
        "['1', '2'] if len(m) % 2 == 0 else ['1', '2', '3', '4', '5', '6']",
        "[4.5, float(m[1::2].count('6'))]",
    ),
}


@pytest.mark.parametrize("name", NO_GAMES)
@pytest.mark.parametrize("matches", [6, 12])
def test_a_game_that_is_none_does_not_pass(name: str, matches: int) -> None:
    rules, words = NO_GAMES[name]
    (finding,) = judged(*rules, matches=matches)
    assert finding.outcome == "failed"
    assert [word for word in words if word not in finding.evidence] == []


@dataclass
class _EndingTable:
    """A table that the time runs out on after so many calls."""

    table: Table
    left: int

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        self._count()
        return self.table.open(num_players, parameters)

    def advance(self, position: Position, action: Action) -> Position:
        self._count()
        return self.table.advance(position, action)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise ModuleFault("timed_out", "module", "no time is left")


@cache  # one game for all its ends
def judged_whole(name: str) -> tuple[Subject, list[Match], str]:
    rules, _ = NO_GAMES[name]
    subject = trusted_subject(GAME.format(player=rules[0], legal=rules[1], pays=rules[2]), 2)
    played = random_matches(subject, matches=6, seed=0, max_plies=100)
    return subject, played, check_choices(subject, played, seed=0)[0].evidence


@pytest.mark.parametrize("name", NO_GAMES)
@pytest.mark.parametrize("calls", [*range(40), 100, 300, 1000])
def test_what_the_time_ran_out_on_is_neither_passed_nor_blamed(name: str, calls: int) -> None:
    subject, played, whole = judged_whole(name)
    ending = replace(subject, table=_EndingTable(subject.table, calls))
    (finding,) = check_choices(ending, played, seed=0)
    assert finding.outcome == "failed"  # a check that ends with such a fault could not judge
    assert "no time is left" in finding.evidence or finding.evidence == whole


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_a_small_game_passes(name: str, seed: int) -> None:
    assert [f.outcome for f in judged(*GAMES[name], seed=seed)] == ["passed"]


def test_a_trick_of_one_card_each_is_no_game() -> None:
    (finding,) = of_library("trick_taking", 4, {"hand_size": 1})
    assert (finding.outcome, finding.check) == ("failed", "decisions")
    assert "nobody ever decides" in finding.evidence


def test_a_knock_that_is_always_legal_is_no_game() -> None:
    (finding,) = of_library("rummy", 2, {"hand_size": 4, "knock_limit": 50})
    assert finding.outcome == "failed"
    assert "'knock' was legal and ended 40 of 40 deals" in finding.evidence
    (usual,) = of_library("rummy", 2, {"hand_size": 7, "knock_limit": 10})
    assert usual.outcome == "passed"


def test_matches_that_do_not_end_cannot_be_judged() -> None:
    (finding,) = judged("len(m) % 2", "['left', 'right']", LAST_WINS)
    assert finding.outcome == "could_not_judge"
