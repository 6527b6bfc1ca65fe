"""The judge of the paraphrase pairs, on readings made by hand."""

import pytest

from agents.protocols import Clause, RoleError
from evals.paraphrase import (
    JudgedPair,
    ParaphrasePair,
    PromptDesign,
    judge_pair,
    load_pairs,
    score_pairs,
)
from evals.results import NothingScoredError

PAIR = ParaphrasePair(
    id="t1",
    family="rummy",
    kind="hand_size",
    a="rummy for two, seven cards each",
    b="two play rummy with nine cards each",
    clause_a="seven cards each",
    clause_b="nine cards each",
    value_a=7,
    value_b=9,
)


def honoured(text: str, setting: str) -> Clause:
    return Clause(text=text, status="honoured", setting=setting)


def listed(text: str) -> Clause:
    return Clause(text=text, status="not_honoured", reason="no setting")


def reading(size: int, *clauses: Clause, players: int = 2) -> PromptDesign:
    return PromptDesign("rummy", {"num_players": players, "hand_size": size}, clauses)


def judged(a: PromptDesign, b: PromptDesign, pair: ParaphrasePair = PAIR) -> JudgedPair:
    return judge_pair(pair, lambda text: a if text == pair.a else b)


SEVEN = honoured("seven cards each", "hand_size=7")
NINE = honoured("nine cards each", "hand_size=9")


def test_both_clauses_honoured_and_nothing_else_changed() -> None:
    found = judged(reading(7, SEVEN), reading(9, NINE))
    assert (found.fates, found.invented, found.unheard) == (("honoured", "honoured"), (), ())


def test_a_clause_that_no_clause_speaks_of_is_dropped() -> None:
    assert judged(reading(7, SEVEN), reading(10)).fates == ("honoured", "dropped")


def test_a_clause_listed_as_not_honoured_is_listed() -> None:
    assert judged(reading(7, SEVEN), reading(10, listed("nine cards"))).fates[1] == "listed"


def test_a_wrong_value_is_not_honoured() -> None:
    wrong = honoured("nine cards each", "hand_size=6")
    assert judged(reading(7, SEVEN), reading(6, wrong)).fates[1] == "dropped"


def test_another_setting_that_changes_without_a_word_is_invented() -> None:
    found = judged(reading(7, SEVEN), reading(9, NINE, players=4))
    assert found.invented == ("num_players",)


def test_another_setting_whose_words_are_listed_is_unheard_but_not_silent() -> None:
    spoken = honoured("quartet of friends", "num_players=4")
    found = judged(reading(7, SEVEN, listed("quartet")), reading(9, NINE, spoken, players=4))
    assert (found.invented, found.unheard) == ((), ("num_players",))


def test_a_pair_that_cannot_be_read_counts_for_nobody() -> None:
    def refuse(_: str) -> PromptDesign:
        raise RoleError("asked: which game?")

    found = judge_pair(PAIR, refuse)
    assert found.problem == "asked: which game?"
    with pytest.raises(NothingScoredError):
        score_pairs([found], {})


def test_one_dropped_clause_fails_the_eval() -> None:
    good = judged(reading(7, SEVEN), reading(9, NINE))
    bad = judged(reading(7, SEVEN), reading(10))
    assert score_pairs([good] * 9, {}).passed
    assert not score_pairs([good] * 9 + [bad], {}).passed


def test_the_pairs_hold_their_clauses_literally() -> None:
    pairs = load_pairs()
    assert len(pairs) >= 100
    assert len({pair.id for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert pair.clause_a in pair.a
        assert pair.clause_b in pair.b
