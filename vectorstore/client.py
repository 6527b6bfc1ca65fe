"""Opening Chroma, embedded or over HTTP, and saying plainly what went wrong with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from vectorstore.errors import StoreError
from vectorstore.settings import StoreSettings

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


def describe(settings: StoreSettings) -> str:
    """Where the store is, for people."""
    if settings.host is None:
        return f"the store at {settings.path}"
    return f"the Chroma server at {settings.host}:{settings.port}"


def open_client(settings: StoreSettings) -> "ClientAPI":
    """Open the embedded store, or connect to the server.

    Raises:
        StoreError: If the folder is damaged or unwritable, or the server does not answer.
    """
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    quiet = Settings(anonymized_telemetry=False)
    with explained(settings, "opened"):
        if settings.host is not None:
            return chromadb.HttpClient(
                host=settings.host, port=settings.port, ssl=settings.ssl, settings=quiet
            )
        try:
            return chromadb.PersistentClient(settings.path, settings=quiet)
        except Exception:
            # Chroma keeps a half-started system a folder, which would answer the next attempt.
            SharedSystemClient._identifier_to_system.pop(str(settings.path), None)
            raise


def close_client(client: "ClientAPI") -> None:
    """Let go of the client's files or connections."""
    concrete = cast("Any", client)
    parts = [concrete, concrete._admin_client]
    sessions = [getattr(part._server, "_session", None) for part in parts]
    concrete.close()
    for session in sessions:
        if session is not None:
            session.close()  # Chroma 1.5 leaves its HTTP connections open


@contextmanager
def explained(settings: StoreSettings, done: str) -> Iterator[None]:
    """Raise what Chroma raises as `StoreError` with what to do next; our own errors pass through.

    Chroma answers with its own errors, ValueError, the HTTP client's and the database's.
    """
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        if settings.host is None:
            advice = (
                "see that the disk has room and the folder may be written; a damaged store may be "
                "deleted, because the library's part of it is made again at the next start"
            )
        else:
            advice = "see that the server runs there and has the same version of Chroma"
        raise StoreError(
            f"{describe(settings)} could not be {done} ({type(error).__name__}: {error}); {advice}"
        ) from error
