"""Shares of a deal, held against every deal that is allowed, counted one by one."""

from itertools import permutations

import pytest

from agents.belief.dealing import Kinds, NeedLikelihood, _scaled

CASES: list[tuple[list[int], list[int]]] = [
    ([0b11, 0b11, 0b11, 0b11], [2, 2]),  # nothing is known
    ([0b01, 0b11, 0b11, 0b10], [2, 2]),  # one card is known to be in each hand
    ([0b111, 0b111, 0b111, 0b110, 0b110, 0b111], [2, 2, 2]),  # two cards of a void suit
    ([0b001, 0b111, 0b111, 0b110, 0b011, 0b111], [2, 2, 2]),
    ([0b011, 0b011, 0b111, 0b111, 0b100, 0b110], [1, 2, 3]),
]


def counted(masks: list[int], places: list[int]) -> dict[int, float]:
    """Mask -> how often a card of it comes into the first zone, over all allowed deals."""
    slots = [zone for zone, count in enumerate(places) for _ in range(count)]
    deals = {
        deal
        for deal in permutations(slots)
        if all(mask >> zone & 1 for mask, zone in zip(masks, deal, strict=True))
    }
    first = {mask: masks.index(mask) for mask in masks}
    return {mask: sum(deal[at] == 0 for deal in deals) / len(deals) for mask, at in first.items()}


def kinds_of(masks: list[int]) -> Kinds:
    return tuple((mask, masks.count(mask)) for mask in sorted(set(masks)))


@pytest.mark.parametrize(("masks", "places"), CASES)
def test_shares_are_near_those_of_all_allowed_deals(masks: list[int], places: list[int]) -> None:
    kinds, truth = kinds_of(masks), counted(masks, places)
    shares = _scaled(kinds, places)
    assert sum(
        share * count for share, (_, count) in zip(shares, kinds, strict=True)
    ) == pytest.approx(places[0], abs=0.01)
    for share, (mask, _) in zip(shares, kinds, strict=True):
        assert share == pytest.approx(truth[mask], abs=0.1)
        assert (share == 0) == (truth[mask] == 0)


def test_where_cards_are_free_or_known_shares_are_exact() -> None:
    masks, places = [0b001, 0b100, 0b111, 0b111, 0b111, 0b111, 0b010], [3, 2, 2]
    truth, kinds = counted(masks, places), kinds_of(masks)
    for share, (mask, _) in zip(_scaled(kinds, places), kinds, strict=True):
        assert share == pytest.approx(truth[mask], abs=0.002)


@pytest.mark.parametrize(
    ("masks", "places"),
    [
        ([0b01, 0b01, 0b01, 0b11], [2, 2]),  # three cards for two places
        ([0b11, 0b11, 0b11], [2, 2]),  # fewer cards than places
        ([0b110, 0b110, 0b111, 0b111], [1, 1, 1]),
    ],
)
def test_what_does_not_fit_has_no_shares(masks: list[int], places: list[int]) -> None:
    assert _scaled(kinds_of(masks), places) == []


def test_the_chance_that_the_rest_satisfies_the_needs() -> None:
    # Of ten components one is out, three satisfy need 1, two of these need 2 as well, six nothing.
    known = [(True, 0), (False, 1), (False, 3), (False, 3), *[(False, 0)] * 6]
    likelihood = NeedLikelihood(known)
    nothing, one, both = (likelihood.kind(False, supports) for supports in (0, 1, 3))
    chances = likelihood.chances(needs=3, left=2)
    assert chances[0] == 0.0
    assert chances[both] == 1.0
    assert chances[one] == pytest.approx(1 - (7 / 9) ** 2)
    assert chances[nothing] == pytest.approx((1 - (6 / 9) ** 2) * (1 - (7 / 9) ** 2))
    assert likelihood.chances(needs=3, left=0)[[nothing, one, both]].tolist() == [0.0, 0.0, 1.0]
