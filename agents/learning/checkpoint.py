"""Checkpoint of a training: where it stands between two updates, in one file; and its beginning.

Random play before a training shows what observations, actions and rewards there are.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.encoding.paths import fitted_encoder, turn_view
from agents.encoding.protocol import Array
from agents.encoding.tensors import TensorSource
from agents.learning.matches import Matches
from agents.learning.policy import (
    META,
    Codec,
    Weights,
    codec_of,
    initial_weights,
    shapes,
)
from agents.learning.settings import LearningError, PpoSettings
from agents.worker.stepping import Turns
from games.streams import stream
from games.values import Action, Json
from tools.playtest.jobs import GameSetup
from tools.predicting.inference import SeatSight
from tools.predicting.tensors import TENSORS, round_trips

_PARTS = ("weights", "first", "second")
_AGAIN = "say --force to begin anew"


@dataclass(frozen=True)
class Explored:
    """The findings of random play.

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
        for seat, turn in zip(turns.seats, turns.turns(), strict=True):
            seen.append(turn_view(seat, turn, recurrent=recurrent, whole=not own))
            sights.append(
                SeatSight(0, seat, ((turn.observation, None),), ((),), (0.0,), ended=False)
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
        lost, tried = met.sights - met.right, met.sights
    codec = Codec(encoder, tuple(sorted(actions)), recurrent, tensors)
    about: dict[str, Json] = {
        **{"decisions": len(seen), "actions": len(actions), "width": codec.width},
        **{"encoder": "model" if own else "general", "not_restored": lost, "tried": tried},
    }
    return Explored(codec, turns, largest or 1.0, about)


def _takes_own(matches: Matches) -> bool:
    """True where the module's own functions make the arrays.

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


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training.

    Attributes:
        weights: Of the network.
        first: First moments of Adam by weight.
        second: Second moments.
        hidden: `[environments, seats, units]` what the network remembers; None before any decision.
        told: Adam's `step`, state of the `generator`, `course`, `matches` of the worker, and what
            `Explored.as_json` gives.
    """

    weights: Weights
    first: Weights
    second: Weights
    hidden: Array | None
    told: dict[str, Any]

    def explored(self, matches: Matches) -> Explored:
        """The findings of random play before the training; the matches stand as they did.

        Raises:
            ModuleFault: If the module does not go on from where they stood.
        """
        told = self.told
        turns = matches.resume(told["matches"])
        return Explored(codec_of(told["codec"]), turns, float(told["scale"]), told["explored"])

    def write(self, path: Path, identity: dict[str, Json]) -> None:
        """Replace the file; one that a kill leaves half written is never read."""
        arrays = {
            f"{part}/{name}": array
            for part in _PARTS
            for name, array in getattr(self, part).items()
        }
        if self.hidden is not None:
            arrays["hidden"] = self.hidden
        # Names in their order, by which gradients are summed; and keys in the module's.
        text = json.dumps({"identity": identity, "names": [*self.weights], **self.told})
        arrays[META] = np.frombuffer(text.encode(), np.uint8)
        partial = path.with_name(f"{path.name}.partial")
        partial.write_bytes(save(arrays))
        partial.replace(path)


def identity_of(game: GameSetup, settings: PpoSettings, steps: int, seed: int) -> dict[str, Json]:
    """All that has to be the same for a training to go on."""
    return {
        "game": game.name,
        "source": sha256(game.source.encode("utf-8", "surrogatepass")).hexdigest(),
        "players": game.num_players,
        "parameters": {**game.parameters},
        "settings": settings.model_dump(mode="json"),
        "steps": steps,
        "seed": seed,
        "versions": {name: version(name) for name in ("numpy", "torch")},
    }


def read_checkpoint(path: Path, identity: dict[str, Json], *, anew: bool) -> Checkpoint | None:
    """The state that a training left; None where it left none.

    Args:
        path: The file.
        identity: Of the training that goes on.
        anew: Whether what another training left, or is damaged, counts as nothing.

    Raises:
        LearningError: If it is damaged, or of another training.
    """
    if not path.exists():
        return None
    try:
        arrays = load(path.read_bytes())
        told = json.loads(arrays.pop(META).tobytes())
        there = told.pop("identity")
        weights, first, second = (
            {name: arrays[f"{part}/{name}"].copy() for name in told["names"]} for part in _PARTS
        )
        found = Checkpoint(weights, first, second, arrays["hidden"].copy(), told)
        other = sorted(name for name in identity if there[name] != identity[name])
    except (OSError, SafetensorError, LookupError, TypeError, ValueError, RecursionError) as error:
        if anew:
            return None
        raise LearningError(f"{path} is damaged ({error}); {_AGAIN}") from error
    if not other:
        return found
    if anew:
        return None
    said = ", ".join(f"{name} {there[name]!r:.60}" for name in other)
    raise LearningError(
        f"{path} is of a training that was stopped, with another {', '.join(other)} (there: "
        f"{said}); go on with it as it was begun, or {_AGAIN}"
    )


def first_checkpoint(codec: Codec, settings: PpoSettings, seed: int) -> Checkpoint:
    """The state in which a training begins."""
    sizes = shapes(codec.width, len(codec.actions), settings.units, recurrent=codec.recurrent)
    learn = stream(seed, "learn").bit_generator.state
    weights = initial_weights(sizes, stream(seed, "weights"))
    first = {name: np.zeros_like(array) for name, array in weights.items()}
    second = {name: np.zeros_like(array) for name, array in weights.items()}
    return Checkpoint(weights, first, second, None, {"step": 0, "generator": learn, "course": []})
