"""What a run with a model will roughly cost: said before it starts, and never called exact."""

from dataclasses import dataclass

from agents.budgets import Limits, estimate_tokens
from agents.prompting import contract, load_prompt
from agents.settings import ModelSettings

# Characters, as seen in runs answered by hand: a design as a prompt quotes it, a module, a record,
# the retrieved pieces, the findings of one refinement.
_DESIGN, _MODULE, _RECORD, _RETRIEVED, _FINDINGS = 5_000, 12_000, 12_000, 5_000, 2_000


@dataclass(frozen=True)
class _Expectation:
    """One kind of call: its prompt, what is filled in, its reply, how often a run makes it."""

    prompt: str
    filled: int
    reply: int
    fewest: int
    most: int


@dataclass(frozen=True)
class RunEstimate:
    """Bounds of what a run may use; dollars are None where no prices are configured.

    Attributes:
        calls: Fewest and most requests, without retries.
        tokens: Fewest and most tokens in and out, at four characters a token.
        dollars: The same by the configured prices.
    """

    calls: tuple[int, int]
    tokens: tuple[int, int]
    dollars: tuple[float, float] | None

    def __str__(self) -> str:
        cost = (
            "cost unknown (set RULEWRIGHT_PRICE_IN and RULEWRIGHT_PRICE_OUT)"
            if self.dollars is None
            else f"${self.dollars[0]:.2f} to ${self.dollars[1]:.2f}"
        )
        return (
            f"estimate: {self.calls[0]} to {self.calls[1]} calls, {self.tokens[0]:,} to "
            f"{self.tokens[1]:,} tokens, {cost}"
        )


def estimate_run(
    settings: ModelSettings, *, max_rounds: int = 6, records_judged: int = 2
) -> RunEstimate:
    """Estimate a run from the sizes of the prompts and the run's own bounds.

    The least is a run whose first draft passes without a tool call; the most uses every tool
    round and every refinement.

    Args:
        settings: For the prices and the tool rounds.
        max_rounds: Refinements before the run gives up.
        records_judged: Match records that the validator judges, for each candidate.
    """
    fewest_in = fewest_out = most_in = most_out = fewest = most = 0
    for kind in _expectations(settings.tool_rounds, max_rounds, records_judged):
        prompt = load_prompt(kind.prompt)
        taken = len(contract()) if "contract" in prompt.variables else 0
        tokens_in = estimate_tokens(prompt.size + taken + kind.filled)
        tokens_out = estimate_tokens(kind.reply)
        fewest += kind.fewest
        most += kind.most
        fewest_in += kind.fewest * tokens_in
        fewest_out += kind.fewest * tokens_out
        most_in += kind.most * tokens_in
        most_out += kind.most * tokens_out
    low = Limits.of(settings).cost(fewest_in, fewest_out)
    high = Limits.of(settings).cost(most_in, most_out)
    return RunEstimate(
        calls=(fewest, most),
        tokens=(fewest_in + fewest_out, most_in + most_out),
        dollars=None if low is None or high is None else (low, high),
    )


def _expectations(tool_rounds: int, max_rounds: int, records: int) -> list[_Expectation]:
    candidates = 1 + max_rounds
    drafting = _DESIGN + _RETRIEVED
    return [
        _Expectation("designer_clarify", 500, 400, 1, 1),
        _Expectation("designer_design", 500 + _RETRIEVED, _DESIGN, 1, 1),
        _Expectation("coder_draft", drafting, _MODULE, 1, 1),
        _Expectation("coder_draft", drafting + _MODULE, _MODULE, 0, tool_rounds),
        _Expectation("coder_edit", _DESIGN + _MODULE + _FINDINGS, 3_000, 0, max_rounds),
        _Expectation("validator_tests", _DESIGN + _MODULE, 2_500, 1, candidates),
        _Expectation("validator_judge", _DESIGN + _RECORD, 600, records, records * candidates),
        _Expectation("strategist_heuristics", _DESIGN + _RECORD // 2, 4_000, 1, 1),
    ]
