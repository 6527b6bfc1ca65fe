"""Faults on the way to a model, and which of them another try may mend."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from games.text import plain_text

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

FORM_STATUSES = (400, 422, 501)
"""Statuses of an answer that refuses the form of a request; another form may be taken."""
FAILED = 500
"""Status of an answer that tells of a fault, or of a form of which the server does not know."""
UNUSABLE, REFUSES = "unusable reply", "the model refuses"
"""The beginnings of what a person is told of a reply that cannot be used."""
_REFUSING = re.compile(
    r"\W*(?:sorry|as an ai|i apologi[sz]e"
    r"|(?:i['’]?m|i am|we['’]?re) (?:\w+ )?(?:sorry|(?:un|not )able)"
    r"|(?:unfortunately,? )?(?:i|we) (?:can['’]t|can ?not|won['’]t|will not|must decline))\b",
    re.IGNORECASE,
)
_ECHOED, _QUOTED = 2000, 160


class ModelError(Exception):
    """A model could not be used; the message says why and what to do next.

    Attributes:
        form: Whether another form of the request may be taken, such as one without a reply
            schema or without tools.
    """

    def __init__(self, message: str, *, form: bool = False) -> None:
        super().__init__(message)
        self.form = form


class BadBodyError(ValueError):
    """The endpoint answered with status 200 and a body that is no usable chat completion."""


class RecordingError(ModelError, ValueError):
    """A recording could not be read or written."""


class ReplayMissError(ModelError):
    """A replayed run asked for something that was not recorded: the run or a prompt changed."""


class NetworkForbiddenError(ModelError, RuntimeError):
    """Something tried to reach another machine although that is forbidden here."""


class EndpointError(ModelError):
    """The endpoint gave no usable answer within the bounds; the message tells every try."""


class RefusedRequestError(ModelError):
    """The endpoint refuses the request for good; asking again would change nothing."""


class MalformedReplyError(ModelError):
    """The model's replies could not be read, or not be used, within the bounded tries."""


class ReplyError(ValueError):
    """One reply cannot be used; the message is told to the model when it is asked again."""


class FormError(ReplyError):
    """One reply does not have the form that was asked for: another form may be given.

    Attributes:
        form: The form in words, where the model was not told it yet.
    """

    form = ""


@dataclass
class TransientError(Exception):
    """A fault that another try may mend."""

    problem: str
    wait_s: float | None = None
    form: bool = False  # the form of the request may be at fault


@dataclass
class OutOfTimeError(Exception):
    """No time is left for another try."""

    problem: str


def cut_off(error: Any) -> "AIMessage":  # noqa: ANN401 - the openai package's generic completion
    """The reply that the openai package refuses to parse because it was cut off."""
    from langchain_core.messages import AIMessage

    completion = error.completion
    usage = completion.usage
    return AIMessage(
        content=completion.choices[0].message.content or "",
        response_metadata={"finish_reason": "length"},
        usage_metadata=usage
        and {
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens,
        },
    )


def status_fault(error: Any) -> Exception:  # noqa: ANN401 - openai is imported lazily
    """The error for an answer with an error status: refused for good, or worth another try."""
    status, said = error.status_code, str(error.message)[:400]
    form = status in FORM_STATUSES
    if form:
        told = f"the endpoint refused the request with status {status}: {said}"
    elif status in (401, 403):
        told = f"the endpoint refused the key with status {status}: {said}. Check OPENAI_API_KEY"
    elif status == 404:  # noqa: PLR2004 - HTTP's own number
        told = f"the endpoint does not know this address or model (status 404): {said}. Check "
        told += "OPENAI_BASE_URL and RULEWRIGHT_MODEL"
    elif error.code == "insufficient_quota":
        told = f"the account's quota is used up: {said}"
    else:
        return TransientError(
            f"status {status}: {said}", _retry_after(error.response), status == FAILED
        )
    return RefusedRequestError(told, form=form)


def _retry_after(response: Any) -> float | None:  # noqa: ANN401 - httpx2 is imported lazily
    """Seconds the endpoint asks to wait; a date, which is rare, counts as not given."""
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def connection_fault(error: BaseException) -> Exception:
    """The error for a failed exchange; a replay miss or a refused network is never retried."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ReplayMissError | NetworkForbiddenError):
            return cause
        error, cause = cause, cause.__cause__ or cause.__context__
    return TransientError(f"{type(error).__name__}: {error}")


def reply_begins(text: object) -> str:
    """The start of what a model said, in quotes, on one line."""
    words = " ".join(plain_text(str(text)[: 4 * _QUOTED]).split())
    return repr(words if len(words) <= _QUOTED else words[:_QUOTED] + "...")


def unusable_reply(reply: "AIMessage", error: ReplyError) -> str:
    """A person's words for an unusable reply: its refusal, or its beginning."""
    said = str(reply.text)
    refusal = reply.additional_kwargs.get("refusal") or (_REFUSING.match(said) and said)
    if refusal:
        return f"{REFUSES}: {reply_begins(refusal)}"
    begins = f"; it begins {reply_begins(said)}" if said else "; it says nothing"
    return f"{UNUSABLE}: {error}{begins if not reply.tool_calls else ''}"


def told_again(reply: "AIMessage", error: ReplyError) -> list[dict[str, str]]:
    """The unusable reply and what was wrong with it, as the next turns of the conversation."""
    shown, form = str(reply.content)[:_ECHOED] or "(no text)", getattr(error, "form", "")
    told = "".join(f"{line}\n" for line in (error, form) if str(line))
    return [
        {"role": "assistant", "content": shown},
        {"role": "user", "content": f"This reply could not be used: {told}Answer again, whole."},
    ]
