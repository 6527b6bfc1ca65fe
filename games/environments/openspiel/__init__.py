"""OpenSpiel games as environments: their states as JSON, one function a game.

An encoding says what of an OpenSpiel state is shown, and what its actions are called.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from games.values import CHANCE, TERMINAL, Action, Json, Observation, State

Native: TypeAlias = Any  # a `pyspiel.State`: bindings without types
View: TypeAlias = tuple[State, list[Observation]]


def spoken(native: Native, action: int) -> Action:
    """OpenSpiel's own words for an action of whoever is to move."""
    text: str = native.action_to_string(native.current_player(), action)
    return text


@dataclass(frozen=True)
class Encoding:
    """One game of OpenSpiel as JSON.

    Attributes:
        game: What `pyspiel.load_game` takes.
        view: The state, from which all that follows can be told, and one observation a seat.
        action: The name of a legal action or chance outcome.
        free: Parameters of OpenSpiel, whole numbers, that may be given: name -> what they count.
        kept: Positions that a worker may hold at once, in a few hundred MiB.
        names: The names of all legal actions or outcomes, where one depends on the others.
        is_plain: Whether all is OpenSpiel's text, and chance may be other than uniform.
        history: Draws all actions of a match that a seat's view may have come from; see
            `resample_history` in the contract. None where none is known.
    """

    game: str
    view: Callable[[Native], View]
    action: Callable[[Native, int], Action] = spoken
    free: Mapping[str, str] = field(default_factory=dict)
    kept: int = 10_000
    names: Callable[[Native, Sequence[int]], list[Action]] | None = None
    is_plain: bool = False
    history: Callable[[Sequence[Sequence[Any]], int], list[Action]] | None = None

    def numbered(self, native: Native, numbers: Sequence[int]) -> dict[Action, int]:
        """OpenSpiel's number of each legal action or outcome, by its name."""
        one, many = self.action, self.names
        words = many(native, numbers) if many else [one(native, number) for number in numbers]
        return dict(zip(words, numbers, strict=True))


def plies(native: Native) -> list[tuple[int, int]]:
    """Whoever acted, and the action, since the first state."""
    return [(ply.player, ply.action) for ply in native.full_history()]


def turn(native: Native) -> str:
    """Whose turn it is: a seat, "chance" or "terminal"."""
    player: int = native.current_player()
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player, str(player))


def struct(native: Native) -> State:
    """OpenSpiel's own JSON of a state."""
    state: State = json.loads(native.to_json())
    return state


def seen_structs(native: Native) -> list[dict[str, Any]]:
    """OpenSpiel's own JSON of what each seat sees."""
    seats = range(native.num_players())
    return [json.loads(native.to_observation_struct(seat).to_json()) for seat in seats]


def open_to_all(native: Native, state: State) -> View:
    """The view of a game that hides nothing."""
    return state, [state] * native.num_players()


def without(state: State, *names: str) -> dict[str, Json]:
    """The fields of a state but these."""
    return {name: value for name, value in state.items() if name not in names}
