"""Forms of a request that some endpoints refuse, and the next form of each."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pydantic import JsonValue

from agents.model.errors import FAILED, FORM_STATUSES

if TYPE_CHECKING:
    import httpx2

Body: TypeAlias = dict[str, JsonValue]
Answer: TypeAlias = "tuple[httpx2.Response, bytes]"
_OK = 200


@dataclass(frozen=True)
class _Form:
    """A form, the words of a refusal that name it, and a body in the next form."""

    words: re.Pattern[bytes]
    next: Callable[[Body], Body]


def _without(*names: str) -> Callable[[Body], Body]:
    return lambda body: {name: value for name, value in body.items() if name not in names}


def _in_turns(body: Body) -> Body:
    """The system's words as the user's first, and neighbours of the user's as one message.

    The templates of some models have no system, or the two others in turns alone.
    """
    given = body["messages"]
    messages = [m for m in given if isinstance(m, dict)] if isinstance(given, list) else []
    turns: list[Body] = []
    for said in sorted(messages, key=lambda said: said["role"] != "system"):
        turn = {**said, "role": "user"} if said["role"] == "system" else said
        if turns and turn["role"] == turns[-1]["role"] == "user":
            turn = {**turn, "content": f"{turns.pop()['content']}\n\n{turn['content']}"}
        turns.append(turn)
    return {**body, "messages": [*turns]}


_FORMS = {
    "tool_choice": _Form(re.compile(rb"(?i)tool.?choice"), _without("tool_choice")),
    "temperature": _Form(re.compile(rb"(?i)temperature"), _without("temperature")),
    "system": _Form(re.compile(rb"(?i)\broles?\b|\bsystem (?:message|prompt)"), _in_turns),
    "stream": _Form(re.compile(rb"(?i)\bstream|^501"), _without("stream", "stream_options")),
}


@dataclass
class EndpointForms:
    """Forms of requests, as an endpoint was seen to take or to refuse them.

    Attributes:
        refused: Those that are not sent any more.
        taken: Those that stood in a request which was answered.
        tried: Those that were left out once, and the refusal stayed.
    """

    refused: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    tried: set[str] = field(default_factory=set)

    def ask(self, body: Body, send: Callable[[Body], Answer], *, doubtful: bool) -> Answer:
        """The answer to a request, in the next form where the endpoint names what it refuses.

        Args:
            body: The request.
            send: Sends a body.
            doubtful: Whether the endpoint failed without words before, so that a form of the
                request is left out, to see.
        """
        for name in self.refused:
            body = _FORMS[name].next(body)
        doubted = next((n for n in self._in(body) if doubtful and n not in self.taken), "")
        left_out = [doubted] if doubted else []
        body = _FORMS[doubted].next(body) if doubted else body
        answer = send(body)
        while name := self._named(body, answer):
            left_out.append(name)
            body = _FORMS[name].next(body)
            answer = send(body)
        status = answer[0].status_code
        for name in left_out:
            if _is_named(name, answer) or (name == doubted and status == FAILED):
                self.tried.add(name)
            elif status in (_OK, *FORM_STATUSES):
                self.refused.add(name)
        if status == _OK:
            self.taken.update(self._in(body))
        return answer

    def _in(self, body: Body) -> list[str]:
        """The forms in a body that may still be left out."""
        return [n for n, form in _FORMS.items() if n not in self.tried and form.next(body) != body]

    def _named(self, body: Body, answer: Answer) -> str:
        """The form that a refusal names; empty where it names none."""
        for name in self._in(body):
            is_fault = answer[0].status_code == FAILED and name not in self.taken
            if (is_fault or answer[0].status_code in FORM_STATUSES) and _is_named(name, answer):
                return name
        return ""


def _is_named(name: str, answer: Answer) -> bool:
    """True if a refusal is of this form by its words, or by its status."""
    status = answer[0].status_code
    return status != _OK and _FORMS[name].words.search(b"%d %s" % (status, answer[1])) is not None
