"""The conformance suite runs over every backend that works on this machine."""

from collections.abc import Iterator

import pytest

from tests.tools.conftest import LIMITS
from tools.sandbox import Sandbox
from tools.sandbox.backends import Backend
from tools.sandbox.local import LinuxBackend, ProcessBackend

BACKENDS: dict[str, Backend] = {
    "linux": LinuxBackend(),
    "linux without namespaces": LinuxBackend(namespaces=False),
    "linux without Landlock": LinuxBackend(landlock=False),
    "process": ProcessBackend(),
}


@pytest.fixture(scope="session", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(BACKENDS[request.param], limits=LIMITS) as shared:
        yield shared
