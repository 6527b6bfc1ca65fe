"""Calibration: exact probabilities of Kuhn poker by hand, and models that are known by heart."""

import json
from collections.abc import Sequence
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.encoding.fitting import fitted_vocabulary
from agents.encoding.tokens import LogWriter
from agents.encoding.vocabulary import Vocabulary
from agents.learning.settings import LearningError
from agents.observing.model import ObservationModel, ObservationSettings
from agents.observing.outcomes import OutcomeTable
from agents.observing.transformer import Shape, Transformer, first_weights
from evals.gomcts.calibration import CalibrationSize, calibration_of, run
from evals.gomcts.equilibrium import EnumeratedGame
from evals.gomcts.judging import JudgedTree, reliability
from evals.gomcts.sights import PolicyOfLogs, SightTree, policy_of, uniformly
from evals.results import EvalOptions
from games.information import LogEntry, Seen
from games.streams import stream

KUHN = EnumeratedGame("kuhn_poker")
# Nats a match against random play, each seat's own actions drawn. The card is one of three. After
# an own bet the other folds (1/2), or calls and shows one of two cards (1/4 each): 1.5 ln 2; after
# an own pass he bets, or shows one of two cards: as much. After a bet that is called: one of two.
FIRST = log(3) + log(2) * (1.5 + 0.5 * 0.5 * 0.5)
SECOND = log(3) + log(2) * (1 + 0.5 * (0.5 * 1 + 0.5 * 1.5) + 0.5 * 0.5 * 1)


def grown(seat: int, policy: PolicyOfLogs = uniformly) -> SightTree:
    def own(returns: Sequence[float]) -> float:
        return returns[seat]

    tree = SightTree(KUHN.rules, seat, policy, own, KUHN.form.index)
    tree.begin(KUHN.initial)
    return tree


def first_entry(seat: int) -> Seen:
    return Seen.of(KUHN.rules.observations(KUHN.initial)[seat])


@cache
def blank(context: int = 64) -> ObservationModel:
    """A model without weights: every token is as likely, and every outcome."""
    logs: list[list[LogEntry]] = []
    for seat in range(2):
        nodes = grown(seat).nodes
        for node in nodes:
            steps, parent = list[LogEntry](), node.parent
            while node.step == "end" and parent:
                if not isinstance(step := nodes[parent].step, str):
                    steps.append(step)
                parent = nodes[parent].parent
            logs += [[first_entry(seat), *reversed(steps)]] * 3
    vocabulary: Vocabulary = fitted_vocabulary(logs, ["bet 1", "check", "fold", "call"])
    outcomes = OutcomeTable.of([(1, -1), (-1, 1), (2, -2), (-2, 2)])
    shape = Shape(vocabulary.size, len(outcomes.values), context, 1, 1, 8)
    weights = first_weights(shape, stream(0, "first weights"))
    none = {name: np.zeros_like(weights[name]) for name in ("next", "outcome")}
    return ObservationModel(vocabulary, outcomes, Transformer(shape, {**weights, **none}), {})


@pytest.mark.parametrize(("seat", "entropy"), [(0, FIRST), (1, SECOND)])
def test_the_entropy_of_what_is_seen_is_the_one_by_hand(seat: int, entropy: float) -> None:
    tree = grown(seat)
    found = JudgedTree(blank(), tree, [first_entry(seat)]).figures(tree.shares(uniformly))
    assert found["entropy"] == pytest.approx(entropy)


def test_the_first_card_is_one_of_three_and_probabilities_add_up() -> None:
    tree = grown(0)
    shares = tree.shares(uniformly)
    node = tree.nodes[0]
    while len(node.below) < 2:  # what comes before the card is told to nobody
        node = tree.nodes[node.below[0]]
    assert shares[node.below] == pytest.approx([1 / 3] * 3)
    ends = [n for n, node in enumerate(tree.nodes) if node.step == "end"]
    assert tree.reaches(shares)[ends].sum() == pytest.approx(1)


def test_who_bets_kings_and_never_jacks_is_seen_through() -> None:
    """With a queen against one who bets with a king alone: a bet is a king, a pass a jack."""
    behaviours = [np.zeros(seat.size) for seat in KUHN.form.seats]
    for seat, form in enumerate(KUHN.form.seats):
        for place, state in enumerate(form.states):
            king = "K" in json.dumps([
                entry.row() for entry in KUHN.logs[seat][place].entries
            ])  # fmt: skip
            first = int(form.firsts[place])
            behaviours[seat][first : first + 2] = [king, not king]
            assert len(state.actions) == 2
    names = KUHN.form.seats[0].states[0].actions
    bets = [int("bet" in name or "raise" in name) for name in names]
    if not bets[0]:
        for part in behaviours:
            part[1::2], part[2::2] = part[2::2].copy(), part[1::2].copy()
    tree = grown(1, policy_of(KUHN.form, behaviours))
    shares = tree.shares(uniformly)
    values = tree.values(shares)
    called = [
        values[number]
        for number, node in enumerate(tree.nodes)
        if node.acts and "call" in str(node.step) and "Q" in _told(tree, number)
    ]
    assert called == pytest.approx([-2])  # a king takes ante and bet


