from collections.abc import Iterator

import pytest

from tools.sandbox import Limits, Sandbox

# Room for the interpreter and numpy, and little more: eating memory must be quick.
LIMITS = Limits(memory_bytes=320 * 2**20, load_s=30, call_s=30)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(limits=LIMITS) as shared:
        yield shared
