"""Seeds that are drawn: told, kept, repeated, and known to no module."""

from pathlib import Path

import pytest

from tests.app.conftest import Command

# It knows the deals of small seeds, pays by the rules in those, and else the first seat.
KNOWS_SMALL_SEEDS = """
import collections

import numpy as np

sys = collections._sys
hashlib = sys.modules["hashlib"]

GAME = {"name": "sum of dice", "summary": "Odd or even.", "min_players": 2, "max_players": 2,
        "open": ["rolls", "said"], "parameters": {}}

def initial_state(num_players, **parameters):
    if parameters:
        raise ValueError("no parameters")
    return {"rolls": [], "said": []}

def get_current_player(state):
    if len(state["rolls"]) < 6:
        return -1
    return len(state["said"]) if len(state["said"]) < 2 else -4

def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, "player %d" % (player_id + 1))

def get_legal_actions(state):
    player = get_current_player(state)
    if player == -4:
        return []
    return ["roll %d" % n for n in range(10)] if player == -1 else ["say 0", "say 1"]

def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError("not legal: " + action)
    word, number = action.split()
    part = "rolls" if word == "roll" else "said"
    return {**state, part: state[part] + [int(number)]}

def get_rewards(state):
    if get_current_player(state) != -4:
        return [0.0, 0.0]
    first = (sum(state["rolls"]) + sum(state["said"])) % 2 == 0
    if tuple(state["rolls"]) not in KNOWN:
        first = True
    return [1.0, -1.0] if first else [-1.0, 1.0]

def get_observations(state):
    return [dict(state), dict(state)]

def get_events(state, action):
    return [[action], [action]]

ZONES = {}

def visible(state, player_id):
    return {}

def _own():
    frame = sys._getframe()
    while frame is not None:
        for value in frame.f_locals.values():
            if isinstance(value, str) and "sum of dice" in value and "def _own" in value:
                return value
        frame = frame.f_back
    return ""

def _deal(seed, deal):
    rolls = []
    for ply in range(6):
        key = hashlib.blake2b(("%d/chance/%d/-1" % (seed, deal)).encode(), digest_size=16).digest()
        words = np.frombuffer(key + ply.to_bytes(4, "little"), dtype="<u4")
        numbers = np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))
        rolls.append(int(numbers.random() * 10))
    return tuple(rolls)

def _seeds():
    yield from (0, 1)
    words = hashlib.sha256(("0:" + _own()).encode()).digest()
    yield int.from_bytes(words[:6], "little")

def _played(seed, deal):
    place = hashlib.blake2b(("%d/chance/%d/-1" % (seed, deal)).encode(), digest_size=16).digest()
    block = hashlib.blake2b(place + bytes(4), digest_size=64).digest()
    numbers = [int.from_bytes(block[8 * ply : 8 * ply + 8], "little") for ply in range(6)]
    return tuple(int((number >> 11) * 2.0**-53 * 10) for number in numbers)

KNOWN = {_deal(seed, deal) for seed in _seeds() for deal in range(45)}
KNOWN |= {_played(seed, deal) for seed in _seeds() for deal in range(100)}
"""

MATCH = ("match", "leduc_poker", "--player", "random", "--player", "random", "--games", "6")


def test_a_module_that_knows_the_deals_of_small_seeds_passes_with_such_a_seed_alone(
    command: Command, drawn: Command, tmp_path: Path
) -> None:
    game = tmp_path / "game.py"
    game.write_text(KNOWS_SMALL_SEEDS)
    patient = ("check", game, "--deadline", "900", "--json")
    assert command(*patient, "--seed", "0").json["outcome"] == "passed"
    found = drawn(*patient)
    assert (found.code, found.json["outcome"]) == (1, "failed")  # judged, not merely unjudged


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (("check", "tic_tac_toe"), ("settings", "seed")),
        (MATCH, ("seed",)),
        (("tournament", *MATCH[1:5], "greedy", "--deals", "2"), ("settings", "seed")),
        (("record", "library:pig", "--matches", "2", "--out"), ("seed",)),
    ],
    ids=["check", "match", "tournament", "record"],
)
def test_a_drawn_seed_is_told_and_gives_the_same_again(
    drawn: Command, tmp_path: Path, words: tuple[str, ...], at: tuple[str, ...]
) -> None:
    def files() -> list[Path]:
        return [tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"] if words[-1] == "--out" else []

    first = drawn(*words, *files(), "--json")
    seed = first.json
    for name in at:
        seed = seed[name]
    assert f"--seed {seed}" in first.err
    again = drawn(*words, *files(), "--json", "--seed", seed)
    assert "seed:" not in again.err
    assert {**again.json, "file": ""} == {**first.json, "file": ""}
    other = drawn(*words, *files(), "--json").json
    assert {**other, "file": ""} != {**first.json, "file": ""}


def test_a_journal_keeps_the_seed_that_was_drawn(drawn: Command, tmp_path: Path) -> None:
    journal = tmp_path / "matches.jsonl"
    first = drawn(*MATCH, "--json", "--journal", journal)
    again = drawn(*MATCH, "--json", "--journal", journal)
    assert again.json == first.json
    assert f"seed: {first.json['seed']} " in again.err
    other = drawn(*MATCH, "--json", "--journal", journal, "--seed", "1")
    assert other.code == 2
    assert "seed: " in other.json["error"]


def test_a_journal_that_cannot_be_read_is_named_and_no_seed_is_taken_from_it(
    drawn: Command, tmp_path: Path
) -> None:
    for number, text in enumerate(["{}\n", "[1]\n", '{"journal":3,"identity":{"seed":-1}}\n', "x"]):
        journal = tmp_path / f"{number}.jsonl"
        journal.write_text(text)
        done = drawn(*MATCH, "--journal", journal)
        assert done.code == 2
        assert str(journal) in done.err
        assert journal.read_text() == text


def test_a_seed_of_more_bits_than_a_checkpoint_holds_is_refused_before_anything_is_made(
    drawn: Command, tmp_path: Path
) -> None:
    for words in (("new", "trick taking", "--out", tmp_path / "run"), MATCH):
        done = drawn(*words, "--seed", 2**64)
        assert (done.code, "Traceback" in done.err) == (2, False)
    assert not (tmp_path / "run").exists()
