"""The HTTP transport below the chat client: streams, records, replays, bounds, checks and waits.

The client asks for whole replies. They are streamed here, so that silence can be told from length,
and put together before anything is recorded; what an endpoint refuses is asked for in the next form
(`agents.model.forms`). A server that sends a byte now and then, but no whole line, counts as
silent. A completion is checked against the protocol here, before any client reads it, so that a
broken body is always reported as the server's and as the same error.
"""

import ipaddress
import json
import re
import socket
import ssl
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from html import escape
from math import inf
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx2
from pydantic import JsonValue

from agents.model.completion import is_stream, sound_completion, spelled, well_formed
from agents.model.errors import BadBodyError, NetworkForbiddenError
from agents.model.forms import Answer, Body, EndpointForms
from agents.model.recording import Exchange, Recording, current_place, request_key
from agents.model.settings import ExchangeMode, SettingsError
from agents.model.waiting import current_wait

MAX_BODY_BYTES = 32 * 1024 * 1024
_MOST_REPLY_BYTES = 1024 * 1024  # of one reply; a stream spends a hundred bytes on a few letters
_MOST_HOPS = 4
_SAME_REQUEST = (307, 308)
_ORIGIN = ("scheme", "host", "port")
_COMPLETIONS = "chat/completions"
_STREAMED: Body = {"stream": True, "stream_options": {"include_usage": True}}
_LAST_LINE = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")
_LATE = "the answer was not complete in time"
_HIDDEN = "[key removed]"
_SHORTEST_KEY = 8  # what is shorter or a word, such as "none" or "anything", stands for no key

_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})


