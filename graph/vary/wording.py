"""Variation in words (Cardiverse §3.1.3): what a run is asked, and what its nodes work on."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass as resources
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass

from agents.roles.variation import WordedGame
from games import library
from games.corpus import corpus_names
from games.mechanics import MechanicGraph
from games.streams import drawn_seed
from graph.run.folder import RunFolder
from graph.vary.report import VaryEnd
from graph.vary.rulebooks import Rulebook, rulebook_named
from graph.vary.settings import MOST_VARIANTS
from vectorstore.mechanics import LARGE, Embed, MechanicStore

if TYPE_CHECKING:
    from agents.model.chat import ChatModel
    from vectorstore.store import Store

_REQUEST, _CLUSTERS = ".state/wording.json", ".state/mechanics.json"
_OPTIONS = 40  # replacements that are combined


class WordingSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of one run; unknown ones are refused.

    Attributes:
        seed: Of what is drawn, and of the games that are made.
        n: Variants that are worded.
        make: The least similar of them, which are coded, checked and played.
        keep: What shall stay as it is, in a person's words.
        replaced: Mechanics that a variant replaces at most.
        readings: Times that a variant is read for ambiguity and conflict at most.
        quick: Whether the games are made with fewer matches.
    """

    seed: int = Field(default_factory=drawn_seed, ge=0, lt=2**63)
    n: int = Field(default=8, ge=1, le=MOST_VARIANTS)
    make: int = Field(default=3, ge=0, le=MOST_VARIANTS)
    keep: str = Field(default="", max_length=2000)
    replaced: int = Field(default=2, ge=1, le=4)
    readings: int = Field(default=3, ge=1, le=10)
    quick: bool = False


class WordingRequest(BaseModel, frozen=True, extra="forbid"):
    """The request of a run: the game as it was then, and the settings."""

    format: Literal[1] = 1
    base: Rulebook
    settings: WordingSettings


class Replacement(BaseModel, frozen=True, extra="forbid"):
    """A mechanic of the base and the bred one in its place.

    Attributes:
        cluster: Of both, by its summary.
        games: Known games with a mechanic of that cluster, without the base.
        rules: Of the base, that are the mechanic.
    """

    old: str
    rules: tuple[str, ...]
    new: str
    text: str
    cluster: str
    games: int

    def __str__(self) -> str:
        said = f" ({', '.join(self.rules)})" if self.rules else ""
        return f"“{self.old}”{said} gives way to “{self.new}”: {self.text}"


class MadeGame(BaseModel, frozen=True, extra="forbid"):
    """Outcome of a variant that was coded, checked and played.

    Attributes:
        end: Of its run of `new`.
        passed: Whether all checks passed.
        reason: Why no more came of it.
        folder: Of that run, below the variation's.
        fairness: In words; empty where it was not measured.
        length: Mean decisions of a match of the best player's.
        choices: Mean legal actions of a decision of it.
        skill: Of the strongest player against random play: its share of the wins.
    """

    end: str
    passed: bool
    reason: str
    folder: str
    fairness: str = ""
    length: float | None = None
    choices: float | None = None
    skill: float | None = None


class WordedVariant(BaseModel, frozen=True, extra="forbid"):
    """A variant in words.

    Attributes:
        number: From 1, in the order of proposal.
        game: None before it was worded, or where the model gave none.
        reason: Why it is not kept; empty where nothing is against it.
        closest: Similarity to the known game that it is most like, and that game's name.
        within: Similarity to the variant that it is most like; None where it is alone.
        chosen: Whether it is made.
        made: What came of that; None before it.
    """

    number: int
    replaced: tuple[Replacement, ...]
    game: WordedGame | None = None
    reason: str = ""
    closest: float | None = None
    like: str = ""
    within: float | None = None
    chosen: bool = False
    made: MadeGame | None = None

    @property
    def folder(self) -> str:
        """Of its rules, and of its game, below the run's."""
        return f"variants/{self.number}"

    @property
    def similarity(self) -> float:
        """The larger of both similarities; the less, the newer."""
        return max(self.closest or 0.0, self.within or 0.0)


