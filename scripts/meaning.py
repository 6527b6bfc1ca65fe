"""Weights of the settings by meaning: a logistic regression on the briefs of several authors.

Run as `python -m scripts.meaning`. For each set of briefs it prints how many settings the weights
of the other sets would take rightly and wrongly, and at last the weights of all sets together:
`_WEIGHTS` and `_BASE` of `agents/composer/meaning/settings.py`.
"""

import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from agents.composer.accounting import understood
from agents.composer.designer import chosen_family
from agents.composer.lexicon import PLAYERS, Name, Phrase, game_of
from agents.composer.loader import common
from agents.composer.meaning.settings import SURE, guesses
from agents.composer.meaning.statements import Embed
from agents.composer.mentions import find_mentions, parse_brief
from evals.fit import FitBrief, load_briefs
from graph.run.opening import open_store_here

Rows = npt.NDArray[np.float64]
SETS = (
    "development_1",
    "development_2",
    "confirm_1",
    "confirm_2",
    "confirm_3",
    "confirm_4",
    "confirm_5",
    "confirm_6",
)
"""A set of briefs is read here only after it was measured once."""
_STEPS = 60


def rows_of(brief: FitBrief, embed: Embed) -> Iterator[tuple[float, ...]]:
    """The surest guess of each setting that no phrase gives: whether it is right, its measures."""
    lexicon = chosen_family(brief.family or "")
    usual = game_of(lexicon.family).defaults() | {PLAYERS: lexicon.players}
    asked = brief.settings | ({PLAYERS: brief.seats} if isinstance(brief.seats, int) else {})
    parsed = parse_brief(brief.text)
    shared = common()
    counts = (*shared.player_ranges, *shared.player_counts)
    phrases: list[Phrase | Name] = [
        *lexicon.names,
        *counts,
        *lexicon.phrases,
        *shared.refusals,
        *shared.talk,
    ]
    mentions = understood(parsed, find_mentions(parsed, phrases), lexicon, ())
    seen = {name for mention in mentions for name in getattr(mention.source, "sets", {})}
    used = {index for mention in mentions for index in mention.covered}
    for guess in guesses(parsed, lexicon, used, embed):
        if guess.name not in seen:
            seen.add(guess.name)
            if guess.name in asked or guess.value != usual[guess.name]:
                yield float(asked.get(guess.name) == guess.value), *guess.measured


def fitted(rows: Rows) -> Rows:
    """Weights, the last of them the base, by Newton's method with a ridge of one."""
    inputs = np.c_[rows[:, 1:], np.ones(len(rows))]
    weights = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        sure = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (sure - rows[:, 0]) + weights
        weights -= np.linalg.solve((inputs.T * (sure * (1 - sure))) @ inputs + np.eye(5), slope)
    return weights


def main() -> None:
    """Print the table and the weights."""
    with open_store_here(lambda _: None) as store:
        rows = {
            part: np.array(
                [
                    row
                    for brief in load_briefs(part)
                    if brief.kind == "in"
                    for row in rows_of(brief, store.vectors)
                ]
            )
            for part in SETS
        }
    for part, mine in rows.items():
        weights = fitted(np.vstack([other for name, other in rows.items() if name != part]))
        taken = mine[:, 1:] @ weights[:-1] + weights[-1] >= np.log(SURE / (1 - SURE))
        right = int(mine[taken, 0].sum())
        sys.stdout.write(f"{part}: {right} right, {int(taken.sum()) - right} wrong\n")
    weights = fitted(np.vstack(list(rows.values())))
    sys.stdout.write(f"{np.round(weights, 2).tolist()}\n")


if __name__ == "__main__":
    main()
