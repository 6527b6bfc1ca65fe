"""The conformance suite runs over every backend that works on this machine."""

import contextlib
from collections.abc import Iterator

import pytest

from tests.tools.conftest import LIMITS
from tests.tools.sandbox.e2b.places import PLACES, place
from tools.sandbox import Sandbox
from tools.sandbox.backends import Backend
from tools.sandbox.local import LinuxBackend, ProcessBackend

BACKENDS: dict[str, Backend] = {
    "linux": LinuxBackend(),
    "linux without namespaces": LinuxBackend(namespaces=False),
    "linux without Landlock": LinuxBackend(landlock=False),
    "process": ProcessBackend(),
}


# Of backends that lack a layer, the suite runs the weakest.
LACKING = ("linux without namespaces", "linux without Landlock")


@pytest.fixture(
    scope="session",
    params=[
        *(pytest.param(n, marks=pytest.mark.whole if n in LACKING else ()) for n in BACKENDS),
        *PLACES,
    ],
)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with contextlib.ExitStack() as stack:
        backend = BACKENDS.get(request.param) or stack.enter_context(place(request.param))
        yield stack.enter_context(Sandbox(backend, limits=LIMITS))
