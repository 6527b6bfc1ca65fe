"""Replies that no honest worker sends, whatever they are sent through."""

import re

import pytest

from games.values import ModuleFault
from tools.sandbox import Sandbox, Worker

# The module replaces how its worker writes a reply; `send` writes one as it should be.
SOURCE = """
import sys

streams = [
    getattr(sys.modules[name], kind)
    for name, kind in (("tools.guest.framing", "SocketStream"), ("__main__", "LineStream"))
    if hasattr(sys.modules.get(name), kind)
]


def f(way):
    for stream in streams:
        send = stream.write
        stream.write = lambda self, body, send=send: WAYS[way](self, body, send)
    return 1


def twice(self, body, send):
    send(self, body)
    send(self, body)


WAYS = {
    "empty": lambda self, body, send: send(self, b""),
    "not JSON": lambda self, body, send: send(self, b"{'id': 1}"),
    "not text": lambda self, body, send: send(self, bytes([0xFF]) * 20),
    "half": lambda self, body, send: send(self, body[: len(body) // 2]),
    "nested": lambda self, body, send: send(self, b"[" * 100_000),
    "deep": lambda self, body, send: send(
        self, body.replace(b'"value":', b'"value":' + b"[" * 90)[:-1] + b"]" * 90 + b"}"
    ),
    "no object": lambda self, body, send: send(self, b"7"),
    "another id": lambda self, body, send: send(self, body.replace(b'"id":', b'"id":1')),
    "no value": lambda self, body, send: send(self, body.replace(b'"value"', b'"worth"')),
    "twice": twice,
    "too large": lambda self, body, send: send(self, b'"' + b"x" * 9_000_000 + b'"'),
    "never": lambda self, body, send: None,
}


def g():
    return 2
"""


def ends(sandbox: Sandbox, way: str) -> tuple[Worker, ModuleFault]:
    """What a way comes to: at once, or with the next request where it was a reply too many."""
    worker = sandbox.worker("forging", SOURCE)
    worker.load(SOURCE)
    for function, arguments in (("f", [way]), ("g", [])):
        try:
            worker.call(function, arguments, deadline_s=0.3)
        except ModuleFault as fault:
            return worker, fault
    raise AssertionError(f"a reply that was {way} was taken for one")


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("empty", "no contract JSON"),
        ("not JSON", "no contract JSON"),
        ("not text", "no contract JSON"),
        ("half", "no contract JSON"),
        ("nested", "no contract JSON"),
        ("deep", "nested more than 80 levels"),
        ("no object", "another request"),
        ("another id", "another request"),
        ("no value", "neither a value nor a fault"),
        ("twice", "more than one reply|nobody asked for|another request"),
    ],
)
def test_a_reply_that_is_none_ends_the_worker(sandbox: Sandbox, way: str, words: str) -> None:
    worker, fault = ends(sandbox, way)
    assert fault.kind == "killed"
    assert re.search(words, fault.message)
    assert not worker.alive


def test_a_reply_too_large_ends_the_worker_before_it_is_read(sandbox: Sandbox) -> None:
    worker, fault = ends(sandbox, "too large")
    assert fault.kind == "killed"
    assert re.search(r"reply of \d+ bytes|too (long|large)", fault.message)
    assert not worker.alive


def test_a_reply_that_would_fill_the_hosts_memory_is_no_value(sandbox: Sandbox) -> None:
    # 3 MB of JSON; a list takes 56 bytes and its place 8 (sys.getsizeof): about 64 MB.
    source = "def f(count):\n    return [[]] * count"
    own = sandbox.limits.model_copy(update={"table_bytes": 32 * 2**20})
    with (
        Sandbox(sandbox.backend, limits=own) as small,
        small.loaded("heavy", source) as worker,
    ):
        with pytest.raises(ModuleFault, match=r"\d+ MiB of memory; required: at most 32") as caught:
            worker.call("f", [1_000_000])
        assert caught.value.kind == "bad_value"
        assert worker.call("f", [3]) == [[], [], []]


def test_a_reply_that_never_comes_is_a_timeout_and_ends_the_worker(sandbox: Sandbox) -> None:
    worker, fault = ends(sandbox, "never")
    assert fault.kind == "timed_out"
    assert not worker.alive


def test_a_reply_after_the_deadline_is_not_taken_for_the_next_one(sandbox: Sandbox) -> None:
    source = "import time\ndef f(s):\n    while time.process_time() < s: pass\n    return s"
    with sandbox.worker("late", source) as worker:
        worker.load(source)
        with pytest.raises(ModuleFault) as caught:
            worker.call("f", [0.8], deadline_s=0.3)
        assert caught.value.kind == "timed_out"
        if worker.alive:
            assert worker.call("f", [0]) == 0


# Whatever frames look like on this backend, these bytes are the beginning of one that never ends.
TRICKLE = """
import os, signal, struct, time

def f(pause_s):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    out = None
    for number, begin in [(n, struct.pack("<I", 2**20)) for n in range(3, 32)]:
        try:
            os.write(number, begin)
            out = number
        except OSError:
            pass
    while True:
        os.write(1 if out is None else out, b"7")
        until = time.process_time() + pause_s
        while time.process_time() < until:
            pass
"""


@pytest.mark.parametrize("pause_s", [20e-6, 5e-3])
def test_a_reply_that_comes_byte_by_byte_is_late_all_the_same(
    sandbox: Sandbox, pause_s: float
) -> None:
    with sandbox.worker("trickling", TRICKLE) as worker:
        worker.load(TRICKLE)
        with pytest.raises(ModuleFault) as caught:
            worker.call("f", [pause_s], deadline_s=0.2)
        assert caught.value.kind in ("timed_out", "killed")
        assert not worker.alive


FALSE_CLAIM = """
import sys

def f(kind):
    claim = lambda *a, **k: {"kind": kind, "function": "f", "line": 1, "message": "x"}
    for name in ("tools.guest.serving", "tools.guest.operations"):
        sys.modules[name].describe = claim
    raise RuntimeError
"""


@pytest.mark.parametrize("kind", ["internal", "unknown_operation", "illegal_action"])
def test_a_module_cannot_pass_its_failure_off_as_ours_or_as_a_players(
    sandbox: Sandbox, kind: str
) -> None:
    with sandbox.worker("claiming", FALSE_CLAIM) as worker:
        worker.load(FALSE_CLAIM)
        with pytest.raises(ModuleFault, match="cannot end in") as caught:
            worker.call("f", [kind])
    assert caught.value.kind == "killed"
