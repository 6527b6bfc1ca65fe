"""The E2B backend for the conformance suite: over the fake on loopback, and over the service."""

import contextlib
import os
from collections.abc import Iterator

import pytest

from tests.tools.sandbox.e2b.fake_service import FakeService
from tools.sandbox.backends import Backend
from tools.sandbox.e2b import E2BBackend

UNVERIFIED = "skipped: not verified against the real service (set E2B_API_KEY to verify it)"
PLACES = ("e2b on loopback", pytest.param("e2b", marks=pytest.mark.e2b))


@contextlib.contextmanager
def place(name: str) -> Iterator[Backend]:
    """The backend of a name in `PLACES`; skips the test where it needs a key and there is none."""
    if name != "e2b":
        with FakeService() as fake:
            yield fake.backend()
    elif not os.environ.get("E2B_API_KEY"):
        pytest.skip(UNVERIFIED)
    else:
        yield E2BBackend()