@dataclass(frozen=True)
class WordingState:
    """All that passes between the nodes.

    Attributes:
        folder: The run's folder.
        graph: The base's.
        problems: Of the base's rules, as a model found them.
        variants: Those proposed; worded one after the other.
        end: How the run ended; None while it works.
        reason: Why, in a sentence.
    """

    folder: str = ""
    graph: MechanicGraph | None = None
    problems: tuple[str, ...] = ()
    variants: tuple[WordedVariant, ...] = ()
    end: VaryEnd | None = None
    reason: str = ""

    @property
    def kept(self) -> list[WordedVariant]:
        """The variants that nothing is against."""
        return [one for one in self.variants if one.game is not None and not one.reason]

    def with_variant(self, newer: WordedVariant) -> "WordingState":
        """With a variant in the place of the one of its number."""
        kept = tuple(newer if one.number == newer.number else one for one in self.variants)
        return replace(self, variants=kept)


@resources
class WordingContext:
    """Run-scoped resources, passed as `context=` when the machine is invoked.

    Attributes:
        chat: The model.
        store: Whose embedder compares texts.
        folder: The run's folder.
        request: What the run was asked.
        clusters: The mechanic store as it was when the run began.
    """

    chat: "ChatModel"
    store: "Store"
    folder: RunFolder
    request: WordingRequest
    clusters: MechanicStore


def write_wording(request: WordingRequest, clusters: MechanicStore, folder: RunFolder) -> None:
    """Keep what a run was asked, with the store that it draws on, so that it can be resumed."""
    folder.write_json(_CLUSTERS, clusters.model_dump(mode="json"))
    folder.write_json(_REQUEST, request.model_dump(mode="json"))


def is_wording(folder: RunFolder) -> bool:
    """Say whether a run folder is one of `vary` with a model."""
    return (folder.path / _REQUEST).exists()


def read_wording(folder: RunFolder) -> tuple[WordingRequest, MechanicStore]:
    """Read the request of a run.

    Raises:
        RunFolderError: If it cannot be read, or another version of the product wrote it.
    """
    wrong = "is of no version that this one reads ({} faults); start the run anew: rulewright vary"
    request = folder.read_model(_REQUEST, WordingRequest, wrong)
    return request, folder.read_model(_CLUSTERS, MechanicStore, wrong)


def options_of(
    graph: MechanicGraph, base: str, clusters: MechanicStore, embed: Embed
) -> list[Replacement]:
    """The replacements that there are: frequent mechanics of a game by bred ones of their cluster.

    A cluster is frequent with more than three mechanics of other games; the most frequent first.
    """
    nodes = [(node, depth) for node in graph.nodes if (depth := graph.depths.get(node.id))]
    nearest = clusters.nearest([(node.name, depth) for node, depth in nodes], embed)
    found = [
        Replacement(
            old=node.name,
            rules=node.rules,
            new=bred.name,
            text=bred.text,
            cluster=cluster.summary,
            games=len(cluster.games(base)),
        )
        for (node, _), cluster in zip(nodes, nearest, strict=True)
        if cluster and sum(one.game != base for one in cluster.members) >= LARGE
        for bred in cluster.bred
    ]
    return sorted(found, key=lambda one: -one.games)[:_OPTIONS]


def variants_of(
    options: Sequence[Replacement], settings: WordingSettings, draw: np.random.Generator
) -> tuple[WordedVariant, ...]:
    """As many different sets of replacements as are wanted, or there are.

    The largest sets first; among those, bred mechanics that were used least, then by chance.
    """
    left = [*_sets(options, settings.replaced)]
    chance = draw.permutation(len(left)).tolist()
    used, made = Counter[str](), list[WordedVariant]()
    while left and len(made) < settings.n:
        keys = [
            (-len(one), sum(used[part.new] for part in one), at)
            for one, at in zip(left, chance, strict=True)
        ]
        at = keys.index(min(keys))
        chance.pop(at)
        made.append(WordedVariant(number=len(made) + 1, replaced=left.pop(at)))
        used.update(part.new for part in made[-1].replaced)
    return tuple(made)


def _sets(options: Sequence[Replacement], most: int) -> Iterator[tuple[Replacement, ...]]:
    """Sets of up to two replacements, or more where that is allowed, of different mechanics."""
    for size in range(1, most + 1):
        for one in combinations(options, size):
            olds, news = {part.old for part in one}, {part.new for part in one}
            if len(olds) == len(news) == size:
                yield one


def known_texts(but: str = "") -> dict[str, str]:
    """The rules of every family and of the corpus by name, `but` one: D without g of Eq. 2."""
    names = dict.fromkeys((*library.families(), *corpus_names()))
    return {name: rulebook_named(name).text for name in names if name != but}
