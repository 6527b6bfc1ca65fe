"""Eval: what solving a small game is worth, and what searching it is not.

On Kuhn and Leduc poker, whose every information state is enumerated, NashConv says exactly how far
a policy is from an equilibrium.

- The *solver* is CFR+ (`agents.solving`), held against OpenSpiel's NashConv of its average policy,
  and uniform play against the known 11/12 of Kuhn poker.
- The *searches* are the player `ismcts` with its default settings, in a sandboxed worker as in any
  match, and OpenSpiel's C++ ISMCTSBot: the most visited move, one rollout a simulation, both with
  the same simulations and equally many searches an information state in the same run. Their average
  policies are sampled; finitely many searches put NashConv too high, for both alike. On Leduc they
  are asked at one information state of every class under the exchange of equal cards: no rule tells
  the cards of a rank apart, so a search decides alike, in distribution, at all states of a class.
- *Head to head* the solver's policy and those of the searches are set against each other by
  evaluating the whole tree: a hand of Leduc has a standard deviation of about 4.2, and 100 hands
  would tell nothing.

More simulations do not make a search over information sets converge to an equilibrium; the result
says so with the figures.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.players.registry import PRELOAD, make_player, parse_spec
from agents.players.specs import Seating
from agents.solving.enumeration import enumerate_game
from agents.solving.form import (
    Behaviour,
    SequenceForm,
    cfr_plus,
    expected_returns,
    nash_conv,
    uniform,
)
from evals.bench.timings import machine
from evals.openspiel import MISSING, THEIR_EXPLORATION, Ask, has_openspiel, their_nash_conv, theirs
from evals.results import EvalOptions, EvalResult, Row, Score
from games import library
from games.engine import Player
from games.information import SeatLog, entry_rows
from games.modules import bind, first_state, load_namespace
from games.streams import stream
from games.values import Action, canonical_key
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

RANKS, SUITS = "JQK", "HS"
_CARD = re.compile(f"\\b([{RANKS}])([{SUITS}])\\b")
UNIFORM_KUHN = 11 / 12
SOLVED_AT_MOST, SECONDS_AT_MOST = 0.01, 10.0
WORSE_AT_MOST = 0.15
_ITERATIONS = 300
_KUHN, _LEDUC = "kuhn_poker", "leduc_poker"
_OURS, _THEIRS = "ismcts", "OpenSpiel ISMCTSBot"


Found: TypeAlias = "dict[tuple[str, str, int], SampledPolicy]"
"""By game, search and simulations."""


@dataclass(frozen=True)
class SolvingSize:
    """Amounts of search.

    Attributes:
        searches: Searches at each information state, by the simulations of one.
        held: The simulations at which ours are held against OpenSpiel's.
        worse_at_most: How far our NashConv may lie above OpenSpiel's there; None where too few
            searches make the figure say little, and it is only shown. OpenSpiel's search is not
            the same twice with one seed.
        searched: The games that are searched.
    """

    searches: Mapping[int, int]
    held: int = 1000
    worse_at_most: float | None = WORSE_AT_MOST
    searched: tuple[str, ...] = ("kuhn_poker", "leduc_poker")


FULL = SolvingSize({30: 20, 100: 20, 1000: 20, 10_000: 4})
QUICK = SolvingSize({30: 2, 100: 2, 1000: 2}, worse_at_most=None)


@dataclass(frozen=True)
class SolvedGame:
    """A game with CFR+'s average policy, and how long that took, its enumeration included."""

    name: str
    game: SequenceForm
    behaviours: tuple[Behaviour, ...]
    seconds: float

    @property
    def nash_conv(self) -> float:
        """Of that policy."""
        return nash_conv(self.game, self.behaviours).total