@dataclass(eq=False)
class ExchangeTransport(httpx2.BaseTransport):
    """Sends through `inner` unless the recording answers.

    Attributes:
        inner: Sends a request to the endpoint.
        mode: Whether exchanges are recorded, replayed or neither.
        recording: Where they are kept.
        base_path: What the path of every request begins with; it ends with a slash.
        secret: Removed from every answer.
        forms: What the endpoint was seen to take.
    """

    inner: httpx2.BaseTransport
    mode: ExchangeMode
    recording: Recording
    base_path: str
    secret: str | None
    forms: EndpointForms = field(default_factory=EndpointForms)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Serve one request; see the module's docstring."""
        described = self._described(request, request.read())
        exchange = self._recorded(described)
        if exchange is None:
            try:
                exchange = self._exchange(described, *self._answer(request, described))
            except (httpx2.TransportError, BadBodyError) as error:
                if self.mode == "record":
                    self.recording.add(self._unanswered(described, error))
                raise
            if self.mode == "record":
                self.recording.add(exchange)
        return self._checked(request, exchange)

    def close(self) -> None:
        """Close the connections."""
        self.inner.close()

    def _answer(self, request: httpx2.Request, described: Body) -> Answer:
        """The server's answer: as a stream, in the first form that it does not refuse."""
        asked, wait = described["body"], current_wait()
        if not isinstance(asked, dict) or "messages" not in asked:
            return self._send(request)
        return self.forms.ask(
            {**asked, **_STREAMED},
            lambda body: self._send(_with_body(request, body)),
            doubtful=wait is not None and wait.doubts_form,
        )

    def _send(self, request: httpx2.Request) -> Answer:
        if wait := current_wait():
            wait.sent += 1
        for _ in range(_MOST_HOPS):
            with _cut_in_time(request):
                response = self.inner.handle_request(request)
                response.request = request
                try:
                    body = _gathered(request, response.iter_bytes())
                finally:
                    response.close()
            if (there := _moved(request, response)) is None:
                break
            request.url = there
        return response, body

    def _described(self, request: httpx2.Request, body: bytes) -> Body:
        """The request as it is recorded, independent of the server's address."""
        parsed: JsonValue = json.loads(body) if body else None
        endpoint = request.url.path.removeprefix(self.base_path)
        return {"method": request.method, "endpoint": endpoint, "body": parsed}

    def _recorded(self, described: Body) -> Exchange | None:
        """The exchange to serve from the recording, or None where the request is to be sent.

        A recording that is continued answers what it already holds, so that a resumed run gets
        the replies it got before.

        Raises:
            ReplayMissError: If nothing fits and nothing may be sent.
        """
        if self.mode == "off":
            return None
        known = self.recording.find(current_place(), request_key(described))
        if known is None and self.mode == "replay":
            raise self.recording.miss(current_place(), described)
        if known is not None and self.mode == "record" and (wait := current_wait()):
            wait.known = True
        return known

    def _exchange(self, described: Body, response: httpx2.Response, body: bytes) -> Exchange:
        """The server's answer as it is recorded: a stream is put together.

        Raises:
            BadBodyError: If it is longer than a reply may be.
        """
        content_type = response.headers.get("content-type", "")
        if response.has_redirect_location:
            body = f"it has moved to {response.headers['location']}".encode()
        if response.is_success and is_stream(body):
            with suppress(BadBodyError):  # it is kept as it came, and refused when it is served
                body, content_type = json.dumps(spelled(body)).encode(), "application/json"
        if len(body) > _MOST_REPLY_BYTES:
            raise BadBodyError(
                f"the reply has {len(body):,} bytes; at most {_MOST_REPLY_BYTES:,} are read"
            )
        text = body.decode("utf-8-sig", errors="replace")
        fields = {
            **_asked(described),
            "status": response.status_code,
            "content_type": content_type,
            "retry_after": response.headers.get("retry-after"),
        }
        try:
            plain = json.dumps(well_formed(json.loads(text)), ensure_ascii=False)
            value = json.loads(self._redacted(plain))
            return Exchange.model_validate({**fields, "response": value})
        except (ValueError, RecursionError):  # no JSON, or nested beyond reading
            kept = {"format": "text", "response": self._redacted(text)}
            return Exchange.model_validate({**fields, **kept})

    def _unanswered(self, described: Body, error: Exception) -> Exchange:
        """A request that was sent and brought no answer: it counts, and answers nobody."""
        told = {"format": "text", "response": self._redacted(str(error)), "given_up": True}
        return Exchange.model_validate({**_asked(described), "status": 0, **told})

    def _redacted(self, text: str) -> str:
        """The text without the key; its signs may be escaped, as in JSON, addresses and pages."""
        if not self.secret or len(self.secret) < _SHORTEST_KEY or self.secret.isalpha():
            return text
        packed = b64encode(self.secret.encode()).decode().rstrip("=")
        spelled_out = "".join(f"(?:{'|'.join(_spellings(sign))})" for sign in self.secret)
        found = f"{spelled_out}|{re.escape(packed)}"
        return re.sub(found, _HIDDEN, text, flags=re.IGNORECASE)

    def _checked(self, request: httpx2.Request, exchange: Exchange) -> httpx2.Response:
        body = exchange.body()
        endpoint = exchange.request.get("endpoint")
        if httpx2.codes.is_success(exchange.status) and endpoint == _COMPLETIONS:
            if is_stream(body):
                body = json.dumps(spelled(body)).encode()
            body = json.dumps(sound_completion(body, exchange.content_type)).encode()
        headers = {"content-type": exchange.content_type}
        if exchange.retry_after is not None:
            headers["retry-after"] = exchange.retry_after
        return httpx2.Response(exchange.status, headers=headers, content=body, request=request)


def _spellings(sign: str) -> list[str]:
    """Patterns of one sign, plain and escaped."""
    number, encoded = ord(sign), "".join(f"%{byte:02x}" for byte in sign.encode())
    forms = [re.escape(sign), re.escape(escape(sign)), encoded]
    return [*forms, rf"\\+u{number:04x}", f"&#0*{number};", f"&#x0*{number:x};"]


def _moved(request: httpx2.Request, response: httpx2.Response) -> httpx2.URL | None:
    """Where the same request belongs (RFC 9110, 15.4.8), if that is where the key belongs too."""
    with suppress(httpx2.InvalidURL):
        there = request.url.join(response.headers.get("location", ""))
        is_same = all(getattr(there, part) == getattr(request.url, part) for part in _ORIGIN)
        if is_same and there != request.url and response.status_code in _SAME_REQUEST:
            return there
    return None


