"""Whole frames to and from one worker, each before an absolute deadline: two channels."""

import base64
import binascii
import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Callable

from tools.guest.framing import HEADER
from tools.sandbox.backends import ForgeryError

_CHUNK_BYTES = 1 << 16
_PAUSE_S = 0.05
_PIECE_BYTES = 1 << 20  # of a line that is sent
_LINE_PAUSE_S = 0.2  # between pieces that arrive over a network
_LOOK_S = 100e-6
_QUICK_S = 2 * _LOOK_S  # with what it costs to be woken
_give_way = getattr(os, "sched_yield", lambda: None)  # not every system has it


class Connection:
    """The host's end of a worker's socket; one thread at a time, except `close`."""

    def __init__(self, endpoint: socket.socket, longest_bytes: int) -> None:
        """Take over a connected stream socket whose frames are at most `longest_bytes` long."""
        endpoint.setblocking(False)
        self._endpoint = endpoint
        self._longest_bytes = longest_bytes
        self._poll = select.poll()
        self._poll.register(endpoint, select.POLLIN)
        self._is_quick = True

    def send(self, body: bytes, deadline: float) -> None:
        """Send one frame.

        Raises:
            ForgeryError: If bytes are waiting that no request asked for.
            TimeoutError: If the other side has not read it before `deadline` (monotonic seconds).
            OSError: If the other side is gone.
        """
        if self._poll.poll(0):
            waiting = self._endpoint.recv(_CHUNK_BYTES)
            if waiting:
                raise ForgeryError("sent bytes that nobody asked for", waiting)
            raise ConnectionResetError("the other side hung up")
        frame = HEADER.pack(len(body)) + body
        try:
            sent = self._endpoint.send(frame)
        except BlockingIOError:
            sent = 0
        if sent < len(frame):  # seldom: the frame is long, or is not read
            self._send_rest(memoryview(frame)[sent:], deadline)

    def receive(self, deadline: float) -> bytes:
        """The body of the next frame, which must be all that was sent.

        Raises:
            ForgeryError: If the frame is too long, or more bytes follow it.
            TimeoutError: If it is not complete before `deadline`.
            OSError: If the other side is gone.
        """
        chunk = self._chunk(deadline)
        if len(chunk) >= HEADER.size:
            needed = HEADER.size + HEADER.unpack_from(chunk)[0]
            if len(chunk) == needed <= HEADER.size + self._longest_bytes:  # nearly always
                return chunk[HEADER.size :]
        return self._assembled(bytearray(chunk), deadline)

    def _send_rest(self, rest: memoryview, deadline: float) -> None:
        room = select.poll()  # select() takes no descriptor above 1023
        room.register(self._endpoint, select.POLLOUT)
        while rest:
            left = deadline - time.monotonic()
            if left <= 0 or not room.poll(left * 1000):
                raise TimeoutError
            with contextlib.suppress(BlockingIOError):
                rest = rest[self._endpoint.send(rest) :]

    def arrives(self, until: float) -> bool:
        """True where anything arrives before `until`."""
        begun = time.monotonic()
        ready = self._arrives_soon() or bool(self._poll.poll(max(until - begun, 0.0) * 1000))
        self._is_quick = time.monotonic() - begun < _QUICK_S
        return ready

    def _chunk(self, deadline: float) -> bytes:
        left = deadline - time.monotonic()
        # Late is late, even where bytes are there: else one at a time would hold the host for ever.
        if left <= 0:
            raise TimeoutError
        try:
            chunk = self._endpoint.recv(_CHUNK_BYTES)
        except BlockingIOError:
            if not self._poll.poll(left * 1000):
                raise TimeoutError from None
            chunk = self._endpoint.recv(_CHUNK_BYTES)
        if not chunk:
            raise ConnectionResetError("the other side hung up")
        return chunk

    def _arrives_soon(self) -> bool:
        """Look for an answer a while before sleeping: to be woken costs more than a short answer.

        Only where the last one was short: to look in vain takes processor time from the worker.
        Whoever else wants the processor gets it in between.
        """
        if not self._is_quick:
            return False
        until = time.monotonic() + _LOOK_S
        while not self._poll.poll(0):
            if time.monotonic() > until:
                return False
            _give_way()
        return True

    def _assembled(self, buffer: bytearray, deadline: float) -> bytes:
        while len(buffer) < HEADER.size:
            buffer += self._chunk(deadline)
        needed = HEADER.size + HEADER.unpack_from(buffer)[0]
        if needed > HEADER.size + self._longest_bytes:
            raise ForgeryError(f"announced a reply of {needed - HEADER.size} bytes", bytes(buffer))
        while len(buffer) < needed:
            buffer += self._chunk(deadline)
        if len(buffer) > needed:
            raise ForgeryError("sent more than one reply", bytes(buffer))
        return bytes(memoryview(buffer)[HEADER.size :])

    def rest(self, seconds: float) -> bytes:
        """Bytes that still arrive within `seconds`, up to the first pause; never raises."""
        buffer = bytearray()
        until = time.monotonic() + seconds
        while len(buffer) < _CHUNK_BYTES:
            left = until - time.monotonic()
            pause = min(_PAUSE_S, left) if buffer else left
            if left <= 0 or not self._poll.poll(pause * 1000):
                break
            try:
                chunk = self._endpoint.recv(_CHUNK_BYTES)
            except OSError:
                break
            if not chunk:
                break
            buffer += chunk
        return bytes(buffer)

    def close(self) -> None:
        """Hang up, and wake a thread that waits in `receive`."""
        with contextlib.suppress(OSError):
            self._endpoint.shutdown(socket.SHUT_RDWR)
        self._endpoint.close()


