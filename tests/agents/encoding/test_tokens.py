"""Tokens: every log can be written and read back, whatever self-play showed of the game."""

import json
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.encoding.changes import applied, changes_between
from agents.encoding.fitting import fitted_vocabulary
from agents.encoding.tokens import LogReader, LogWriter
from agents.encoding.vocabulary import (
    FIRST_TEMPLATE,
    MOVE,
    SPELL,
    TokenError,
    Vocabulary,
    vocabulary_of,
)
from games import library
from games.checks.sampling import random_matches, trusted_subject
from games.information import Did, LogEntry, SeatLog, Seen, tell_seats
from games.values import Json, Observation

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | st.text(max_size=4),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=3), part),
    max_leaves=8,
)
OBSERVATION = st.dictionaries(st.text(max_size=3), JSON, max_size=5)
ENTRY = st.builds(Seen.of, OBSERVATION, st.lists(st.text(max_size=20), max_size=3)) | st.builds(
    Did, st.text(max_size=8)
)
LOG = st.lists(ENTRY, max_size=6)


def same(one: Json, other: Json) -> bool:
    """True where also the types are: JSON parts 1 from 1.0 and from true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def read_log(known: Vocabulary, tokens: Sequence[int]) -> list[LogEntry]:
    reader = LogReader(known)
    return [entry for token in tokens for entry in reader.feed(token)]


def rows(entries: Sequence[LogEntry]) -> list[dict[str, Json]]:
    return [entry.row() for entry in entries]


@given(OBSERVATION, OBSERVATION)
def test_changes_lead_from_one_observation_to_the_next(old: Observation, new: Observation) -> None:
    assert same(applied(old, changes_between(old, new)), new)


@given(LOG, st.lists(LOG, max_size=3))
def test_any_log_is_read_back_as_it_was_written(
    log: list[LogEntry], shown: list[list[LogEntry]]
) -> None:
    known = fitted_vocabulary(shown, [])
    tokens = LogWriter(known).write(log)
    assert same([*rows(read_log(known, tokens))], [*rows(log)])
    assert all(0 <= token < known.size for token in tokens)


def logs_of(name: str, matches: int) -> tuple[list[list[LogEntry]], set[str]]:
    subject = trusted_subject(library.source(name), library.preset(name).players)
    played = random_matches(subject, matches=matches, seed=7, max_plies=80)
    legal = {action for match in played for ply in match.plies for action in ply.legal}
    return [[*log.entries] for match in played for log in match.logs], legal


@pytest.mark.parametrize("name", library.names())
def test_logs_of_every_library_game_are_read_back(name: str) -> None:
    logs, legal = logs_of(name, 4)
    cut = len(logs) // 2
    known = vocabulary_of(json.loads(json.dumps(fitted_vocabulary(logs[:cut], legal).as_json())))
    for log in logs[cut:]:
        assert same([*rows(read_log(known, LogWriter(known).write(log)))], [*rows(log)])


def test_a_ply_that_self_play_showed_takes_few_tokens() -> None:
    logs, legal = logs_of("trick_taking", 16)
    known = fitted_vocabulary(logs[:28], legal)
    tokens = LogWriter(known).write(logs[-1])
    assert len(tokens) < 3 * len(logs[-1])  # an observation is told by what changed in it
    assert SPELL not in tokens


def test_runs_are_joined_as_byte_pairs_are() -> None:
    """The example of the article on byte pair encoding: aaabdaaabac becomes XdXac."""
    first = FIRST_TEMPLATE
    words = tuple(f'"{letter}"' for letter in "abcd")
    known = Vocabulary((), words, (), ((first, first), (first + 4, first), (first + 5, first + 1)))
    text = [first + "abcd".index(letter) for letter in "aaabdaaabac"]
    joined = known.shortened(text)
    assert joined == [first + 6, first + 3, first + 6, first, first + 2]
    assert [single for token in joined for single in known.single(token)] == text


def test_a_word_that_is_known_before_costs_no_token() -> None:
    """Who plays a card knows it, and what lay on the table is known when it is taken."""
    logs: list[list[LogEntry]] = []
    for own, other in permutations(["2C", "9C", "JD", "QH", "KS", "AS"], 2):
        table = Seen.of({"table": [other], "taken": []})
        taken = Seen.of({"table": [], "taken": [other, own]}, [f"You take {other} with {own}."])
        logs.append([table, Did(f"play {own}"), taken])
    known = fitted_vocabulary(logs, [])
    for log in logs:
        before = LogWriter(known).write(log[:2])
        assert len(LogWriter(known).write(log)) == len(before) + 1
        assert same([*rows(read_log(known, LogWriter(known).write(log)))], [*rows(log)])


def test_a_card_is_the_same_wherever_it_stands() -> None:
    logs, legal = logs_of("trick_taking", 8)
    known = fitted_vocabulary(logs, legal)
    like = known.kin @ known.kin.T
    own = known.action_number["play 5C"]
    word = known.first_word + known.words.index('"5C"')
    other = known.first_word + known.words.index('"9H"')
    assert like[own, word] > like[own, other] == 0
    assert like[own, own] == pytest.approx(1)
    assert (known.kin > 0).sum(0).min() > 1  # what no two tokens share teaches nothing


def file_of(**parts: Json) -> dict[str, Json]:
    """A file's vocabulary of one word, with other parts."""
    none: dict[str, Json] = {"templates": [], "actions": [], "runs": [], "needs": []}
    return {**none, "words": ["1"], **parts}


