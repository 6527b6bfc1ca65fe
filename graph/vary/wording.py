"""Variation in words (Cardiverse §3.1.3): mechanics that many games have give way to bred ones."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass as resources
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias, get_args

import numpy as np

from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.protocols import Section
from agents.roles.variation import WordedGame, reword_rules, settle_rules
from games import library
from games.corpus import corpus_names
from games.mechanics import MechanicGraph
from games.streams import stream
from games.text import number_of, one_line
from graph.run.events import (
    MechanicsRead,
    ReplacementsProposed,
    Reworded,
    Tell,
    VariantsChosen,
)
from graph.run.folder import RunFolder
from graph.run.settings import versions
from graph.vary.report import MadeGame, Replacement, VariantRow, VaryReport
from graph.vary.rulebooks import Rulebook, rulebook_named
from graph.vary.settings import WordingSettings
from graph.vary.state import Variant, VaryContext, VaryState
from tools.variation.novelty import PERCENTILES, closest_within, qms, text_vector
from vectorstore.mechanics import LARGE, Embed, MechanicStore

if TYPE_CHECKING:
    from agents.model.chat import ChatModel
    from vectorstore.store import Store

_OPTIONS = 40  # replacements that are combined
_NONE = (
    "no mechanic of it lies in a cluster of more than three mechanics of other games that has bred "
    "ones, so it is not varied. Breed in more clusters: rulewright mechanics --breed 20"
)
_OPEN = "after {} readings something was still ambiguous or in conflict: {}"
_EXACTLY = "Make exactly this game; its rules leave nothing out."
GameMaker: TypeAlias = Callable[[RunFolder, str, WordingSettings, Tell], MadeGame]
"""Makes a game in a folder from a prompt, going on where it stands; `new` does it."""


@resources
class Wording(VaryContext):
    """Variation in words.

    Attributes:
        chat: The model.
        store: Whose embedder compares texts.
        clusters: The mechanic store as it was when the run began.
        maker: Makes the least similar variants; None where nobody can.
    """

    chat: "ChatModel"
    store: "Store"
    clusters: MechanicStore
    maker: GameMaker | None = None

    @property
    def base(self) -> Rulebook:
        """The rules that are varied."""
        assert isinstance(self.request.base, Rulebook)  # for mypy; see `VaryRequest`
        return self.request.base

    @property
    def settings(self) -> WordingSettings:
        """The run's settings."""
        assert isinstance(self.request.settings, WordingSettings)  # for mypy; see `VaryRequest`
        return self.request.settings

    def known(self, state: VaryState, tell: Tell) -> VaryState:
        """Take the base apart, where its graph is not known."""
        book = self.base.taken_apart(lambda: self.chat)
        count = len(book.graph.nodes) if book.graph else 0
        tell(MechanicsRead(mechanics=count, problems=book.problems))
        return state.but(graph=book.graph, problems=book.problems)

    def proposed(self, state: VaryState, tell: Tell) -> VaryState:
        """Map the base's mechanics to clusters, and propose bred ones for those that are many."""
        if state.graph is None:
            raise ValueError("the base was not taken apart")
        options = options_of(state.graph, self.base.name, self.clusters, self.store.vectors)
        variants = variants_of(options, self.settings, stream(self.settings.seed, "vary words"))
        frequent = tuple(dict.fromkeys(one.old for one in options))
        tell(ReplacementsProposed(variants=len(variants), frequent=frequent))
        if not variants:
            return state.but(end="none", reason=_NONE)
        return state.but(candidates=variants)

    def reflected(self, state: VaryState, tell: Tell) -> VaryState:
        """Word the next variant, and read it again until no ambiguity or conflict is left."""
        made = self._worded(state.waiting[0])
        game = made.game
        tell(
            Reworded(
                variant=made.number,
                title=game.title if game else "",
                problems=len(game.problems) if game else 0,
                reason=made.reason,
            )
        )
        return state.with_candidates([made])

    def _worded(self, variant: Variant) -> Variant:
        settings, base = self.settings, self.base
        model, replaced = self.chat.of_role("designer"), [str(one) for one in variant.replaced]
        try:
            with place(f"vary/{variant.number}"):
                game = reword_rules(
                    model,
                    title=base.title,
                    players=base.players,
                    rules=base.rules,
                    replaced=replaced,
                    keep=settings.keep,
                )
            with place(f"settle/{variant.number}"):
                game = settle_rules(model, game, replaced, rounds=settings.readings)
        except MalformedReplyError as error:
            return variant.model_copy(update={"reason": f"the model gave none: {error}"})
        reason = "" if game.settled else _OPEN.format(settings.readings, game.problems[-1])
        return variant.model_copy(update={"game": game, "reason": reason})

    def ranked(self, state: VaryState, tell: Tell) -> VaryState:
        """Order variants by their likeness to known games and to each other; the least first."""
        if not state.chosen:
            found = self._compared([one for one in state.candidates if one.game and not one.reason])
            found.sort(key=lambda one: (one.similarity, one.number))
            after = state.with_candidates(found).but(chosen=tuple(one.number for one in found))
            tell(VariantsChosen(chosen=len(self._to_make(after)), of=len(found)))
            state = after
        if self._to_make(state):
            return state
        kept, wanted = len(state.kept), self.settings.n
        if kept >= wanted:
            return state.but(end="varied")
        reason = f"{kept} of {number_of(wanted, 'variant')} were worded"
        return state.but(end="fewer" if kept else "none", reason=reason)

    def _to_make(self, state: VaryState) -> list[Variant]:
        if self.maker is None:
            return []
        return [one for one in state.kept[: self.settings.make] if one.made is None]

    def _compared(self, kept: Sequence[Variant]) -> list[Variant]:
        """The variants with the known game and the variant that each is most like."""
        texts = [one.game.text for one in kept if one.game]
        if not texts:
            return []
        known, embed = known_texts(but=self.base.name), self.store.vectors
        games = np.stack([text_vector(text, embed) for text in known.values()])
        variants = np.stack([text_vector(text, embed) for text in texts])
        likeness = variants @ games.T
        within = closest_within(variants) if len(kept) > 1 else None
        return [
            one.model_copy(
                update={
                    "closest": round(float(row.max()), 6),
                    "like": [*known][int(row.argmax())],
                    "within": None if within is None else round(float(within[at]), 6),
                }
            )
            for at, (one, row) in enumerate(zip(kept, likeness, strict=True))
        ]

    def made(self, state: VaryState, tell: Tell) -> VaryState:
        """Have the next variant designed, coded, checked and played, in a folder of its own."""
        one = self._to_make(state)[0]
        assert self.maker is not None  # for mypy
        assert one.game is not None  # for mypy
        # A heading is no demand of a person, and would have to be quoted as one.
        lines = [line for line in rules_page(one.game).splitlines() if line and line[:2] != "##"]
        prompt, name = "\n".join([_EXACTLY, "", *lines]), f"variants/{one.number}/game"
        game = self.maker(RunFolder(self.folder.path / name), prompt, self.settings, tell)
        made = game.model_copy(update={"folder": name})
        return state.with_candidates([one.model_copy(update={"made": made})])

    def told(self, state: VaryState) -> VaryReport:
        """The report; each variant has its rules."""
        kept = state.kept
        pages = {
            f"variants/{one.number}/rules.md": rules_page(one.game) for one in kept if one.game
        }
        self.folder.write_together(pages)
        if state.end is None:
            raise ValueError("the run has no end")
        scopes = {
            "store": [one.closest for one in kept if one.closest is not None],
            "batch": [one.within for one in kept if one.within is not None],
        }
        return VaryReport(
            base=self.base.name,
            title=self.base.title,
            end=state.end,
            reason=state.reason,
            variants=tuple(_row(one, one.game, one.closest) for one in kept if one.game),
            tried=len(state.candidates),
            dropped=dict(Counter(one.reason for one in state.candidates if one.reason)),
            settings=self.settings,
            versions=versions(),
            qms={
                scope: {f"{p:g}": round(qms(found, p), 6) for p in PERCENTILES}
                for scope, found in scopes.items()
                if len(found) > 1
            },
            embedder=self.store.embedder.identity,
            model=self.chat.identity,
            problems=state.problems,
        )