def _asked(described: Body) -> dict[str, object]:
    """The fields of an exchange that tell of a request and its wait."""
    wait = current_wait()
    return {
        "place": current_place(),
        "role": wait.role if wait else "",
        "seconds": round(wait.seconds, 3) if wait else 0.0,
        "sent": max(1, wait.sent) if wait else 1,
        "key": request_key(described),
        "request": described,
    }


def _with_body(request: httpx2.Request, body: Body) -> httpx2.Request:
    """The same request with another JSON body."""
    kept = [(k, v) for k, v in request.headers.raw if k.lower() != b"content-length"]
    content = json.dumps(body, ensure_ascii=False).encode()
    return httpx2.Request(
        request.method, request.url, headers=kept, content=content, extensions=request.extensions
    )


@contextmanager
def _cut_in_time(request: httpx2.Request) -> Iterator[None]:
    """Shut the connection down when the time of the current wait is used up.

    The client bounds each read alone, and a server may send lines of a head for ever.
    """
    if (wait := current_wait()) is None or wait.total_s == inf:
        yield
        return
    connected, late = list[socket.socket](), threading.Event()

    def keep(event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            connected.append(info["return_value"].get_extra_info("socket"))

    def cut() -> None:
        late.set()
        for one in connected:
            with suppress(OSError):
                socket.socket.shutdown(one, socket.SHUT_RDWR)

    request.extensions["trace"] = keep
    timer = threading.Timer(max(0.0, wait.total_s - wait.seconds), cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except httpx2.TransportError:
        if not late.is_set():
            raise
    finally:
        timer.cancel()
    if late.is_set():
        raise httpx2.ReadTimeout(_LATE, request=request)


def _gathered(request: httpx2.Request, chunks: Iterator[bytes]) -> bytes:
    """A body, up to the end of its stream, within a size and the silence that is borne."""
    wait, body = current_wait(), bytearray()
    heard = 0.0
    for chunk in chunks:
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise BadBodyError(f"the body is larger than {MAX_BODY_BYTES} bytes")
        if wait is None:
            continue
        if ends := chunk.count(b"\n") or chunk.count(b"\r"):
            heard = wait.seconds
            wait.lines += ends
            if _LAST_LINE.search(body, max(0, len(body) - len(chunk) - len("data: [DONE]"))):
                break  # some servers keep the connection open
        if wait.seconds - heard > wait.silence_s:
            raise httpx2.ReadTimeout(_LATE, request=request)
    return bytes(body)


@cache
def certificates() -> ssl.SSLContext:
    """Certificates that connections trust; nothing of a client takes longer to read."""
    return httpx2.create_ssl_context()


def http_client(
    mode: ExchangeMode, recording: Recording, *, base_url: str, secret: str | None = None
) -> httpx2.Client:
    """A client over a recording.

    Args:
        mode: Whether exchanges are recorded, replayed or neither.
        recording: Shared by all clients of a run; unused with mode "off".
        base_url: The endpoint's address; its path is left out of recorded requests.
        secret: Removed from every answer.

    Raises:
        SettingsError: If the environment names a proxy or certificates that cannot be used.
    """
    address = httpx2.URL(base_url)
    proxy = None if proxy_bypass(address.host) else getproxies().get(address.scheme)
    # A model takes seconds to answer: a connection kept between calls would save nothing.
    limits = httpx2.Limits(max_keepalive_connections=0)
    try:
        inner = httpx2.HTTPTransport(verify=certificates(), proxy=proxy, limits=limits)
    except (ValueError, ImportError, OSError, httpx2.InvalidURL) as error:
        said = f"nothing can be sent ({error}): check HTTPS_PROXY, HTTP_PROXY and SSL_CERT_FILE"
        raise SettingsError(said) from error
    base = address.path.rstrip("/") + "/"
    return httpx2.Client(transport=ExchangeTransport(inner, mode, recording, base, secret))


@cache
def forbid_network() -> None:
    """Make every connection and name look-up off this machine raise, for this whole process.

    Covers every library, because it sits at the interpreter's own socket events; sockets of this
    machine and loopback addresses stay usable. It cannot be undone, and calling it again changes
    nothing. Child processes have to call it themselves (`RULEWRIGHT_OFFLINE=1` does).
    """
    sys.addaudithook(_refuse_distant)


def is_loopback(host: str) -> bool:
    """True if a host name or address is this machine.

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
