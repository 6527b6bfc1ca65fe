"""Eval: are games varied by bred mechanics less like known games than by prompts alone?

Cardiverse, Table 1: for each base g and method M, Quantiled Max Similarity (Eq. 2) at three
percentiles, to all known games but g, and within M(g); means over the bases, and a paired t-test
between methods. Vanilla asks with one fixed instruction; the method like PromptBreeder with one of
several, drawn; ours replaces mechanics. All texts are compared in one embedding.

The variants are recorded, and answered by hand where the label says so. With `--set live=true` a
configured model writes them: the paper's 28 bases and 33 variants are
`rulewright eval run cardiverse-novelty --set live=true --set variants=33 --folder F`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import numpy as np

from agents.model.errors import MalformedReplyError
from agents.model.recording import Recording, place
from agents.roles.variation import WordedGame, reword_rules, settle_rules, twist_by_prompt
from evals.cardiverse.recorded import RECORDINGS
from evals.results import EvalError, EvalOptions, EvalResult, Row, Score
from games.corpus import corpus_names
from games.streams import stream
from graph.run.opening import model_settings, open_chat, open_embedder
from graph.vary.breeding import clusters_here
from graph.vary.rulebooks import Rulebook, rulebook_named
from graph.vary.runs import require_chat_settings
from graph.vary.settings import WordingSettings
from graph.vary.state import Variant
from graph.vary.wording import known_texts, options_of, variants_of
from tools.playtest.intervals import mean_interval
from tools.variation.novelty import (
    PERCENTILES,
    Array,
    closest,
    closest_within,
    qms,
    text_vector,
)
from vectorstore.mechanics import MechanicStore, read_clusters, write_clusters

if TYPE_CHECKING:
    from agents.model.chat import ChatModel
    from vectorstore.store import Store

FOLDER = RECORDINGS / "novelty"
METHODS = ("vanilla", "promptbreeder-like", "ours")
_PAPER_BASES = 28
_VARIANTS = 6  # of the recorded bases
_LEAST = 2  # of which a quantile, or a test, can be taken
_CLUSTERS, _RULES = "mechanics.json", ".rules.json"
_VANILLA = "You make a variation of a known game that is new and good to play."
_INSTRUCTIONS = (
    "You make a variation of a known game that nobody would expect, and that is good to play.",
    "You are known for odd ideas: turn a known game into one that feels quite unlike it.",
    "Take what is dullest in a known game, and make a new game in which that is the best part.",
    "You make a new game of a known one as if it came from another country and another century.",
    "Ask what a known game never lets its players do, and make a new game in which they can.",
    "You make a new game of a known one for players who know it by heart and are tired of it.",
)
_NOT_COMPARABLE = (
    "not comparable: the paper's variants are gpt-4o's, of 28 of 106 card games that are not "
    "published, in text-embedding-3-large"
)


def run(options: EvalOptions) -> EvalResult:
    """Read or make the variants of every base, and compare the methods.

    Raises:
        EvalError: If a recording lacks, or an option is none.
    """
    live, variants = _asked(options)
    folder = options.folder or FOLDER
    bases = options.games or (_live_bases() if live else _recorded_bases(folder))
    rows: list[Row] = []
    with open_embedder(options.tell) as store:
        clusters = _clusters(folder, store)
        known = {name: text_vector(text, store.vectors) for name, text in known_texts().items()}
        for name in bases[:1] if options.quick else bases:
            chat, label = _chat(folder / f"{name}.json", live=live)
            book = _book(folder / f"{name}{_RULES}", name)
            games = np.stack([vector for game, vector in known.items() if game != name])
            asks = _asks(chat, book, clusters, store, options.seed, variants)
            for method, made in asks:
                found = [one for one in made if one is not None]
                row: Row = {"id": f"{name}, {method}", "base": name, "method": method, "by": label}
                row |= {"variants": len(found), "none given": len(made) - len(found)}
                vectors = [text_vector(one.text, store.vectors) for one in found]
                rows.append(row | _figures(vectors, games))
                options.tell(f"{name}: {method}: {len(found)} variants")
        embedder = store.embedder.identity
    effective: Row = {"embedding": embedder, "known games": len(known), "variants": variants}
    effective |= {"bases": sorted({row["base"] for row in rows}), "live": live}
    effective |= {"paper, Table 1": _NOT_COMPARABLE, "tests": paired_tests(rows)}
    scores = tuple(_scores(rows))
    if not scores:
        raise EvalError(
            f"no base of {', '.join(bases) or 'none'} could be varied by every method; breed in "
            "their clusters first: rulewright mechanics GAME --breed 20"
        )
    return EvalResult(scores=scores, samples=tuple(rows), effective=effective)


def _asked(options: EvalOptions) -> tuple[bool, int]:
    live, variants = options.settings.get("live", False), options.settings.get("variants", 0)
    unknown = sorted(options.settings.keys() - {"live", "variants"})
    if unknown or not isinstance(live, bool) or type(variants) is not int or variants < 0:
        raise EvalError("--set takes live=true or false, and variants=N, a whole number from 2")
    return live, variants or _VARIANTS


def _live_bases() -> tuple[str, ...]:
    return corpus_names()[:_PAPER_BASES]


def _recorded_bases(folder: Path) -> tuple[str, ...]:
    names = (p.name.removesuffix(_RULES) for p in folder.glob(f"*{_RULES}"))
    found = tuple(sorted(names))
    if not found:
        raise EvalError(
            f"{folder} holds no recorded variants; required: a checkout of the project, or a model "
            "and --set live=true"
        )
    return found


def _book(path: Path, name: str) -> Rulebook:
    """The rules of a base as they were when its variants were made, which they begin with."""
    if not path.exists():
        path.write_text(rulebook_named(name).model_dump_json(indent=1) + "\n", encoding="utf-8")
    return Rulebook.model_validate_json(path.read_text(encoding="utf-8"))


def _clusters(folder: Path, store: "Store") -> MechanicStore:
    """The mechanic store that the variants draw on: the one kept beside them, else today's."""
    path = folder / _CLUSTERS
    kept = read_clusters(path, store.embedder.identity)
    if kept is None:
        kept = clusters_here(store)
        write_clusters(kept, path)
    return kept


