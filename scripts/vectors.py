"""The vectors of the library's documents, so that a first use does not wait for them.

python -m scripts.vectors        work out what is missing, drop what is no longer used
"""

import sys
from hashlib import sha256

import numpy as np

from vectorstore.client import PACKAGED, packaged_vectors
from vectorstore.indexing import corpus_documents, library_documents
from vectorstore.minilm import MiniLM
from vectorstore.sources import Library

_DOCUMENT = np.dtype([("sha256", "u1", (32,)), ("vector", "<f2", (MiniLM.dimension,))])
_BATCH = 256


def library_texts() -> tuple[str, ...]:
    """Every text of the library that is compared with a person's words."""
    source = Library()
    documents = library_documents(source.games()) + corpus_documents(source.corpus())
    names = [d.metadata["mechanic"] for d in documents if d.kind == "code"]
    return tuple(dict.fromkeys([*(d.key for d in documents), *map(str, names)]))


def write() -> None:
    """Write the file anew; vectors that are known are not worked out again."""
    model, known = MiniLM(), dict(packaged_vectors(MiniLM.identity))
    texts = {sha256(text.encode()).hexdigest(): text for text in library_texts()}
    missing = sorted(texts.keys() - known.keys(), key=lambda key: (len(texts[key]), key))
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        vectors = model.embed([texts[key] for key in batch]).astype(np.float16)
        known.update(zip(batch, vectors, strict=True))
    rows = [(tuple(bytes.fromhex(key)), known[key]) for key in sorted(texts)]
    folder = PACKAGED / model.identity
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "library.npy", np.array(rows, _DOCUMENT))
    sys.stdout.write(f"{len(texts)} texts, {len(missing)} of them new\n")


if __name__ == "__main__":
    write()
