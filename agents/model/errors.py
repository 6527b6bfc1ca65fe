"""Faults on the way to a model, and which of them another try may mend."""

import json
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
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
_TOLD, _READ = 400, 16 * 1024  # characters of a server's words that are told, and of a page read
_MARKUP = re.compile(r"(?is)<(style|script)\b.*?</\1\s*>|<[!/a-z][^>]*>")
_NAMES_FORM = re.compile(r"(?i)\btools?\b|response.?format|json.?schema|structured")
_PASSING = (408, 409, 425, 429)  # of the 400s: those that the OpenAI client and RFC 8470 repeat


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
    if not hasattr(error, "status_code"):  # a prompt beyond the context, whatever the status
        said = fault_words(str(error))
        return RefusedRequestError(f"the endpoint refused the request: {said}")
    status, said = error.status_code, fault_words(error.response.text) or "it says nothing"
    is_named = status < FAILED and _NAMES_FORM.search(said) is not None
    form = status in FORM_STATUSES or is_named
    if status < 400:  # noqa: PLR2004 - HTTP's own number
        told = f"the endpoint sends the request elsewhere with status {status}: {said}. "
        told += "Set OPENAI_BASE_URL to the address that answers"
    elif status in (401, 403):
        told = f"the endpoint refused the key with status {status}: {said}. Check OPENAI_API_KEY"
    elif status == 404:  # noqa: PLR2004 - HTTP's own number
        told = f"the endpoint does not know this address or model (status 404): {said}. Check "
        told += "OPENAI_BASE_URL and RULEWRIGHT_MODEL"
    elif error.code == "insufficient_quota":
        told = f"the account's quota is used up: {said}"
    elif form or (status < FAILED and status not in _PASSING):
        told = f"the endpoint refused the request with status {status}: {said}"
    else:
        return TransientError(
            f"status {status}: {said}", _retry_after(error.response), status == FAILED
        )
    return RefusedRequestError(told, form=form)


def fault_words(body: str) -> str:
    """A server's words for a failure, whether it gives them as JSON, as a page or as a text.

    >>> fault_words('[{"error": {"code": 400, "message": "API key expired"}}]')
    'API key expired'
    >>> fault_words("<html><style>p {}</style><h1>413 Too Large</h1><hr>nginx</html>")
    '413 Too Large nginx'
    """
    with suppress(ValueError, RecursionError):
        if words := error_words(json.loads(body)):
            return words
    text = body[:_READ]
    return " ".join(_MARKUP.sub(" ", text).split())[:_TOLD]


def error_words(value: object) -> str:
    """The server's words of an error that stands where an answer belongs; empty where none does."""
    if isinstance(value, list) and value:  # some servers put it into a list
        return error_words(value[0])
    if not isinstance(value, dict):
        return ""
    choices = value.get("choices")
    first = choices[0] if choices and isinstance(choices, list) else None
    said = value.get("error") or (isinstance(first, dict) and first.get("error"))
    if isinstance(said, dict) and not any(said.values()):  # code 0 without words is no error
        said = None
    if not (said or choices):
        message = value.get("message")
        said = value.get("detail") or (message if isinstance(message, str) else None)
    words = said.get("message") if isinstance(said, dict) else said
    return str(words or said or "")[:_TOLD]


def _retry_after(response: Any) -> float | None:  # noqa: ANN401 - httpx2 is imported lazily
    """Seconds the endpoint asks to wait, as a number or until a date (RFC 9110, 10.2.3)."""
    given = response.headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(given))
    with suppress(ValueError):
        return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
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
