"""Which plies a log entry allows, found once and remembered for the other particles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agents.belief.follow import Entries, Follower, Place, Step
from games.contract import TERMINAL, Action

SURE = 3  # places at which one ply alone must have fitted before the others are left out
CHECKED = 1 / 16  # share of the later places at which all plies are tried all the same


@dataclass
class Lone:
    """The one action that fitted a log entry so far, and at how many places."""

    action: Action
    places: int = 1


_UNSEEN = Lone("", 0)


class Guide:
    """Finds the steps that reproduce a log, and where one ply alone can, tries that one first.

    An opponent's shot at one of a hundred cells is named by what the seat perceives of it; trying
    the other ninety-nine in every particle would cost a hundred times as much. So once `SURE`
    places have shown the same single action to fit an entry, other places try it alone, but for a
    share `CHECKED` of them; if a second action is ever found, all are tried again everywhere.

    Attributes:
        follower: The log, as far as it is followed now.
    """

    def __init__(self, follower: Follower, draw: Callable[[], float]) -> None:
        """Follow nothing yet; `draw` gives the next uniform number in [0, 1)."""
        self.follower = follower
        self.draw = draw
        self.lone: dict[tuple[int, int], Lone | None] = {}

    def read_to(self, entries: Entries, draw: Callable[[], float]) -> None:
        """Follow the log as far as `entries`, which begin with those followed before."""
        self.follower = replace(self.follower, entries=entries)
        self.draw = draw

    def named(self, place: Place, player: int) -> Action | None:
        """The one action that the next entry is taken to name; None where all are to be tried."""
        lone = self.lone.get((place.read, player))
        if lone is None or lone.places < SURE or self.draw() < CHECKED:
            return None
        return lone.action

    def is_narrow(self, place: Place, player: int) -> bool:
        """Whether one ply alone is taken to go on from here."""
        known = self.lone.get((place.read, player))
        own = player in (self.follower.seat, TERMINAL)
        return own or (known is not None and known.places >= SURE)

    def is_known_open(self, place: Place, player: int) -> bool:
        """Whether more than one ply was seen to go on from where the log is."""
        return self.lone.get((place.read, player), _UNSEEN) is None

    def is_open(self, place: Place, player: int, legal: Sequence[Action]) -> bool:
        """Whether the log may leave open which ply goes on from here."""
        return len(legal) > 1 and not self.is_narrow(place, player)

    def steps(self, place: Place, player: int, legal: Sequence[Action]) -> list[Step]:
        """Every step that reproduces what the seat logged next; see the class for the exception."""
        follower = self.follower
        if player == follower.seat:
            return follower.steps(place)
        named = self.named(place, player)
        if named is None:
            steps = follower.steps(place)
            self._remember((place.read, player), steps)
            return steps
        if named not in legal:
            return []
        after = follower.after(place, named)
        if after is None:
            return []
        weights = follower.weights(place.state, player, legal)
        return [Step(named, weights[list(legal).index(named)], after)]

    def _remember(self, entry: tuple[int, int], steps: Sequence[Step]) -> None:
        if not steps:
            return
        known = self.lone.setdefault(entry, Lone(steps[0].action, 0))
        if known is None:
            return
        if len(steps) > 1 or steps[0].action != known.action:
            self.lone[entry] = None
        else:
            known.places += 1
