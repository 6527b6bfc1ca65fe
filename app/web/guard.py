"""Guard of the page: hosts, origins, sizes, rates and secrets, before any page is asked."""

import asyncio
import hmac
import ipaddress
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, parse_qsl, urlsplit

from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.console import explained
from app.web.pages import Refusal, error_page
from app.web.settings import WebSettings

SESSION, _OWNER = "rulewright", "rulewright-owner"
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'self'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_FORM = "application/x-www-form-urlencoded"
_METHODS = ("GET", "HEAD", "POST")
_BUSY = (408, 413, 429, 503)
_MOST_FIELDS, _MOST_CLIENTS, _LONGEST_TARGET = 64, 4096, 4096
_KNOWN = {404: "There is no such page", 405: "That cannot be done with this page"}
_FAULT = "A fault of ours: the page could not be made. The server's own log says more."
_ENDED = Refusal(503, "The server was stopped; start it again, then ask anew")
_LOG = logging.getLogger(__name__)


class _Answered:
    """ASGI's `send`, with the headers of every answer."""

    def __init__(self, send: Send) -> None:
        self._send, self.started, self.session = send, False, ""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            if message["status"] in _BUSY:  # who asks too much keeps no connection open either
                headers["connection"] = "close"
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            if self.session:
                cookie = f"{SESSION}={self.session}; Path=/; HttpOnly; SameSite=Strict"
                headers.append("set-cookie", cookie)
        await self._send(message)


class Guard:
    """ASGI middleware: whoever may not ask is told so, and every answer has the same headers."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        """Guard an app."""
        self.app, self.settings = app, settings
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client: requests, when

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        answered = _Answered(send)
        try:
            await self._pass(scope, receive, answered)
        except asyncio.CancelledError:  # Ctrl-C ended the server, which waits no longer
            if answered.started:
                raise
            await error_page(Request(scope), _ENDED)(scope, receive, answered)
        except Exception as error:  # noqa: BLE001 - no fault of ours shows a client a traceback
            if not answered.started:
                await error_page(Request(scope), refusal_of(error))(scope, receive, answered)

    async def _pass(self, scope: Scope, receive: Receive, answered: "_Answered") -> None:
        """Let a request pass that may.

        Raises:
            Refusal: If it may not.
        """
        headers = Headers(scope=scope)
        scope.setdefault("state", {}).update(csrf="", form={})
        self._require_plain(scope, headers)
        cookies = dict(_cookies(headers))
        session = cookies.get(SESSION, "")
        if len(session) != len(secrets.token_urlsafe(16)):
            session = answered.session = secrets.token_urlsafe(16)
        csrf = scope["state"]["csrf"] = self.settings.secret("csrf", session)
        if (answer := self._owner(scope, cookies)) is not None:
            await answer(scope, receive, answered)
            return
        if scope["method"] == "POST":
            form = scope["state"]["form"] = await self._form(headers, receive)
            _require_equal(form.get("csrf", ""), csrf)
        await self.app(scope, receive, answered)

    def _require_plain(self, scope: Scope, headers: Headers) -> None:
        """Refuse too many requests, other methods, foreign hosts and foreign pages.

        A name that somebody else's server resolves to this machine is a foreign host; an address
        is none.
        """
        self._count((scope.get("client") or ("", 0))[0])
        if scope["method"] not in _METHODS:
            raise Refusal(405, "Only GET and POST are known here")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _LONGEST_TARGET:
            raise Refusal(414, "The address is too long")
        host = headers.get("host", "")
        if not _is_ours(host, self.settings.host):
            raise Refusal(
                400, "The page is not known by this name; use the address that it printed"
            )
        site = headers.get("sec-fetch-site", "same-origin")
        if scope["method"] == "POST":
            origin = headers.get("origin")
            foreign = origin is not None and urlsplit(origin).netloc != host
            if foreign or site not in ("same-origin", "none"):
                raise Refusal(403, "The form stands on another page; it may not be sent from there")
        elif site == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            raise Refusal(403, "Another page may not load parts of this one; open it by itself")

    def _count(self, client: str) -> None:
        limits, now = self.settings.limits, time.monotonic()
        left, before = self._left.pop(client, (float(limits.burst), now))
        left = min(limits.burst, left + (now - before) * limits.requests_a_second)
        self._left[client] = max(0.0, left - 1), now
        while len(self._left) > _MOST_CLIENTS:
            self._left.popitem(last=False)
        if left < 1:
            raise Refusal(429, "Too many requests; wait a second, then try again")

    def _owner(self, scope: Scope, cookies: dict[str, str]) -> Response | None:
        """Nothing where the request may go on; else the answer that makes its sender the owner.

        Raises:
            Refusal: If it is somebody else's, and for the owner alone.
        """
        token, path = self.settings.token, scope["path"]
        if not token or path.startswith(("/static/", "/table/")):  # a link has its own secret
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.get("token", [""])[0]
        if hmac.compare_digest(given.encode(), token.encode()):
            answer = RedirectResponse(path, 303)
            answer.set_cookie(_OWNER, token, httponly=True, samesite="strict", path="/")
            return answer
        if not hmac.compare_digest(cookies.get(_OWNER, "").encode(), token.encode()):
            raise Refusal(403, "This page is its owner's; open the address that the server printed")
        return None

    async def _form(self, headers: Headers, receive: Receive) -> dict[str, str]:
        """The fields of a form, whole.

        Raises:
            Refusal: If it is too large, comes too slowly, or is none.
        """
        most = self.settings.limits.body_bytes
        length = headers.get("content-length", "0")
        too_large = Refusal(413, f"The form is too large; at most {most >> 10} KiB are read")
        if not length.isdecimal() or int(length[:20]) > most:
            raise too_large
        if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
            raise Refusal(415, f"A form is sent as {_FORM}")
        body = b""
        try:
            async with asyncio.timeout(self.settings.limits.body_s):
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise too_large
                    if message["type"] != "http.request" or not message.get("more_body"):
                        break
        except TimeoutError:
            raise Refusal(408, "The form came too slowly; send it anew") from None
        try:
            text = body.decode()
            pairs = parse_qsl(text, True, errors="strict", max_num_fields=_MOST_FIELDS)
        except ValueError as error:  # no UTF-8, or too many fields
            raise Refusal(400, "The form cannot be read; send it from its page") from error
        return dict(pairs)


def _require_equal(given: str, csrf: str) -> None:
    if not hmac.compare_digest(given.encode(), csrf.encode()):
        raise Refusal(403, "The form is too old; load the page again, and send it anew")


def _cookies(headers: Headers) -> Iterator[tuple[str, str]]:
    cookie: SimpleCookie = SimpleCookie()
    try:
        cookie.load(headers.get("cookie", ""))
    except CookieError:
        return
    for name, morsel in cookie.items():
        yield name, morsel.value


def _is_ours(host: str, own: str) -> bool:
    """True for an address, for this machine, and for the name that is listened at.

    >>> [_is_ours(host, "127.0.0.1") for host in ("127.0.0.1:80", "[::1]:80", "localhost", "a.b")]
    [True, True, True, False]
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name in ("localhost", own.lower()):
        return True
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def refusal_of(error: Exception) -> Refusal:
    """The refusal for an error: what a person can act on, or that the fault is ours."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        return Refusal(error.status_code, _KNOWN.get(error.status_code, error.detail))
    if isinstance(error, RequestValidationError):
        return Refusal(422, "The address or the form names a value that cannot be; go back")
    if (said := explained(error)) is not None:
        return Refusal(400, said)
    _LOG.error("a fault of ours", exc_info=error)
    return Refusal(500, _FAULT)
