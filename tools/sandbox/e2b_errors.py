"""What went wrong between us and the E2B service, for people."""

from tools.sandbox.backends import SandboxUnavailableError

TEMPLATE = "code-interpreter-v1"  # the service's own: Python with numpy
OTHERWISE = "or use the sandbox of this computer (leave out --sandbox e2b)"


def unavailable(wanted: str, error: Exception) -> SandboxUnavailableError:
    """What to tell people when the service did not do what was wanted."""
    from e2b import AuthenticationException, NotFoundException, RateLimitException, TimeoutException
    from e2b.exceptions import ServiceBusyException

    ways = {
        AuthenticationException: "the service refused the key: check E2B_API_KEY and E2B_DOMAIN",
        RateLimitException: "the service allows no more now: wait, or end other machines",
        ServiceBusyException: "the service is busy: try again in a minute",
        NotFoundException: "there is no such thing at the service: check the template's name",
        TimeoutException: "the service did not answer in time: check the network and try again",
    }
    way = next(
        (text for kind, text in ways.items() if isinstance(error, kind)),
        "check the network, E2B_DOMAIN and the template's name",
    )
    return SandboxUnavailableError(
        f"the service E2B could not {wanted}: {str(error)[:300]}; {way}, {OTHERWISE}"
    )


def is_gone(error: Exception) -> bool:
    """Whether a machine that existed can no longer be reached."""
    from connectrpc.errors import ConnectError
    from e2b import NotFoundException, TimeoutException

    return isinstance(error, ConnectError | NotFoundException | TimeoutException)
