"""The budget of a run with a model: estimated before, checked at each request, accounted after."""

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from pydantic import JsonValue

from agents.model.completion import reported_tokens
from agents.model.errors import ModelError
from agents.model.recording import REVISION, Exchange, open_recording
from agents.model.settings import ModelSettings
from agents.prompting import contract, load_prompt

_HTTP_OK = 200
# Places of a run in their order; those of one step take turns.
_STEPS = {
    "intake": 0,
    "design": 1,
    "code": 2,
    "tests": 3,
    "record": 3,
    "refine": 3,
    "strategize": 4,
}
_BOUNDS = ("RULEWRIGHT_MAX_CALLS", "RULEWRIGHT_MAX_TOKENS")
# Characters, as seen in runs answered by hand: a design as a prompt quotes it, a module, a record,
# the retrieved pieces, the findings of one refinement.
_DESIGN, _MODULE, _RECORD, _RETRIEVED, _FINDINGS = 5_000, 12_000, 12_000, 5_000, 2_000


class BudgetExhaustedError(ModelError):
    """The next request would go over the run's budget; nothing was sent."""


@dataclass(frozen=True)
class Usage:
    """Requests, tokens and seconds spent so far.

    Attributes:
        calls: Requests sent, failed ones and retries included.
        failed_calls: Those that brought no usable reply.
        tokens_in: Prompt tokens.
        tokens_out: Completion tokens.
        estimated_calls: Requests whose tokens the endpoint did not report, and which therefore
            count at four characters a token.
        largest_prompt: Tokens of the largest prompt that was answered.
        answered: Requests that were answered, usably or not.
        seconds: Seconds spent waiting for the endpoint.
        dollars: By the configured prices; None where there are none.
    """

    calls: int = 0
    failed_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated_calls: int = 0
    largest_prompt: int = 0
    answered: int = 0
    seconds: float = 0.0
    dollars: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        """The sum of both; dollars, which the prices give, are left out."""
        return Usage(
            calls=self.calls + other.calls,
            failed_calls=self.failed_calls + other.failed_calls,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            estimated_calls=self.estimated_calls + other.estimated_calls,
            largest_prompt=max(self.largest_prompt, other.largest_prompt),
            answered=self.answered + other.answered,
            seconds=self.seconds + other.seconds,
        )

    def priced(self, settings: ModelSettings) -> "Usage":
        """The same with its dollars, where prices are configured."""
        return replace(self, dollars=settings.cost(self.tokens_in, self.tokens_out))

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out

    @property
    def mean_prompt(self) -> int:
        """Tokens of the prompts that were answered, on average."""
        return round(self.tokens_in / max(1, self.answered))

    def as_object(self) -> dict[str, JsonValue]:
        """For JSON."""
        shown = {name: value for name, value in asdict(self).items() if name != "answered"}
        return {**shown, "mean_prompt": self.mean_prompt}

    def __str__(self) -> str:
        cost = "" if self.dollars is None else f", ${self.dollars:.4f}"
        return (
            f"{self.calls} calls, {self.tokens_in:,} tokens in (a prompt {self.mean_prompt:,} on "
            f"average, {self.largest_prompt:,} at most), {self.tokens_out:,} out{cost}, "
            f"{self.seconds:.0f} s"
        )


