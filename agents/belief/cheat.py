"""The true state: for evaluations that ask what hidden information is worth, never for players."""

from dataclasses import dataclass

from games.contract import State


@dataclass(frozen=True)
class Omniscient:
    """Whoever makes one says why it may look behind the screen.

    No spec of a player makes one, so a player that a spec describes cannot cheat.

    Attributes:
        reason: What the evaluation measures; shown beside its results.
    """

    reason: str

    def __post_init__(self) -> None:
        """Ask for a reason."""
        if not self.reason.strip():
            raise ValueError("reason is empty; required: what the evaluation measures")


class CheatSampler:
    """Gives the true state as a determinization."""

    def __init__(self, state: State, marker: Omniscient) -> None:
        """Hold the true state.

        Raises:
            TypeError: Without the marker.
        """
        if not isinstance(marker, Omniscient):
            raise TypeError("the true state is for evaluations alone; required: Omniscient(reason)")
        self.state = state
        self.marker = marker

    def sample(self) -> State:
        """The true state."""
        return self.state
