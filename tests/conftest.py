"""No test reaches a network: a model call that is not replayed, or leaves this machine, raises."""

import os

import pytest

os.environ["LANGSMITH_TRACING"] = "false"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
for name in [name for name in os.environ if name.startswith(("RULEWRIGHT_", "OPENAI_"))]:
    del os.environ[name]


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> None:
    from agents.model.transport import forbid_network

    forbid_network()
