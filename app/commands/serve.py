"""`serve`: the page on this machine."""

import socket
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from typing import TYPE_CHECKING, Annotated

import typer

from app import options
from app.console import note, say

if TYPE_CHECKING:
    from app.web.settings import WebSettings

_NEEDED = ("fastapi", "uvicorn")
_FILES = 8192
_WAITING = 128
_ELSEWHERE = ("192.0.2.1", 9)  # an address kept for examples


@dataclass(frozen=True, kw_only=True)
class _Place:
    """The address of the page."""

    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where it listens; 0: any that is free.")
    ] = 8642
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Let other machines in: an address of this one, or 0.0.0.0 for all of them.",
        ),
    ] = "127.0.0.1"


@options.grouped
def serve_page(*, at: _Place, place: options.Isolation) -> None:
    """Open a page on this machine: design games, and play them with others in the browser."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise typer.BadParameter(
            f"{' and '.join(missing)} are not installed; install rulewright[web], or `make setup`"
        )
    import uvicorn

    from app.web.server import Web, create_app

    with _listening(at) as listening, place.opened() as opened:
        settings = _settings(at.host)
        web = Web(settings, opened)
        port = listening.getsockname()[1]
        query = f"?token={settings.token}" if settings.token else ""
        say(f"The page: http://{_named(at.host)}:{port}/{query}")
        note("Ctrl-C ends it; tables go on where they stood when it is started again")
        _open_files()
        web.warm()
        config = uvicorn.Config(
            create_app(web),
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            http="h11",  # unlike httptools it bounds the head of a request
            ws="none",  # no page speaks it: such a request is one like others
            timeout_graceful_shutdown=2,
            timeout_keep_alive=15,
            limit_concurrency=settings.limits.streams + 500,
        )
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            web.close()


def _listening(at: _Place) -> socket.socket:
    """A socket at the address.

    Raises:
        typer.BadParameter: If nothing can listen there.
    """
    made = socket.socket(socket.AF_INET6 if ":" in at.host else socket.AF_INET)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((at.host, at.port))
        made.listen(_WAITING)
    except OSError as error:
        made.close()
        raise typer.BadParameter(
            f"nothing can listen at {at.host}, port {at.port}: {error.strerror or error}; choose "
            "another --port, or an address of this machine as --host"
        ) from error
    return made


def _settings(host: str) -> "WebSettings":
    """The page's settings; where others may come in, its owner has a token."""
    from secrets import token_urlsafe

    from app.web.settings import WebSettings, kept_key
    from graph.run.folder import runs_folder

    runs = runs_folder().resolve()
    token = "" if _is_here(host) else token_urlsafe(16)
    return WebSettings(kept_key(runs / "tables"), runs, host, token)


def _is_here(host: str) -> bool:
    """True for an address that no other machine reaches.

    >>> _is_here("127.0.0.1"), _is_here("localhost"), _is_here("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _named(host: str) -> str:
    """The host in an address; where all are listened at, the one that its network knows.

    The machine's own name often stands for an address that no other machine reaches.
    """
    if host not in ("", "0.0.0.0", "::"):
        return f"[{host}]" if ":" in host else host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        try:
            made.connect(_ELSEWHERE)  # sends nothing: the system chooses where it would go out
        except (OSError, RuntimeError):  # no network, or none that may be used
            return "127.0.0.1"
        return str(made.getsockname()[0])


def _open_files() -> None:
    """Let as many files be open as may be: each open page is one."""
    soft, hard = getrlimit(RLIMIT_NOFILE)
    setrlimit(RLIMIT_NOFILE, (max(soft, min(hard, _FILES)), hard))
