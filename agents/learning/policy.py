"""Policy file: weights, encoder and what they were made with, without code; and its network.

The form is safetensors: arrays of numbers, and one JSON text. The network is an actor and a critic
over one body, the same formulas for numpy and for torch: play and training share `forward`, and
only the gradient needs torch. A module's own functions may make the arrays; they run in a sandbox.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from os import stat_result
from pathlib import Path
from stat import S_ISREG
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.encoding.paths import Encoder, TurnEncoder, encoder_of
from agents.encoding.protocol import Array, JoinedEncoder, LogEncoder
from agents.encoding.tensors import TensorEncoder, TensorSource
from agents.learning.settings import LearningError
from games.information import SeatTurn
from games.values import Action, Json
from tools.guest.framing import weight_of
from tools.sandbox import Sandbox

Weights: TypeAlias = dict[str, Array]
NEVER = -1e9  # the logit of an illegal action: its probability is exactly 0
_LAYERS = ("first", "inward", "onward", "last", "actor", "critic")
FORMAT = 1
META = "rulewright"
_LARGEST = 2**28  # bytes
_WIDEST = 10**6  # numbers of an array that is told, and units of a layer
_META_WEIGHT = 192 * 2**20  # that what a file says of itself may take in memory
_HEADING_BYTES = 2**20  # of a file: names and shapes of its arrays
_NO_POLICY = (ArithmeticError, LookupError, TypeError, ValueError, SyntaxError, RecursionError)


def shapes(width: int, actions: int, units: int, *, recurrent: bool) -> dict[str, tuple[int, int]]:
    """`(inputs, outputs)` of each layer."""
    found = {"first": (width, units), "last": (units, units)}
    if recurrent:
        found |= {"inward": (units, 3 * units), "onward": (units, 3 * units)}
        found["last"] = (units + width, units)
    return found | {"actor": (units, actions), "critic": (units, 1)}


def initial_weights(
    sizes: Mapping[str, tuple[int, int]], generator: np.random.Generator
) -> Weights:
    """Orthogonal layers, the actor's small, so that play begins near uniform; biases 0."""
    weights: Weights = {}
    for name in (layer for layer in _LAYERS if layer in sizes):
        inputs, outputs = sizes[name]
        drawn = generator.standard_normal((max(inputs, outputs), min(inputs, outputs)))
        orthogonal, upper = np.linalg.qr(drawn)
        orthogonal = orthogonal * np.sign(np.diag(upper))
        matrix = orthogonal if inputs >= outputs else orthogonal.T
        gain = {"actor": 0.01, "first": 2**0.5, "last": 2**0.5}.get(name, 1.0)
        weights[name] = np.ascontiguousarray(gain * matrix, dtype=np.float32)
        weights[f"{name}.bias"] = np.zeros(outputs, np.float32)
    return weights


def forward(
    weights: Mapping[str, Any],
    inputs: Any,  # noqa: ANN401 - of numpy or torch
    hidden: Any,  # noqa: ANN401 - of numpy or torch
    xp: ModuleType,
) -> tuple[Any, Any, Any]:
    """One decision of each row (Code World Models, App. E.1; GRU of Cho et al. 2014).

    `r, z = sigmoid(..)`, `n = tanh(Wn a + bn + r (Un h + cn))`, `h' = (1 - z) n + z h`, with `a`
    the first layer's output; the last hidden layer gets `[h', inputs]`. Without memory it gets `a`.

    Args:
        weights: By name, as `shapes` lists the layers.
        inputs: `[rows, width]`.
        hidden: `[rows, units]` what is remembered; not looked at without memory.
        xp: `numpy` or `torch`, of which the arrays are.

    Returns:
        Logits `[rows, actions]`, values `[rows]`, and the memory after it.
    """

    def layer(name: str, of: Any) -> Any:  # noqa: ANN401 - of numpy or torch
        return of @ weights[name] + weights[f"{name}.bias"]

    body = xp.tanh(layer("first", inputs))
    if "inward" in weights:
        new, old = layer("inward", body), layer("onward", hidden)
        units = hidden.shape[-1]
        gates = 0.5 * (1.0 + xp.tanh(0.5 * (new + old)[..., : 2 * units]))  # the logistic function
        reset, keep = gates[..., :units], gates[..., units:]
        fresh = xp.tanh(new[..., 2 * units :] + reset * old[..., 2 * units :])
        hidden = (1.0 - keep) * fresh + keep * hidden
        body = xp.concatenate([hidden, inputs], -1)
    last = xp.tanh(layer("last", body))
    return layer("actor", last), layer("critic", last)[..., 0], hidden


