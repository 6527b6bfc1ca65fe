"""Arithmetic of weighted samples: effective size, low-variance draws, unbiased thinning."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def effective_size(weights: Floats) -> float:
    """How many equal weights are as good: `(sum w)^2 / sum w^2` (Kish 1965).

    Args:
        weights: `[N]`, at least 0, unnormalised.

    Returns:
        From 1 to N; 0 where all weights are 0 or there are none.

    >>> effective_size(np.array([2.0, 2.0, 0.0]))
    2.0
    """
    squares = float(np.sum(weights**2))
    return 0.0 if squares == 0.0 else float(np.sum(weights)) ** 2 / squares


def systematic(weights: Floats, count: int, uniform: float) -> Ints:
    """Indices drawn by systematic resampling: index i comes `count * w_i` times, rounded.

    Positions `(uniform + k) / count` for k = 0..count-1 are looked up in the cumulated
    normalised weights (Kitagawa 1996), so every index is drawn within one of its expectation.

    Args:
        weights: `[N]`, at least 0, unnormalised, not all 0.
        count: Draws, at least 1.
        uniform: A uniform number in [0, 1).

    Returns:
        `[count]`, ascending.
    """
    reached = np.cumsum(weights)
    places = (uniform + np.arange(count)) * (reached[-1] / count)
    found: Ints = np.searchsorted(reached, places, side="right")
    last = np.flatnonzero(weights)[-1]  # rounding left the last sliver uncovered
    return np.where(found < last, found, last)


def thinned(
    weights: Floats,
    count: int,
    generator: np.random.Generator,
    *,
    families: Ints | None = None,
) -> tuple[Ints, Floats]:
    """At most `count` of the samples, with new weights whose expectation is the old ones.

    The optimal resampling of Fearnhead & Clifford (2003, §4): with the threshold k that solves
    `sum min(1, w_i / k) = count`, samples of weight at least k are kept as they are; the others
    are kept with probability `w_i / k`, by systematic draws in random order, and then weigh k. No
    sample comes twice, which suits states that can be enumerated.

    Args:
        weights: `[N]`, at least 0.
        count: Samples to keep, at least 1.
        generator: The only source of randomness.
        families: `[N]` which samples branched from the same one. The draws then go through family
            after family, in random order within each, so that families of equal weight keep
            equally many: drawn in a random order of all, of N equal families each time one in e
            would die out, and after N times nearly all samples would have one ancestor.

    Returns:
        Indices kept, ascending, and their weights; all of positive weight where they are no more
        than `count`.
    """
    positive = np.flatnonzero(weights)
    if len(positive) <= count:
        return positive, weights[positive]
    order = positive[np.argsort(-weights[positive], kind="stable")]
    ranked = weights[order]
    rest = np.cumsum(ranked[::-1])[::-1]
    thresholds = rest[:count] / (count - np.arange(count))
    heavy = int(np.argmax(ranked[:count] < thresholds))
    threshold = thresholds[heavy]
    # In their own order draws would fall into step with children that come in equal numbers.
    light = generator.permutation(order[heavy:])
    if families is not None:
        light = light[np.argsort(families[light], kind="stable")]
    drawn = np.unique(light[systematic(weights[light], count - heavy, float(generator.random()))])
    kept = np.concatenate((order[:heavy], drawn))
    new = np.concatenate((ranked[:heavy], np.full(len(drawn), threshold)))
    ascending = np.argsort(kept)
    return kept[ascending], new[ascending]