def estimate_tokens(characters: int) -> int:
    """About four characters a token: an estimate, and named one wherever it is shown.

    >>> estimate_tokens(0), estimate_tokens(4000)
    (1, 1000)
    """
    return max(1, characters // 4)


class Budget:
    """One run's budget, shared by its roles and safe to use from several threads.

    The bounds hold for the run and for each revision by itself.

    Attributes:
        settings: The bounds.
        answered: Answers that were of use before an interruption, by place.

    A request is reserved with its estimated prompt before it is sent, so that requests in flight
    at the same time cannot together go over the budget, and settled with its true figures after.
    """

    def __init__(
        self,
        settings: ModelSettings,
        spent: Mapping[str, Usage] | None = None,
        earlier: Mapping[str, Usage] | None = None,
        revision: str = "",
    ) -> None:
        """Keep the bounds of `settings`.

        Args:
            settings: The bounds.
            spent: What roles used before an interruption.
            earlier: What they used before the newest revision began.
            revision: Its first place; empty for the run itself.
        """
        self.settings = settings
        self._spent = defaultdict(Usage, spent or {})
        self._earlier = dict(earlier or {})
        self._revision = revision
        self.answered: Mapping[str, int] = {}
        self._reserved: defaultdict[str, Usage] = defaultdict(Usage)
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """Usage so far, without requests in flight."""
        with self._lock:
            spent = (*self._earlier.values(), *self._spent.values())
            return sum(spent, Usage()).priced(self.settings)

    @property
    def since(self) -> Usage:
        """The same since the newest revision began."""
        with self._lock:
            return sum(self._spent.values(), Usage()).priced(self.settings)

    def begin(self, revision: str) -> None:
        """A revision begins at this place, unless it is the one that was interrupted."""
        with self._lock:
            if revision != self._revision:
                self._earlier = added(self._earlier, self._spent)
                self._spent, self._revision = defaultdict(Usage), revision

    @property
    def roles(self) -> dict[str, Usage]:
        """The same by role, in the order of their first calls."""
        with self._lock:
            both = added(self._earlier, self._spent)
        spent = {role: used for role, used in both.items() if used.calls}
        return {role: used.priced(self.settings) for role, used in spent.items()}

    def as_object(self) -> dict[str, JsonValue]:
        """Usage for JSON, in all and by role."""
        by_role: dict[str, JsonValue] = {name: one.as_object() for name, one in self.roles.items()}
        return {"usage": self.usage.as_object(), "usage_by_role": by_role}

    @property
    def seconds_left(self) -> float:
        """Seconds that may still be spent on the endpoint."""
        return max(0.0, self.settings.max_seconds - self.since.seconds)

    def reserve(self, prompt_tokens: int, role: str = "") -> None:
        """Set aside one request of a role with `prompt_tokens` estimated prompt tokens.

        Raises:
            BudgetExhaustedError: Naming the bound it would break, and what was spent.
        """
        with self._lock:
            self._require(prompt_tokens)
            self._require_of_role(prompt_tokens, role)
            self._reserved[role] += Usage(calls=1, tokens_in=prompt_tokens)

    def settle(self, prompt_tokens: int, used: Usage, role: str = "") -> None:
        """Replace a reservation of `prompt_tokens` with what the request really used."""
        with self._lock:
            self._reserved[role] += Usage(calls=-1, tokens_in=-prompt_tokens)
            self._spent[role] += used

    def unusable(self, role: str = "") -> None:
        """A reply that was paid for cannot be used."""
        with self._lock:
            self._spent[role] += Usage(failed_calls=1)

    def wait(self, seconds: float, role: str = "") -> None:
        """Account for time spent waiting before a retry."""
        with self._lock:
            self._spent[role] += Usage(seconds=seconds)

    def _require_of_role(self, prompt_tokens: int, role: str) -> None:
        own = self.settings.own(role)
        if own is not None:
            taken = self._spent[role] + self._reserved[role]
            _require_within(taken, prompt_tokens, own.max_calls, own.max_tokens, role)

    def _require(self, prompt_tokens: int) -> None:
        used, limits = sum(self._spent.values(), Usage()), self.settings
        taken = sum(self._reserved.values(), used)
        _require_within(taken, prompt_tokens, limits.max_calls, limits.max_tokens)
        if used.seconds >= limits.max_seconds:
            raise _exhausted(
                f"{used.seconds:.0f} of {limits.max_seconds:.0f} s are used",
                "RULEWRIGHT_MAX_SECONDS",
            )
        cost = limits.cost(taken.tokens_in + prompt_tokens, used.tokens_out)
        if limits.max_dollars is not None and cost is not None and cost > limits.max_dollars:
            raise _exhausted(
                f"with the next prompt ${cost:.4f} of ${limits.max_dollars:.4f} would be used",
                "RULEWRIGHT_MAX_DOLLARS",
            )


def _require_within(
    taken: Usage, prompt_tokens: int, calls: int | None, tokens: int | None, role: str = ""
) -> None:
    """Refuse one more request beyond these bounds, of a role or of all; None is no bound."""
    of, settings = (f" of the {role}", ("RULEWRIGHT_ROLES",) * 2) if role else ("", _BOUNDS)
    if calls is not None and taken.calls + 1 > calls:
        raise _exhausted(f"{taken.calls} of {calls} calls{of} are used", settings[0])
    if tokens is not None and taken.tokens + prompt_tokens > tokens:
        raise _exhausted(
            f"{taken.tokens} of {tokens} tokens{of} are used and the next prompt is about "
            f"{prompt_tokens}",
            settings[1],
        )


def _exhausted(used: str, setting: str) -> BudgetExhaustedError:
    return BudgetExhaustedError(
        f"the model's budget is exhausted: {used}; raise {setting} and resume the run"
    )


def added(one: Mapping[str, Usage], other: Mapping[str, Usage]) -> dict[str, Usage]:
    """The sum of both, for each role."""
    return {role: one.get(role, Usage()) + other.get(role, Usage()) for role in {**one, **other}}


def spent_before(settings: ModelSettings) -> dict[str, Usage]:
    """Usage of each role in the recorded part of an interrupted run.

    An exchange that the resumed run reads from the recording once more is not counted again.
    """
    return _used(_recorded(settings))


def budget_of(settings: ModelSettings) -> Budget:
    """A run's budget with what was spent before, in all and in its newest revision."""
    exchanges = _recorded(settings)
    begun = [one.place for one in exchanges if one.place.startswith(REVISION)]
    first = next((n for n, one in enumerate(exchanges) if begun and one.place == begun[-1]), 0)
    revision = begun[-1] if begun else ""
    budget = Budget(settings, _used(exchanges[first:]), _used(exchanges[:first]), revision)
    useful = (one for one in exchanges if one.status == _HTTP_OK and not one.unusable)
    budget.answered = Counter(one.place for one in useful)
    return budget


def _recorded(settings: ModelSettings) -> Sequence[Exchange]:
    return open_recording(settings).exchanges if settings.mode == "record" else ()


def _used(exchanges: Sequence[Exchange]) -> dict[str, Usage]:
    spent: dict[str, Usage] = {}
    for exchange in exchanges:
        answered, told = exchange.status == _HTTP_OK, reported_tokens(exchange.response)
        lengths = (len(json.dumps(part)) for part in (exchange.request, exchange.response))
        tokens = told or ([*map(estimate_tokens, lengths)] if answered else (0, 0))
        used = Usage(
            calls=exchange.sent,
            failed_calls=exchange.sent - (answered and not exchange.unusable),
            tokens_in=tokens[0],
            tokens_out=tokens[1],
            estimated_calls=int(answered and told is None),
            largest_prompt=tokens[0],
            answered=int(answered),
            seconds=exchange.seconds,
        )
        spent[exchange.role] = spent.get(exchange.role, Usage()) + used
    return spent


@dataclass(frozen=True)
class _Expectation:
    """One kind of call: its prompt, what is filled in, its reply, how often a run makes it."""

    prompt: str
    filled: int
    reply: int
    fewest: int
    most: int
    at: str


@dataclass(frozen=True)
class RunEstimate:
    """The least and the most that a run may use, without retries, at four characters a token."""

    low: Usage
    high: Usage

    def __str__(self) -> str:
        low, high = self.low, self.high
        cost = "cost unknown (set RULEWRIGHT_PRICE_IN and RULEWRIGHT_PRICE_OUT)"
        if low.dollars is not None:
            cost = f"${low.dollars:.2f} to ${high.dollars:.2f}"
        return (
            f"estimate: {low.calls} to {high.calls} calls, {low.tokens:,} to "
            f"{high.tokens:,} tokens, {cost}"
        )


def estimate_run(
    settings: ModelSettings,
    *,
    max_rounds: int = 6,
    records_judged: int = 2,
    answered: Mapping[str, int] | None = None,
) -> RunEstimate:
    """Estimate a run from the sizes of the prompts and the run's own bounds.

    The least is a run whose first draft passes without a tool call; the most uses every tool
    round and every refinement.

    Args:
        settings: For the prices and the tool rounds.
        max_rounds: Refinements before the run gives up.
        records_judged: Match records that the validator judges, for each candidate.
        answered: Answers that a run which goes on has had, by place: what is left is estimated.
    """
    low = high = Usage()
    kinds = _expectations(settings.tool_rounds, max_rounds, records_judged)
    for kind in _left(kinds, answered or {}):
        prompt = load_prompt(kind.prompt)
        taken = len(contract()) if "contract" in prompt.variables else 0
        tokens_in = estimate_tokens(prompt.size + taken + kind.filled)
        tokens_out = estimate_tokens(kind.reply)
        few, most = kind.fewest, kind.most
        low += Usage(calls=few, tokens_in=few * tokens_in, tokens_out=few * tokens_out)
        high += Usage(calls=most, tokens_in=most * tokens_in, tokens_out=most * tokens_out)
    return RunEstimate(low.priced(settings), high.priced(settings))


def _expectations(tool_rounds: int, max_rounds: int, records: int) -> list[_Expectation]:
    candidates = 1 + max_rounds
    drafting = _DESIGN + _RETRIEVED
    return [
        _Expectation("designer_clarify", 500, 400, 1, 1, "intake"),
        _Expectation("designer_design", 500 + _RETRIEVED, _DESIGN, 1, 1, "design"),
        _Expectation("coder_draft", drafting, _MODULE, 1, 1, "code"),
        _Expectation("coder_draft", drafting + _MODULE, _MODULE, 0, tool_rounds, "code"),
        _Expectation("coder_edit", _DESIGN + _MODULE + _FINDINGS, 3_000, 0, max_rounds, "refine"),
        _Expectation("validator_tests", _DESIGN + _MODULE, 2_500, 1, candidates, "tests"),
        _Expectation(
            "validator_judge", _DESIGN + _RECORD, 600, records, records * candidates, "record"
        ),
        _Expectation("strategist_policies", _DESIGN, 1_500, 2, 2, "strategize"),
        _Expectation("strategist_review", _DESIGN + 3_000, 1_500, 1, 1, "strategize"),
        _Expectation("strategist_code", _DESIGN + _RECORD, 5_000, 3, 3, "strategize"),
        _Expectation("strategist_repair", _DESIGN + _RECORD + 5_000, 5_000, 0, 1, "strategize"),
    ]


def _left(kinds: Sequence[_Expectation], at: Mapping[str, int]) -> list[_Expectation]:
    """The calls that are left of a run with so many answers at each place."""
    answered = Counter[str]()
    for place, count in at.items():
        head, *rest = place.split("/")
        answered[next((part for part in rest if part in ("tests", "record")), head)] += count
    reached = max((step for at, step in _STEPS.items() if answered[at]), default=0)
    left = []
    for kind in kinds:
        done = min(answered[kind.at], kind.most) if _STEPS[kind.at] >= reached else kind.most
        answered[kind.at] -= done
        fewest, most = max(0, kind.fewest - done), kind.most - done
        left.append(replace(kind, fewest=fewest, most=most))
    return left
