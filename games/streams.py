"""Random streams keyed by what they are for, never by order of arrival."""

import zlib

import numpy as np

NOBODY = -1
_WORD = 2**32 - 1
_KEY = 5  # seed, purpose, match, seat, ply


def stream(
    seed: int, purpose: str, *, match: int = 0, seat: int = NOBODY, ply: int = 0
) -> np.random.Generator:
    """The generator for one purpose at one place of a run.

    Args:
        seed: The run's seed, `>= 0`.
        purpose: What the numbers decide, such as "chance" or "player".
        match: Index of the match.
        seat: 0-based seat, or `NOBODY`.
        ply: Index of the ply.

    >>> float(stream(7, "chance", ply=3).random()) == float(stream(7, "chance", ply=3).random())
    True
    """
    key = (seed, zlib.crc32(purpose.encode()), match, seat + 1, ply)
    # The same words either way; numpy takes twice as long to read them from a tuple.
    words = key if seed > _WORD else np.array(key, dtype=np.uint32)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


def match_words(generator: np.random.Generator) -> tuple[int, ...]:
    """Seed words that the streams of one purpose, match and seat share at every ply.

    Args:
        generator: A stream, drawn from or not.

    Raises:
        ValueError: If `stream` did not make it.

    >>> match_words(stream(7, "player", seat=1, ply=4)) == match_words(stream(7, "player", seat=1))
    True
    """
    sequence = generator.bit_generator.seed_seq
    entropy = sequence.entropy if isinstance(sequence, np.random.SeedSequence) else None
    key = () if entropy is None or isinstance(entropy, int) else tuple(map(int, entropy))
    if len(key) != _KEY:
        raise ValueError("the generator has no place in a run; required: one that stream() made")
    return key[:-1]