def log_chances(logits: NDArray[Any], legal: NDArray[np.bool_]) -> NDArray[Any]:
    """Logarithm of the softmax over the legal actions; `NEVER` or less at the others.

    Args:
        logits: `[rows, actions]`.
        legal: `[rows, actions]`, at least one in a row.
    """
    masked = np.where(legal, logits, NEVER)
    masked = masked - masked.max(-1, keepdims=True)
    return masked - np.log(np.exp(masked).sum(-1, keepdims=True))  # type: ignore[no-any-return]


def drawn_actions(
    chances: NDArray[Any], legal: NDArray[np.bool_], generator: np.random.Generator
) -> NDArray[np.int64]:
    """An action a row by its probability (Gumbel-max trick); one that is not legal never.

    Args:
        chances: `[rows, actions]` logarithms.
        legal: `[rows, actions]`.
        generator: Draws.
    """
    noisy = chances + generator.gumbel(size=chances.shape)
    picked: NDArray[np.int64] = np.where(legal, noisy, -np.inf).argmax(-1)
    return picked


@dataclass(frozen=True)
class Codec:
    """Arrays of what a seat knows and may do.

    Attributes:
        encoder: Of `agents.encoding.paths.turn_view`.
        actions: Those that the network knows, in the order of its logits.
        recurrent: Whether the network remembers. Where it does not, only the newest observation
            and the seat are told.
        tensors: What turns the observation into an array, where the encoder does not.
    """

    encoder: Encoder
    actions: tuple[Action, ...]
    recurrent: bool
    tensors: TensorSource | None = None

    @property
    def width(self) -> int:
        """Length of an array."""
        return self.encoder.width + (self.tensors.width if self.tensors else 0)

    @cached_property
    def number(self) -> dict[Action, int]:
        """Place of each action."""
        return {action: place for place, action in enumerate(self.actions)}

    def log_encoder(self, sandbox: Sandbox) -> LogEncoder:
        """The encoder of the network; the module's own stands behind the general one."""
        told = TurnEncoder(self.encoder, self.recurrent, whole=self.tensors is None)
        if self.tensors is None:
            return told
        return JoinedEncoder((told, TensorEncoder(sandbox, self.tensors)))

    def as_json(self) -> dict[str, Json]:
        """All of it, for a file; `codec_of` reads it."""
        return {
            "recurrent": self.recurrent,
            "actions": [*self.actions],
            "encoder": self.encoder.as_json(),
            "tensors": self.tensors and self.tensors._asdict(),
        }

    def mask(self, legal: Sequence[Action]) -> NDArray[np.bool_]:
        """`[actions]`: which are legal; none where no legal action is known."""
        mask = np.zeros(len(self.actions), np.bool_)
        mask[[self.number[action] for action in legal if action in self.number]] = True
        return mask


def codec_of(meta: Mapping[str, Any]) -> Codec:
    """The codec that a file tells of; raises as Python does where it tells another thing."""
    tensors = meta.get("tensors")
    if tensors is not None:
        tensors = TensorSource(str(tensors["source"]), int(tensors["width"]))
        if not 1 <= tensors.width <= _WIDEST:
            raise ValueError(f"its arrays have {tensors.width} numbers")
    return Codec(
        encoder_of(meta["encoder"]), tuple(meta["actions"]), bool(meta["recurrent"]), tensors
    )


