"""Random play before a training: what observations, actions and rewards there are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.learning.encoding import fitted_encoder
from agents.learning.matches import Matches
from agents.learning.policy import Codec, network_view
from agents.learning.settings import LearningError
from agents.learning.tensors import TensorSource
from agents.worker.stepping import Turns
from games.contract import Action, Json
from tools.predicting.inference import SeatSight
from tools.predicting.tensors import TENSORS, round_trips


@dataclass(frozen=True)
class Explored:
    """What random play showed.

    Attributes:
        codec: The arrays that the network is told.
        turns: Where the matches stand.
        scale: The largest reward, by which all are divided.
        about: What was met, for the policy's file.
    """

    codec: Codec
    turns: Turns
    scale: float
    about: dict[str, Json]

    def as_json(self) -> dict[str, Json]:
        """All but the turns, for a checkpoint."""
        return {"codec": self.codec.as_json(), "scale": self.scale, "explored": self.about}


def explored_by(matches: Matches, generator: np.random.Generator) -> Explored:
    """Play at random, and fit what makes arrays to what was seen.

    Raises:
        LearningError: If the module's own functions are wanted and there are none, or they make no
            array.
        ModuleFault: If the module fails or breaks the contract.
    """
    settings = matches.settings
    recurrent = matches.hides() if settings.memory == "auto" else settings.memory == "yes"
    own = _takes_own(matches)
    seen: list[Json] = []
    sights: list[SeatSight] = []
    actions, largest, turns = set[Action](), 0.0, matches.open()
    while len(seen) < settings.explore:
        for seat, view in zip(turns.seats, turns.views, strict=True):
            seen.append(network_view(seat, view, recurrent=recurrent, whole=not own))
            sights.append(
                SeatSight(0, seat, ((view["observation"], None),), ((),), (0.0,), ended=False)
            )
        actions.update(*turns.legal)
        turns = matches.step([any_action(legal, generator) for legal in turns.legal])
        largest = max(largest, *(abs(paid) for seats in turns.rewards for paid in seats))
    encoder = fitted_encoder(seen)
    lost = sum(encoder.decoded(encoder.encoded(view)[0]) != view for view in seen)
    tried, tensors = len(seen), None
    if own:
        met = round_trips(matches.sandbox, matches.game.source, sights)
        if not met.width:
            why = met.failures[0].evidence
            raise LearningError(f"{TENSORS[0]} of {matches.game.name} makes no array: {why[:2000]}")
        tensors = TensorSource(matches.game.source, met.width)
        lost, tried = met.asked - met.right, met.asked
    codec = Codec(encoder, tuple(sorted(actions)), recurrent, tensors)
    about: dict[str, Json] = {
        **{"decisions": len(seen), "actions": len(actions), "width": codec.width},
        **{"encoder": "model" if own else "general", "not_restored": lost, "tried": tried},
    }
    return Explored(codec, turns, largest or 1.0, about)


def _takes_own(matches: Matches) -> bool:
    """Whether the module's own functions make the arrays.

    Raises:
        LearningError: If they are wanted, and there are none.
    """
    wanted = matches.settings.encoder
    if wanted == "model" and not matches.has_tensors:
        raise LearningError(
            f"{matches.game.name} has no {' and '.join(TENSORS)}; 'rulewright learn --tensors N' "
            "asks for them, and encoder=general needs none"
        )
    return wanted != "general" and matches.has_tensors


def any_action(legal: Sequence[Action], generator: np.random.Generator) -> Action:
    """One of `legal`, drawn uniformly."""
    return legal[int(generator.integers(len(legal)))]
