"""What a run may spend on a model: checked before each request, accounted after it."""

import threading
from dataclasses import dataclass, replace

from agents.errors import ModelError
from agents.settings import ModelSettings


class BudgetExhaustedError(ModelError):
    """The next request would go over the run's budget; nothing was sent."""


@dataclass(frozen=True)
class Usage:
    """What was spent so far.

    Attributes:
        calls: Requests sent, failed ones and retries included.
        failed_calls: Those that brought no usable reply.
        tokens_in: Prompt tokens.
        tokens_out: Completion tokens.
        estimated_calls: Requests whose tokens the endpoint did not report, and which therefore
            count at four characters a token.
        seconds: Seconds spent waiting for the endpoint.
        dollars: By the configured prices; None where there are none.
    """

    calls: int = 0
    failed_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated_calls: int = 0
    seconds: float = 0.0
    dollars: float | None = None


@dataclass(frozen=True)
class Limits:
    """Bounds of a run; prices are dollars a million tokens, None where unknown."""

    calls: int
    tokens: int
    seconds: float
    dollars: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    @classmethod
    def of(cls, settings: ModelSettings) -> "Limits":
        """The bounds that the settings give."""
        return cls(
            calls=settings.max_calls,
            tokens=settings.max_tokens,
            seconds=settings.max_seconds,
            dollars=settings.max_dollars,
            price_in=settings.price_in,
            price_out=settings.price_out,
        )

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """`(tokens_in * price_in + tokens_out * price_out) / 1e6`; None without prices.

        >>> Limits(1, 1, 1.0, price_in=2.0, price_out=8.0).cost(500_000, 250_000)
        3.0
        """
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


def estimate_tokens(characters: int) -> int:
    """About four characters a token: an estimate, and named one wherever it is shown.

    >>> estimate_tokens(0), estimate_tokens(4000)
    (1, 1000)
    """
    return max(1, characters // 4)


class Budget:
    """One run's budget, shared by its roles and safe to use from several threads.

    A request is reserved with its estimated prompt before it is sent, so that requests in flight
    at the same time cannot together go over the budget, and settled with its true figures after.
    """

    def __init__(self, limits: Limits, spent: Usage | None = None) -> None:
        """Start from `spent`: what the run had used before it was interrupted."""
        self.limits = limits
        self._usage = spent or Usage()
        self._reserved_calls = 0
        self._reserved_tokens = 0
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """What was spent so far, without requests in flight."""
        with self._lock:
            used = self._usage
        return replace(used, dollars=self.limits.cost(used.tokens_in, used.tokens_out))

    @property
    def seconds_left(self) -> float:
        """Seconds that may still be spent on the endpoint."""
        return max(0.0, self.limits.seconds - self.usage.seconds)

    def reserve(self, prompt_tokens: int) -> None:
        """Set aside one request with `prompt_tokens` estimated prompt tokens.

        Raises:
            BudgetExhaustedError: Naming the bound it would break, and what was spent.
        """
        with self._lock:
            self._require(prompt_tokens)
            self._reserved_calls += 1
            self._reserved_tokens += prompt_tokens

    def settle(
        self,
        prompt_tokens: int,
        *,
        tokens_in: int,
        tokens_out: int,
        seconds: float,
        failed: bool = False,
        estimated: bool = False,
    ) -> None:
        """Replace a reservation of `prompt_tokens` with what the request really used."""
        with self._lock:
            self._reserved_calls -= 1
            self._reserved_tokens -= prompt_tokens
            used = self._usage
            self._usage = replace(
                used,
                calls=used.calls + 1,
                failed_calls=used.failed_calls + failed,
                tokens_in=used.tokens_in + tokens_in,
                tokens_out=used.tokens_out + tokens_out,
                estimated_calls=used.estimated_calls + estimated,
                seconds=used.seconds + seconds,
            )

    def wait(self, seconds: float) -> None:
        """Account for time spent waiting before a retry."""
        with self._lock:
            self._usage = replace(self._usage, seconds=self._usage.seconds + seconds)

    def _require(self, prompt_tokens: int) -> None:
        used, limits = self._usage, self.limits
        calls = used.calls + self._reserved_calls
        if calls + 1 > limits.calls:
            raise _exhausted(f"{calls} of {limits.calls} calls are used", "RULEWRIGHT_MAX_CALLS")
        tokens = used.tokens_in + used.tokens_out + self._reserved_tokens
        if tokens + prompt_tokens > limits.tokens:
            raise _exhausted(
                f"{tokens} of {limits.tokens} tokens are used and the next prompt is about "
                f"{prompt_tokens}",
                "RULEWRIGHT_MAX_TOKENS",
            )
        if used.seconds >= limits.seconds:
            raise _exhausted(
                f"{used.seconds:.0f} of {limits.seconds:.0f} s are used", "RULEWRIGHT_MAX_SECONDS"
            )
        reserved = used.tokens_in + self._reserved_tokens + prompt_tokens
        cost = limits.cost(reserved, used.tokens_out)
        if limits.dollars is not None and cost is not None and cost > limits.dollars:
            raise _exhausted(
                f"with the next prompt ${cost:.4f} of ${limits.dollars:.4f} would be used",
                "RULEWRIGHT_MAX_DOLLARS",
            )


def _exhausted(used: str, setting: str) -> BudgetExhaustedError:
    return BudgetExhaustedError(
        f"the model's budget is exhausted: {used}; raise {setting} and resume the run"
    )
