"""Our modules beside RLCard's games: by its written rules, and beside the program where it is."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from evals.cardiverse import rlcard
from evals.cardiverse.players import PlayersSize
from evals.cardiverse.rlcard import DifferenceError, Lockstep, refereed
from evals.results import EvalError, EvalOptions
from games.modules import load_namespace
from games.values import TERMINAL

with_rlcard = pytest.mark.skipif(
    find_spec("rlcard") is None, reason="needs the extra rlcard, which is a source distribution"
)
LEDUC, UNO = (table.source for table in (rlcard._Leduc, rlcard._Uno))
NONE = [0.0, 0.0]


def leduc(*plies: str) -> Lockstep:
    """RLCard's Leduc after the small blind got the jack and the big blind a king."""
    match = Lockstep(load_namespace(LEDUC))
    for ply in ("deal JS", "deal KH", *plies):
        match.advance(ply)
    return match


def test_the_small_blind_begins_and_may_fold_call_or_raise() -> None:
    leduc().hold(0, ["fold", "call", "raise"], NONE)
    leduc("fold").hold(TERMINAL, [], [-1.0, 1.0])


def test_the_big_blind_may_fold_where_nothing_is_owed() -> None:
    leduc("call").hold(1, ["fold", "check", "bet"], NONE)
    leduc("call", "fold").hold(TERMINAL, [], [2.0, -2.0])


def test_two_raises_of_two_then_two_of_four_and_the_pair_takes_it() -> None:
    first = ("raise", "raise")
    leduc(*first).hold(0, ["fold", "call"], NONE)
    # Who acts after the last one to act begins the second round: the big blind.
    second = (*first, "call", "deal KS")
    leduc(*second).hold(1, ["fold", "check", "bet"], NONE)
    # 2 in the blinds, 2 + 2 in the first round, 4 + 4 in the second.
    leduc(*second, "bet", "raise", "call").hold(TERMINAL, [], [-14.0, 14.0])


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ((1, ["fold", "call", "raise"], NONE), "player: 1; our module: 0"),
        ((0, ["call", "raise"], NONE), "legal actions"),
        ((0, ["fold", "call", "raise"], [1.0, -1.0]), "returns"),
        ((TERMINAL, [], NONE), "player: -4"),
    ],
)
def test_every_difference_is_named_with_its_place(
    told: tuple[int, list[str], list[float]], named: str
) -> None:
    with pytest.raises(DifferenceError, match="after 2 plies") as raised:
        leduc().hold(*told)
    assert named in str(raised.value)
    assert "['deal JS', 'deal KH']" in str(raised.value)


def test_an_action_that_our_module_does_not_allow_is_a_difference() -> None:
    with pytest.raises(DifferenceError, match="the next action: check; our module"):
        leduc().advance("check")
    with pytest.raises(DifferenceError, match="deal JS"):
        leduc("call", "check").advance("deal JS")  # the small blind holds it


def test_without_rlcard_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rlcard", None)  # as if it were not installed
    with pytest.raises(EvalError, match=r"extra rlcard: pip install 'rulewright\[rlcard\]'"):
        rlcard.run(EvalOptions())


def shares(game: str, source: str, pair: tuple[str, str], matches: int) -> list[float]:
    import rlcard as theirs

    table, env = rlcard._TABLES[game], theirs.make(game)
    players = [
        rlcard._player(table, name, {}, np.random.default_rng(seat))
        for seat, name in enumerate(pair)
    ]
    return [refereed(env, load_namespace(source), players, deal) for deal in range(matches)]


@with_rlcard
@pytest.mark.parametrize(
    ("game", "pair"),
    [
        (game, (one, other))
        for game, table in rlcard._TABLES.items()
        for one in ("random", *table.agents)
        for other in ("random", *table.agents)
    ],
)
def test_rlcard_and_our_modules_agree_on_every_ply(game: str, pair: tuple[str, str]) -> None:
    source, matches = rlcard._TABLES[game].source, 40
    found = shares(game, source, pair, matches)
    assert found == shares(game, source, pair, matches), "the same seeds, the same matches"
    assert set(found) <= {0.0, 0.5, 1.0}


@with_rlcard
@pytest.mark.parametrize(
    ("game", "rule", "other"),
    [
        ("leduc-holdem", '"paid": [1, 2]', '"paid": [1, 1]'),
        ("leduc-holdem", '1 - state["betting"][0][-1][0]', "0"),
        ("leduc-holdem", '["fold", *legal] if "check" in legal else legal', "legal"),
        ("leduc-holdem", 'price += after["rules"]["bets"][number]', "price += 2"),
        ("uno", '"F": 4', '"F": 3'),
        ("uno", '"SDF"', '"SD"'),
        (
            "uno",
            'card[1] != state["color"]',
            'state["color"] != card[1] and card[0] != state["rank"]',
        ),
        ("uno", "and not fitting", ""),
        ("uno", "[1 - 2 * seat, 2 * seat - 1]", "[2 * seat - 1, 1 - 2 * seat]"),
        ("uno", 'int(rank in "SV")', "0"),
    ],
)
def test_a_rule_that_is_not_rlcards_is_found(game: str, rule: str, other: str) -> None:
    source = rlcard._TABLES[game].source
    assert source.count(rule) == 1
    with pytest.raises(DifferenceError):
        shares(game, source.replace(rule, other), ("random", "random"), 100)


@with_rlcard
def test_every_pairing_stands_beside_the_published_one() -> None:
    said: list[str] = []
    size = PlayersSize(plies=400, selecting=8, matches=12, games=("leduc-holdem",))
    result = rlcard.run(EvalOptions(seed=3, tell=said.append), size)
    rows = {str(row["pairing"]).partition(": ")[2]: row for row in result.samples}
    # Three agents, two of RLCard's, which do not meet each other: 16 - 2 pairings.
    assert len(rows) == len(result.scores) == len(said) == 14
    assert not result.unscored
    for row in rows.values():
        low, rate, high = (float(str(row[name])) for name in ("low", "win rate", "high"))
        assert 0 <= low <= rate <= high <= 100
        assert row["n"] == 12
    assert rows["random, then ours"]["published"] == 82.0  # Cardiverse, Table 6
    assert rows["ours, then LeducHoldemRuleAgentV2"]["published"] == 48.1
    assert result.effective["rlcard"] == "1.2.0"
