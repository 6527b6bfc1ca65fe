"""Settings of the page: its address, its secrets and its limits."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from pathlib import Path

_SECRET_BYTES = 16
_KEY_BYTES = 32


@dataclass(frozen=True)
class WebLimits:
    """Bounds of what clients may ask for.

    Attributes:
        body_bytes: Of a request.
        body_s: Seconds in which it must have come.
        burst: Requests of one client at once.
        requests_a_second: Of one client, over time.
        streams: Open streams of events, of all clients.
        streams_a_seat: Open streams of one seat's link.
        stream_s: Seconds after which a stream ends; the page opens it again.
        tables: Tables that are played at once.
        runs: Designs that are made at once.
        heavy: Analyses and comparisons at once.
        waiting: Requests in work at once: some wait until a table is laid, or a move is seen.
    """

    body_bytes: int = 64 * 2**10
    body_s: float = 10.0
    burst: int = 600
    requests_a_second: float = 300.0
    streams: int = 500
    streams_a_seat: int = 6
    stream_s: float = 300.0
    tables: int = 64
    runs: int = 2
    heavy: int = 2
    waiting: int = 160


@dataclass(frozen=True)
class WebSettings:
    """The page as it is served.

    Attributes:
        key: Every secret is made from it; it stays with the tables, so that links stay good.
        runs: Where runs and tables are kept.
        host: The name or address that is listened at.
        token: The owner's; empty where the page is on this machine alone.
        limits: Bounds.
    """

    key: bytes
    runs: Path
    host: str = "127.0.0.1"
    token: str = ""
    limits: WebLimits = field(default_factory=WebLimits)

    @property
    def tables(self) -> Path:
        """Where tables are kept."""
        return self.runs / "tables"

    def secret(self, *parts: str) -> str:
        """A secret of 128 bits for a purpose."""
        made = hmac.digest(self.key, "\0".join(parts).encode(), hashlib.sha256)
        return urlsafe_b64encode(made[:_SECRET_BYTES]).rstrip(b"=").decode()

    def is_secret(self, given: str, *parts: str) -> bool:
        """True for the secret of that purpose; compared in constant time."""
        return hmac.compare_digest(given.encode(), self.secret(*parts).encode())


def kept_key(tables: Path) -> bytes:
    """The key beside the tables, which only their owner may read; made where there is none."""
    tables.mkdir(parents=True, exist_ok=True)
    file = tables / "key"
    if not file.exists():
        partial = file.with_name(f".key-{secrets.token_hex(4)}")
        partial.touch(mode=0o600)
        partial.write_bytes(secrets.token_bytes(_KEY_BYTES))
        partial.replace(file)
    return file.read_bytes()