@dataclass(frozen=True)
class Policy:
    """A trained network.

    Attributes:
        codec: Its inputs and outputs.
        weights: Its layers.
        about: The game, seats, settings, seed, versions, sandbox and course of the training.
        digest: Of the file's bytes; "" before it is written.
    """

    codec: Codec
    weights: Weights
    about: Mapping[str, Any]
    digest: str = ""

    def logits(
        self, seat: int, asked: Sequence[Sequence[SeatTurn]], encoder: LogEncoder
    ) -> tuple[Array, list[int]]:
        """The logits of positions of one seat, the same to the last bit whatever is asked beside.

        Args:
            seat: 0-based.
            asked: The seat's turns at each position, the newest last.
            encoder: From `Codec.log_encoder`; prepared for these turns.

        Returns:
            `[positions, actions]`, and the values of each newest turn that are not known.
        """
        read = [[*turns] if self.codec.recurrent else [turns[-1]] for turns in asked]
        hidden = np.zeros((len(read), 1, self.weights["first"].shape[1]), np.float32)
        logits = np.zeros((len(read), 1, len(self.codec.actions)), np.float32)
        unknown = [0] * len(read)
        for step in range(max(map(len, read))):
            rows = [row for row, turns in enumerate(read) if step < len(turns)]
            features = []
            for row in rows:
                array, unknown[row] = encoder.encoded(seat, read[row][step])
                features.append(array)
            # Each row is a matrix of its own: a product of many rows would round otherwise.
            logits[rows], _, hidden[rows] = forward(
                self.weights, np.stack(features)[:, None], hidden[rows], np
            )
        return logits[:, 0], unknown

    def act(
        self,
        logits: Array,
        legal: Sequence[Action],
        temperature: float,
        generator: Callable[[], np.random.Generator],
    ) -> tuple[Action, dict[str, Json]]:
        """An action at one position, and what was not known of it.

        Args:
            logits: `[actions]`.
            legal: What the seat may do.
            temperature: Of the softmax; 0 takes the likeliest action.
            generator: Makes what draws, where it is needed.

        Returns:
            One of `legal`. Where the network knows none of them it is drawn uniformly, and the
            effort says so.
        """
        mask = self.codec.mask(legal)
        effort: dict[str, Json] = {"unknown_actions": len(legal) - int(mask.sum())}
        if not mask.any():
            drawn = legal[int(generator().integers(len(legal)))]
            return drawn, {**effort, "fallback": "uniform"}
        sharpness = 1 / temperature if temperature else 1.0
        chances = log_chances(logits * np.float32(sharpness), mask)
        picked = drawn_actions(chances, mask, generator()) if temperature else chances.argmax()
        return self.codec.actions[int(picked)], effort

    def saved(self) -> bytes:
        """The file; equal policies give equal bytes."""
        meta = {**self.about, "format": FORMAT, **self.codec.as_json()}
        text = json.dumps(meta, sort_keys=True, separators=(",", ":"))
        raw = np.frombuffer(text.encode(), np.uint8)
        return save({**self.weights, META: raw})


def read_policy(path: str) -> Policy:
    """Read a policy file; one that has not changed is not read again.

    Raises:
        LearningError: If it is not there, is damaged, or has another form than ours.
    """
    found = stat_of(path)
    return _read(path, found.st_mtime_ns, found.st_size)


def stat_of(path: str) -> stat_result:
    """The state of a file that a training wrote.

    Raises:
        LearningError: If there is none, or it cannot be one.
    """
    try:
        found = Path(path).stat()
    except (OSError, ValueError) as error:
        raise LearningError(
            f"there is no policy file {path!r}; 'rulewright train' writes one"
        ) from error
    if not S_ISREG(found.st_mode) or found.st_size > _LARGEST:
        raise LearningError(f"{path} is no policy file: it is a device, a folder, or too large")
    return found


@lru_cache(maxsize=8)
def _read(path: str, _changed: int, _size: int) -> Policy:
    refusal = f"{path} is no policy file, or is damaged; train again with 'rulewright train'"
    try:
        raw = Path(path).read_bytes()
        if int.from_bytes(raw[:8], "little") > _HEADING_BYTES:
            raise LearningError(refusal)
        weights = load(raw)
        told = weights.pop(META).tobytes()
        if weight_of(told) > _META_WEIGHT:
            raise LearningError(refusal)
        meta = json.loads(told)
        if meta["format"] != FORMAT:
            raise LearningError(
                f"{path} has the form {meta['format']!r:.20}; this version reads {FORMAT}: train "
                "again with 'rulewright train'"
            )
        codec = codec_of(meta)
        about = {key: meta[key] for key in meta if key not in ("encoder", "actions", "tensors")}
        about["game"], about["num_players"]  # a file without them is none
        units = int(meta["settings"]["units"])
        if not 1 <= units <= _WIDEST:  # without units a width of any size takes no byte of the file
            raise LearningError(refusal)
        sizes = shapes(codec.width, len(codec.actions), units, recurrent=codec.recurrent)
    except (*_NO_POLICY, OSError, SafetensorError) as error:
        if isinstance(error, LearningError):
            raise
        raise LearningError(refusal) from error
    expected = {**sizes, **{f"{name}.bias": (outputs,) for name, (_, outputs) in sizes.items()}}
    if {name: array.shape for name, array in weights.items()} != expected:
        raise LearningError(refusal)
    if not all(
        array.dtype == np.float32 and np.isfinite(array).all() for array in weights.values()
    ):
        raise LearningError(refusal)
    return replace(Policy(codec, weights, about), digest=sha256(raw).hexdigest()[:16])
