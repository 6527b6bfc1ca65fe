"""What was counted inside a worker is a claim until a referee's worker has followed it."""

import dataclasses
import json
from collections.abc import Iterator
from statistics import fmean

import pytest

from games import library
from games.values import ModuleFault
from tests.games.checks.test_checks import SOUND
from tools.claimed import (
    Claimed,
    MatchesClaim,
    MatchTrace,
    claimed_self_play,
    confirmed_self_play,
    unconfirmed,
)
from tools.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def claim(sandbox: Sandbox, source: str, **changes: int) -> Claimed[MatchesClaim]:
    asked = {"matches": 6, "num_players": 2, "seed": 5, "max_plies": 200, **changes}
    with sandbox.worker("self-play", source) as worker:
        worker.load(source)
        return claimed_self_play(worker, parameters={}, **asked)


def altered(
    claimed: Claimed[MatchesClaim], number: int, **changes: object
) -> Claimed[MatchesClaim]:
    word = unconfirmed(claimed)
    matches = list(word.matches)
    fields = {**dataclasses.asdict(matches[number]), **changes}
    matches[number] = MatchTrace(**fields)
    return Claimed(dataclasses.replace(word, matches=tuple(matches)))


@pytest.mark.parametrize("name", ["tic_tac_toe", "leduc_poker", "kuhn_poker", "push_your_luck"])
def test_honest_self_play_is_confirmed_as_it_was_claimed(sandbox: Sandbox, name: str) -> None:
    source = library.source(name)
    claimed = claim(sandbox, source, num_players=library.preset(name).players)
    confirmed = confirmed_self_play(sandbox, source, claimed)
    assert confirmed == unconfirmed(claimed)
    assert all(match.returns is not None for match in confirmed.matches)
    assert len({match.actions for match in confirmed.matches}) > 1


def test_the_same_seed_gives_the_same_matches(sandbox: Sandbox) -> None:
    once, again = (unconfirmed(claim(sandbox, SOUND)) for _ in range(2))
    assert once == again != unconfirmed(claim(sandbox, SOUND, seed=6))


def test_a_match_that_did_not_end_has_no_returns(sandbox: Sandbox) -> None:
    claimed = claim(sandbox, library.source("connect_four"), max_plies=3)
    confirmed = confirmed_self_play(sandbox, library.source("connect_four"), claimed)
    assert [(len(m.actions), m.returns) for m in confirmed.matches] == [(3, None)] * 6


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"returns": (9.0, -9.0)}, "match 2, its returns"),
        ({"returns": None}, "match 2, its returns"),
        ({"actions": ("deal 2", "deal 3", "bid 7", "bid 1")}, "match 2, ply"),
        ({"actions": ()}, "match 2 was left after 0 plies"),
        ({"actions": ("deal 9",)}, "claims 'deal 9' at match 2, ply 0"),
    ],
)
def test_a_false_claim_is_named_by_its_first_difference(
    sandbox: Sandbox, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(ModuleFault, match=said):
        confirmed_self_play(sandbox, SOUND, altered(claim(sandbox, SOUND), 2, **changes))


def test_moves_after_the_end_are_a_false_claim(sandbox: Sandbox) -> None:
    claimed = claim(sandbox, SOUND)
    longer = (*unconfirmed(claimed).matches[0].actions, "bid 1")
    with pytest.raises(ModuleFault, match=f"match 0, ply {len(longer) - 1}"):
        confirmed_self_play(sandbox, SOUND, altered(claimed, 0, actions=longer))


def test_matches_cannot_be_picked_by_their_outcome(sandbox: Sandbox) -> None:
    claimed = claim(sandbox, SOUND)
    word = unconfirmed(claimed)
    best = max(word.matches, key=lambda match: (match.returns or (0.0,))[0])
    picked = Claimed(dataclasses.replace(word, matches=(best,) * len(word.matches)))
    with pytest.raises(ModuleFault, match="the referee has"):
        confirmed_self_play(sandbox, SOUND, picked)


# It pays more where nobody watches: inside the operation that counts.
CHEATING = (
    SOUND
    + """
import inspect

_honest = get_rewards

def get_rewards(state):
    frame = inspect.currentframe()
    names = set()
    while frame is not None:
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    if "self_play" in names and get_current_player(state) == -4:
        return [5.0, -5.0]
    return _honest(state)
"""
)


def test_a_module_that_pays_more_in_self_play_is_found_by_the_referee(sandbox: Sandbox) -> None:
    claimed = claim(sandbox, CHEATING)
    assert {match.returns for match in unconfirmed(claimed).matches} == {(5.0, -5.0)}
    with pytest.raises(ModuleFault, match=r"claims \(5\.0, -5\.0\) at match 0, its returns"):
        confirmed_self_play(sandbox, CHEATING, claimed)


@pytest.mark.parametrize("reply", ["[]", "[{}]", "[{'actions': [1], 'returns': None}] * 6", "7"])
def test_a_reply_that_is_no_list_of_matches_is_the_modules_fault(
    sandbox: Sandbox, reply: str
) -> None:
    forging = SOUND + (
        "import inspect\n"
        "_operations = inspect.sys.modules['tools.guest.operations']\n"
        f"_operations.self_play = lambda module, payload: {reply}\n"
    )
    with pytest.raises(ModuleFault, match="self_play: bad_value"):
        claim(sandbox, forging)


def test_a_claim_is_no_value() -> None:
    claimed = Claimed(0.75)
    with pytest.raises(TypeError, match="a claim decides nothing"):
        bool(claimed)
    for use in (
        lambda: claimed > 0.5,  # type: ignore[operator]
        lambda: claimed + 1,  # type: ignore[operator]
        lambda: fmean([claimed]),  # type: ignore[list-item]
        lambda: float(claimed),  # type: ignore[arg-type]
        lambda: round(claimed),  # type: ignore[call-overload]
        lambda: list(claimed),  # type: ignore[call-overload]
        lambda: json.dumps(claimed),
    ):
        with pytest.raises(TypeError):
            use()
    assert claimed != 0.75  # type: ignore[comparison-overlap]
    assert "0.75" not in f"{claimed} {claimed!r}"
    assert unconfirmed(claimed) == 0.75


def test_a_claim_cannot_be_changed_afterwards() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Claimed(1)._word = 2  # type: ignore[misc]
