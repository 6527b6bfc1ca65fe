"""One conversation partner: bounded, budgeted, and clear when it fails.

`ChatModel.ask` is the only way to a model. Every request is checked against the run's budget
before it is sent and accounted after; a call with its retries and waits ends by its deadline;
what cannot be read is told to the model and asked for again within the same bounds.
"""

import contextlib
import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from agents.model.budget import Budget, Usage, estimate_tokens
from agents.model.errors import (
    REFUSES,
    UNUSABLE,
    BadBodyError,
    EndpointError,
    FormError,
    MalformedReplyError,
    ModelError,
    OutOfTimeError,
    RefusedRequestError,
    ReplyError,
    TransientError,
    connection_fault,
    cut_off,
    reply_begins,
    status_fault,
    told_again,
    unusable_reply,
)
from agents.model.recording import Recording, current_draft, current_place, open_recording
from agents.model.settings import ModelSettings, ReplyMethod, SettingsError
from agents.model.waiting import Wait, in_seconds, waiting

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage
    from langchain_openai import ChatOpenAI

_DEFAULT_URL = "https://api.openai.com/v1"
_CUT = "it was cut off at the endpoint's length limit; answer completely, and shorter"
_CLOSED = ("}", "```")
_MOST_CALLS = 16
_USUAL_TEMPERATURE, _WARMEST = 0.8, 1.2  # the first: about what endpoints take by themselves
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 8.0

Message: TypeAlias = Any
"""A langchain message, or `{"role", "content"}`."""
Result = TypeVar("Result")


@dataclass
class EndpointTraits:
    """Forms that the endpoint was seen to take; shared by all roles of a run.

    Attributes:
        reply_method: How replies in a schema are asked for, once one way has worked.
        takes_tools: Whether requests may hold tools: not once the endpoint has refused one.
        misfits: Replies that did not fit the schema they were asked for in.
    """

    reply_method: ReplyMethod | None
    takes_tools: bool
    misfits: int = 0


@dataclass
class Tries:
    """The tries of one question, however it is put.

    Attributes:
        further: Whether the question is put otherwise where this form of it fails.
        until: Unreadable replies, and faults that may be the form's, after which it is.
        proven: Whether this form was seen to work, so that no fault is the form's.
        unreadable: Those that there were.
        unusable: Those that could be read and were wrong.
        problems: What was wrong with each try.
        deadline: When all of them must have ended; None before the first.
        first: Number of exchanges in the recording before the first.
    """

    further: bool = False
    until: float = inf
    proven: bool = False
    unreadable: int = 0
    unusable: int = 0
    problems: list[str] = field(default_factory=list)
    deadline: float | None = None
    first: int | None = None


