"""Random streams keyed by what they are for, never by order of arrival.

A player's worker is sent words of its seat's stream, and shares its process with a module. So a
stream is a keyed hash of its place: from its words nobody comes to the seed, or to the words of
another place. Where modules are not trusted, the seed is one that nobody can guess: `drawn_seed`.
"""

import hashlib
import secrets
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.random import Generator

NOBODY = -1
BLOCK = 4096
"""Numbers drawn at once: one call each would cost more than a call of a game."""
_WORD_BYTES = 4
_KEY = 5  # four words of purpose, match and seat; ply
_SECRET_BITS = 64
_IN_BLOCK = 8
_EIGHT = struct.Struct("<8Q")


def drawn_seed() -> int:
    """A seed of 64 bits by the system's own entropy; no module can guess it."""
    return secrets.randbits(_SECRET_BITS)


def stream(
    seed: int, purpose: str, *, match: int = 0, seat: int = NOBODY, ply: int = 0
) -> Generator:
    """The generator for one purpose at one place of a run.

    Args:
        seed: The run's seed.
        purpose: What the numbers decide, such as "chance" or "player".
        match: Index of the match.
        seat: 0-based seat, or `NOBODY`.
        ply: Index of the ply.

    >>> float(stream(7, "chance", ply=3).random()) == float(stream(7, "chance", ply=3).random())
    True
    """
    key = _hashed(seed, purpose, match, seat)
    words = np.frombuffer(key + ply.to_bytes(_WORD_BYTES, "little"), dtype="<u4")
    return Generator(np.random.PCG64(np.random.SeedSequence(words)))


class Chance(Protocol):
    """Uniform numbers in [0, 1) by ply, which decide chance."""

    def at(self, ply: int) -> float:
        """The number of a ply."""


@dataclass(frozen=True)
class PlyChance:
    """The first number of a stream for each ply of a deal."""

    seed: int
    deal: int

    def at(self, ply: int) -> float:
        """See `Chance.at`."""
        return float(stream(self.seed, "chance", match=self.deal, ply=ply).random())


class Uniforms:
    """Uniform numbers in [0, 1) for one purpose, match and seat, by ply and in any order.

    A keyed hash of the place gives those of eight plies at once, at a fraction of what a generator
    for each ply costs.

    >>> Uniforms.of(7, "chance").at(3) == Uniforms.beside(stream(7, "chance", ply=5)).at(3)
    True
    """

    __slots__ = ("_block", "_numbers", "_place")

    def __init__(self, place: bytes) -> None:
        """Begin at a place, as `_hashed` gives it."""
        self._place, self._block = place, -1
        self._numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, seed: int, purpose: str, *, match: int = 0, seat: int = NOBODY) -> "Uniforms":
        """Those of a place; see `stream`."""
        return cls(_hashed(seed, purpose, match, seat))

    @classmethod
    def beside(cls, generator: Generator) -> "Uniforms":
        """Those of the place of a stream.

        Raises:
            ValueError: If `stream` did not make it.
        """
        return cls(np.array(match_words(generator), dtype="<u4").tobytes())

    def at(self, ply: int) -> float:
        """The number of a ply."""
        block = ply // _IN_BLOCK
        if block != self._block:
            digest = hashlib.blake2b(self._place + block.to_bytes(4, "little"), digest_size=64)
            self._numbers, self._block = _EIGHT.unpack(digest.digest()), block
        return (self._numbers[ply % _IN_BLOCK] >> 11) * 2.0**-53


def _hashed(seed: int, purpose: str, match: int, seat: int) -> bytes:
    place = f"{seed}/{purpose}/{match}/{seat}".encode()
    return hashlib.blake2b(place, digest_size=_WORD_BYTES * (_KEY - 1)).digest()


def match_words(generator: Generator) -> tuple[int, ...]:
    """Seed words that the streams of one purpose, match and seat share at every ply.

    Args:
        generator: A stream, drawn from or not.

    Raises:
        ValueError: If `stream` did not make it.

    >>> match_words(stream(7, "player", seat=1, ply=4)) == match_words(stream(7, "player", seat=1))
    True
    """
    return _place(generator)[:-1]


def ply_of(generator: Generator) -> int:
    """The ply of a stream's place, for naming what happens there.

    Args:
        generator: A stream, drawn from or not.

    Raises:
        ValueError: If `stream` did not make it.

    >>> ply_of(stream(7, "player", seat=1, ply=4))
    4
    """
    return _place(generator)[-1]


def _place(generator: Generator) -> tuple[int, ...]:
    sequence = generator.bit_generator.seed_seq
    entropy = sequence.entropy if isinstance(sequence, np.random.SeedSequence) else None
    key = () if entropy is None or isinstance(entropy, int) else tuple(map(int, entropy))
    if len(key) != _KEY:
        raise ValueError("the generator has no place in a run; required: one that stream() made")
    return key


def uniforms(generator: Generator) -> Iterator[float]:
    """An endless iterator of uniform numbers in [0, 1), drawn from `generator` in blocks.

    A block stays an array, of eight bytes a number: as a list of objects it would take four times
    the room, and drive out of the processor's caches what the game needs there.
    """
    blocks: Iterator[array[float]] = iter(
        lambda: array("d", generator.random(BLOCK).tobytes()), array("d")
    )
    return chain.from_iterable(blocks)
