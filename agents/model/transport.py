"""The HTTP transport below the chat client: records, replays, bounds and checks each exchange.

A request is bounded as a whole: a server that sends a byte now and then does not outlast the
timeout. A completion is checked against the protocol here, before any client reads it, so that a
broken body is always reported as the server's and as the same error.
"""

import ipaddress
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from urllib.request import getproxies, proxy_bypass

import httpx2
from pydantic import BaseModel, JsonValue, ValidationError

from agents.model.errors import BadBodyError, NetworkForbiddenError
from agents.model.recording import Exchange, Recording, current_place, request_key
from agents.model.settings import ExchangeMode

MAX_BODY_BYTES = 16 * 1024 * 1024
_COMPLETIONS = "chat/completions"
_HIDDEN = "[key removed]"

_GUARD_LOCK = threading.Lock()
_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})
_guard = {"installed": False}


class _Function(BaseModel):
    name: str
    arguments: str


class _ToolCall(BaseModel):
    id: str
    function: _Function


class _Message(BaseModel):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(BaseModel):
    message: _Message


class _Completion(BaseModel):
    choices: list[_Choice]


def require_completion(body: bytes, content_type: str) -> None:
    """Hold the body of a chat completion against the protocol.

    Raises:
        BadBodyError: Saying what the body is instead.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        start = body[:80].decode(errors="replace")
        raise BadBodyError(
            f"the body is not JSON but {content_type or 'of no declared type'}, {len(body)} bytes, "
            f"beginning {start!r}"
        ) from error
    try:
        completion = _Completion.model_validate(value)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the body"
        raise BadBodyError(f"{where} is wrong: {problem['msg']}") from error
    if not completion.choices:
        raise BadBodyError("'choices' is empty")


class ExchangeTransport(httpx2.BaseTransport):
    """Sends through `inner` unless the recording answers."""

    def __init__(
        self,
        inner: httpx2.BaseTransport,
        mode: ExchangeMode,
        recording: Recording,
        *,
        base_path: str,
        secret: str | None,
    ) -> None:
        self.inner = inner
        self.mode = mode
        self.recording = recording
        self.base_path = base_path.rstrip("/") + "/"
        self.secret = secret

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Serve one request; see the module's docstring."""
        described = self._described(request, request.read())
        served = self._recorded(request, described)
        if served is not None:
            return served
        gathering = _Gathering(request)
        response = self.inner.handle_request(request)
        response.request = request
        try:
            body = gathering.read(response.iter_bytes())
        finally:
            response.close()
        return self._received(request, described, response, body)

    def close(self) -> None:
        """Close the connections."""
        self.inner.close()

    def _described(self, request: httpx2.Request, body: bytes) -> dict[str, JsonValue]:
        """The request as it is recorded, independent of the server's address."""
        parsed: JsonValue = json.loads(body) if body else None
        endpoint = request.url.path.removeprefix(self.base_path)
        return {"method": request.method, "endpoint": endpoint, "body": parsed}

    def _recorded(
        self, request: httpx2.Request, described: dict[str, JsonValue]
    ) -> httpx2.Response | None:
        """The response to serve from the recording, or None where the request is to be sent.

        A recording that is continued answers what it already holds, so that a resumed run gets
        the replies it got before.

        Raises:
            ReplayMissError: If nothing fits and nothing may be sent.
        """
        if self.mode == "off":
            return None
        known = self.recording.find(current_place(), request_key(described))
        if known is not None:
            return self._checked(request, known)
        if self.mode == "replay":
            raise self.recording.miss(current_place(), described)
        return None

    def _received(
        self,
        request: httpx2.Request,
        described: dict[str, JsonValue],
        response: httpx2.Response,
        body: bytes,
    ) -> httpx2.Response:
        """Record what the server answered, and check it."""
        exchange = self._exchange(described, response, body)
        if self.mode == "record":
            self.recording.add(exchange)
        return self._checked(request, exchange)

    def _exchange(
        self, described: dict[str, JsonValue], response: httpx2.Response, body: bytes
    ) -> Exchange:
        text = body.decode(errors="replace")
        if self.secret and response.status_code != httpx2.codes.OK:
            text = text.replace(self.secret, _HIDDEN)  # some servers quote a key they refuse
        content_type = response.headers.get("content-type", "")
        retry_after = response.headers.get("retry-after")
        try:
            parsed, form = _well_formed(json.loads(text)), "json"
        except (ValueError, RecursionError):
            parsed, form = text, "text"
        return Exchange.model_validate(
            {
                "place": current_place(),
                "key": request_key(described),
                "request": described,
                "status": response.status_code,
                "content_type": content_type,
                "retry_after": retry_after,
                "format": form,
                "response": parsed,
            }
        )

    def _checked(self, request: httpx2.Request, exchange: Exchange) -> httpx2.Response:
        body = exchange.body()
        endpoint = exchange.request.get("endpoint")
        if exchange.status == httpx2.codes.OK and endpoint == _COMPLETIONS:
            require_completion(body, exchange.content_type)
        headers = {"content-type": exchange.content_type}
        if exchange.retry_after is not None:
            headers["retry-after"] = exchange.retry_after
        return httpx2.Response(exchange.status, headers=headers, content=body, request=request)