@dataclass(frozen=True)
class SampledPolicy:
    """A search's average policy, from finitely many decisions.

    Attributes:
        searches: Decisions at each information state that was asked for.
        asked: Decisions made in all.
        behaviours: `[num_players]` the average policy.
        nash_conv: Its NashConv; finitely many decisions put it too high, on average.
        halves: Mean NashConv of the two halves of the decisions: by how much it still falls.
    """

    searches: int
    asked: int
    behaviours: tuple[Behaviour, ...]
    nash_conv: float
    halves: float


def sample_policy(
    game: SequenceForm, ask: Ask, searches: int, classes: Sequence[Sequence[int]]
) -> SampledPolicy:
    """Ask a search at one information state of every class, and let the others copy it.

    States that a seat was never seen to enter by its own decisions are not asked for: they change
    no return.

    Args:
        game: The game.
        ask: The search.
        searches: Decisions at each state; even, at least 2.
        classes: `[num_players][I]` as `classes`.

    Raises:
        ValueError: If `searches` is odd or below 2, or an answer is not legal.
    """
    if searches < 2 or searches % 2:  # noqa: PLR2004 - two halves are compared
        raise ValueError(f"searches is {searches}; required: an even number, at least 2")
    counts = [_counts(game, seat, ask, searches, classes[seat]) for seat in range(len(game.seats))]

    def behaviours(chosen: slice) -> tuple[Behaviour, ...]:
        return tuple(
            form.normalised(count[0][chosen].sum(axis=0))
            for form, count in zip(game.seats, counts, strict=True)
        )

    halves = [nash_conv(game, behaviours(half)).total for half in (slice(0, 1), slice(1, 2))]
    whole = behaviours(slice(0, 2))
    return SampledPolicy(
        searches=searches,
        asked=sum(asked for _, asked in counts),
        behaviours=whole,
        nash_conv=nash_conv(game, whole).total,
        halves=sum(halves) / 2,
    )


