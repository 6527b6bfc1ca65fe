"""A match played again with its lines traced: which of the marked lines each ply went through."""

import sys
import types
from typing import TYPE_CHECKING

from games.contract import CHANCE, TERMINAL, Game, Json, LocalModule, ModuleFault, State
from tools.guest.faults import MODULE_FILE
from tools.guest.protocol import LinesRequest

if TYPE_CHECKING:
    from _typeshed import TraceFunction


class _Lines:
    """Marked lines that were executed since the last `take`; used as a trace function."""

    def __init__(self, marked: frozenset[int]) -> None:
        self._marked = marked
        self._seen: set[int] = set()
        self._known: dict[types.CodeType, bool] = {}

    def __call__(
        self, frame: types.FrameType, event: str, argument: object
    ) -> "TraceFunction | None":
        """The tracer of a frame of the module that has a marked line; no other frame is traced."""
        del event, argument
        code = frame.f_code
        if code not in self._known:
            lines = {line for _, _, line in code.co_lines()}
            self._known[code] = code.co_filename == MODULE_FILE and bool(lines & self._marked)
        return self._line if self._known[code] else None

    def _line(self, frame: types.FrameType, event: str, argument: object) -> "TraceFunction":
        del argument
        if event == "line" and frame.f_lineno in self._marked:
            self._seen.add(frame.f_lineno)
        return self._line

    def take(self) -> list[Json]:
        """These lines, in order; the next ply begins with none."""
        seen = sorted(self._seen)
        self._seen.clear()
        return [*seen]


def traced_lines(module: LocalModule, request: LinesRequest) -> Json:
    """One list a ply: the marked lines that were executed for it.

    A ply is all that a referee asks for it: whose turn it is, what is legal, seen and visible in
    the state it is played in, the events, the next state and what entering that paid. The first
    ply has the set-up too, the last one what is asked of the final state.
    """
    lines, plies = _Lines(frozenset(request.lines)), list[Json]()
    game, seats = Game(module), request.num_players
    before = sys.gettrace()
    sys.settrace(lines)
    try:
        state = game.initial_state(seats, request.parameters)
        for action in request.actions:
            _asked(game, state, seats)
            game.events(state, action, seats)
            state = game.apply_action(state, action)
            game.rewards(state, seats)
            plies.append(lines.take())
        _asked(game, state, seats)
    finally:
        sys.settrace(before)
    if plies and isinstance(plies[-1], list):
        plies[-1] += lines.take()
    return plies


def _asked(game: Game, state: State, seats: int) -> None:
    player, legal = game.current_player(state), game.legal_actions(state)
    if player == CHANCE:
        game.chance_probabilities(state, legal)
    elif player != TERMINAL and player >= seats:
        raise ModuleFault("bad_value", "get_current_player", f"returned {player} of {seats} seats")
    game.player_name(player)
    game.observations(state, seats)
    for seat in range(seats):
        game.visible(state, seat)
