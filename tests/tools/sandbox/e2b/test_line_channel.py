import base64
import threading
import time

import pytest

from tools.sandbox.backends import ForgeryError
from tools.sandbox.connection import LineChannel
from tools.sandbox.e2b import how_it_ended


def line(body: bytes) -> str:
    return base64.b64encode(body).decode() + "\n"


class Wire:
    """What a channel wrote, and whether the machine behind it answers."""

    def __init__(self, *, alive: bool = True) -> None:
        self.written = b""
        self.pieces = 0
        self.channel = LineChannel(1000, self._write, lambda: alive)

    def _write(self, data: bytes, seconds: float) -> None:
        assert seconds > 0
        self.written += data
        self.pieces += 1


def soon(seconds: float = 5.0) -> float:
    return time.monotonic() + seconds


def test_a_frame_arrives_however_it_is_cut() -> None:
    wire = Wire()
    for letter in line(b'{"a":1}'):
        wire.channel.feed(letter)
    assert wire.channel.receive(soon()) == b'{"a":1}'


def test_a_long_frame_is_sent_in_pieces_and_decodes_to_itself() -> None:
    wire = Wire()
    body = bytes(range(256)) * 20_000
    wire.channel.send(body, soon())
    assert wire.pieces > 1
    assert wire.written.endswith(b"\n")
    assert wire.written.count(b"\n") == 1
    assert base64.b64decode(wire.written) == body


def test_a_reader_is_woken_by_what_arrives_later() -> None:
    wire = Wire()
    timer = threading.Timer(0.05, wire.channel.feed, [line(b"later")])
    timer.start()
    assert wire.channel.receive(soon()) == b"later"
    timer.join()


def test_a_reader_is_woken_when_the_channel_closes() -> None:
    wire = Wire()
    timer = threading.Timer(0.05, wire.channel.close)
    timer.start()
    with pytest.raises(ConnectionResetError):
        wire.channel.receive(soon())
    timer.join()


def test_what_arrived_before_the_end_is_still_read() -> None:
    wire = Wire()
    wire.channel.feed(line(b"last"))
    wire.channel.close()
    assert wire.channel.receive(soon()) == b"last"
    with pytest.raises(ConnectionResetError):
        wire.channel.receive(soon())


@pytest.mark.parametrize(
    "sent",
    [line(b"one") + line(b"two"), line(b"one") + "x", "!not base64!\n", "\n\n", "AAA\n", "é\n"],
)
def test_anything_but_one_frame_is_a_forgery(sent: str) -> None:
    wire = Wire()
    wire.channel.feed(sent)
    with pytest.raises(ForgeryError) as told:
        wire.channel.receive(soon())
    assert sent.encode().startswith(told.value.seen[:4])


def test_bytes_before_a_request_are_a_forgery() -> None:
    wire = Wire()
    wire.channel.feed("x")
    with pytest.raises(ForgeryError, match="nobody asked for"):
        wire.channel.send(b"question", soon())
    assert wire.written == b""


def test_a_flood_is_a_forgery_and_is_never_kept() -> None:
    wire = Wire()
    for _ in range(1000):
        wire.channel.feed("A" * 10_000)
    assert len(wire.channel.rest(0)) < 2000
    wire.channel.feed("A" * 10_000)
    with pytest.raises(ForgeryError, match="too long"):
        wire.channel.receive(soon())


def test_the_longest_frame_that_is_allowed_arrives() -> None:
    wire = Wire()
    wire.channel.feed(line(b"x" * 1000))
    assert wire.channel.receive(soon()) == b"x" * 1000


def test_silence_is_a_timeout_where_the_machine_answers() -> None:
    with pytest.raises(TimeoutError):
        Wire().channel.receive(soon(0.05))


def test_silence_is_a_lost_connection_where_the_machine_does_not_answer() -> None:
    with pytest.raises(ConnectionResetError):
        Wire(alive=False).channel.receive(soon(0.05))


def test_nothing_is_sent_after_the_deadline() -> None:
    wire = Wire()
    with pytest.raises(TimeoutError):
        wire.channel.send(b"late", time.monotonic() - 1)
    assert wire.written == b""


ENDINGS = {  # what the service's daemon, written in Go, says of a command's end
    "killed": (-1, "signal: killed", "killed", "SIGKILL"),
    "a blocked call": (-1, "signal: bad system call", "blocked_call", "SIGSYS"),
    "a blocked call with a dump": (
        -1,
        "signal: bad system call (core dumped)",
        "blocked_call",
        "SIGSYS",
    ),
    "processor time": (-1, "signal: CPU time limit exceeded", "cpu_limit", "SIGXCPU"),
    "a crash": (-1, "signal: segmentation fault", "crashed", "SIGSEGV"),
    "another signal": (-1, "signal: user defined signal 1", "killed", "user defined signal 1"),
    "memory": (71, "exit status 71", "out_of_memory", "no memory was left"),
    "an exit": (3, "exit status 3", "exited", "exit code 3"),
    "a quiet exit": (0, None, "exited", "exit code 0"),
}


@pytest.mark.parametrize("what", ENDINGS)
def test_the_end_of_a_command_is_read_from_the_words_of_the_service(what: str) -> None:
    code, words, cause, detail = ENDINGS[what]
    ending = how_it_ended(code, words)
    assert (ending.cause, ending.detail) == (cause, detail)
