"""Labelled briefs into what the composer learns from, and the weights of what it learned.

    python -m scripts.meaning label AUTHOR=FILE...   briefs of an author, from YAML files, to
                                                     agents/composer/meaning/briefs/AUTHOR.jsonl
    python -m scripts.meaning label                  the parts that say the settings, found anew
    python -m scripts.meaning fit                    each author predicted from the others; weights

A set of briefs is learned from only after it was measured once. `fit` prints `_WEIGHTS` and `_BASE`
of `agents/composer/meaning/settings.py`, and the weights of `fit.py` beside it.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

from agents.composer.accounting import understood
from agents.composer.designer import chosen_family
from agents.composer.lexicon import PLAYERS, Lexicon, Name, Phrase, game_of
from agents.composer.loader import common, lexicons
from agents.composer.meaning import statements as known
from agents.composer.meaning.fit import BAR, games_of, measures
from agents.composer.meaning.settings import SURE, guesses, parts_of, values_of
from agents.composer.meaning.statements import (
    Embed,
    LabelledBrief,
    Statements,
    labelled_briefs,
    statements_from,
    statements_of,
)
from agents.composer.mentions import Mention, ParsedBrief, find_mentions, parse_brief
from agents.composer.reader import family_scores, read
from graph.run.opening import open_store_here

Rows = npt.NDArray[np.float64]
_STEPS = 60
_FLOOR = 0.12  # least score of a part that no phrase reads
_READ = 0.3  # what a phrase that reads the same value there is worth
_WORD = 0.01  # what each word of a part costs: the shortest that says it
_SILENT = 24  # most words of a silent part
_EVERY = 3  # of the silent parts, one in so many


def label(brief: LabelledBrief, embed: Embed) -> LabelledBrief:
    """The brief with the part that says each setting, and parts that say none."""
    if brief.family is None:
        return brief
    lexicon = chosen_family(brief.family)
    parsed, mentions = _read(brief, lexicon)
    model = statements_of(lexicon.family, embed)
    parts = list(parts_of(parsed, ()))
    scores = model.scores([part.text for part in parts]) if parts else ()
    asked = _asked(brief)
    best: dict[str, tuple[float, str, int]] = {}
    for at, (part, row) in enumerate(zip(parts, scores, strict=True)):
        for (name, value), score in zip(model.labels, row, strict=True):
            mention = part.mention(name, value) if name in asked else None
            if mention is None or values_of(mention) != {name: asked[name]}:
                continue
            read = any(
                values_of(m).get(name) == asked[name] and {*m.covered} & {*part.run}
                for m in mentions
            )
            worth = float(score) + _READ * read
            if worth >= _FLOOR:
                worth -= _WORD * len(part.run)
                best[name] = max(best.get(name, (-1.0, "", 0)), (worth, value, at))
    said = [(name, value, parts[at].text) for name, (_, value, at) in best.items()]
    used = {index for _, _, at in best.values() for index in parts[at].run}
    rest = [p.text for p in parts if not used & {*p.run} and len(p.run) <= _SILENT]
    silent = tuple(dict.fromkeys(rest))[::_EVERY]
    return brief.model_copy(update={"said": tuple(said), "silent": silent})


def _asked(brief: LabelledBrief) -> dict[str, bool | int | str]:
    seats = {PLAYERS: brief.seats} if isinstance(brief.seats, int) else {}
    return {**brief.settings, **seats}


def _read(brief: LabelledBrief, lexicon: Lexicon) -> tuple[ParsedBrief, list[Mention]]:
    """What phrases alone find."""
    parsed, shared = parse_brief(brief.text), common()
    counts = (*shared.player_ranges, *shared.player_counts)
    said = (*lexicon.phrases, *shared.refusals, *shared.talk)
    phrases: list[Phrase | Name] = [*lexicon.names, *counts, *said]
    return parsed, list(understood(parsed, find_mentions(parsed, phrases), lexicon, ()))


def settings_rows(
    brief: LabelledBrief, model: Statements, lexicon: Lexicon
) -> Iterator[tuple[float, ...]]:
    """The surest guess of each setting that no phrase gives: whether it is right, its measures."""
    usual = game_of(lexicon.family).defaults() | {PLAYERS: lexicon.players}
    asked = _asked(brief)
    parsed, mentions = _read(brief, lexicon)
    seen = {name for mention in mentions for name in getattr(mention.source, "sets", {})}
    used = {index for mention in mentions for index in mention.covered}
    for guess in guesses(parsed, lexicon, used, model):
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
        hessian = (inputs.T * (sure * (1 - sure))) @ inputs + np.eye(len(weights))
        weights -= np.linalg.solve(hessian, slope)
    return weights


def choices_fitted(choices: Rows, right: npt.NDArray[np.int64]) -> Rows:
    """Weights of a choice among K options with D measures, [N, K, D], by Newton's method."""
    weights = np.zeros(choices.shape[2])
    for _ in range(_STEPS):
        sure = _softmax(choices @ weights)
        mean = np.einsum("nk,nkd->nd", sure, choices)
        slope = (mean - choices[np.arange(len(right)), right]).sum(axis=0) + weights
        square = np.einsum("nk,nkd,nke->de", sure, choices, choices) - mean.T @ mean
        weights -= np.linalg.solve(square + np.eye(len(weights)), slope)
    return weights


