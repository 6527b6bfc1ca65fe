"""What searches do at every information state of a small game, sampled: ours and OpenSpiel's."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.players import PRELOAD, make_player, parse_spec
from agents.solving import Behaviour, SequenceForm, nash_conv
from games.contract import Action
from games.information import SeatLog
from games.streams import stream
from tools.sandbox import Sandbox

Ask: TypeAlias = Callable[[int, int, int], Action]
"""The decision of a seat at its information state of that number, the sample of that number."""

Translate: TypeAlias = Callable[[Action, Any], int]
"""OpenSpiel's number of one of our actions in a state of its own."""

THEIR_EXPLORATION = 5.0  # with which it reaches the NashConv it is known for, 1.26 on Leduc


@dataclass(frozen=True)
class Sampled:
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


def sampled(
    game: SequenceForm, ask: Ask, searches: int, classes: Sequence[Sequence[int]]
) -> Sampled:
    """Ask a search at one information state of every class, and let the others copy it.

    States that a seat was never seen to enter by its own decisions are not asked for: they change
    no return.

    Args:
        game: The game.
        ask: The search.
        searches: Decisions at each state; even, at least 2.
        classes: `[num_players][I]` as `evals.solving_symmetry.classes`.

    Raises:
        ValueError: If `searches` is odd or below 2.
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
    return Sampled(
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
                found[2 * sample // searches, state.actions.index(action)] += 1
                asked += 1
        counts[:, here] = known[classes[number]]
        entered[here] = counts[:, here].sum(axis=0) > 0 if len(state.actions) > 1 else True
    return counts, asked


@contextmanager
def ours(game: SequenceForm, source: str, spec: str, seed: int) -> Iterator[Ask]:
    """A player of ours, as it plays in matches: in a sandboxed worker, from the seat's log."""
    with Sandbox(preload=PRELOAD) as sandbox, ExitStack() as stack:
        players = [
            make_player(
                parse_spec(spec),
                seat=seat,
                num_players=len(game.seats),
                parameters={},
                source=source,
                sandbox=sandbox,
                heuristics={},
            )
            for seat in range(len(game.seats))
        ]
        for player in players:
            stack.callback(player.close)

        def ask(seat: int, number: int, sample: int) -> Action:
            log = SeatLog(seat, list(game.log(seat, number).entries))
            legal = game.seats[seat].states[number].actions
            generator = stream(seed, "solving", match=sample, seat=seat, ply=number)
            return players[seat].choose(log, legal, generator).action

        yield ask


def theirs(game: SequenceForm, name: str, translate: Translate, simulations: int, seed: int) -> Ask:
    """OpenSpiel's C++ ISMCTSBot: the most visited move, one rollout.

    Args:
        game: The game.
        name: OpenSpiel's name of it.
        translate: Between the actions of the two.
        simulations: A search.
        seed: Of all its searches.
    """
    import pyspiel

    spiel = pyspiel.load_game(name)
    bot = pyspiel.ISMCTSBot(
        seed,
        pyspiel.RandomRolloutEvaluator(1, seed),
        THEIR_EXPLORATION,
        simulations,
        -1,
        pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
    )

    def ask(seat: int, number: int, sample: int) -> Action:
        del sample
        known = game.seats[seat].states[number]
        state = spiel.new_initial_state()
        for action in known.plies:
            state.apply_action(translate(action, state))
        chosen = bot.step(state)
        return next(action for action in known.actions if translate(action, state) == chosen)

    return ask


def their_nash_conv(name: str, iterations: int) -> float:
    """NashConv of OpenSpiel's own CFR+ after so many iterations, by its own measure."""
    import pyspiel

    spiel = pyspiel.load_game(name)
    solver = pyspiel.CFRPlusSolver(spiel)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return float(pyspiel.nash_conv(spiel, solver.average_policy()))


def kuhn_action(action: Action, _state: object) -> int:
    """OpenSpiel's number of an action of two-player Kuhn poker."""
    if action.startswith("deal"):
        return "JQK".index(action[5])
    return 1 if action in ("bet", "call") else 0


def leduc_action(action: Action, _state: object) -> int:
    """OpenSpiel's number of an action of two-player Leduc poker."""
    if action.startswith("deal"):
        return 2 * "JQK".index(action[5]) + "HS".index(action[6])
    return {"fold": 0, "call": 1, "check": 1, "bet": 2, "raise": 2}[action]