def _told(tree: SightTree, number: int) -> str:
    steps = []
    while number:
        steps.append(str(tree.nodes[number].step))
        number = tree.nodes[number].parent
    return " ".join(steps)


def test_a_bet_with_a_king_against_random_play_is_worth_one_and_a_half() -> None:
    tree = grown(0)
    values = tree.values(tree.shares(uniformly))
    found = [
        values[number]
        for number, node in enumerate(tree.nodes)
        if node.acts and "bet" in str(node.step) and "K" in _told(tree, number)
    ]
    assert found == pytest.approx([1.5])  # half of the time he folds, and half he pays one more


def test_a_model_that_knows_nothing_pays_for_each_token_alike() -> None:
    model, tree = blank(), grown(0)
    judged = JudgedTree(model, tree, [first_entry(0)])
    shares = tree.shares(uniformly)
    size = model.vocabulary.size
    sums = [_sum(judged, n) for n, node in enumerate(tree.nodes) if node.step == "turn"]
    spared = set.intersection(
        *(
            {round(one + len(LogWriter(model.vocabulary).write(log_.entries)) * log(size), 4)
             for one in sums}
            for log_ in KUHN.logs[0]
        )
    )  # fmt: skip
    # The first observation is given: of all tokens those are left that may tell it.
    left = [size / exp(one) for one in spared]
    assert any(0 < one < size and one == pytest.approx(round(one), rel=1e-3) for one in left)
    found = judged.figures(shares)
    assert found["cross-entropy"] > found["entropy"]
    assert 0.9 < found["impossible"] / found["sights"] < 1
    assert np.allclose(judged.worth, 0, atol=1e-6)  # its outcomes are as likely, and add up to 0


def _sum(judged: JudgedTree, number: int) -> float:
    total = 0.0
    while number:
        total += judged.logs[number]
        number = judged.tree.nodes[number].parent
    return total


def test_nothing_is_nearer_to_the_truth_than_the_truth() -> None:
    tree = grown(1)
    shares = tree.shares(uniformly)
    judged = JudgedTree(blank(), tree, [first_entry(1)])
    judged.logs = np.log(shares)
    found = judged.figures(shares)
    assert found["cross-entropy"] == pytest.approx(found["entropy"])
    assert found["impossible"] == pytest.approx(0, abs=1e-12)
    assert judged.distance(shares) == pytest.approx(0, abs=1e-12)


def test_a_log_beyond_the_context_is_refused_with_the_setting_that_mends_it() -> None:
    with pytest.raises(LearningError, match="which is 6; train with context=9"):
        JudgedTree(blank(context=6), grown(0), [first_entry(0)])


def test_bins_hold_means_by_weight() -> None:
    rows = reliability([(-0.9, -1.0, 1.0), (0.5, 0.0, 1.0), (0.55, 1.0, 3.0)], bins=4)
    assert [row["positions"] for row in rows] == [1, 2]
    assert rows[1]["exact"] == pytest.approx(0.75)
    assert (rows[1]["least"], rows[1]["largest"]) == (0.0, 1.0)
    assert rows[1]["share"] == pytest.approx(0.8)


def test_a_game_is_judged_from_every_seat() -> None:
    found = calibration_of(KUHN, blank())
    assert (found["others"], found["positions"]) == (
        "random",
        len(grown(0).nodes) + len(grown(1).nodes),
    )
    assert found["entropy"] == pytest.approx((FIRST + SECOND) / 2)
    assert sum(row["share"] for row in found["reliability"]) == pytest.approx(1)


@pytest.mark.whole
def test_an_evaluation_trains_goes_on_in_its_folder_and_reports_each_game(tmp_path: Path) -> None:
    settings = ObservationSettings(iterations=1, epochs=1, batch=512)
    size = CalibrationSize({"kuhn_poker": 3_000}, settings, 3_000, 2, {"deck": "tiny",
                           "hand_size": 2})  # fmt: skip
    options = EvalOptions(seed=3, quick=True, folder=tmp_path)
    found = run(options, size)
    rows: list[Any] = [*found.samples]
    assert [(row["game"], row["others"]) for row in rows] == [
        ("kuhn_poker", "random"),
        ("kuhn_poker", "sampling from the model before"),
        ("trick_taking", "random"),
    ]
    assert rows[0]["entropy"] == pytest.approx((FIRST + SECOND) / 2)
    assert all(row["cross-entropy"] > row["entropy"] for row in rows)
    believed, told = (
        rows[2][key]["value"] for key in ("of the particle belief", "total variation")
    )
    assert 0 <= believed < told  # a belief by the rules, and a model that has hardly learned
    assert run(options, size) == found
