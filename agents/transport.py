"""The HTTP transport below the chat client: records, replays, bounds and checks each exchange.

A request is bounded as a whole: a server that sends a byte now and then does not outlast the
timeout. A completion is checked against the protocol here, before any client reads it, so that a
broken body is always reported as the server's and as the same error.
"""

import json
import time
from collections.abc import AsyncIterator, Iterator
from urllib.request import getproxies, proxy_bypass

import httpx2
from pydantic import BaseModel, JsonValue, ValidationError

from agents.errors import BadBodyError
from agents.exchange import Exchange, Recording, current_place, request_key
from agents.settings import ExchangeMode

MAX_BODY_BYTES = 16 * 1024 * 1024
_COMPLETIONS = "chat/completions"
_HIDDEN = "[key removed]"


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
    except ValueError as error:
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


class _Exchanger:
    """What the two transports share: everything but the sending itself."""

    def __init__(
        self, mode: ExchangeMode, recording: Recording, *, base_path: str, secret: str | None
    ) -> None:
        self.mode = mode
        self.recording = recording
        self.base_path = base_path.rstrip("/") + "/"
        self.secret = secret

    def describe(self, request: httpx2.Request, body: bytes) -> dict[str, JsonValue]:
        """The request as it is recorded, independent of the server's address."""
        parsed: JsonValue = json.loads(body) if body else None
        endpoint = request.url.path.removeprefix(self.base_path)
        return {"method": request.method, "endpoint": endpoint, "body": parsed}

    def recorded(
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

    def received(
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
        except ValueError:
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


class ExchangeTransport(httpx2.BaseTransport):
    """Sends through `inner` unless the recording answers."""

    def __init__(self, exchanger: _Exchanger, inner: httpx2.BaseTransport) -> None:
        self.exchanger = exchanger
        self.inner = inner

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Serve one request; see the module's docstring."""
        described = self.exchanger.describe(request, request.read())
        served = self.exchanger.recorded(request, described)
        if served is not None:
            return served
        gathering = _Gathering(request)
        response = self.inner.handle_request(request)
        response.request = request
        try:
            body = gathering.read(response.iter_bytes())
        finally:
            response.close()
        return self.exchanger.received(request, described, response, body)

    def close(self) -> None:
        """Close the connections."""
        self.inner.close()


class AsyncExchangeTransport(httpx2.AsyncBaseTransport):
    """The asynchronous twin of `ExchangeTransport`."""

    def __init__(self, exchanger: _Exchanger, inner: httpx2.AsyncBaseTransport) -> None:
        self.exchanger = exchanger
        self.inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Serve one request; see the module's docstring."""
        described = self.exchanger.describe(request, await request.aread())
        served = self.exchanger.recorded(request, described)
        if served is not None:
            return served
        gathering = _Gathering(request)
        response = await self.inner.handle_async_request(request)
        response.request = request
        try:
            body = await gathering.aread(response.aiter_bytes())
        finally:
            await response.aclose()
        return self.exchanger.received(request, described, response, body)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.inner.aclose()


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

    async def aread(self, chunks: AsyncIterator[bytes]) -> bytes:
        async for chunk in chunks:
            self._take(chunk)
        return b"".join(self.parts)

    def _take(self, chunk: bytes) -> None:
        self.parts.append(chunk)
        self.size += len(chunk)
        if self.size > MAX_BODY_BYTES:
            raise BadBodyError(f"the body is larger than {MAX_BODY_BYTES} bytes")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise httpx2.ReadTimeout("the answer was not complete in time", request=self.request)


def http_clients(
    mode: ExchangeMode, recording: Recording, *, base_url: str, secret: str | None = None
) -> tuple[httpx2.Client, httpx2.AsyncClient]:
    """Clients over one recording, for the synchronous and the asynchronous side of a library.

    Args:
        mode: Whether exchanges are recorded, replayed or neither.
        recording: Shared by all clients of a run; unused with mode "off".
        base_url: The endpoint's address; its path is left out of recorded requests.
        secret: Removed from error responses before they are recorded.
    """
    address = httpx2.URL(base_url)
    exchanger = _Exchanger(mode, recording, base_path=address.path, secret=secret)
    proxy = None if proxy_bypass(address.host) else getproxies().get(address.scheme)
    # A model takes seconds to answer: a connection kept between calls would save nothing.
    limits = httpx2.Limits(max_keepalive_connections=0)
    inner = httpx2.HTTPTransport(proxy=proxy, limits=limits)
    inner_async = httpx2.AsyncHTTPTransport(proxy=proxy, limits=limits)
    return (
        httpx2.Client(transport=ExchangeTransport(exchanger, inner)),
        httpx2.AsyncClient(transport=AsyncExchangeTransport(exchanger, inner_async)),
    )