def _chat(path: Path, *, live: bool) -> "tuple[ChatModel, str]":
    """A model that is asked and recorded, or a recording of one; and who answered."""
    if live:
        settings = require_chat_settings().model_copy(update={"record": path, "replay": None})
        return open_chat(settings), str(settings.model)
    if not path.exists():
        raise EvalError(f"{path} is not there; known: {', '.join(_recorded_bases(path.parent))}")
    recording = Recording.load(path)
    model = str(recording.exchanges[0].request["body"]["model"])  # type: ignore[index,call-overload]
    given = {"model": model, "replay": path, "record": None}
    return open_chat(model_settings().model_copy(update=given)), recording.label


def _asks(
    chat: "ChatModel",
    book: Rulebook,
    clusters: MechanicStore,
    store: "Store",
    seed: int,
    variants: int,
) -> Iterator[tuple[str, list[WordedGame | None]]]:
    """The variants of a base by method; none of ours where no mechanic of it is frequent."""
    model, told = chat.of_role("designer"), partial(_by_prompt, chat, book)
    draw = stream(seed, f"novelty {book.name}")
    picked = [_INSTRUCTIONS[int(draw.integers(len(_INSTRUCTIONS)))] for _ in range(variants)]
    numbers = range(variants)
    yield METHODS[0], [_tried(partial(told, f"vanilla/{n}", _VANILLA)) for n in numbers]
    yield METHODS[1], [_tried(partial(told, f"bred/{n}", picked[n])) for n in numbers]
    graph = book.taken_apart(lambda: chat).graph
    options = options_of(graph, book.name, clusters, store.vectors) if graph else []
    wanted = variants_of(options, WordingSettings(seed=seed, n=variants), draw)
    yield METHODS[2], [_tried(partial(_ours, model, book, one)) for one in wanted]


def _by_prompt(chat: "ChatModel", book: Rulebook, where: str, instruction: str) -> WordedGame:
    with place(where):
        return twist_by_prompt(
            chat.of_role("designer"),
            title=book.title,
            players=book.players,
            rules=book.rules,
            instruction=instruction,
        )


def _ours(model: "ChatModel", book: Rulebook, variant: Variant) -> WordedGame:
    replaced = [str(one) for one in variant.replaced]
    with place(f"ours/{variant.number}"):
        game = reword_rules(
            model, title=book.title, players=book.players, rules=book.rules, replaced=replaced
        )
    with place(f"ours/{variant.number}/settle"):
        return settle_rules(model, game, replaced, rounds=2)


def _tried(ask: Callable[[], WordedGame]) -> WordedGame | None:
    try:
        return ask()
    except MalformedReplyError:
        return None


def _figures(vectors: Sequence[Array], games: Array) -> Row:
    """QMS by scope and percentile, times 100; None where there are too few variants."""
    scopes = ("store", "within")
    if len(vectors) < _LEAST:
        return {f"{scope} {p:g}": None for scope in scopes for p in PERCENTILES}
    stacked = np.stack(vectors)
    nearest = dict(zip(scopes, (closest(stacked, games), closest_within(stacked)), strict=True))
    return {f"{s} {p:g}": 100 * qms(nearest[s], p) for s in scopes for p in PERCENTILES}


def _columns() -> list[str]:
    return [f"{scope} {p:g}" for scope in ("store", "within") for p in reversed(PERCENTILES)]


def _by_base(rows: Sequence[Row], column: str) -> dict[str, list[float]]:
    """The figures of each method over the bases that every method has."""
    found: dict[str, dict[str, float]] = {method: {} for method in METHODS}
    for row in rows:
        if row[column] is not None:
            found[row["method"]][row["base"]] = row[column]
    shared = [base for base in found[METHODS[0]] if all(base in one for one in found.values())]
    return {method: [one[base] for base in shared] for method, one in found.items()}


def _scores(rows: Sequence[Row]) -> Iterator[Score]:
    for column in _columns():
        for method, values in _by_base(rows, column).items():
            if values:
                spread = f" ± {stdev(values):.1f}" if len(values) >= _LEAST else ""
                name = f"QMS x 100, {column}, {method}{spread}"
                yield Score(name, fmean(values), len(values))


def paired_tests(rows: Sequence[Row]) -> Row:
    """Paired t-tests over the bases: the mean difference, its 95 % interval, and the answer."""
    told: Row = {}
    for column in _columns():
        for one, other in combinations(METHODS, 2):
            found = _by_base(rows, column)
            steps = [b - a for a, b in zip(found[one], found[other], strict=True)]
            name = f"{column}: {other} less {one}"
            if len(steps) < _LEAST or len(set(steps)) == 1:
                told[name] = f"could not be tested over {len(steps)} bases"
                continue
            mean = mean_interval(steps, "pairs")
            apart = mean.low > 0 or mean.high < 0
            answer = "p < 0.05" if apart else "p ≥ 0.05: not told apart"
            ends = f"{mean.low:.2f} to {mean.high:.2f}"
            told[name] = f"{mean.value:+.2f} ({ends}), {answer}"
    return told
