from collections.abc import Iterator

import pytest

from tests.tools.sandbox.e2b.fake_service import FakeService
from tools.sandbox import Sandbox


@pytest.fixture
def service() -> Iterator[FakeService]:
    with FakeService() as fake:
        yield fake


@pytest.fixture
def sandbox(service: FakeService) -> Iterator[Sandbox]:
    with Sandbox(service.backend()) as started:
        yield started
