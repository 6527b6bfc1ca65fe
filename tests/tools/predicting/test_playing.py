"""Exploration comes where random play does not, tells what is new, and keeps what broke a model."""

from collections.abc import Mapping
from dataclasses import dataclass

from games.table import Position
from games.trajectories import OpenTrajectory
from games.values import TERMINAL, Action, Json, ModuleFault
from tools.predicting.playing import Explorer

DOORS, DEEP, STEPS = 8, 14, 8000
SEEDS = range(4)


@dataclass
class Corridor:
    """One of eight doors is right at each of fourteen steps; the gold lies behind the last one.

    Random play opens fourteen right doors once in 8 ** 14 matches, without counting that "leave"
    ends the match. Who is on the way may leave; who has lost it only opens doors.
    """

    cursed: bool = False

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        return self._at(0, lost=False)

    def advance(self, position: Position, action: Action) -> Position:
        step, lost = position.state["at"], position.state["lost"]
        assert isinstance(step, int)
        if action == "take the gold" and self.cursed:
            raise ModuleFault("raised", "apply_action", "KeyError: 'gold'")
        if not action.startswith("open"):
            return self._at(DEEP + 1, lost=True)
        return self._at(step + 1, lost=bool(lost) or action != f"open {step * 5 % DOORS}")

    def _at(self, step: int, *, lost: bool) -> Position:
        doors = [f"open {number}" for number in range(DOORS)]
        legal = doors if lost else [*doors, "leave"]
        if step >= DEEP:
            legal = [] if lost else ["take the gold"]
        state: dict[str, Json] = {"phase": "corridor", "at": step, "lost": lost}
        seat = 0 if legal else TERMINAL
        return Position(state, seat, tuple(legal), (), (0.0,), ({},), ((),))


def explored(
    seed: int, known: tuple[OpenTrajectory, ...] = (), table: Corridor | None = None
) -> tuple[Explorer, list[OpenTrajectory]]:
    explorer = Explorer(table or Corridor(), 1, {}, known, seed)
    return explorer, explorer.matches(STEPS)


def test_what_random_play_never_meets_is_reached_and_is_a_match() -> None:
    for seed in SEEDS:
        _, matches = explored(seed)
        (gold,) = [match for match in matches if match.actions[-1] == "take the gold"]
        here = Corridor().open(1, {})
        for action, position in zip(gold.actions, gold.positions, strict=False):
            assert (position.state, position.legal) == (here.state, here.legal)
            assert action in here.legal
            here = Corridor().advance(here, action)
        assert here.player == TERMINAL
        assert matches[0] is gold, "the hardest to find comes first"


def test_what_a_recorded_match_played_is_not_new() -> None:
    _, matches = explored(0)
    assert {match.actions[-1].split()[0] for match in matches} == {"open", "leave", "take"}
    _, again = explored(0, tuple(matches))
    assert again == []


def test_exploration_begins_at_what_was_recorded() -> None:
    """One expedition cannot go through the corridor from its beginning, but from its end."""
    _, matches = explored(0)
    (gold,) = [match for match in matches if match.actions[-1] == "take the gold"]
    almost = OpenTrajectory(0, gold.positions[:-1], gold.actions[:-1], truncated=True)
    for known, reached in (((almost,), True), ((), False)):
        begun = Explorer(Corridor(), 1, {}, known, 1).matches(400)
        assert reached == any(match.actions[-1] == "take the gold" for match in begun)


def test_a_model_that_fails_is_told_with_the_way_there() -> None:
    explorer, _ = explored(2, table=Corridor(cursed=True))
    assert explorer.broken[-1] == "take the gold"
    assert list(explorer.broken[:-1]) == [f"open {step * 5 % DOORS}" for step in range(DEEP)]


def test_the_same_seed_explores_the_same() -> None:
    assert [m.actions for m in explored(5)[1]] == [m.actions for m in explored(5)[1]]
