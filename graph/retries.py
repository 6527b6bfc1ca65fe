"""Which failures of a node are worth another try."""


def worth_retrying(error: Exception) -> bool:
    """Malformed replies and endpoint trouble are; a person's mistake or our own bug is not.

    The models' client has used up its own bounded retries by then; a node's retry starts the
    role's work afresh, still within the run's budget.
    """
    from agents.models import EndpointError, MalformedReplyError

    return isinstance(error, EndpointError | MalformedReplyError)