def _row(one: Variant, game: WordedGame, closest: float | None) -> VariantRow:
    return VariantRow(
        number=one.number,
        title=game.title,
        difference=game.summary,
        novelty=1 - (closest or 0.0),
        like=one.like,
        within=one.within,
        replaced=one.replaced,
        made=one.made,
        folder=f"variants/{one.number}",
    )


def rules_page(game: WordedGame) -> str:
    """The rules of a variant, by section."""
    lines = [f"# {one_line(game.title)}", "", one_line(game.summary), ""]
    lines.append(f"A game for {number_of(game.num_players, 'player')}.")
    for section in get_args(Section):
        rules = [rule for rule in game.rules if rule.section == section]
        if rules:
            lines += ["", f"## {section}", "", *(f"- {r.id}: {one_line(r.text)}" for r in rules)]
    return "\n".join([*lines, ""])


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
) -> tuple[Variant, ...]:
    """As many different sets of replacements as are wanted, or there are.

    The largest sets first; among those, bred mechanics that were used least, then by chance.
    """
    left = [*_sets(options, settings.replaced)]
    chance = draw.permutation(len(left)).tolist()
    used, made = Counter[str](), list[Variant]()
    while left and len(made) < settings.n:
        keys = [
            (-len(one), sum(used[part.new] for part in one), at)
            for one, at in zip(left, chance, strict=True)
        ]
        at = keys.index(min(keys))
        chance.pop(at)
        made.append(Variant(number=len(made) + 1, replaced=left.pop(at)))
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
