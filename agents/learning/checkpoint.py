"""Checkpoint of a training: where it stands between two updates, in one file without code."""

import json
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.learning.encoding import Array
from agents.learning.exploring import Explored
from agents.learning.matches import Matches
from agents.learning.network import Weights
from agents.learning.policy import codec_of
from agents.learning.settings import LearningError, PpoSettings
from games.contract import Json
from tools.playtest.jobs import GameSetup

_META = "rulewright"
_PARTS = ("weights", "first", "second")
_AGAIN = "say --force to begin anew"


@dataclass(frozen=True)
class Checkpoint:
    """Where a training stands.

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
        """What random play showed before the training began; the matches stand as they did.

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
        arrays[_META] = np.frombuffer(text.encode(), np.uint8)
        partial = path.with_name(f"{path.name}.partial")
        partial.write_bytes(save(arrays))
        partial.replace(path)


def identity_of(game: GameSetup, settings: PpoSettings, steps: int, seed: int) -> dict[str, Json]:
    """What has to be the same for a training to go on."""
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
    """What a training left, where it left anything.

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
        told = json.loads(arrays.pop(_META).tobytes())
        there = told.pop("identity")
        weights, first, second = (
            {name: arrays[f"{part}/{name}"].copy() for name in told["names"]} for part in _PARTS
        )
        found = Checkpoint(weights, first, second, arrays["hidden"].copy(), told)
        other = sorted(name for name in identity if there[name] != identity[name])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
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