def _well_formed(value: JsonValue) -> JsonValue:
    """The value with half a surrogate pair replaced: no file could hold it."""
    text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    parsed: JsonValue = json.loads(text)
    return parsed


class _Gathering:
    """Reads a body within the request's timeout and a size."""

    def __init__(self, request: httpx2.Request) -> None:
        self.request = request
        allowed = request.extensions.get("timeout", {}).get("read")
        self.deadline = None if allowed is None else time.monotonic() + allowed
        self.parts: list[bytes] = []
        self.size = 0

    def read(self, chunks: Iterator[bytes]) -> bytes:
        for chunk in chunks:
            self._take(chunk)
        return b"".join(self.parts)

    def _take(self, chunk: bytes) -> None:
        self.parts.append(chunk)
        self.size += len(chunk)
        if self.size > MAX_BODY_BYTES:
            raise BadBodyError(f"the body is larger than {MAX_BODY_BYTES} bytes")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise httpx2.ReadTimeout("the answer was not complete in time", request=self.request)


def http_client(
    mode: ExchangeMode, recording: Recording, *, base_url: str, secret: str | None = None
) -> httpx2.Client:
    """A client over a recording.

    Args:
        mode: Whether exchanges are recorded, replayed or neither.
        recording: Shared by all clients of a run; unused with mode "off".
        base_url: The endpoint's address; its path is left out of recorded requests.
        secret: Removed from error responses before they are recorded.
    """
    address = httpx2.URL(base_url)
    proxy = None if proxy_bypass(address.host) else getproxies().get(address.scheme)
    # A model takes seconds to answer: a connection kept between calls would save nothing.
    limits = httpx2.Limits(max_keepalive_connections=0)
    inner = httpx2.HTTPTransport(proxy=proxy, limits=limits)
    return httpx2.Client(
        transport=ExchangeTransport(inner, mode, recording, base_path=address.path, secret=secret)
    )


def forbid_network() -> None:
    """Make every connection and name look-up off this machine raise, for this whole process.

    Covers every library, because it sits at the interpreter's own socket events; sockets of this
    machine and loopback addresses stay usable. It cannot be undone, and calling it again changes
    nothing. Child processes have to call it themselves (`RULEWRIGHT_OFFLINE=1` does).
    """
    with _GUARD_LOCK:
        if not _guard["installed"]:
            sys.addaudithook(_refuse_distant)
            _guard["installed"] = True


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine.

    >>> [is_loopback(h) for h in ("127.0.0.1", "::1", "localhost", "api.example.com", "10.0.0.1")]
    [True, True, True, False, False]
    """
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_distant(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect":
        connected, address = arguments[0], arguments[1]
        if (
            isinstance(connected, socket.socket)
            and connected.family in (socket.AF_INET, socket.AF_INET6)
            and isinstance(address, tuple)
        ):
            _require_local(str(address[0]))
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
        name = host.decode() if isinstance(host, bytes) else host
        if isinstance(name, str) and name != socket.gethostname():
            _require_local(name)


def _require_local(host: str) -> None:
    if not is_loopback(host):
        raise NetworkForbiddenError(
            f"a connection to {host!r} was refused: this process may only reach this machine; "
            "replay a recording, or ask a server on the loopback address"
        )
