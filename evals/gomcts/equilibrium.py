"""Distance from equilibrium of policies by models of observations, in games that are enumerated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from agents.observing.following import LogFollower
from agents.observing.model import ObservationModel
from agents.observing.selfplay import argmax_values, best_place
from agents.solving.enumeration import enumerate_game
from agents.solving.form import (
    Behaviour,
    SequenceForm,
    nash_conv,
    uniform,
)
from games import library
from games.information import SeatLog
from games.lockstep import SeatView
from games.modules import Rules, bind, first_state, load_namespace
from games.streams import stream
from games.values import Json, State

_LIMIT = 200_000  # information states


@dataclass(frozen=True)
class EnumeratedGame:
    """A library game for two whose information states are all known.

    Attributes:
        name: Of the game.
        parameters: Those that are not its own.
    """

    name: str
    parameters: Mapping[str, Json] = field(default_factory=dict)

    @cached_property
    def rules(self) -> Rules:
        """Its functions, in this process: they are the library's own."""
        return bind(load_namespace(library.source(self.name)), 2)

    @cached_property
    def initial(self) -> State:
        """Its first state."""
        return first_state(load_namespace(library.source(self.name)), 2, self.parameters)

    @cached_property
    def form(self) -> SequenceForm:
        """Its sequence form."""
        return enumerate_game(self.rules, self.initial, limit=_LIMIT)

    @cached_property
    def logs(self) -> list[list[SeatLog]]:
        """By seat, a log of each information state."""
        return [
            [self.form.log(number, state) for state in range(len(seat.states))]
            for number, seat in enumerate(self.form.seats)
        ]

    def behaviours(
        self, model: ObservationModel, greedy: float | None = None
    ) -> tuple[Behaviour, ...]:
        """The behaviour of each seat by a model.

        Args:
            model: Trained on this game.
            greedy: `ArgmaxVal*`'s threshold; None for the policy that samples.
        """
        found = []
        for seat, logs in zip(self.form.seats, self.logs, strict=True):
            follower = LogFollower(model, 1)
            chosen = np.zeros(seat.size)
            place = 1  # the empty sequence comes first
            for state, log in zip(seat.states, logs, strict=True):
                rows, last = follower.turns([log])
                chances = model.legal_chances(model.transformer.next(last)[0], state.actions)
                if greedy is not None:
                    view = SeatView(log, state.actions, lambda: stream(0, "unused"))
                    worth = argmax_values(model, follower, rows, [view], [chances], greedy)[0]
                    if worth:  # else it draws uniformly, as the player does
                        chances = np.eye(len(state.actions))[best_place(worth)]
                chosen[place : place + len(state.actions)] = chances
                place += len(state.actions)
                follower.forget(log)
            found.append(seat.normalised(chosen))
        return tuple(found)

    def average(self, behaviours: Sequence[Sequence[Behaviour]]) -> tuple[Behaviour, ...]:
        """The behaviour of who draws one of some policies for a whole match, each as likely."""
        return tuple(
            seat.normalised(np.mean([seat.plan(one[number]) for one in behaviours], axis=0))
            for number, seat in enumerate(self.form.seats)
        )

    def distance(self, behaviours: Sequence[Behaviour]) -> float:
        """NashConv: what the seats gain by best responses, all together."""
        return nash_conv(self.form, behaviours).total

    @property
    def uniform(self) -> float:
        """NashConv of random play."""
        return self.distance(uniform(self.form))