class LineChannel:
    """Frames as lines of base64: out by a function, in by `feed`, from another thread."""

    def __init__(
        self, longest_bytes: int, write: Callable[[bytes, float], None], alive: Callable[[], bool]
    ) -> None:
        """Start with nothing received.

        Args:
            longest_bytes: Longest frame to be received.
            write: Sends bytes within seconds; raises TimeoutError or another OSError.
            alive: True where the machine still answers, asked when a deadline has passed: where it
                does not, the silence is no fault of the module.
        """
        self._longest_line = 4 * (longest_bytes // 3 + 1) + 1
        self._write = write
        self._alive = alive
        self._arrived = threading.Condition()
        self._buffer = bytearray()
        self._is_whole = self._is_over = False

    def feed(self, text: str) -> None:
        """Take in what arrived; more than one longest frame is never kept."""
        with self._arrived:
            room = self._longest_line + 1 - len(self._buffer)
            self._buffer += text.encode("utf-8", "replace")[:room]
            self._is_whole |= "\n" in text or len(self._buffer) >= self._longest_line
            self._arrived.notify_all()

    def close(self) -> None:
        """See `Channel.close`; nothing more will arrive."""
        with self._arrived:
            self._is_over = True
            self._arrived.notify_all()

    def send(self, body: bytes, deadline: float) -> None:
        """See `Channel.send`."""
        with self._arrived:
            if self._buffer:
                raise ForgeryError("sent bytes that nobody asked for", self._take())
            if self._is_over:
                raise ConnectionResetError("the other side hung up")
        line = base64.b64encode(body) + b"\n"
        for start in range(0, len(line), _PIECE_BYTES):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._write(line[start : start + _PIECE_BYTES], left)

    def receive(self, deadline: float) -> bytes:
        """See `Channel.receive`."""
        with self._arrived:
            left = deadline - time.monotonic()
            self._arrived.wait_for(lambda: self._is_whole or self._is_over, left)
            is_whole, is_over = self._is_whole, self._is_over
            line = self._take() if is_whole else b""
        if not is_whole:
            if not is_over and self._alive():
                raise TimeoutError
            raise ConnectionResetError("the other side hung up or does not answer")
        body, end, more = line.partition(b"\n")
        if not end:
            raise ForgeryError("sent a reply that is too long", line)
        if more:
            raise ForgeryError("sent more than one reply" if body else "sent an empty line", line)
        try:
            return base64.b64decode(body, validate=True)
        except binascii.Error:
            raise ForgeryError("sent a line that is no frame", line) from None

    def rest(self, seconds: float) -> bytes:
        """See `Channel.rest`."""
        until = time.monotonic() + seconds
        with self._arrived:
            self._arrived.wait_for(lambda: self._buffer or self._is_over, seconds)
            while not self._is_over and time.monotonic() < until:
                if not self._arrived.wait(_LINE_PAUSE_S):
                    break
            return self._take()

    def _take(self) -> bytes:
        taken = bytes(self._buffer)
        self._buffer.clear()
        self._is_whole = False
        return taken
