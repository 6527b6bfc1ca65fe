"""Inference tests: what is drawn must reproduce what a seat saw, in every draw."""

import pytest

from tests.tools.conftest import LIMITS
from tests.tools.predicting.material import HISTORY, KUHN, changed, matches_of
from tools.predicting.inference import DrawTest, Inferred, inferred, sights_of
from tools.sandbox import Sandbox

MATCHES = matches_of("openspiel:kuhn_poker", 12)
START = MATCHES[0].positions[0].state
OPEN = [s for m in MATCHES for seat in (0, 1) for s in sights_of(m.seen_by(seat), seat, ends=False)]
CLOSED = [s for m in MATCHES for s in sights_of(m.seen_by(0), 0, ends=True)]
STATE = """
def resample_state(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    other = random.choice([card for card in "JQK" if card != seen["card"]])
    cards = [seen["card"], other] if player_id == 0 else [other, seen["card"]]
    return {"betting": seen["betting"], "cards": cards, "current_player": str(player_id)}
"""


def held(sandbox: Sandbox, source: str, *, closed: bool = False) -> Inferred:
    return inferred(
        sandbox,
        source,
        CLOSED if closed else OPEN,
        DrawTest(
            function="resample_state" if "resample_state" in source else "resample_history",
            initial_state=START,
            draws=3,
            seed=1,
            closed=closed,
        ),
        shown=5,
    )


def test_a_seat_s_turns_are_the_paper_s_history() -> None:
    """Each pair is what it saw at its turn and did; the last is now (App. H.3)."""
    turns = [sight.turns for sight in OPEN]
    assert all(one[-1][1] is None and None not in [a for _, a in one[:-1]] for one in turns)
    decisions = sum(here.player >= 0 for m in MATCHES for here in m.positions)
    assert len(OPEN) == decisions
    assert sum(sight.ended for sight in CLOSED) == len(MATCHES)


@pytest.mark.parametrize("closed", [False, True])
def test_draws_that_fit_hold(sandbox: Sandbox, closed: bool) -> None:
    found = held(sandbox, KUHN + HISTORY, closed=closed)
    assert (found.right, found.failures) == (found.sights, ())


def test_a_drawn_state_shows_the_newest_observation(sandbox: Sandbox) -> None:
    assert held(sandbox, KUHN + STATE).accuracy == 1
    other = changed(STATE, ('if player_id == 0 else [other, seen["card"]]', ""))
    found = held(sandbox, KUHN + other)
    assert 0 < found.accuracy < 1
    assert "expected: {" in found.failures[0].evidence


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('other = random.choice([card for card in "JQK" if card != seen["card"]])', 'other = "J"',
         "a legal action"),
        ('+ seen["betting"]', "", "after"),
        ('+ seen["betting"]', '+ ["Pass"]', "expected"),
        ("return [f", "return 1 / 0, [f", "ZeroDivisionError"),
        ('return [f"Deal {card}" for card in deal]', "return [deal]", "a list of actions"),
    ],
)  # fmt: skip
def test_a_draw_that_does_not_fit_is_shown(sandbox: Sandbox, old: str, new: str, said: str) -> None:
    found = held(sandbox, KUHN + changed(HISTORY, (old, new)))
    assert found.accuracy < 1
    assert said in "".join(one.evidence for one in found.failures)
    assert found.failures[0].evidence.count("call: resample_history(") == 1
    places = [one.evidence.partition("call")[0] for one in found.failures]
    assert len(set(places)) == len(places)


def test_of_one_error_at_many_places_one_is_shown_and_the_places_are_counted(
    sandbox: Sandbox,
) -> None:
    found = held(sandbox, KUHN + changed(HISTORY, ("return [f", "return 1 / 0, [f")))
    assert found.right == 0
    (shown,) = found.failures
    assert f"; this error at {found.sights} places" in shown.evidence.splitlines()[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pot, first = 1.0 +", "pot, first = 2.0 +"),
        ('"terminal" if over else', '"terminal" if False else'),
        ('return ["Pass", "Bet"] if player >= 0', 'return ["Pass", "Bet", "Fold"] if player >= 0'),
    ],
)
def test_in_a_closed_deck_pay_end_and_choices_are_predicted_by_the_replay(
    sandbox: Sandbox, old: str, new: str
) -> None:
    assert held(sandbox, changed(KUHN, (old, new)) + HISTORY, closed=True).accuracy < 1


def test_draws_that_do_not_return_cost_a_bounded_time_and_are_counted() -> None:
    hung = changed(HISTORY, ("    seen =", "    while player_id == 1:\n        pass\n    seen ="))
    with Sandbox(limits=LIMITS.model_copy(update={"call_s": 1.5})) as hasty:
        found = inferred(
            hasty,
            KUHN + hung,
            OPEN,
            DrawTest(function="resample_history", initial_state=START, draws=3, seed=1),
            shown=2,
            deadline_s=1.0,
        )
    second = [sight for sight in OPEN if sight.seat == 1]
    assert (found.late, found.right) == (len(second), len(OPEN) - len(second))
    assert "did not return within" in found.failures[0].evidence
    assert "took all the time" in found.failures[1].evidence
