"""The bootstrap over deals."""

from collections.abc import Sequence

import numpy as np

from tools.playtest.intervals import CONFIDENCE, Estimate, NoSamplesError

RESAMPLES = 2000
_AT_ONCE = 2**18  # draws held in memory


def bootstrap_mean(
    deals: Sequence[float],
    generator: np.random.Generator,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Estimate:
    """A mean with the percentile bootstrap's interval (Efron 1979).

    Deals are drawn with replacement, never the matches in them, because those are not independent;
    the interval reaches from quantile (1 - c) / 2 to (1 + c) / 2 of the resampled means.

    Args:
        deals: `[D]`: one mean a deal.
        generator: Draws the resamples.
        confidence: c.
        resamples: How many.

    Raises:
        NoSamplesError: If there are fewer than two deals.
    """
    count = len(deals)
    if count < 2:  # noqa: PLR2004
        raise NoSamplesError(f"{count} deals; a bootstrap needs at least two")
    values = np.asarray(deals, dtype=np.float64)
    rows = max(1, _AT_ONCE // count)
    means = [
        values[generator.integers(0, count, size=(min(rows, resamples - first), count))].mean(
            axis=1
        )
        for first in range(0, resamples, rows)
    ]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(np.concatenate(means), tails)
    value = float(values.mean())
    return Estimate(
        value=value,
        low=min(value, float(low)),
        high=max(value, float(high)),
        n=count,
        method=f"bootstrap over deals, {resamples} resamples, {confidence:.0%}",
    )