@pytest.mark.parametrize(
    "runs", [[[0, 0]], [["a", "b"]], [[10**9, FIRST_TEMPLATE]], [[FIRST_TEMPLATE] * 3]]
)
def test_runs_of_no_vocabulary_are_refused(runs: Json) -> None:
    with pytest.raises(TokenError, match="no vocabulary"):
        vocabulary_of(file_of(runs=runs))


@pytest.mark.parametrize(
    "part",
    [
        {"templates": [["no skeleton", []]]},
        {"templates": [["[[],[]]", ["no JSON"]]]},
        {"templates": [["[[],[]]", ["@["]]]},
        {"templates": [["[[],[]]", ["@{}"]]]},
        {"words": ["no JSON"]},
        {"needs": [["play", 1]]},
    ],
)
def test_what_a_file_tells_of_tokens_is_read_before_it_is_used(part: dict[str, Json]) -> None:
    with pytest.raises(TokenError, match="no vocabulary"):
        vocabulary_of(file_of(**part))


def test_runs_that_would_grow_without_bound_are_refused() -> None:
    runs: list[Json] = [[FIRST_TEMPLATE, FIRST_TEMPLATE]]
    runs += [[FIRST_TEMPLATE + number] * 2 for number in range(1, 40)]
    with pytest.raises(TokenError, match="no vocabulary"):
        vocabulary_of(file_of(runs=runs))


def test_a_log_is_written_ply_by_ply_as_at_once() -> None:
    logs, legal = logs_of("leduc_poker", 10)
    known, log = fitted_vocabulary(logs, legal), logs[0]
    writer = LogWriter(known)
    for length in range(len(log) + 1):
        writer.write(log[:length])
    assert writer.tokens == LogWriter(known).write(log)


def test_an_own_action_follows_a_token_of_the_turn() -> None:
    known = fitted_vocabulary([], ["call"])
    assert LogWriter(known).write([Did("call")])[1:] == [MOVE, known.action_number["call"]]


EMPTY = Vocabulary((), (), ("call",))


@pytest.mark.parametrize(
    "tokens",
    [
        [MOVE, MOVE],
        [EMPTY.action_number["call"]],
        [SPELL, SPELL],
        [MOVE, *LogWriter(EMPTY).write([Seen.of({"n": 1})])[1:]],
        [EMPTY.size],
    ],
    ids=[
        "a turn without an action",
        "an action without a turn",
        "two spellings",
        "no action",
        "no token",
    ],
)
def test_tokens_that_stand_for_no_log_are_refused(tokens: list[int]) -> None:
    with pytest.raises(TokenError):
        read_log(EMPTY, tokens)


def test_a_change_that_the_observation_cannot_take_is_refused() -> None:
    """A card leaves a hand that does not hold it: no log goes on so."""
    log = [Seen.of({"hand": ["AH", "7S"]}), Seen.of({"hand": ["7S"]}), Seen.of({"hand": []})]
    known = fitted_vocabulary([log] * 3, [])
    first, *_ = (LogWriter(known).write(log[:n]) for n in (1, 2, 3))
    leaves = LogWriter(known).write(log[:2])[len(first) :]
    assert len(read_log(known, [*first, *leaves])) == 2
    with pytest.raises(TokenError):
        read_log(known, [*first, *leaves, *leaves])


def test_a_reader_that_was_copied_goes_its_own_way() -> None:
    known = fitted_vocabulary([[Seen.of({"n": 1}), Seen.of({"n": 2})]] * 3, ["call"])
    reader = LogReader(known)
    one, other = reader.copy(), reader.copy()
    one.feed(MOVE)
    assert one.feed(known.action_number["call"]) == [Did("call")]
    with pytest.raises(TokenError):
        other.feed(known.action_number["call"])


@pytest.mark.parametrize("meta", [{}, {"templates": [[1]], "words": [], "actions": []}])
def test_a_file_without_a_vocabulary_is_refused(meta: dict[str, Json]) -> None:
    with pytest.raises(TokenError, match="no vocabulary"):
        vocabulary_of(meta)


def test_what_a_seat_cannot_see_is_in_no_token() -> None:
    """Two matches that differ in the other seat's card alone give a seat the same tokens."""
    logs, legal = logs_of("leduc_poker", 10)
    known = fitted_vocabulary(logs, legal)
    table = trusted_subject(library.source("leduc_poker"), 2).table
    written = []
    for other in ("deal JS", "deal QH"):
        position, logs_of_match = table.open(2, {}), [SeatLog(0), SeatLog(1)]
        tell_seats(logs_of_match, position.observations, position.events)
        for action in ("deal KS", other, "check", "bet", "call"):
            position = table.advance(position, action)
            tell_seats(logs_of_match, position.observations, position.events)
        written.append([LogWriter(known).write(log.entries) for log in logs_of_match])
    assert written[0][0] == written[1][0]
    assert written[0][1] != written[1][1]