def _softmax(scores: Rows) -> Rows:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def fit_settings(embed: Embed) -> None:
    """Print how the settings of each author are found by what the others wrote, and weights."""
    briefs, rows = labelled_briefs(), {}
    for author in briefs:
        others = {name: of for name, of in briefs.items() if name != author}
        models = {
            lexicon.family: (statements_from(lexicon.family, others, embed), lexicon)
            for lexicon in lexicons()
        }
        own = [brief for brief in briefs[author] if brief.kind == "in"]
        found = [row for b in own for row in settings_rows(b, *models[b.family or ""])]
        rows[author] = np.array(found)
    total = np.zeros(2, int)
    for author, mine in rows.items():
        weights = fitted(np.vstack([other for name, other in rows.items() if name != author]))
        taken = mine[:, 1:] @ weights[:-1] + weights[-1] >= np.log(SURE / (1 - SURE))
        right = int(mine[taken, 0].sum())
        total += (right, int(taken.sum()) - right)
        _say(
            f"{author}: {right} of {int(mine[:, 0].sum())} right, {int(taken.sum()) - right} wrong"
        )
    _say(f"all: {total[0]} right, {total[1]} wrong; weights")
    _say(f"{np.round(fitted(np.vstack(list(rows.values()))), 2).tolist()}")


def fit_families(embed: Embed) -> None:
    """Print how the families of each author are judged by what the others wrote, and weights."""
    briefs, seen = labelled_briefs(), {}
    names = [lexicon.family for lexicon in lexicons()]
    for author, own in briefs.items():
        others = [b for name, of in briefs.items() if name != author for b in of]
        games = games_of(others, embed)
        scores = [measures(b.text, games, family_scores(parse_brief(b.text))) for b in own]
        right = [names.index(b.family) if b.family else len(names) for b in own]
        seen[author] = np.array(scores, np.float64), np.array(right)
    rows = {}
    for author, (choices, _) in seen.items():
        parts = [of for name, of in seen.items() if name != author]
        weights = choices_fitted(*map(np.concatenate, zip(*parts, strict=True)))
        sure = _softmax(choices @ weights)
        rows[author] = np.array(
            [_fit_row(*of, embed) for of in zip(briefs[author], sure, strict=True)]
        )
    for author, mine in rows.items():
        weights = fitted(np.vstack([other for name, other in rows.items() if name != author]))
        made = mine[:, 1:] @ weights[:-1] + weights[-1] >= np.log(BAR / (1 - BAR))
        own = np.array([brief.kind == "in" for brief in briefs[author]])
        wrong, refused = int((made & (mine[:, 0] == 0)).sum()), int((own & ~made).sum())
        _say(f"{author}: {wrong} of {len(own)} wrong, {refused} of {own.sum()} refused")
    weights = choices_fitted(*map(np.concatenate, zip(*seen.values(), strict=True)))
    _say(f"weights {np.round(weights, 2).tolist()}")
    _say(f"of what is kept {np.round(fitted(np.vstack(list(rows.values()))), 2).tolist()}")


def _fit_row(brief: LabelledBrief, sure: Rows, embed: Embed) -> tuple[float, float, float]:
    """Whether the likeliest family is right, the log-odds of it, the share of demands it keeps."""
    best = int(sure[:-1].argmax())
    lexicon = lexicons()[best]
    clauses = read(brief.text, lexicon, None, embed).clauses
    kept = sum(clause.status == "honoured" for clause in clauses)
    odds = float(np.log(max(sure[best], 1e-9) / max(sure[-1], 1e-9)))
    return float(brief.family == lexicon.family), odds, kept / max(1, len(clauses))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _briefs(texts: Sequence[str]) -> list[LabelledBrief]:
    return [
        LabelledBrief.model_validate(fields)
        for path in texts
        for fields in yaml.safe_load(Path(path).read_text())
    ]


def main(arguments: Sequence[str]) -> None:
    """Label or fit; see the head of this file."""
    what, *given = arguments
    with open_store_here(lambda _: None) as store:
        if what == "fit":
            fit_settings(store.vectors)
            fit_families(store.vectors)
            return
        briefs = dict(labelled_briefs())
        for one in given:
            author, _, paths = one.partition("=")
            briefs[author] = tuple(_briefs(paths.split(",")))
        for author, of in briefs.items():
            lines = [label(brief, store.vectors).model_dump_json() for brief in of]
            path = Path(known.__file__).parent / "briefs" / f"{author}.jsonl"
            path.write_text("".join(line + "\n" for line in lines))
            _say(f"{author}: {len(lines)} briefs")


if __name__ == "__main__":
    main(sys.argv[1:])
