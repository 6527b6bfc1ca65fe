"""Requests that a player sends the worker beside its module, and the replies to them.

Each class is read by `tools.guest.protocol.decoded` at both ends. A reply is the worker's claim.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from agents.belief.belief import BeliefName, FallbackProtocol
from games.values import Action, Json, is_number
from tools.guest.protocol import decoded

UNSEARCHED: dict[str, Json] = dict.fromkeys(
    ("simulations_done", "calls", "nodes", "cut_rollouts"), 0
)
"""The effort of a decision without a search."""
_LONGEST_WORD, _MOST = 40, 1e15
_PAID = frozenset({"fitness"})
_NUMBERS = _PAID.union(
    UNSEARCHED,
    ("seconds", "settled", "proven", "inherited", "table_hits", "transpositions", "worlds"),
    ("determinizations", "belief_failures", "belief_errors", "belief_consistency"),
    ("belief_diversity", "belief_calls", "histories", "information_states", "nash_conv"),
)
"""What an honest worker may count: of `SearchResult.effort`, of `Belief.effort`, of solving."""
_WORDS = frozenset({"belief", "fallback", "combined_by", "clock"})
Refusal: TypeAlias = Literal["hidden", "unsuitable", "late", "no_action"]


class ChooseRequest(NamedTuple):
    """Choose an action for one seat from its log alone; answered with `Chosen` or `Refused`.

    Attributes:
        num_players: Seats at the table.
        parameters: Of the game.
        algorithm: A name of `agents.search.algorithms.SEARCHES`.
        search: The algorithm's settings, as their model dumps them.
        seat: The seat that decides.
        entries: Of the seat's log, after the `held` ones that this worker was sent before.
        legal: The seat's legal actions, in the module's order; none where they are hidden.
        words: Seed words of the decision.
        held: Entries that were sent before.
        belief: Samples hidden states; None where the log must determine the state.
        determinizations: Distinct ones to draw; 0 draws a new one for every simulation.
        protocol: How to choose where no state is found; see `Belief.fallback`.
        is_known: Whether to try first if the log determines the state.
        match_words: Seed words of the whole match, for a tree that is used again.
        searches: Whether to search; else any action that is legal in a state that fits is chosen.
    """

    num_players: int
    parameters: dict[str, Json]
    algorithm: str
    search: dict[str, Json]
    seat: int
    entries: list[dict[str, Json]]
    legal: list[Action]
    words: list[int]
    held: int = 0
    belief: BeliefName | None = None
    determinizations: int = 0
    protocol: FallbackProtocol = "ours"
    is_known: bool = False
    match_words: list[int] | None = None
    searches: bool = True


class Chosen(NamedTuple):
    """A decision, and what was done for it."""

    action: Action
    effort: dict[str, Json]


class Refused(NamedTuple):
    """No decision.

    Attributes:
        refused: "hidden" where the log had to determine the state and does not, "unsuitable" where
            the algorithm cannot play the game, "late" where the search was given more to do than
            fits its deadline, "no_action" where legal actions are hidden and no state fits.
        why: A sentence.
    """

    refused: Refusal
    why: str


class SearchedRoot(NamedTuple):
    """The newest search's figures of its root: see `SearchResult`."""

    actions: list[Action]
    visits: list[int]
    means: list[float | None]


class HeuristicsRequest(NamedTuple):
    """Load the game's heuristics beside the module: source by name; answered with null."""

    sources: dict[str, str]


class PerfectInformationRequest(NamedTuple):
    """Try by random play if what a seat sees determines the state; answered with null, or why not.

    Attributes:
        num_players: Seats at the table.
        parameters: Of the game.
        words: Seed words.
    """

    num_players: int
    parameters: dict[str, Json]
    words: list[int]


class EnumerateRequest(NamedTuple):
    """Enumerate the game and keep it; answered with `Enumerated` or `TooLarge`.

    Attributes:
        num_players: Seats at the table.
        parameters: Of the game.
        histories: How many may be looked at.
    """

    num_players: int
    parameters: dict[str, Json]
    histories: int


class Enumerated(NamedTuple):
    """The size of a game that is held."""

    histories: int
    information_states: int


class TooLarge(NamedTuple):
    """A game that is not enumerated.

    Attributes:
        too_large: How far enumeration came.
        about: How many histories random plays estimate.
    """

    too_large: str
    about: float


class PosteriorRequest(NamedTuple):
    """Enumerate the states that what a seat saw at its turns allows; answered with `Posterior`.

    The answer is null where there are too many states, or they take too many calls.

    Attributes:
        num_players: Seats at the table.
        start: The state before any ply.
        seat: Whose log it is.
        entries: Of the log, those of its own turns: what it saw and what it did, in turn.
        limit: States held at once.
        calls: Module calls.
    """

    num_players: int
    start: dict[str, Json]
    seat: int
    entries: list[dict[str, Json]]
    limit: int
    calls: int


class Posterior(NamedTuple):
    """Distinct states and their probabilities, which sum to 1; none where no play leads there."""

    states: list[dict[str, Json]]
    shares: list[float]


class SolveRequest(NamedTuple):
    """Give the solution at one information state; answered with `Solution`.

    The game is solved when it is first asked for. The answer is null where no play leads to the
    log.

    Attributes:
        seat: Whose information state it is.
        entries: Of the seat's log, all of them.
        iterations: Of CFR+.
    """

    seat: int
    entries: list[dict[str, Json]]
    iterations: int


class Solution(NamedTuple):
    """The policy at one information state.

    Attributes:
        chances: The probability of each action.
        nash_conv: The whole solution's distance from an equilibrium.
        equilibrium: Whether it goes to 0 with the iterations.
    """

    chances: dict[str, float]
    nash_conv: float
    equilibrium: Literal["guaranteed", "not_guaranteed"]


def decoded_decision(reply: Json) -> Chosen | Refused:
    """The reply to a `ChooseRequest`.

    Raises:
        MessageError: If it is neither.
    """
    if isinstance(reply, dict) and "refused" in reply:
        return decoded(Refused, reply)
    return decoded(Chosen, reply)


def are_figures(claimed: Mapping[str, Json]) -> bool:
    """True for what an honest worker may claim of its work: numbers and short words of known names.

    The numbers are small enough to be added up over all decisions of a tournament. Only a mean of
    what a game pays may be below 0.

    >>> are_figures({"nodes": 7, "belief": "exact"}), are_figures({"nodes": 10**400})
    (True, False)
    >>> are_figures({"nodes": "many"}), are_figures({"wins": 7})
    (False, False)
    """
    return all(
        isinstance(value, str) and len(value) <= _LONGEST_WORD
        if name in _WORDS
        else name in _NUMBERS
        and is_number(value)
        and (name in _PAID or value >= 0)
        and abs(value) < _MOST
        for name, value in claimed.items()
    )


def decoded_size(reply: Json) -> Enumerated | TooLarge:
    """The reply to an `EnumerateRequest`.

    Raises:
        MessageError: If it is neither.
    """
    if isinstance(reply, dict) and "too_large" in reply:
        return decoded(TooLarge, reply)
    return decoded(Enumerated, reply)