class ChatModel:
    """A chat model behind an OpenAI-compatible endpoint.

    Attributes:
        identity: The model's name.
        role: Who asks, such as "designer"; empty where nobody said.
        budget: The run's budget, shared by all its roles.
        learned: What its endpoint takes, shared by them too.
    """

    def __init__(
        self,
        client: "ChatOpenAI",
        settings: ModelSettings,
        budget: Budget,
        recording: Recording | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.identity = settings.model or ""
        self.role = ""
        self.settings = settings
        self.budget = budget
        self.learned = _traits(settings)
        self._own: dict[str, Any] = {}
        self._client = client
        self._recording = recording or Recording()
        if settings.mode == "record":  # a run that goes on knows what it knew
            kept = self._recording.exchanges
            self.learned.misfits = sum(one.unusable == "form" for one in kept)
        self._clock = clock
        self._sleep = sleep

    def of_role(self, role: str) -> Self:
        """The same model, asked by a role: its use is counted and told under that name."""
        model, own = copy.copy(self), self.settings.own(role)
        model.role = role
        if own is not None:
            model._own = own.model_dump(include={"model", "temperature"}, exclude_none=True)
            model.settings = self.settings.model_copy(update=model._own)
        if own is not None and own.model is not None:  # another endpoint, for all that is known
            model.identity = own.model
            model.learned = _traits(self.settings)
        return model

    def ask(
        self,
        messages: Sequence[Message],
        read: Callable[["AIMessage"], Result],
        *,
        tries: Tries | None = None,
        **options: Any,  # noqa: ANN401 - whatever the endpoint's protocol has
    ) -> Result:
        """Ask until `read` accepts a reply.

        Args:
            messages: The conversation so far; it is not changed.
            read: Turns a reply into a result, or raises `ReplyError` saying what is wrong with it.
            tries: Those that were used on the same question put otherwise; None for a new one.
            options: Fields of the request, such as `tools` or `response_format`.

        Raises:
            BudgetExhaustedError: Before a request that would go over the budget.
            RefusedRequestError: If the endpoint refuses the request for good.
            EndpointError: If it gave no usable answer within the tries and the deadline.
            MalformedReplyError: If the last reply could be had but not be read.
            ReplayMissError: If a replayed run asks for what was not recorded.
        """
        tries = tries or Tries()
        tries.first = len(self._recording.exchanges) if tries.first is None else tries.first
        try:
            return self._ask(messages, read, options, tries)
        except (EndpointError, MalformedReplyError, RefusedRequestError) as error:
            if not (tries.further and error.form):
                self._recording.give_up(current_place(), tries.first)
            raise

    def _ask(
        self,
        messages: Sequence[Message],
        read: Callable[["AIMessage"], Result],
        options: dict[str, Any],
        tries: Tries,
    ) -> Result:
        most, problems = self.settings.retries + 1, tries.problems
        tries.deadline = deadline = tries.deadline or self._clock() + self.settings.deadline_s
        conversation = list(messages)
        last: TransientError | None = None
        while len(problems) < most and tries.unreadable < tries.until:
            attempt = len(problems)
            wait = Wait(self.identity, self.role, attempt + 1, most)
            wait.after = problems[-1] if problems else ""
            # A fault without words is a passing one first, then one of the form.
            wait.doubts_form = bool(last and last.form) and min(most - 1, 2) <= attempt
            try:
                with waiting(wait):
                    if last is not None:
                        self._wait(attempt, last, deadline)
                    reply = self._warmed(conversation, options, deadline, wait, tries.unusable)
            except TransientError as error:
                last = error
                problems.append(error.problem)
                tries.unreadable += error.form and not tries.proven
                continue
            except OutOfTimeError as error:
                problems.append(error.problem)
                break
            last = None
            try:
                return _read_whole(_complete(reply), read)
            except ReplyError as error:
                misfit = isinstance(error, FormError)
                tries.unreadable += misfit
                tries.unusable += not misfit  # a form is not mended by a warmer reply
                if not wait.known:
                    self.budget.unusable(self.role)
                    self._recording.unusable(current_place(), tries.first or 0, form=misfit)
                problems.append(unusable_reply(reply, error))
                conversation = [*messages, *told_again(reply, error)]
        raise self._gave_up(tries, last)

    def _gave_up(self, tries: Tries, last: TransientError | None) -> ModelError:
        is_left = len(tries.problems) <= self.settings.retries
        told = "; ".join(f"{i}. {problem}" for i, problem in enumerate(tries.problems, 1))
        text = f"{self.identity} at {current_place()!r}: {told}"
        if last is None and tries.problems[-1].startswith((UNUSABLE, REFUSES)):
            return MalformedReplyError(
                f"no usable reply of {text}. Try a stronger model, or raise RULEWRIGHT_RETRIES",
                form=is_left and tries.until < inf,
            )
        return EndpointError(
            f"no answer from {text}. Check the endpoint, or raise RULEWRIGHT_RETRIES, "
            "RULEWRIGHT_TIMEOUT_S or RULEWRIGHT_DEADLINE_S, and resume the run",
            form=last is not None and last.form and (is_left or tries.until == inf),
        )

    def _wait(self, attempt: int, error: TransientError, deadline: float) -> None:
        if self.settings.mode == "replay":
            return
        backoff = min(_FIRST_WAIT_S * 2 ** (attempt - 1), _LONGEST_WAIT_S)
        wait = backoff if error.wait_s is None else error.wait_s
        left = min(deadline - self._clock(), self.budget.seconds_left)
        if wait >= left:
            raise OutOfTimeError(
                f"the endpoint asks to wait {in_seconds(wait)} and {max(0.0, left):.0f} s are left"
                if error.wait_s is not None
                else "the time for this call is used up"
            )
        self._sleep(wait)
        self.budget.wait(wait, self.role)

    def _warmed(
        self,
        messages: Sequence[Message],
        options: dict[str, Any],
        deadline: float,
        wait: Wait,
        unusable: int,
    ) -> "AIMessage":
        """Ask; warmer after unusable replies and for further drafts."""
        usual = self.settings.temperature
        usual = _USUAL_TEMPERATURE if usual is None else usual
        steps = unusable + current_draft()
        risen = min(usual + steps * self.settings.temperature_step, max(usual, _WARMEST))
        if risen > usual:
            options = {**options, "temperature": round(risen, 2)}
        return self._request(messages, options, deadline, wait)

    def _request(
        self, messages: Sequence[Message], options: dict[str, Any], deadline: float, wait: Wait
    ) -> "AIMessage":
        """Send one request within the budget and the deadline."""
        expected = estimate_tokens(len(str([messages, options])))
        left = deadline - self._clock()
        if left <= 0:
            raise OutOfTimeError("the time for this call is used up")
        self.budget.reserve(expected, self.role)
        left = min(left, self.budget.seconds_left)
        wait.begin(min(self.settings.timeout_s, left), left)
        start, reply = self._clock(), None
        try:
            reply = self._invoke(messages, options, wait)
        finally:
            tokens = _usage(reply, expected)
            sent = max(1, wait.sent)  # more where a form was refused, none where it is replayed
            used = Usage(
                calls=sent,
                failed_calls=sent - (reply is not None),
                answered=int(reply is not None),
                tokens_in=tokens[0],
                tokens_out=tokens[1],
                estimated_calls=int(reply is not None and reply.usage_metadata is None),
                largest_prompt=tokens[0],
                seconds=self._clock() - start,
            )
            self.budget.settle(expected, Usage() if wait.known else used, self.role)
        return reply

    def _invoke(
        self, messages: Sequence[Message], options: dict[str, Any], wait: Wait
    ) -> "AIMessage":
        import openai

        where = current_place()
        metadata = {"place": where, "role": self.role}
        config: Any = {"run_name": f"model {where}", "metadata": metadata}
        try:
            options = {**self._own, **options, "timeout": wait.silence_s}
            return self._client.invoke(list(messages), config, **options)
        except BadBodyError as error:
            raise TransientError(str(error)) from error
        except openai.LengthFinishReasonError as error:
            return cut_off(error)
        except openai.APITimeoutError as error:
            problem = f"the reply was not complete within {in_seconds(wait.total_s)}"
            if not wait.overdue:
                problem = f"the endpoint was silent for {in_seconds(wait.silence_s)}"
            raise TransientError(problem) from error
        except openai.APIConnectionError as error:
            raise connection_fault(error) from error
        except openai.APIError as error:
            raise status_fault(error) from error


def build_chat(
    settings: ModelSettings,
    *,
    budget: Budget | None = None,
    label: str = "",
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> ChatModel:
    """Connect a chat model as the settings say, recording or replaying where they ask for it.

    Args:
        settings: `settings.model` must be set.
        budget: The run's budget; a new one with the settings' bounds where None.
        label: Who answers, written into a new recording.
        clock: Seconds, monotonic.
        sleep: Waits before a retry.

    Raises:
        SettingsError: If no model is configured.
        RecordingError: If the recording cannot be read.
    """
    if settings.model is None:
        raise SettingsError("no model is configured: set RULEWRIGHT_MODEL")
    import httpx2
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    from agents.model.transport import certificates, forbid_network, http_client

    if settings.offline:
        forbid_network()
    url = settings.base_url or _DEFAULT_URL
    recording = open_recording(settings, label)
    client = ChatOpenAI(
        model=settings.model,
        base_url=url,
        api_key=SecretStr(settings.api_key or "none"),
        temperature=settings.temperature,
        timeout=settings.timeout_s,
        max_retries=0,
        streaming=False,
        disable_streaming=True,
        use_responses_api=False,
        http_client=http_client(settings.mode, recording, base_url=url, secret=settings.api_key),
        http_async_client=httpx2.AsyncClient(verify=certificates()),  # unused; its own is slow
    )
    return ChatModel(
        client, settings, budget or Budget(settings), recording, clock=clock, sleep=sleep
    )


def _traits(settings: ModelSettings) -> EndpointTraits:
    """The forms that an endpoint of which nothing is known is asked in."""
    return EndpointTraits(settings.reply_method, settings.tool_rounds > 0)


def _usage(reply: "AIMessage | None", expected: int) -> tuple[int, int]:
    if reply is None:
        return 0, 0
    if reply.usage_metadata is None:
        return expected, estimate_tokens(len(str(reply.content) + str(reply.tool_calls)))
    return reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]


def _complete(reply: "AIMessage") -> "AIMessage":
    if refusal := reply.additional_kwargs.get("refusal"):
        raise ReplyError(f"it refuses: {reply_begins(refusal)}")
    calls = len(reply.tool_calls) + len(reply.invalid_tool_calls)
    if calls > _MOST_CALLS:
        raise ReplyError(f"it makes {calls} tool calls; at most {_MOST_CALLS} are taken at once")
    return reply


def _read_whole(reply: "AIMessage", read: Callable[["AIMessage"], Result]) -> Result:
    """The text of a reply; one that met the length limit ends with its last object or block."""
    if reply.response_metadata.get("finish_reason") != "length":
        return read(reply)
    if not reply.tool_calls and str(reply.text).rstrip().endswith(_CLOSED):
        with contextlib.suppress(ReplyError):
            return read(reply)
    raise ReplyError(_CUT)
