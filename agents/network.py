"""The network guard: in tests no call may leave this machine."""

import ipaddress
import socket
import sys
import threading

from agents.errors import ModelError

_LOCK = threading.Lock()
_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})
_state = {"installed": False}


class NetworkForbiddenError(ModelError, RuntimeError):
    """Something tried to reach another machine although that is forbidden here."""


def forbid_network() -> None:
    """Make every connection and name look-up off this machine raise, for this whole process.

    Covers every library, because it sits at the interpreter's own socket events; sockets of this
    machine and loopback addresses stay usable. It cannot be undone, and calling it again changes
    nothing. Child processes have to call it themselves (`RULEWRIGHT_OFFLINE=1` does).
    """
    with _LOCK:
        if not _state["installed"]:
            sys.addaudithook(_refuse_distant)
            _state["installed"] = True


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
