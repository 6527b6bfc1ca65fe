"""The vectors that come with the product, so that a first use does not wait for them.

    python -m scripts.vectors        work out what is missing, drop what is no longer used

A file holds those of the library's documents, of the composer's own words, or of one author's
briefs: where one of these changes, the others stand.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import numpy as np
import numpy.typing as npt
from agents.composer.loader import common, lexicons
from agents.composer.meaning.fit import described

from agents.composer.meaning.statements import labelled_briefs
from vectorstore.client import PACKAGED, packaged_vectors
from vectorstore.indexing import library_documents
from vectorstore.minilm import MiniLM
from vectorstore.sources import Library

DOCUMENT = np.dtype([("sha256", "u1", (32,)), ("vector", "<f2", (MiniLM.dimension,))])
WORDS = np.dtype([("sha256", "u1", (32,)), ("vector", "i1", (MiniLM.dimension,))])
_DOCUMENTS = "library"
_MOST = 127
_BATCH = 256


def texts_by_file() -> dict[str, tuple[str, ...]]:
    """Every text that is compared with a person's words, by the file that has its vector."""
    spoken = [common().says, *(lexicon.says for lexicon in lexicons())]
    own = [
        text for says in spoken for of in says.values() for texts in of.values() for text in texts
    ]
    files = {
        "library": tuple(document.key for document in library_documents(Library().games())),
        "words": (*(text for _, text in described()), *own, *common().beings, *common().parts),
    }
    for author, briefs in labelled_briefs().items():
        parts = [text for brief in briefs for text in (*(t for *_, t in brief.said), *brief.silent)]
        files[f"briefs_{author}"] = (*(brief.text for brief in briefs), *parts)
    return files


def stretched(
    known: Mapping[str, npt.NDArray[np.float16]], keys: Iterable[str]
) -> dict[str, npt.NDArray[np.int8]]:
    """The vectors of these keys as int8, the largest component of each 127 or -127."""
    found = {}
    for key in keys:
        wide = known[key].astype(np.float32)
        found[key] = np.round(wide * (_MOST / np.abs(wide).max())).astype(np.int8)
    return found


def write(files: Mapping[str, Sequence[str]]) -> None:
    """Write each file anew; vectors that are known are not worked out again."""
    model, known = MiniLM(), dict(packaged_vectors(MiniLM.identity))
    folder = PACKAGED / model.identity
    folder.mkdir(parents=True, exist_ok=True)
    for name, of in files.items():
        texts = {sha256(text.encode()).hexdigest(): text for text in of}
        missing = sorted(texts.keys() - known.keys(), key=lambda key: (len(texts[key]), key))
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            vectors = model.embed([texts[key] for key in batch]).astype(np.float16)
            known.update(zip(batch, vectors, strict=True))
        kind, kept = (DOCUMENT, known) if name == _DOCUMENTS else (WORDS, stretched(known, texts))
        rows = [(tuple(bytes.fromhex(key)), kept[key]) for key in sorted(texts)]
        np.save(folder / f"{name}.npy", np.array(rows, kind))
        sys.stdout.write(f"{name}: {len(texts)} texts, {len(missing)} of them new\n")
    for file in folder.glob("*.npy"):
        if file.stem not in files:
            file.unlink()


if __name__ == "__main__":
    write(texts_by_file())
