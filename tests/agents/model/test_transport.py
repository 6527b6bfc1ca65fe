import socket

import pytest

from agents.model.errors import NetworkForbiddenError
from agents.model.transport import forbid_network
from tests.agents.model.endpoint import message, serving
from tests.agents.model.talking import ASKED, Sleeper, chat_with, text_of

DOCUMENTATION_ADDRESS = "192.0.2.1"  # RFC 5737: nobody is there


@pytest.fixture(autouse=True)
def _forbidden() -> None:
    forbid_network()
    forbid_network()


@pytest.mark.parametrize("host", [DOCUMENTATION_ADDRESS, "api.example.com"])
def test_a_model_elsewhere_cannot_be_called_and_is_not_retried(host: str) -> None:
    sleeper = Sleeper()
    model = chat_with(base_url=f"http://{host}/v1", sleeper=sleeper)
    with pytest.raises(NetworkForbiddenError, match=host):
        model.ask(ASKED, text_of)
    assert sleeper.waits == []


def test_no_other_library_gets_out_either() -> None:
    with socket.socket() as raw, pytest.raises(NetworkForbiddenError):
        raw.connect((DOCUMENTATION_ADDRESS, 80))
    with pytest.raises(NetworkForbiddenError):
        socket.getaddrinfo("example.com", 443)


def test_this_machine_stays_reachable() -> None:
    with serving(message("well")) as endpoint:
        assert chat_with(endpoint).ask(ASKED, text_of) == "well"
