"""Plans of a seat's own plies, and what they are worth in a determinization.

A genome is `[L]` whole numbers, one an own ply, nothing for anybody else's. Playing it in a state,
the seat's next ply takes the gene `g` to the legal action `g mod number of legal actions`, so every
gene stands for a legal action wherever it is met. In between the other seats play by the opponent
model and chance by its probabilities; so turns may alternate, or not, in any way. Play ends with
the match, after the last gene, or is cut after `limit` plies; then the leaf says what is still to
come.

The fitness is `sum_k discount^k p_k + discount^K v`, where `p_k` is what was paid to the seat
between its own `k`th ply, from 0, and the next, and `v` the worth of the last state after `K` own
plies. With a discount of 1 it is the seat's return.

Reference:
    Perez, Samothrakis, Lucas & Rohlfshagen (2013), Rolling Horizon Evolution versus Tree Search for
    Navigation in Single-Player Real-Time Games; Gaina, Lucas & Perez-Liebana (2017), Rolling
    Horizon Evolution Enhancements in General Video Game Playing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from agents.search.ensemble import EnsemblePolicy
from agents.search.leaves import Leaves
from agents.search.meter import Meter
from agents.search.policies import Draw, Played, Policy, Score, Uniform, sampled
from agents.search.rules import Rules
from agents.search.settings import Ensemble, SearchResult, SearchSettings
from games.contract import CHANCE, TERMINAL, Action, State

Genome: TypeAlias = tuple[int, ...]
Opponent: TypeAlias = Literal["uniform", "greedy", "heuristic"]
GENES = 2_000_000  # of a population, some 40 bytes each
SPAN = 2**30  # genes are below it, so that every action of a ply is about as likely


@dataclass(frozen=True)
class EvolutionSettings:
    """Settings of the searches over genomes; each says which of them it follows.

    Attributes:
        horizon: Own plies planned, at least 1.
        discount: Worth of a payment an own ply later, in (0, 1].
        opponent: How other seats play: "uniform", "greedy" (the action that pays it most at
            once, of equals one at random), or "heuristic" (by the game's heuristics).
        mutation: Probability that a gene changes, above 0.
        population: Genomes kept, at least 2, of at most `GENES` genes together.
        elite: Best genomes taken over unchanged, below `population`.
        tournament: Genomes drawn for each parent, the fittest of which is it, at least 1.
        trials: Determinizations a genome is valued in, at least 1.
    """

    horizon: int = 10
    discount: float = 1.0
    opponent: Opponent = "uniform"
    mutation: float = 0.3
    population: int = 10
    elite: int = 1
    tournament: int = 2
    trials: int = 1

    def __post_init__(self) -> None:
        """Refuse what no search can follow."""
        for name, least in (("horizon", 1), ("population", 2), ("tournament", 1), ("trials", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; required: at least {least}")
        for name in ("discount", "mutation"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; required: above 0, at most 1")
        if self.population * self.horizon > GENES:
            raise ValueError(
                f"population is {self.population} with horizon={self.horizon}; required: at most "
                f"{GENES:,} genes in all, so that two generations fit the memory"
            )
        if not 0 <= self.elite < self.population:
            raise ValueError(f"elite is {self.elite}; required: from 0 to below the population")
        if self.opponent not in get_args(Opponent):
            known = " or ".join(map(repr, get_args(Opponent)))
            raise ValueError(f"opponent is {self.opponent!r}; required: {known}")


class Greedy:
    """Every seat takes what pays it most at once; of equals one at random."""

    def __init__(self, rules: Rules, draw: Draw) -> None:
        """`draw` gives uniform numbers in [0, 1)."""
        self.rules = rules
        self.draw = draw

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """See `agents.search.policies.Policy`."""
        rules = self.rules
        pays = [rules.rewards(rules.apply_action(state, action))[player] for action in legal]
        best = max(pays)
        equal = [action for action, paid in zip(legal, pays, strict=True) if paid == best]
        return equal[int(self.draw() * len(equal))]

    def learn(self, trace: Sequence[Played], returns: list[float]) -> None:
        """Nothing is learnt."""


def opponents(
    rules: Rules,
    settings: EvolutionSettings,
    draw: Draw,
    heuristics: Sequence[Score],
    agreement: Ensemble,
) -> Policy:
    """The opponent model that the settings name.

    Raises:
        ValueError: If it is "heuristic" and there is no heuristic.
    """
    if settings.opponent == "heuristic":
        return EnsemblePolicy(rules, heuristics, agreement, draw)
    return Greedy(rules, draw) if settings.opponent == "greedy" else Uniform(draw)


class Valuer:
    """Plays genomes, and keeps what each first action was worth.

    Attributes:
        actions: `[A]` the seat's legal actions at the root; empty before the first valuation.
        visits: `[A]` valuations that began with each.
        means: `[A]` mean fitness of them; 0 where there are none.
        cut: Genomes not played to their end, or the match's, within the limit.
    """

    def __init__(
        self,
        rules: Rules,
        seat: int,
        leaves: Leaves,
        others: Policy,
        draw: Draw,
        *,
        discount: float,
        limit: int,
    ) -> None:
        """Prepare to play genomes of one seat; see the module's own words for the rest."""
        self.rules = rules
        self.seat = seat
        self.leaves = leaves
        self.others = others
        self.draw = draw
        self.discount = discount
        self.limit = limit
        self.actions: list[Action] = []
        self.visits: list[int] = []
        self.means: list[float] = []
        self.cut = 0

    def value(self, state: State, genome: Genome) -> float:
        """The fitness of a genome in one determinization.

        Raises:
            ValueError: If the seat is not to move there.
        """
        player = self.rules.current_player(state)
        if player != self.seat:
            raise ValueError(
                f"the determinization has player {player} to move; required: seat {self.seat}"
            )
        if not self.actions:
            self.actions = list(self.rules.legal_actions(state))
            self.visits = [0] * len(self.actions)
            self.means = [0.0] * len(self.actions)
        fitness = self._played(state, genome)
        first = genome[0] % len(self.actions)
        self.visits[first] += 1
        self.means[first] += (fitness - self.means[first]) / self.visits[first]
        return fitness

    def _played(self, state: State, genome: Genome) -> float:
        rules, seat = self.rules, self.seat
        fitness, own, paid = 0.0, 0, [0.0] * rules.num_players
        for _ in range(self.limit):
            player = rules.current_player(state)
            if player == TERMINAL:
                return fitness
            if player == seat and own == len(genome):
                break
            legal = rules.legal_actions(state)
            if player == CHANCE:
                action = sampled(rules, state, legal, self.draw())
            elif player == seat:
                action, own = legal[genome[own] % len(legal)], own + 1
            else:
                action = self.others.choose(state, player, legal)
            state = rules.apply_action(state, action)
            paid = rules.rewards(state)
            fitness += self.discount ** (own - 1) * paid[seat]
        player = rules.current_player(state)
        if player == TERMINAL:
            return fitness
        self.cut += not (player == seat and own == len(genome))
        return fitness + self.discount**own * self.leaves.returns(state, paid)[seat]

    def result(self, meter: Meter, best: Genome | None, fitness: float) -> SearchResult:
        """What was found; the first gene of the `best` genome is played, 0 if none was valued."""
        pairs = zip(self.visits, self.means, strict=True)
        first = 0 if best is None else best[0] % len(self.actions)
        return SearchResult(
            actions=tuple(self.actions),
            visits=tuple(self.visits),
            means=tuple(mean if visits else None for visits, mean in pairs),
            simulations=meter.done,
            nodes=1,
            cut_rollouts=self.cut + self.leaves.rollouts.cut,
            calls=meter.made,
            seconds=meter.seconds,
            chosen=self.actions[first],
            figures={} if best is None else {"fitness": fitness},
        )


def random_genome(length: int, draw: Draw) -> Genome:
    """`[length]` genes, each uniform."""
    return tuple(int(draw() * SPAN) for _ in range(length))


def mutated(genome: Genome, probability: float, draw: Draw) -> Genome:
    """A copy with every gene drawn anew with a probability, and at least one."""
    sure = int(draw() * len(genome))
    return tuple(
        int(draw() * SPAN) if index == sure or draw() < probability else gene
        for index, gene in enumerate(genome)
    )


def seated(
    rules: Rules,
    seat: int,
    settings: SearchSettings,
    evolution: EvolutionSettings,
    generator: np.random.Generator,
    draw: Draw,
    heuristics: Sequence[Score],
) -> Valuer:
    """The valuer of one seat's genomes, with the leaf and the opponent model of the settings."""
    return Valuer(
        rules,
        seat,
        Leaves(rules, settings, generator, heuristics),
        opponents(rules, evolution, draw, heuristics, settings.ensemble),
        draw,
        discount=evolution.discount,
        limit=settings.rollout_limit,
    )
