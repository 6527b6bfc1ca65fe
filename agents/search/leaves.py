"""What a new leaf is worth: rollouts to the end or truncated, the module's value, heuristics."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agents.search.ensemble import EnsemblePolicy
from agents.search.policies import Mast, Played, Policy, PolicyRollouts, Score, Uniform, drawing
from agents.search.rollouts import Rollouts, add
from agents.search.rules import Rules
from agents.search.settings import SearchSettings
from games.contract import Action, ModuleFault, State


class Leaves:
    """Estimates what a state pays after it was entered, as the settings ask.

    Attributes:
        rollouts: Plays the rollouts, and counts them.
        play: Plays the one rollout of a leaf, where that is all it is worth; None elsewhere.
        mast: What MAST learnt, for the tree to teach as well; None where it is not used.
    """

    def __init__(
        self,
        rules: Rules,
        settings: SearchSettings,
        generator: np.random.Generator,
        heuristics: Sequence[Score] = (),
    ) -> None:
        """Prepare the estimates.

        Args:
            rules: The module's functions.
            settings: With the kind of leaf.
            generator: The only source of randomness.
            heuristics: The game's heuristics, for leaf="heuristic".

        Raises:
            ModuleFault: If `leaf` is "value" and the module has no `value_function`.
            ValueError: If `leaf` is "heuristic" and there is no heuristic.
        """
        if settings.leaf == "auto":
            settings = replace(settings, leaf="rollout" if rules.value is None else "value")
        if settings.leaf == "value" and rules.value is None:
            raise ModuleFault("missing", "value_function", "leaf=value needs the module's own")
        self.value = rules.value if settings.leaf == "value" else None
        self.num_players = rules.num_players
        self.count = settings.rollouts
        self.mast: Mast | None = None
        self.rollouts = self._rollouts(rules, settings, generator, heuristics)
        self.play = self.rollouts.play if self.value is None and self.count == 1 else None

    def _rollouts(
        self,
        rules: Rules,
        settings: SearchSettings,
        generator: np.random.Generator,
        heuristics: Sequence[Score],
    ) -> Rollouts | PolicyRollouts:
        traced = settings.rave != "none" or settings.policy != "uniform"
        if settings.leaf in ("rollout", "value") and not traced:
            # A budget of calls counts the calls made, which a table would spare.
            interns = settings.budget != "calls"
            return Rollouts(rules, generator, settings.rollout_limit, interns=interns)
        draw = drawing(generator)
        policy: Policy = Uniform(draw)
        if settings.leaf == "heuristic":
            policy = EnsemblePolicy(rules, heuristics, settings.ensemble, draw)
        elif settings.policy != "uniform":
            epsilon = settings.epsilon if settings.policy == "mast" else None
            temperature = settings.temperature
            policy = self.mast = Mast(
                rules.num_players, draw, epsilon=epsilon, temperature=temperature
            )
        is_cut = settings.leaf in ("truncated", "heuristic")
        limit = settings.depth if is_cut else settings.rollout_limit
        return PolicyRollouts(rules, policy, draw, limit, estimates=is_cut)

    def returns(
        self, state: State, paid: list[float] | None, actions: list[Action] | None = None
    ) -> list[float]:
        """`[num_players]` what is still to come after `state` was entered.

        Args:
            state: The leaf; a seat's, chance's or a terminal one.
            paid: What entering it paid, None for nothing; a `value_function` counts it in.
            actions: Its legal actions, if the caller has them.
        """
        if self.play is not None:
            return self.play(state, actions)
        if self.value is not None:
            entered = paid or [0.0] * self.num_players
            return [self.value(state, seat) - entered[seat] for seat in range(self.num_players)]
        returns = self.rollouts.play(state, actions)
        for _ in range(self.count - 1):
            returns = add(returns, self.rollouts.play(state, actions))
        return [total / self.count for total in returns]

    @property
    def trace(self) -> list[Played]:
        """The plies of the last rollout, where rollouts keep them."""
        return self.rollouts.trace if isinstance(self.rollouts, PolicyRollouts) else []
