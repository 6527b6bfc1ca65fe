"""Many matches side by side: each is a match of its own, by the game's rules."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from agents.encoding.paths import turn_view
from agents.worker.stepping import Turns, open_many, step_many
from games.information import Did, LogEntry, Seen, newest_turn
from games.modules import load_namespace
from games.values import ModuleFault
from tests.agents.belief.posteriors import library_game
from tests.agents.small_games import PENNIES
from tools.guest.protocol import decoded

MATCHES = 6


def asked(**changes: object) -> dict[str, Any]:
    return {
        "environments": MATCHES,
        "num_players": 2,
        "parameters": {},
        "words": [1, 2],
        "max_plies": 50,
        **changes,
    }


def turns_of(reply: object) -> Turns:
    return decoded(Turns, reply)  # type: ignore[arg-type]


def played(name: str, steps: int, **changes: object) -> list[tuple[Turns, list[str]]]:
    """Random play: what was met, and what was done there."""
    namespace, generator = library_game(name)[1], np.random.default_rng(5)
    turns, met = turns_of(open_many(namespace, asked(**changes))), list[tuple[Turns, list[str]]]()
    for _ in range(steps):
        actions = [str(generator.choice(legal)) for legal in turns.legal]
        met.append((turns, actions))
        turns = turns_of(step_many(namespace, {"actions": [*actions]}))
    return [*met, (turns, [])]


def test_kuhn_poker_pays_what_its_rules_pay() -> None:
    met = played("kuhn_poker", 120)
    paid = [turns.rewards[at] for turns, _ in met for at in range(MATCHES) if turns.ended[at]]
    assert {tuple(one) for one in paid} == {(1, -1), (-1, 1), (2, -2), (-2, 2)}
    going = [turns.rewards[at] for turns, _ in met for at in range(MATCHES) if not turns.ended[at]]
    assert all(one == [0, 0] for one in going)
    assert {turns.ended[at] for turns, _ in met for at in range(MATCHES)} == {"", "done"}


def test_a_seat_is_told_of_its_own_last_action_in_this_match_alone() -> None:
    met, last = played("leduc_poker", 80), [dict[int, str]() for _ in range(MATCHES)]
    for turns, actions in met:
        for at, seat in enumerate(turns.seats):
            if turns.ended[at]:
                last[at].clear()
            assert turns.told[at]["before"] == last[at].get(seat)
            if actions:
                last[at][seat] = actions[at]


def test_matches_differ_and_the_same_words_deal_the_same() -> None:
    (first, _), *_ = met = played("kuhn_poker", 20)
    assert len({str(row) for row in first.told}) > 1
    assert met == played("kuhn_poker", 20)
    assert met != played("kuhn_poker", 20, words=[3, 4])


def test_all_deals_of_kuhn_poker_come_as_often() -> None:
    deals = Counter(
        str(turns.told[at]["observation"])
        for turns, _ in played("kuhn_poker", 400)
        for at in range(MATCHES)
        if turns.ended[at]
    )
    matches = sum(deals.values())
    assert len(deals) == 3  # the cards of the seat that begins
    # A third each, within four standard deviations.
    assert all(abs(n - matches / 3) < 4 * (matches * 2 / 9) ** 0.5 for n in deals.values())


def test_a_long_match_is_cut_and_another_begins() -> None:
    met = played("tic_tac_toe", 9, max_plies=3)
    assert [turns.ended[0] for turns, _ in met] == ["", "", "", "cut"] + ["", "", "cut"] * 2
    assert all("before" in turns.told[0] for turns, _ in met)


def test_events_since_the_last_own_action_are_counted_and_older_ones_are_not() -> None:
    entries: list[LogEntry] = [
        Seen({"n": 1}, ("old",)),
        Did("first"),
        Seen({"n": 2}, ("a", "b")),
        Seen({"n": 3}, ("a",)),
    ]
    view = turn_view(0, newest_turn(entries), recurrent=True)
    told = {"observation": {"n": 3}, "events": {"a": 2, "b": 1}, "own": "first"}
    assert view == {"seat": 0, **told}
    # An action that changed nothing that the seat sees: the observation is the one before it.
    assert newest_turn(entries[:2]).observation == {"n": 1}


@pytest.mark.parametrize(
    ("new", "complaint"),
    [("[0.0]", "2 finite"), ("['a', 'b']", "finite"), ("1 / 0", "ZeroDivisionError")],
)
def test_what_breaks_the_contract_is_the_modules_fault(new: str, complaint: str) -> None:
    old = '    done = state["done"]\n    if'
    source = PENNIES.replace(old, f"    return {new}\n    if")
    namespace = load_namespace(source)
    turns = turns_of(open_many(namespace, asked()))
    with pytest.raises(ModuleFault, match=complaint):
        step_many(namespace, {"actions": [legal[0] for legal in turns.legal]})
