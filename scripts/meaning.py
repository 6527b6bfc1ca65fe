"""What the composer learned: labelled briefs and sentences into its two fitted files.

    python -m scripts.meaning            write agents/composer/fitted/*.npz

`scripts/training/briefs` holds what people asked for in words and what a fair reader found in them,
an author a file, a brief a line: `said` are the parts that state a setting (setting, value, part, a
number as N, a card rank as RANK), `silent` those that state none. Their authors saw the list of
games and settings, but neither code nor words. `scripts/training/says` holds sentences on each
family (`about`) and on each value of its settings (`says`); `common.yaml` kinds of games that no
family makes, and sentences on the number of players. A set of briefs is learned from only after
`rulewright eval run fit` measured it once.

The classifier of families is a multinomial logistic regression, trained by Nesterov's method on the
Gram matrix of its inputs; the penalty and the weight of words were chosen on the sets of `fit`.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

from agents.composer.lexicon import lexicons
from agents.composer.meaning.family import inputs
from agents.composer.meaning.statements import FITTED, Embed, Rarity, grams
from evals.fit import LabelledBrief
from games.library import presets
from games.library.settings import PLAYERS
from graph.run.opening import open_store_here

TRAINING = Path(__file__).parent / "training"
Rows = npt.NDArray[np.float32]
Stated = list[tuple[str, str, str]]
_LEAST = 3  # texts that have a word, for it to be known
_PENALTY = 3e-5
_STEPS = 300
_MOST = 127


def labelled_briefs() -> list[LabelledBrief]:
    """The briefs that are learned from."""
    lines = [
        line
        for path in sorted((TRAINING / "briefs").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return list(map(LabelledBrief.model_validate_json, lines))


def _page(name: str) -> dict[str, dict[str, dict[str, list[str]]]]:
    return dict(yaml.load((TRAINING / name).read_text(encoding="utf-8"), yaml.BaseLoader))


def stated(family: str, briefs: Sequence[LabelledBrief]) -> Stated:
    """What is known of a family's settings: setting, value as it is written, and the words."""
    own = [brief for brief in briefs if brief.family == family]
    said = [
        (name, value, text)
        for name, values in _page(f"says/{family}.yaml")["says"].items()
        for value, texts in values.items()
        for text in texts
    ]
    said += [part for brief in own for part in brief.said]
    silent = [*_page("common.yaml")["players"], *(text for brief in own for text in brief.silent)]
    said += [("", "", text) for text in silent]
    return [part if part[0] != PLAYERS else ("", "", part[2]) for part in said]


def described() -> Iterator[tuple[str, str]]:
    """Family, or nothing for other games, and sentences on it."""
    for lexicon in lexicons():
        family = lexicon.family
        named = [p.name.replace("_", " ") for p in presets().values() if p.family == family]
        about = _page(f"says/{family}.yaml")["about"]
        yield from ((family, text) for text in (*about, *named))
    for kind, told in _page("common.yaml")["kinds"].items():
        yield from (("", f"{kind}. {told}"), ("", kind))


def stretched(vectors: Rows) -> npt.NDArray[np.int8]:
    """Vectors as int8, the largest component of each 127 or -127."""
    scale = _MOST / np.abs(vectors).max(axis=1, keepdims=True)
    whole: npt.NDArray[np.int8] = np.round(vectors * scale).astype(np.int8)
    return whole


def trained(given: Rows, right: npt.NDArray[np.int64], classes: int) -> Rows:
    """Weights of a multinomial logistic regression, [D, classes], of inputs [N, D]."""
    gram, wanted = given @ given.T, np.eye(classes, dtype=np.float32)[right]
    top: Rows = np.ones((len(given), 1), np.float32)
    for _ in range(20):
        top = np.asarray(gram @ top, np.float32)
        top /= np.linalg.norm(top)
    bound = float((top.T @ gram @ top)[0, 0]) / len(given) / 2 + _PENALTY
    before = ahead = np.zeros_like(wanted)
    pace = 1.0
    for _ in range(_STEPS):
        scores = gram @ ahead
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        slope = (powers / powers.sum(axis=1, keepdims=True) - wanted) / len(given)
        now = ahead - (slope + _PENALTY * ahead) / bound
        following = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead = now + (pace - 1) / following * (now - before)
        before, pace = now, following
    return np.asarray(given.T @ before)


def _bytes(value: object) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value, ensure_ascii=False).encode(), np.uint8)


def write_families(briefs: Sequence[LabelledBrief], embed: Embed) -> None:
    """Fit the classifier of families, and keep it."""
    names = [*(lexicon.family for lexicon in lexicons()), ""]
    known = [*((brief.family or "", brief.text) for brief in briefs), *described()]
    texts, right = [text for _, text in known], np.array([names.index(of) for of, _ in known])
    counts = Counter(gram for text in texts for gram in grams(text))
    every = Rarity.of(texts)
    kept = sorted(gram for gram, count in counts.items() if count >= _LEAST)
    rarity = Rarity({gram: every.weights[gram] for gram in kept}, max(every.weights.values()))
    plain = np.array([inputs(text, tuple(kept), rarity) for text in texts])
    full = np.hstack([plain, embed(texts)])
    FITTED.mkdir(exist_ok=True)
    np.savez_compressed(
        FITTED / "families.npz",
        grams=_bytes(kept),
        rarity=np.array([rarity.weights[gram] for gram in kept], np.float32),
        most=np.array(rarity.most, np.float32),
        full=trained(full, right, len(names)).astype(np.float16),
        plain=trained(plain, right, len(names)).astype(np.float16),
    )


def write_statements(briefs: Sequence[LabelledBrief], embed: Embed) -> None:
    """Keep every labelled sentence with its vector."""
    pages: dict[str, npt.NDArray[np.generic]] = {}
    for lexicon in lexicons():
        said = stated(lexicon.family, briefs)
        pages[f"{lexicon.family}.texts"] = _bytes(said)
        pages[f"{lexicon.family}.vectors"] = stretched(embed([text for *_, text in said]))
    FITTED.mkdir(exist_ok=True)
    with (FITTED / "statements.npz").open("wb") as file:
        np.savez_compressed(file, **pages)  # type: ignore[arg-type] # numpy's stub of keywords


def main() -> None:
    """Write both files."""
    briefs = labelled_briefs()
    with open_store_here(lambda _: None) as store:
        write_statements(briefs, store.vectors)
        write_families(briefs, store.vectors)
    sys.stdout.write(f"learned from {len(briefs)} briefs\n")


if __name__ == "__main__":
    main()