def _counts(
    game: SequenceForm, seat: int, ask: Ask, searches: int, classes: Sequence[int]
) -> tuple[NDArray[np.float64], int]:
    """`[2, S]` how often each sequence was chosen in either half, and decisions made."""
    form, asked = game.seats[seat], 0
    counts, entered = np.zeros((2, form.size)), np.zeros(form.size, dtype=np.bool_)
    entered[0] = True
    known = dict[int, NDArray[np.float64]]()
    for number, (first, state) in enumerate(zip(form.firsts, form.states, strict=True)):
        here = slice(int(first), int(first) + len(state.actions))
        if not entered[form.origin[first]]:
            continue
        if classes[number] not in known:
            found = known[classes[number]] = np.zeros((2, len(state.actions)))
            for sample in range(searches if len(state.actions) > 1 else 0):
                action = ask(seat, number, sample)
                if action not in state.actions:
                    raise ValueError(f"seat {seat} chose {action!r}; legal: {list(state.actions)}")
                found[2 * sample // searches, state.actions.index(action)] += 1
                asked += 1
        counts[:, here] = known[classes[number]]
        entered[here] = counts[:, here].sum(axis=0) > 0 if len(state.actions) > 1 else True
    return counts, asked


@contextmanager
def ours(game: SequenceForm, source: str, spec: str, seed: int) -> Iterator[Ask]:
    """A player of ours, as it plays in matches: in a sandboxed worker, from the seat's log."""
    with Sandbox(preload=PRELOAD) as sandbox, ExitStack() as stack:
        setup = GameSetup("", source, len(game.seats))
        players = [
            make_player(parse_spec(spec), Seating(seat, setup, sandbox))
            for seat in range(setup.num_players)
        ]
        for player in players:
            stack.callback(player.close)

        yield asking(game, players, seed)


def asking(game: SequenceForm, players: Sequence[Player], seed: int) -> Ask:
    """Players, one a seat, each asked with a log of its own and keyed random numbers."""

    def ask(seat: int, number: int, sample: int) -> Action:
        log = SeatLog(seat, list(game.log(seat, number).entries))
        legal = game.seats[seat].states[number].actions
        generator = stream(seed, "solving", match=sample, seat=seat, ply=number)
        return players[seat].choose(log, legal, generator).action

    return ask


def classes(game: SequenceForm, seat: int) -> list[int]:
    """The first of a seat's information states that each is an exchange of cards away from.

    Args:
        game: Leduc poker.
        seat: The seat.

    Returns:
        `[I]`: a number of an information state for each, itself where it is the first.
    """
    first = dict[str, int]()
    numbers = list[int]()
    for number in range(len(game.seats[seat].states)):
        told = canonical_key([*entry_rows(game.log(seat, number).entries)])
        numbers.append(first.setdefault(min(_exchanged(told)), number))
    return numbers


def alone(game: SequenceForm, seat: int) -> list[int]:
    """Every information state in a class of its own, for games without such a symmetry."""
    return list(range(len(game.seats[seat].states)))


def _exchanged(told: str) -> list[str]:
    """A log's text with the cards of some ranks exchanged, in every way."""
    texts = [told]
    for rank in RANKS:
        texts += [_CARD.sub(partial(_exchange, rank), text) for text in texts]
    return texts


def _exchange(rank: str, card: re.Match[str]) -> str:
    suit = SUITS[1 - SUITS.index(card[2])] if card[1] == rank else card[2]
    return f"{card[1]}{suit}"


def run(options: EvalOptions, size: SolvingSize | None = None) -> EvalResult:
    """Solve and search both games, by the usual sizes where none is given."""
    size = size or (QUICK if options.quick else FULL)
    games = {name: solve_preset(name) for name in (_KUHN, _LEDUC)}
    for one in games.values():
        options.tell(
            f"{one.name}: CFR+ reaches NashConv {one.nash_conv:.4f} in {one.seconds:.1f} s"
        )
    found: Found = {}
    for name in size.searched:
        one = games[name]
        shares = classes if name == _LEDUC else alone
        known = [shares(one.game, seat) for seat in range(2)]
        for simulations, searches in size.searches.items():
            for who in (_OURS, _THEIRS) if has_openspiel() else (_OURS,):
                policy = _searched(one, who, simulations, options.seed, (searches, known))
                found[name, who, simulations] = policy
                options.tell(
                    f"{name}: {who}, {simulations} simulations: NashConv {policy.nash_conv:.3f} "
                    f"from {policy.searches} searches a state ({policy.halves:.3f} from half)"
                )
    words = conclusion(games[_LEDUC], found)
    options.tell(words)
    return EvalResult(
        scores=(*solver_scores(games), *search_scores(found, size)),
        samples=(*_solver_rows(games), *_search_rows(found), *_duels(games, found)),
        effective={**_effective(size), "in_words": words},
        unscored={} if has_openspiel() else {_score_name(size): MISSING},
    )


def solve_preset(name: str) -> SolvedGame:
    """Enumerate and solve_preset a preset of the library."""
    begun = time.perf_counter()
    namespace = load_namespace(library.source(name))
    game = enumerate_game(bind(namespace, 2), first_state(namespace, 2))
    return SolvedGame(name, game, cfr_plus(game, _ITERATIONS), time.perf_counter() - begun)


def _searched(
    one: SolvedGame, who: str, simulations: int, seed: int, how: tuple[int, Sequence[Sequence[int]]]
) -> SampledPolicy:
    searches, known = how
    if who == _OURS:
        spec = f"ismcts:simulations={simulations}"
        with ours(one.game, library.source(one.name), spec, seed) as ask:
            return sample_policy(one.game, ask, searches, known)
    ask = theirs(one.game, one.name, simulations, seed)
    return sample_policy(one.game, ask, searches, known)


def solver_scores(games: Mapping[str, SolvedGame]) -> tuple[Score, ...]:
    """The solver's distance from equilibrium and its time; the oracle of uniform play."""
    kuhn, leduc = games[_KUHN], games[_LEDUC]
    error = abs(nash_conv(kuhn.game, uniform(kuhn.game)).total - UNIFORM_KUHN)
    return (
        Score("error of uniform play's NashConv, Kuhn", error, 1, at_most=1e-9),
        Score("NashConv of CFR+, Leduc", leduc.nash_conv, 1, at_most=SOLVED_AT_MOST),
        Score(
            "seconds of CFR+, Leduc, enumeration included",
            leduc.seconds,
            1,
            at_most=SECONDS_AT_MOST,
        ),
    )


def search_scores(found: Found, size: SolvingSize) -> tuple[Score, ...]:
    """Our NashConv less OpenSpiel's, at the same simulations and searches."""
    theirs_there = found.get((_LEDUC, _THEIRS, size.held))
    if theirs_there is None:
        return ()
    our = found[_LEDUC, _OURS, size.held]
    gap = our.nash_conv - theirs_there.nash_conv
    return (Score(_score_name(size), gap, our.asked, at_most=size.worse_at_most),)


def _score_name(size: SolvingSize) -> str:
    return f"NashConv of ismcts above OpenSpiel's ISMCTSBot, Leduc, {size.held} simulations"


def conclusion(leduc: SolvedGame, found: Found) -> str:
    """Sentences on search for an equilibrium, drawn from the figures."""
    told = list[str]()
    for who in (_OURS, _THEIRS):
        figures = [
            f"{policy.nash_conv:.2f} at {simulations}"
            for (name, by, simulations), policy in found.items()
            if name == leduc.name and by == who
        ]
        if figures:
            told.append(f"{who} {', '.join(figures)}")
    return (
        "More simulations do not make ISMCTS converge to an equilibrium. NashConv on Leduc poker, "
        f"0 at an equilibrium, by simulations: {'; '.join(told)}. The solver, CFR+, reaches "
        f"{leduc.nash_conv:.4f} in {leduc.seconds:.1f} s."
    )


def _solver_rows(games: Mapping[str, SolvedGame]) -> list[Row]:
    rows = list[Row]()
    for one in games.values():
        row: Row = {
            "game": one.name,
            "policy": "CFR+",
            "iterations": _ITERATIONS,
            "nash_conv": one.nash_conv,
            "seconds": round(one.seconds, 2),
            "information_states": one.game.num_states,
            "uniform_nash_conv": nash_conv(one.game, uniform(one.game)).total,
        }
        if has_openspiel():
            row["openspiel_nash_conv"] = their_nash_conv(one.name, _ITERATIONS)
        rows.append(row)
    return rows


def _search_rows(found: Found) -> list[Row]:
    return [
        {
            "game": name,
            "policy": who,
            "simulations": simulations,
            "nash_conv": round(policy.nash_conv, 4),
            "nash_conv_from_half": round(policy.halves, 4),
            "searches_a_state": policy.searches,
            "searches": policy.asked,
        }
        for (name, who, simulations), policy in found.items()
    ]


def _duels(games: Mapping[str, SolvedGame], found: Found) -> list[Row]:
    """The solver's policy against every search's, from both seats, by exact evaluation."""
    rows = list[Row]()
    for (name, who, simulations), policy in found.items():
        one = games[name]
        first = expected_returns(one.game, (one.behaviours[0], policy.behaviours[1]))[0]
        second = expected_returns(one.game, (policy.behaviours[0], one.behaviours[1]))[1]
        rows.append(
            {
                "game": name,
                "duel": f"CFR+ v {who}",
                "simulations": simulations,
                "return_of_cfr_in_seat_0": round(first, 4),
                "return_of_cfr_in_seat_1": round(second, 4),
                "mean": round((first + second) / 2, 4),
            }
        )
    return rows


def _effective(size: SolvingSize) -> Row:
    return {
        **machine(),
        "iterations": _ITERATIONS,
        "ismcts": parse_spec(f"ismcts:simulations={size.held}").name,
        "exploration_openspiel": THEIR_EXPLORATION,
        "searches_a_state": {str(count): k for count, k in size.searches.items()},
        "process": "the solver in a plain process, on the library; ismcts in a sandboxed worker",
    }
